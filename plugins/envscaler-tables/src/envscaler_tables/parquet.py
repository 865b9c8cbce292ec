"""Reads Parquet in batches of rows and only the columns that are wanted, so that memory does not grow with the file."""

import datetime as dt
import decimal
import math
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from envscaler.errors import UsageError
from envscaler.plugin import BadRow, Task
from envscaler_tables.source import Options, chosen

__all__ = ["rows"]

_BATCH = 1024  # rows


def rows(path: Path, options: Options) -> Iterator[Task | BadRow]:
    """The rows. ``line`` counts them from 1."""
    line = 0
    try:
        with pq.ParquetFile(path) as file:
            extra = chosen(path, list(file.schema_arrow.names), options)
            wanted = list(dict.fromkeys([options.text, *extra]))
            for batch in file.iter_batches(_BATCH, columns=wanted):
                for row in batch.to_pylist():
                    line += 1
                    yield _row(str(path), line, row, extra, options.text)
    except OSError as error:
        raise UsageError(f"{path}: {_reason(error)}") from None
    except pa.ArrowException as error:
        raise UsageError(f"{path}: after row {line}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or directory"
    return " ".join(str(error).split())


def _row(path: str, line: int, row: dict[str, Any], extra: tuple[str, ...], column: str) -> Task | BadRow:
    text = row[column]
    if text is None or (isinstance(text, str) and not text.strip()):
        return BadRow(path, line, f"no text in {column}")
    if not isinstance(text, str):
        return BadRow(path, line, f"{column} holds {type(text).__name__}, not text")
    try:
        return Task(text.strip(), path, line, {name: _json(row[name]) for name in extra})
    except ValueError as error:
        return BadRow(path, line, str(error))


def _json(value: Any) -> Any:
    """A JSON value: times and decimals as text; ValueError for bytes, which are neither."""
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        raise ValueError("bytes cannot be kept beside a task; leave the column out of extra")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, dt.timedelta, uuid.UUID)):
        return str(value)
    return value
