"""A few records of a state for a prompt: enough to choose arguments by, however large the state is."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

from envscaler.runtime import Environment

__all__ = ["excerpt", "shown"]

_RECORDS = 5  # of a collection
_WIDE = 60  # characters of a text in a record
_ROW = 260  # characters of a record
_FAR = 2000  # records that are looked through to find the place to begin


def excerpt(env: Environment, states: Iterable[str], turn: int) -> str:
    """A small table of each collection, the key first; which records are in it moves on with ``turn``."""
    return "\n".join(_part(env, name, turn) for name in states)


def _part(env: Environment, name: str, turn: int) -> str:
    view = env.final[name]
    if not hasattr(getattr(env._state, name), "own"):
        return f"{name}: {shown(env.record(name), _ROW, _WIDE)}"
    keys = _some(view, turn)
    records = [env.record(name, key) or {} for key in keys]
    fields = list(dict.fromkeys(field for record in records for field, value in record.items() if value is not None))
    of = f"{len(keys)} of {len(view)}" if len(view) > len(keys) else f"{len(view)}"
    rows = [
        " | ".join([str(key), *(_cell(record.get(f)) for f in fields)])
        for key, record in zip(keys, records, strict=True)
    ]
    return "\n".join([f"{name} ({of}): {' | '.join(['key', *fields])}", *(f"  {row}" for row in rows)])


def _some(view: Any, turn: int) -> list[Any]:
    count = len(view)
    if count <= _RECORDS:
        return list(view)
    first = (turn * _RECORDS) % min(count, _FAR)
    return list(itertools.islice(itertools.chain(view, view), first, first + _RECORDS))


def _cell(value: Any) -> str:
    """A value in a table: plain words without quotes, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, str) and value.isprintable() and "|" not in value and value.strip() == value != "":
        return value if len(value) <= _WIDE else value[: _WIDE - 1] + "…"
    return shown(value, 2 * _WIDE, _WIDE)


def shown(value: Any, most: int, text: int = 400) -> str:
    """A JSON value on one line, long texts and the whole of it cut with `…`."""
    line = json.dumps(_short(value, text), ensure_ascii=False, separators=(", ", ": "), default=str)
    return line if len(line) <= most else f"{line[: most - 1]}… ({len(line)} characters)"


def _short(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= most else value[: most - 1] + "…"
    if isinstance(value, dict):
        return {_short(str(k), most): _short(v, most) for k, v in value.items()}
    return [_short(v, most) for v in value] if isinstance(value, list) else value
