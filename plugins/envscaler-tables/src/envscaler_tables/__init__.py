"""The plugin: a task source that reads spreadsheets, a row at a time."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from envscaler.plugin import SourceEntry, hookimpl
from envscaler_tables.source import Spreadsheets

__all__ = ["Spreadsheets", "envscaler_sources", "sample"]

ENVSCALER_HOOKS = 1


def sample(folder: Path) -> tuple[str, Mapping[str, Any]]:
    """A small spreadsheet to try it on: two tasks and, between them, a row without one."""
    from openpyxl import Workbook

    book = Workbook()
    for row in (["id", "task"], [1, "Book a table."], [2, None], [3, "Cancel it,\nplease."]):
        book.active.append(row)
    path = folder / "tasks.xlsx"
    book.save(path)
    return str(path), {"text": "task", "extra": ["id"]}


@hookimpl
def envscaler_sources() -> Iterable[SourceEntry]:
    """The one source of this distribution."""
    return [SourceEntry("spreadsheet", "Spreadsheets, a task from each row", Spreadsheets, sample)]
