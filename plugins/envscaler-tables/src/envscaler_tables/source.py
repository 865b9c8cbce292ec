"""The source: options checked, files found, each read by its rows."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envscaler.errors import UsageError
from envscaler.plugin import BadRow, Task
from envscaler_tables.workbook import cells, value_of

__all__ = ["Options", "Spreadsheets"]

_SUFFIXES = (".xlsx", ".xlsm")
_KNOWN = ("text", "extra", "sheet", "header")


@dataclass(frozen=True, slots=True)
class Options:
    """``text``: the column with the task. ``extra``: columns to keep beside it; None means all others. ``sheet``: the one that
    is read, None for the first. ``header``: the row with the names of columns, None for the first that holds anything."""

    text: str = "text"
    extra: tuple[str, ...] | None = None
    sheet: str | None = None
    header: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Options":
        """The options; UsageError for one that is unknown or wrong."""
        for name in given:
            if name not in _KNOWN:
                raise UsageError(f"spreadsheet has no option {name}{_near(name, _KNOWN)}; it has {', '.join(_KNOWN)}")
        for name in ("text", "sheet"):
            if given.get(name) is not None and not isinstance(given[name], str):
                raise UsageError(f"{name} must be text, not {given[name]!r}")
        extra, header = given.get("extra"), given.get("header")
        if isinstance(extra, str):
            extra = [name.strip() for name in extra.split(",") if name.strip()]
        if extra is not None and not all(isinstance(name, str) for name in extra):
            raise UsageError(f"extra must be a list of columns, not {given['extra']!r}")
        if header is not None and (isinstance(header, bool) or not str(header).isdecimal() or int(header) < 1):
            raise UsageError(f"header must be a row, from 1, not {header!r}")
        return cls(
            text=given.get("text") or "text",
            extra=None if extra is None else tuple(extra),
            sheet=given.get("sheet"),
            header=None if header is None else int(header),
        )


class Spreadsheets:
    """Reads a spreadsheet, or all of a folder by name. A row without a task is a BadRow, and the next is read."""

    def read(self, location: str, options: Mapping[str, Any]) -> Iterator[Task | BadRow]:
        """The rows, each when it is asked for; UsageError for what cannot be read and for wrong options."""
        own = Options.of(options)
        for path in _files(Path(location)):
            yield from _rows(path, own)


def _files(location: Path) -> list[Path]:
    if not location.is_dir():
        return [location]
    found = sorted(p for p in location.iterdir() if p.suffix.lower() in _SUFFIXES and p.name[0] not in ".~")
    if not found:
        raise UsageError(f"no spreadsheet in {location}")
    return found


def _rows(path: Path, options: Options) -> Iterator[Task | BadRow]:
    names: list[str] = []
    columns: dict[str, int] = {}
    for label, number, row in cells(path, options.sheet):
        if not names:
            if number < (options.header or 1) or not any(value not in (None, "") for value in row):
                continue
            names = ["" if value is None else str(value).strip() for value in row]
            columns = _columns(label, names, options)
        elif any(value not in (None, "") for value in row):
            yield _row(label, number, row, columns, options.text)
    if not names:
        raise UsageError(f"{path}: empty; a header is wanted")


def _columns(label: str, names: list[str], options: Options) -> dict[str, int]:
    """Where the task stands and what is kept beside it, by name. UsageError for columns that are missing or there twice."""
    named = [name for name in names if name]
    twice = sorted({name for name in named if named.count(name) > 1})
    if twice:
        raise UsageError(f"{label}: two columns are called {', '.join(twice)}")
    wanted = [options.text, *(named if options.extra is None else options.extra)]
    for name in wanted:
        if name not in named:
            raise UsageError(f"{label}: no column is called {name!r}{_near(name, named)}; it has {', '.join(named)}")
    return {name: names.index(name) for name in wanted}


def _row(label: str, number: int, row: tuple[Any, ...], columns: Mapping[str, int], text: str) -> Task | BadRow:
    values = {name: row[place] if place < len(row) else None for name, place in columns.items()}
    said = values.pop(text)
    if said is None or (isinstance(said, str) and not said.strip()):
        return BadRow(label, number, f"no text in {text}")
    if not isinstance(said, str):
        return BadRow(label, number, f"{text} holds {type(said).__name__}, not text")
    return Task(said.strip(), label, number, {name: value_of(value) for name, value in values.items()})


def _near(name: str, names: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(names), n=1)
    return f" (did you mean {found[0]}?)" if found else ""
