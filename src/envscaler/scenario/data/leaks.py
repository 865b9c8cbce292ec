"""Texts in a state that give an answer away: a remark that holds the key of another record, or a value that a task asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.values import show
from envscaler.scenario.data.records import Records
from envscaler.scenario.world import World

__all__ = ["Leak", "leaks"]

_WORD: Final = re.compile(r"#?\w(?:[\w-]*\w)?")
_SHORT: Final = 3  # characters; a shorter value stands in texts by chance


@dataclass(frozen=True, slots=True)
class Leak:
    """``path``: the text's place, such as `orders.O-0001.note`. ``gives``: the key as `collection.key`, or the name of the
    task's value; ``text``: the text itself."""

    path: str
    gives: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: the text gives {self.gives} away"


def leaks(world: World, state: Mapping[str, Any], task_values: Mapping[str, Any] | None = None) -> list[Leak]:
    """What the texts of a state give away, in order of the state.

    Looked at are texts of several words. Told are keys that stand in them as a word of their own, if they hold a digit and
    are not the record's own; and those of ``task_values``, answers and arguments by name, that stand in one as a whole
    and are not all of it.
    """
    records = Records.taken(world.states, state)
    keys = dict(_keys(records))
    wanted = [(name, _pattern(value)) for name, value in (task_values or {}).items() if _telling(value)]
    found: list[Leak] = []
    for path, own, text in _texts(records):
        words = dict.fromkeys(_WORD.findall(text))
        found += [Leak(path, keys[word], text) for word in words if word in keys and word != own]
        found += [Leak(path, n, text) for n, p in wanted if (at := p.search(text)) and at[0].strip() != text.strip()]
    return found


def _keys(records: Records) -> Iterator[tuple[str, str]]:
    for name, key in reversed(records.places()):
        shape = records.shapes[name]
        text = str(key)
        if (
            isinstance(shape, s.Collection)
            and shape.key.of is s.STR
            and len(text) > _SHORT
            and any(map(str.isdigit, text))
        ):
            yield text, f"{name}.{text}"


def _telling(value: Any) -> bool:
    return value is not None and not isinstance(value, bool | dict | list) and len(show(value)) >= _SHORT


def _pattern(value: Any) -> re.Pattern[str]:
    """The value as a whole, numbers with or without their cents and thousands set apart."""
    if isinstance(value, int | float):
        whole = f"{value:,.2f}".removesuffix(".00")
        texts = {show(value), whole, whole.replace(",", ""), f"{value:.2f}", f"{value:,.2f}"}
    else:
        texts = {show(value)}
    inner = "|".join(sorted(map(re.escape, texts), key=len, reverse=True))
    return re.compile(rf"(?<![\w.,-])(?:{inner})(?![\w-]|[.,]\d)", re.IGNORECASE)


def _texts(records: Records) -> Iterator[tuple[str, str, str]]:
    """Path, own key and text of all texts of several words."""
    for name, key in records.places():
        for path, text in _inner(records.of[name][key], f"{name}.{key}"):
            yield path, str(key), text
    for name, record in records.singles.items():
        for path, text in _inner(record, name):
            yield path, "", text


def _inner(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if " " in value.strip():
            yield path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _inner(one, f"{path}.{key}")
    elif isinstance(value, list):
        for n, one in enumerate(value):
            yield from _inner(one, f"{path}[{n}]")
