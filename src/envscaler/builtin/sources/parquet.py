"""Reads Parquet in batches of rows and only the columns that are wanted, so that memory does not grow with the file."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Iterator
from typing import Any, Final

from envscaler.builtin.sources.options import Options, chosen, task
from envscaler.builtin.sources.places import Place
from envscaler.errors import UsageError
from envscaler.plugin.records import BadRow, Task

__all__ = ["rows"]

_BATCH: Final = 1024  # rows


def rows(place: Place, options: Options) -> Iterator[Task | BadRow]:
    """The rows. ``line`` counts them from 1. Raises UsageError where the extra `parquet` is not installed."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError:
        raise UsageError(f"{place.label}: Parquet needs pyarrow: pip install 'envscaler[parquet]'") from None
    line = 0
    try:
        with pq.ParquetFile(place.path) as file:
            text, extra = chosen(place, list(file.schema_arrow.names), options)
            for batch in file.iter_batches(_BATCH, columns=list(dict.fromkeys([text, *extra]))):
                for row in batch.to_pylist():
                    line += 1
                    yield _row(place, line, row, text, extra)
    except (OSError, pa.ArrowException) as error:
        after = f"after row {line}: " if line else ""
        raise UsageError(f"{place.label}: {after}{' '.join(str(error).split())}") from None


def _row(place: Place, line: int, row: dict[str, Any], text: str, extra: tuple[str, ...]) -> Task | BadRow:
    try:
        return task(row[text], text, place, line, {name: _json(row[name]) for name in extra})
    except ValueError as error:
        return BadRow(place.label, line, str(error))


def _json(value: Any) -> Any:
    """A JSON value: times and decimals as text; ValueError for bytes, which are neither."""
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        raise ValueError("bytes cannot be kept beside a task; leave the column out of extra")
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, dt.timedelta, uuid.UUID)):
        return str(value)
    return value
