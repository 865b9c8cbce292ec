"""The plugin: a task source that reads CSV and Parquet, a row at a time."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from envscaler.plugin import SourceEntry, hookimpl
from envscaler_tables.source import Tables

__all__ = ["Tables", "envscaler_sources", "sample"]

ENVSCALER_HOOKS = 1


def sample(folder: Path) -> tuple[str, Mapping[str, Any]]:
    """A small table to try it on: two tasks and, between them, a row without one."""
    path = folder / "tasks.csv"
    path.write_text('id,task\n1,Book a table.\n2,\n3,"Cancel it,\nplease."\n', encoding="utf-8")
    return str(path), {"text": "task", "extra": ["id"]}


@hookimpl
def envscaler_sources() -> Iterable[SourceEntry]:
    """The one source of this distribution."""
    return [SourceEntry("tables", "CSV and Parquet files, a task from each row", Tables, sample)]
