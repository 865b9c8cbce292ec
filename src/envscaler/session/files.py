"""Paths that users name: the spec files they mean, what stands near a wrong one, reading and replacing files."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from envscaler.diagnostics import nearest
from envscaler.errors import UsageError

__all__ = ["StrPath", "existing", "is_spec", "many", "read_json", "reason", "replace_file", "spec_files"]

StrPath = str | os.PathLike[str]

_SUFFIXES = (".yaml", ".yml")
_NO_SPECS = ".nospecs"  # marks a folder of files that look like specs and are not meant as such


def spec_files(paths: Iterable[StrPath]) -> tuple[list[Path], list[Path]]:
    """The spec files that ``paths`` (files, folders, names of installed specs) mean, and the files of folders that are no
    specs.

    A folder means its YAML files, those of its folders included, that have a line beginning with `envscaler:`; hidden
    ones are left out, and so is a folder in it that holds a file called `.nospecs`. Raises UsageError for a path that does
    not exist, with the nearest that does.
    """
    from envscaler.session.packs import spec_path

    specs: dict[Path, None] = {}
    skipped: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found = list(_in_folder(path))
            if not found:
                raise UsageError(f"no YAML file in {path}")
            for file in found:
                if is_spec(file):
                    specs[file] = None
                else:
                    skipped.append(file)
        else:
            specs[spec_path(path)] = None
    return list(specs), skipped


def _in_folder(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and not Path(root, f, _NO_SPECS).exists())
        for name in sorted(files):
            file = Path(root, name)
            if name.endswith(_SUFFIXES) and not name.startswith(".") and (file.is_file() or file.is_symlink()):
                yield file


def is_spec(file: Path) -> bool:
    """A line of it begins with `envscaler`, or it cannot be read."""
    try:
        with file.open("rb") as stream:
            data = stream.read(2 << 20)
    except OSError:
        return True  # reading it again says why not
    return any(line.lstrip(b"\xef\xbb\xbf\"'").startswith(b"envscaler") for line in data.splitlines())


def existing(path: Path) -> Path:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {reason(error)}{_near(path)}") from None
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path}: not a regular file")
    return path


def _near(path: Path) -> str:
    """A hint at what stands beside a path that does not exist."""
    try:
        names = [p.name for p in path.parent.iterdir() if p.is_dir() or p.suffix == path.suffix or not path.suffix]
    except (OSError, ValueError):
        return ""
    near = nearest(path.name, names)
    return f"; did you mean {path.parent / near}?" if near else ""


def reason(error: OSError | ValueError) -> str:
    return error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)


def many(paths: Sequence[StrPath] | StrPath) -> Sequence[StrPath]:
    return [paths] if isinstance(paths, (str, os.PathLike)) else paths


def replace_file(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old or the new one, never a part; a link keeps leading where it led."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_json(path: Path) -> Any:
    try:
        return json.loads(existing(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
