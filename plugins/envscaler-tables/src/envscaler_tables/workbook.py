"""The rows of one sheet as they stand in the file, so that memory does not grow with it."""

import datetime as dt
import math
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile

from openpyxl import load_workbook  # type: ignore[import-untyped]
from openpyxl.utils.exceptions import InvalidFileException  # type: ignore[import-untyped]

from envscaler.errors import UsageError

__all__ = ["cells", "value_of"]

_BROKEN = (
    BadZipFile,
    InvalidFileException,
    ParseError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    EOFError,
    zlib.error,
)


def cells(path: Path, sheet: str | None) -> Iterator[tuple[str, int, tuple[Any, ...]]]:
    """For each row `FILE[SHEET]`, its number from 1, and its values. UsageError for a file or sheet that cannot be read."""
    number = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a spreadsheet has besides values
            book = load_workbook(path, read_only=True, data_only=True)
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except _BROKEN as error:
        raise UsageError(f"{path}: no spreadsheet that can be read: {_said(error)}") from None
    try:
        name = _named(path, [one.title for one in book.worksheets], sheet)
        rows = book[name]
        rows.reset_dimensions()  # what a file says of its own size may be wrong
        for row in rows.iter_rows(values_only=True):
            number += 1
            yield f"{path}[{name}]", number, row
    except _BROKEN as error:
        raise UsageError(f"{path}: broken after row {number}: {_said(error)}") from None
    finally:
        book.close()


def _named(path: Path, names: list[str], sheet: str | None) -> str:
    if not names:
        raise UsageError(f"{path}: it has no sheet with cells")
    if sheet is not None and sheet not in names:
        raise UsageError(f"{path}: no sheet is called {sheet!r}; it has {', '.join(names)}")
    return names[0] if sheet is None else sheet


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def value_of(value: Any) -> Any:
    """A cell as a JSON value: times as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return str(value)
