"""What lies in the folder of a whole run: of each step what it was made from and what it made, written down as it ends."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from envscaler import __version__
from envscaler.errors import UsageError
from envscaler.session.files import reason, replace_file

try:
    import fcntl
except ImportError:  # no such locks here
    fcntl = None  # type: ignore[assignment]

__all__ = ["MANIFEST", "Books", "Entry", "Product", "product", "products"]

MANIFEST: Final = "manifest.json"
_MARK: Final = "whole_run"  # a manifest with it is one of ours; its value is the form of the file
_FORMAT: Final = 1
_LOCK: Final = ".lock"


@dataclass(frozen=True, slots=True)
class Product:
    """A file, or a folder with all its ``files``, by its path within the run. ``sha256`` is over what is in it."""

    path: str
    files: int
    bytes: int
    sha256: str


def product(folder: Path, path: str) -> Product | None:
    """What lies at a path within the folder of a run; None where nothing does."""
    place = folder / path
    if place.is_file():
        return Product(path, 1, place.stat().st_size, _hash(place))
    if not place.is_dir():
        return None
    files = sorted(p for p in place.rglob("*") if p.is_file())
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.relative_to(place).as_posix()}\0{_hash(file)}\n".encode())
    return Product(path, len(files), sum(f.stat().st_size for f in files), whole.hexdigest())


def products(folder: Path, path: str, depth: int) -> list[Product]:
    """The same for the things in a folder, and for those in these, so many deep; a file, and what lies deeper, as a whole."""
    place = folder / path
    if depth and place.is_dir():
        return [one for part in sorted(place.iterdir()) for one in products(folder, f"{path}/{part.name}", depth - 1)]
    one = product(folder, path)
    return [] if one is None else [one]


def _hash(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """A step as it is written down. ``key`` stands for all that it is made from; an entry that is not ``ended`` is of a step
    that was begun. ``told``: what the step had to say."""

    key: str
    ended: bool
    told: Mapping[str, Any]
    products: tuple[Product, ...]


class Books:
    """The manifest of a run, which is also its journal: it is written whenever a step begins and ends."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        """Raises UsageError for a folder that holds something else, and for a manifest that cannot be read."""
        self.folder = folder
        self._options = dict(options)
        self._steps = _steps(folder)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The folder, for this process alone. Raises UsageError where another one works on it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / _LOCK).open("wb")
        except OSError as error:
            raise UsageError(f"{self.folder}: {reason(error)}") from None
        with file:
            _lock(file, self.folder)
            self._steps = _steps(self.folder)
            yield

    def entry(self, step: str) -> Entry | None:
        """What is known of a step."""
        return self._steps.get(step)

    def found(self, step: str) -> tuple[list[Product], list[str], bool]:
        """What the step made, as it is now; what of it somebody has changed since; and whether something is gone."""
        entry = self._steps.get(step)
        now = [] if entry is None else [(one, product(self.folder, one.path)) for one in entry.products]
        there = [(one, found) for one, found in now if found is not None and found.files >= one.files]
        edited = [one.path for one, found in there if found.sha256 != one.sha256]
        return [found for _, found in there], edited, len(there) < len(now)

    def begun(self, step: str, key: str) -> None:
        """A step begins, of which nothing is whole any more."""
        self._steps[step] = Entry(key, False, {}, ())
        self._write(complete=False)

    def ended(self, step: str, key: str, told: Mapping[str, Any], products: Sequence[Product]) -> None:
        """A step has made something."""
        self._steps[step] = Entry(key, True, told, tuple(products))
        self._write(complete=False)

    def complete(self, whole: bool) -> None:
        """The run has come to its end; ``whole`` where no step failed."""
        self._write(complete=whole)

    def remove(self, paths: Sequence[str]) -> None:
        """Take away what a step made before."""
        for path in paths:
            place = self.folder / path
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                with suppress(FileNotFoundError):
                    place.unlink()

    def _write(self, complete: bool) -> None:
        plain = {
            _MARK: _FORMAT,
            "envscaler": __version__,
            "complete": complete,
            "options": self._options,
            "steps": {
                name: {
                    "key": entry.key, "ended": entry.ended, "told": entry.told,
                    "products": [asdict(one) for one in entry.products],
                }
                for name, entry in self._steps.items()
            },
        }  # fmt: skip
        text = json.dumps(plain, indent=2) + "\n"
        file = self.folder / MANIFEST
        with suppress(OSError, ValueError):
            if file.read_text(encoding="utf-8") == text:
                return
        replace_file(file, text)


def _steps(folder: Path) -> dict[str, Entry]:
    """The steps that the manifest of a folder knows."""
    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    plain = _read(folder / MANIFEST)
    if plain is None and any(one.name != _LOCK for one in folder.iterdir()):
        raise UsageError(f"{folder} holds other things; name a new folder, or that of an earlier run")
    return {
        name: Entry(step["key"], step["ended"], step["told"], tuple(Product(**one) for one in step["products"]))
        for name, step in (plain or {}).get("steps", {}).items()
    }


def _read(file: Path) -> dict[str, Any] | None:
    """A manifest of ours, None where there is none."""
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{file}: {reason(error)}") from None
    except (ValueError, RecursionError):
        return None
    if not isinstance(plain, dict) or _MARK not in plain:
        return None
    if plain[_MARK] != _FORMAT:
        raise UsageError(f"{file} was written by another version of envscaler; name a new folder")
    return plain


def _lock(file: IO[bytes], folder: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"another `envscaler run` works on {folder}") from None
    except OSError:  # a file system without locks
        return
