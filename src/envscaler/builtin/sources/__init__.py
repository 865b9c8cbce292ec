"""The task sources that ship. Naming one of them reads nothing."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from envscaler.builtin.sources import samples
from envscaler.plugin.entries import SourceEntry

if TYPE_CHECKING:
    from envscaler.builtin.sources.options import FileSource

__all__ = ["JSON", "SOURCES", "named"]

JSON = (".json", ".jsonl", ".ndjson")
"""The suffixes of files with JSON in them."""


def _made(
    name: str,
    module: str,
    function: str,
    suffixes: tuple[str, ...],
    known: tuple[str, ...] = ("files",),
    usual: str | None = None,
) -> Callable[[], FileSource]:
    def make() -> FileSource:
        from envscaler.builtin.sources.options import FileSource

        rows = getattr(import_module(f"envscaler.builtin.sources.{module}"), function)
        return FileSource(name, rows, suffixes, known, usual)

    return make


_TABLE = ("text", "extra", "files")

SOURCES: tuple[SourceEntry, ...] = (
    SourceEntry(
        "toolace",
        "ToolACE: the first thing that a user says in each conversation",
        _made("toolace", "shapes", "toolace", JSON),
        samples.toolace,
    ),
    SourceEntry(
        "api-bank",
        "API-Bank's training sets: what the user asks for",
        _made("api-bank", "shapes", "api_bank", JSON, ("files",), "lv*-train.json"),
        samples.api_bank,
    ),
    SourceEntry(
        "jsonl",
        "Objects in JSON Lines or in a list, a task from each",
        _made("jsonl", "shapes", "plain_json", JSON, _TABLE),
        samples.jsonl,
    ),
    SourceEntry(
        "csv",
        "CSV files, a task from each row",
        _made("csv", "csvfile", "rows", (".csv", ".tsv"), (*_TABLE, "delimiter", "encoding")),
        samples.csv,
    ),
    SourceEntry(
        "parquet",
        "Parquet files, a task from each row",
        _made("parquet", "parquet", "rows", (".parquet", ".pq"), _TABLE),
        samples.parquet,
    ),
    SourceEntry(
        "text",
        "Plain text, a task from each line or paragraph",
        _made("text", "lines", "rows", (".txt",), ("by", "files")),
        samples.text,
    ),
)


def named(name: str) -> FileSource:
    """A source that ships."""
    made: FileSource = next(entry for entry in SOURCES if entry.name == name).factory()  # type: ignore[assignment]
    return made
