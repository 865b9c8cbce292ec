"""The options of the sources that ship, and what all of them make of a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from envscaler.builtin.sources.places import Place, places
from envscaler.diagnostics import nearest
from envscaler.errors import UsageError
from envscaler.plugin.records import BadRow, Task
from envscaler.plugin.settings import refuse_unknown

__all__ = ["COLUMNS", "FileSource", "Options", "chosen", "column", "plain", "task"]

COLUMNS: Final = ("text", "task", "instruction", "query", "question", "prompt")
"""Where a task stands when nobody says it: the first of these that there is."""

_MOST: Final = 32_768  # characters of a task
_DEEPEST: Final = 50
_BY: Final = ("line", "paragraph")


@dataclass(frozen=True, slots=True)
class Options:
    """``text``: the column or key with the task; ``extra``: what to keep beside it, None for all. ``files``: a pattern for the
    names of files in a folder or data set. ``delimiter`` and ``encoding`` are for CSV; ``by``: what a task is in a text."""

    text: str | None = None
    extra: tuple[str, ...] | None = None
    files: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    by: str = "line"

    @classmethod
    def of(cls, source: str, known: Sequence[str], given: Mapping[str, Any]) -> Options:
        """The options given to a source; UsageError for one that it does not know, or that is wrong."""
        refuse_unknown(source, given, known, "option")
        for name, value in given.items():
            if name != "extra" and (not isinstance(value, str) or not value):
                raise UsageError(f"{name} must be text, not {value!r}")
        if (by := given.get("by", "line")) not in _BY:
            raise UsageError(f"by must be {' or '.join(_BY)}, not {by!r}")
        if len(given.get("delimiter") or ",") != 1:
            raise UsageError(f"delimiter must be one character, not {given['delimiter']!r}")
        said = {field.name: given[field.name] for field in fields(cls) if field.name in given}
        if said.get("extra") is not None:
            said["extra"] = _names(said["extra"])
        return cls(**said)


def _names(extra: Any) -> tuple[str, ...]:
    """Columns as a list, or as a command line has them: with commas between, empty for none."""
    names = [name.strip() for name in extra.split(",") if name.strip()] if isinstance(extra, str) else extra
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"extra must be a list of columns, not {extra!r}")
    return tuple(names)


Rows = Callable[[Place, Options], Iterator[Task | BadRow]]


@dataclass(frozen=True, slots=True)
class FileSource:
    """A source that reads files by ``rows``; those of a folder with ``suffixes``, or that ``usual`` matches if one does."""

    name: str
    rows: Rows
    suffixes: tuple[str, ...]
    known: tuple[str, ...] = ("files",)
    usual: str | None = None

    def read(self, location: str, options: Mapping[str, Any]) -> Iterator[Task | BadRow]:
        """The rows, each when it is asked for; UsageError for what cannot be read and for wrong options."""
        found = Options.of(self.name, self.known, options)
        for place in places(location, self.suffixes, found.files, self.usual):
            yield from self.rows(place, found)

    def read_place(self, place: Place, options: Mapping[str, Any]) -> Iterator[Task | BadRow]:
        """The rows of one file that was found already."""
        return self.rows(place, Options.of(self.name, self.known, options))


def task(text: Any, where: str, place: Place, line: int, extra: Mapping[str, Any] | None = None) -> Task | BadRow:
    """The row of a text that stood in ``where``, or what is wrong with it."""
    label = place.label
    if text is None or (isinstance(text, str) and not text.strip()):
        return BadRow(label, line, f"no text in {where}")
    if not isinstance(text, str):
        return BadRow(label, line, f"{where} holds {_kind(text)}, not text")
    text = text.strip()
    if len(text) > _MOST:
        return BadRow(label, line, f"{where} holds {len(text):,} characters; a task has {_MOST:,} at most")
    if _lone(text):
        return BadRow(label, line, f"{where} holds what is no character (not UTF-8, or half of a pair)")
    try:
        return Task(text, label, line, {name: plain(value) for name, value in (extra or {}).items()})
    except ValueError as error:
        return BadRow(label, line, str(error))


def _kind(value: Any) -> str:
    names = {"dict": "an object", "list": "a list", "bool": "true or false", "int": "a number", "float": "a number"}
    return names.get(type(value).__name__, type(value).__name__)


def _lone(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def plain(value: Any, depth: int = 0) -> Any:
    """A JSON value that can be written: no lone surrogate, nothing infinite. ValueError for what nests too deeply."""
    if depth > _DEEPEST:
        raise ValueError(f"what stands beside the task is nested deeper than {_DEEPEST} levels")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") if _lone(value) else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {plain(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, depth + 1) for item in value]
    return value


def column(names: Iterable[str], options: Options) -> str:
    """The column with the task: the one that was named, else the first of the usual ones."""
    names = list(names)
    return options.text or next((name for name in COLUMNS if name in names), COLUMNS[0])


def chosen(place: Place, columns: list[str], options: Options) -> tuple[str, tuple[str, ...]]:
    """The column with the task and those to keep beside it. UsageError for columns that are missing, and for a name that
    two have."""
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise UsageError(f"{place.label}: two columns are called {', '.join(twice)}")
    text = column(columns, options)
    for name in (text, *(options.extra or ())):
        if name not in columns:
            near = nearest(name, columns)
            hint = f" (did you mean {near}?)" if near else ""
            raise UsageError(f"{place.label}: no column is called {name!r}{hint}; it has {', '.join(columns)}")
    others = tuple(name for name in columns if name != text)
    return text, others if options.extra is None else options.extra
