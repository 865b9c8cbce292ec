"""The work folder of drafting: a file for each stage, and what a person has made of it, which no stage writes over unasked.

Beside each file lies what was written into it last (`as-written/`): a file that differs from that was edited. An edited file is
what later stages go by. A stage that would write something else into one shows the difference instead.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

from pydantic import BaseModel, ValidationError

from envscaler.errors import EnvscalerError, UsageError
from envscaler.session.files import reason, replace_file
from envscaler.texts import difference

__all__ = ["EditedError", "WorkFolder", "lines_of", "rows_text"]

M = TypeVar("M", bound=BaseModel)

_COPIES: Final = "as-written"
_NEXT: Final = ".next"
_NO_SPECS: Final = ".nospecs"  # specs under way are not taken for finished ones


class EditedError(EnvscalerError):
    """A file that a stage would write anew was edited by hand; ``diff`` is what would be changed in it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, path: Path, diff: str) -> None:
        super().__init__(f"{path} was edited, and would be written anew; nothing was changed, --overwrite does it")
        self.path = path
        self.diff = diff


@dataclass(slots=True)
class WorkFolder:
    """``folder``: where stages put their files; ``output``: where finished specs go. ``overwrite``: what was edited is
    written anew all the same."""

    folder: Path
    output: Path
    overwrite: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def begin(self) -> None:
        """Make the folder. Raises UsageError where it cannot be made."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / _NO_SPECS).touch()
        except OSError as error:
            raise UsageError(f"{self.folder}: {reason(error)}") from None

    def path(self, name: str) -> Path:
        """The path of a stage's file; `out/NAME` is one of the finished."""
        return self.output / name.removeprefix("out/") if name.startswith("out/") else self.folder / name

    def read(self, name: str) -> str | None:
        """The text of a file as it stands now; None where there is none. Raises UsageError."""
        return _text(self.path(name))

    def edited(self, name: str) -> bool:
        """Whether a person has changed what was written."""
        current = self.read(name)
        return current is not None and current not in self._ours(name)

    def put(self, name: str, text: str, *, anew: bool = False) -> str:
        """Write a stage's file; what later stages go by, which is ``text`` or what a person has made of it.

        An edit stands while ``text`` is what was edited, unless the file is to be made ``anew``. Raises EditedError where it
        does not stand, UsageError for a file that cannot be written.
        """
        with self._lock:
            current, ours = self.read(name), self._ours(name)
            if current is not None and current != text and current not in ours and not self.overwrite:
                if text in ours and not anew:
                    return current
                raise EditedError(self.path(name), difference(current, text, str(self.path(name)), "made anew"))
            # Whoever is killed in between has both texts on record: neither is taken for an edit.
            if current != text or text not in ours or self._copy(name, _NEXT).exists():
                self._write(self._copy(name, _NEXT), text, None)
                self._write(self.path(name), text, current)
                self._copy(name, _NEXT).replace(self._copy(name))
        return text

    def note(self, name: str, text: str) -> None:
        """Write a file that only tells, and is nobody's input."""
        self._write(self.path(name), text, self.read(name))

    def drop(self, name: str) -> bool:
        """Take a file away that is out of date; one that was edited stays, and False is given."""
        with self._lock:
            if self.edited(name):
                return False
            self.path(name).unlink(missing_ok=True)
            self._copy(name).unlink(missing_ok=True)
        return True

    def move(self, old: str, new: str, text: str) -> None:
        """Make an edited file the edit of another one, which is an input."""
        with self._lock:
            self._write(self.path(new), text, self.read(new))
            self.path(old).unlink()
            self._copy(old).unlink(missing_ok=True)

    def names(self, folder: str, suffix: str) -> list[str]:
        """What lies in a folder, by name, in order."""
        return sorted(p.name.removesuffix(suffix) for p in (self.folder / folder).glob(f"*{suffix}") if p.is_file())

    def rows(self, name: str, kind: type[M]) -> list[M] | None:
        """The records of a file of JSON lines; None where there is none. Raises UsageError with file and line."""
        text = self.read(name)
        return None if text is None else [_record(kind, line, f"{self.path(name)}:{n}") for n, line in lines_of(text)]

    def record(self, name: str, kind: type[M]) -> M | None:
        """The record of a JSON file; None where there is none. Raises UsageError."""
        text = self.read(name)
        return None if text is None else _record(kind, text, str(self.path(name)))

    def _copy(self, name: str, more: str = "") -> Path:
        return self.folder / _COPIES / f"{name}{more}"

    def _ours(self, name: str) -> tuple[str, ...]:
        """What was written into a file, and what was being written when somebody was killed."""
        texts = (_text(self._copy(name)), _text(self._copy(name, _NEXT)))
        return tuple(text for text in texts if text is not None)

    def _write(self, path: Path, text: str, current: str | None) -> None:
        if text == current:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, text)
        except OSError as error:
            raise UsageError(f"{path}: {reason(error)}") from None


def rows_text(rows: Iterable[BaseModel | dict[str, Any]]) -> str:
    """Records as JSON lines."""
    plain = (row.model_dump(mode="json") if isinstance(row, BaseModel) else row for row in rows)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in plain)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines that hold something, each with its number from 1."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def _record(kind: type[M], text: str, place: str) -> M:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first: Any = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{place}: {where + ': ' if where else ''}{first['msg']}") from None


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8: {error}") from None
