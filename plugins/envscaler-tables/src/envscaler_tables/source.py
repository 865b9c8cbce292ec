"""The source: options checked, files found, each read by the reader of its format."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envscaler.errors import UsageError
from envscaler.plugin import BadRow, Task

__all__ = ["Options", "Tables", "chosen"]

_FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}
_KNOWN = ("text", "extra", "format", "delimiter", "encoding", "limit")


@dataclass(frozen=True, slots=True)
class Options:
    """``text``: the column with the task. ``extra``: columns to keep beside it; None means all others. ``format``: `csv` or
    `parquet`, by default that of the suffix. ``delimiter`` and ``encoding`` are for CSV. ``limit``: tasks at most."""

    text: str = "text"
    extra: tuple[str, ...] | None = None
    format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    limit: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Options":
        """The options; UsageError for one that is unknown or wrong."""
        for name in given:
            if name not in _KNOWN:
                raise UsageError(f"tables has no option {name}{_near(name, _KNOWN)}; it has {', '.join(_KNOWN)}")
        for name in ("text", "format", "delimiter", "encoding"):
            if given.get(name) is not None and not isinstance(given[name], str):
                raise UsageError(f"{name} must be text, not {given[name]!r}")
        extra, limit = given.get("extra"), given.get("limit")
        if extra is not None and (isinstance(extra, str) or not all(isinstance(name, str) for name in extra)):
            raise UsageError(f"extra must be a list of columns, not {extra!r}")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
            raise UsageError(f"limit must be a whole number from 0, not {limit!r}")
        if given.get("format") not in (None, "csv", "parquet"):
            raise UsageError(f"format must be csv or parquet, not {given['format']!r}")
        if len(given.get("delimiter") or ",") != 1:
            raise UsageError(f"delimiter must be one character, not {given['delimiter']!r}")
        return cls(
            text=given.get("text") or "text",
            extra=None if extra is None else tuple(extra),
            format=given.get("format"),
            delimiter=given.get("delimiter"),
            encoding=given.get("encoding") or "utf-8",
            limit=limit,
        )


class Tables:
    """Reads a CSV or Parquet file, or all of a folder by name. A row without a task is a BadRow, and the next is read."""

    def read(self, location: str, options: Mapping[str, Any]) -> Iterator[Task | BadRow]:
        """The rows, each when it is asked for; UsageError for what cannot be read and for wrong options."""
        chosen_options = Options.of(options)
        left = chosen_options.limit
        for path in _files(Path(location)):
            for row in _rows(path, chosen_options):
                if left == 0:
                    return
                if left is not None and isinstance(row, Task):
                    left -= 1
                yield row


def _rows(path: Path, options: Options) -> Iterator[Task | BadRow]:
    kind = options.format or _FORMATS.get(path.suffix.lower())
    if kind == "csv":
        from envscaler_tables.csvfile import rows
    elif kind == "parquet":
        from envscaler_tables.parquet import rows
    else:
        raise UsageError(f"{path}: what format it has is not said by its name; give the option format: csv or parquet")
    yield from rows(path, options)


def _files(location: Path) -> list[Path]:
    if not location.is_dir():
        return [location]
    found = sorted(p for p in location.iterdir() if p.suffix.lower() in _FORMATS and not p.name.startswith("."))
    if not found:
        raise UsageError(f"no CSV or Parquet file in {location}")
    return found


def chosen(path: Path, columns: list[str], options: Options) -> tuple[str, ...]:
    """The columns to keep beside the task's. UsageError for columns that are missing, and for a name that two have."""
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise UsageError(f"{path}: two columns are called {', '.join(twice)}")
    for name in (options.text, *(options.extra or ())):
        if name not in columns:
            raise UsageError(f"{path}: no column is called {name!r}{_near(name, columns)}; it has {', '.join(columns)}")
    return tuple(c for c in columns if c != options.text) if options.extra is None else options.extra


def _near(name: str, names: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(names), n=1)
    return f" (did you mean {found[0]}?)" if found else ""
