"""A small file of each form, for the conformance suite: rows that are right, and one that is not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["api_bank", "csv", "jsonl", "parquet", "text", "toolace"]

Made = tuple[str, Mapping[str, Any]]


def toolace(folder: Path) -> Made:
    """Two conversations, and one in which no user speaks."""

    def row(speaker: str, said: str) -> dict[str, Any]:
        return {"system": "You have tools.", "conversations": [{"from": speaker, "value": said}]}

    rows = [row("user", "Book a table."), row("assistant", "What for?"), row("user", "Cancel it.")]
    return _written(folder / "data.json", json.dumps(rows, indent=2)), {}


def api_bank(folder: Path) -> Made:
    """Two requests, one of them at a moment, and a row without one."""
    said = [
        "User: Book a table.TIME: 2030-01-02 03:04:05\nGenerate API Request: ",
        "",
        "User: Cancel it.\nAPI-Request: [A()]",
    ]
    rows = [{"instruction": "Ask for it.", "input": text, "output": "API-Request: [A()]"} for text in said]
    return _written(folder / "lv1-train.json", json.dumps(rows, indent=4)), {}


def jsonl(folder: Path) -> Made:
    """Two objects, and a line that is none."""
    text = '{"task": "Book a table.", "id": 1}\n{"task": \n\n{"task": "Cancel it.", "id": 3}\n'
    return _written(folder / "tasks.jsonl", text), {"text": "task"}


def csv(folder: Path) -> Made:
    """Two tasks and, between them, a row without one."""
    return _written(folder / "tasks.csv", 'id,task\n1,Book a table.\n2,\n3,"Cancel it,\nplease."\n'), {"extra": ["id"]}


def parquet(folder: Path) -> Made:
    """The same as Parquet; a place where none is when the package is not installed."""
    path = folder / "tasks.parquet"
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError:
        return str(path), {}
    pq.write_table(pa.table({"id": [1, 2, 3], "task": ["Book a table.", None, "Cancel it."]}), path)
    return str(path), {}


def text(folder: Path) -> Made:
    """Two lines, and one that is no text."""
    path = folder / "tasks.txt"
    path.write_bytes(b"Book a table.\n\n\xff\nCancel it.\n")
    return str(path), {}


def _written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8", newline="\n")
    return str(path)
