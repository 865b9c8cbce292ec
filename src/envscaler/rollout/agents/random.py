"""An agent that calls tools at random: arguments that fit the schemas, and ids where it has met some."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

from envscaler.agents import Turn
from envscaler.llm.messages import Message, Tool, ToolCall
from envscaler.plugin.roles import Part
from envscaler.rollout.settings import read_settings

__all__ = ["RandomAgent"]

_ID: Final = re.compile(r"\b[A-Za-z]{1,6}[-_]?\d{2,}\b")
_WORD: Final = re.compile(r"[A-Za-z]{3,}")
_DAY: Final = "2031-05-{:02d}"
_SEEN: Final = 2000  # values kept


class RandomAgent:
    """Calls ``calls`` tools, one in each reply, and then stops. The same seed calls the same."""

    name = "random"

    def __init__(self, part: Part) -> None:
        settings = read_settings("random", part.settings, {"calls": 12})
        self._random = Random(part.seed)  # noqa: S311 - no secret is made
        self._left = self._random.randint(1, settings["calls"])
        self._seen: list[tuple[str, Any]] = []
        self._read = 0

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Turn:
        for message in messages[self._read :]:
            if message.role in ("tool", "user"):
                self._seen += _met(message.content)
        self._seen = self._seen[-_SEEN:]
        self._read = len(messages)
        if self._left == 0 or not tools:
            return Turn(Message("assistant", "I stop here."))
        self._left -= 1
        tool = self._random.choice(tools)
        arguments = self._value("", tool.parameters)
        return Turn(Message("assistant", tool_calls=(ToolCall("", tool.name, json.dumps(arguments)),)))

    def _value(self, name: str, schema: Mapping[str, Any]) -> Any:
        pick = self._random
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self._value(name, pick.choice(schema[key]))
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return pick.choice(schema["enum"])
        kind = schema.get("type", "string")
        match pick.choice(kind) if isinstance(kind, list) else kind:
            case "object":
                required = schema.get("required", ())
                parts = schema.get("properties", {})
                return {n: self._value(n, part) for n, part in parts.items() if n in required or pick.random() < 0.5}
            case "array":
                item = schema.get("items", {})
                return [self._value(name, item) for _ in range(pick.randint(schema.get("minItems", 0) or 1, 3))]
            case "integer":
                return pick.randint(*_bounds(schema, 1))
            case "number":
                return round(pick.uniform(*_bounds(schema, 0.01)), 2)
            case "boolean":
                return pick.random() < 0.5
            case "null":
                return None
        return self._text(name, schema)

    def _text(self, name: str, schema: Mapping[str, Any]) -> str:
        pick, wanted = self._random, set(name.lower().split("_")) - {"id", ""}
        if schema.get("format") == "date":
            return _DAY.format(pick.randint(1, 28))
        near = [v for key, v in self._seen if wanted & set(key.lower().split("_"))]
        known = near or [v for _, v in self._seen if _ID.fullmatch(str(v))] or [value for _, value in self._seen]
        if known and pick.random() < 0.9:
            return str(pick.choice(known))
        return "text"


def _bounds(schema: Mapping[str, Any], least: Any) -> tuple[Any, Any]:
    low = schema.get("minimum", schema.get("exclusiveMinimum", least))
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 100))
    return (low, max(low, high))


def _met(text: str) -> list[tuple[str, Any]]:
    """Values by the name under which they stood; words and ids of a plain text."""
    try:
        return list(_values("", json.loads(text)))
    except (ValueError, RecursionError):
        return [("", found) for pattern in (_ID, _WORD) for found in pattern.findall(text)]


def _values(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            if _ID.fullmatch(key):
                yield name, key
            yield from _values(key, part)
    elif isinstance(value, list):
        for part in value:
            yield from _values(name, part)
    elif isinstance(value, str) and 0 < len(value) < 80:
        yield name, value
