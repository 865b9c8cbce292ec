"""Where in an unfinished line the cursor stands: which word, and within JSON which key or value of which type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envscaler.play.words import bare
from envscaler.runtime import shapes as s

__all__ = ["Spot", "fields_of", "json_spot", "tokens"]


def tokens(text: str) -> list[tuple[int, int]]:
    """Start and end of each word of a line, quotes and brackets held together; the last is the one at the end of the
    text, empty after a space."""
    found: list[tuple[int, int]] = []
    start, at = 0, 0
    while at < len(text):
        if text[at].isspace():
            if at > start:
                found.append((start, at))
            start = at = at + 1
        elif text[at] in "\"'[{" and (at == start or text[at - 1] == "="):
            at = _past(text, at)
        else:
            at += 1
    return [*found, (start, len(text))]


def _past(text: str, at: int) -> int:
    """The end of the quoted text or bracketed JSON that begins here; the end of the text when it is not closed."""
    if text[at] == "'":
        return text.find("'", at + 1) + 1 or len(text)
    depth = 0
    while at < len(text):
        if text[at] == '"':
            at = _past_text(text, at)
        else:
            depth += (text[at] in "[{") - (text[at] in "]}")
            at += 1
        if depth == 0:
            return at
    return len(text)


def _past_text(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


@dataclass(frozen=True, slots=True)
class Spot:
    """What can stand at the end of unfinished JSON, from offset ``start`` on: a key among ``keys``, or a value of
    ``shape`` called ``name``."""

    start: int
    keys: Mapping[str, s.Field] | None = None
    shape: s.Shape | None = None
    name: str = ""


@dataclass(slots=True)
class _Frame:
    shape: s.Shape | None
    is_object: bool
    name: str
    key: str | None = None
    keys: list[Any] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)

    def inner(self) -> tuple[s.Shape | None, str]:
        """The type of what comes next, and what it is called."""
        of = bare(self.shape) if self.shape is not None else None
        if not self.is_object:
            return (of.item if isinstance(of, s.ListOf) else None), self.name
        if isinstance(of, s.DictOf):
            return of.value, self.key or ""
        found = fields_of(of, self.given).get(self.key or "")
        return (found.shape if found is not None else None), self.key or ""


def fields_of(shape: s.Shape | None, given: Mapping[str, Any]) -> dict[str, s.Field]:
    """The fields that an object of the type may have, by outside name; ``given`` tells members of a union apart."""
    match shape:
        case s.Struct():
            return {f.json: f for f in shape.fields}
        case s.Partial():
            return {f.json: f for f in shape.of.fields}
        case s.Union():
            members = [m for m in shape.members if _fits(m, shape.tag, given)]
            fields = {f.json: f for m in members for f in m.fields}
            tags = [tag.shape.value for m in members if isinstance((tag := m.field(shape.tag)).shape, s.Const)]
            for member in members:  # all of them have the tag under one name
                of = member.field(shape.tag)
                fields[of.json] = s.Field(of.name, s.Enum(tuple(t for t in tags if not isinstance(t, bool))), of.json)
            return fields
    return {}


def _fits(member: s.Struct, tag: str, given: Mapping[str, Any]) -> bool:
    of = member.field(tag)
    return of.json not in given or (isinstance(of.shape, s.Const) and of.shape.value == given[of.json])


def json_spot(text: str, at: int, shape: s.Shape | None, name: str) -> Spot | None:
    """What can stand at the end of ``text``, in which unfinished JSON of a type begins at ``at``."""
    stack: list[_Frame] = []
    key_next = False
    while at < len(text):
        char = text[at]
        if char == '"':
            end = _past_text(text, at)
            if end == len(text) and (text[-1] != '"' or end == at + 1 or _open(text[at:end])):
                return _spot(stack, key_next, at, shape, name)
            _take(stack, key_next, _loads(text[at:end]))
            at = end
            continue
        if char in "[{":
            inner, called = stack[-1].inner() if stack else (shape, name)
            stack.append(_Frame(inner, char == "{", called))
            key_next = char == "{"
        elif char in "]}":
            if not stack:
                return None
            stack.pop()
            if not stack:
                return None
        elif char == ",":
            key_next = bool(stack) and stack[-1].is_object
        elif char == ":":
            key_next = False
        elif not char.isspace():
            end = at
            while end < len(text) and text[end] not in ",]}" and not text[end].isspace():
                end += 1
            if end == len(text):
                return _spot(stack, key_next, at, shape, name)
            at = end
            continue
        at += 1
    before = text.rstrip()[-1:]
    return _spot(stack, key_next, len(text), shape, name) if before in "[{,:" else None


def _open(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return True
    return False


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text[1:-1]


def _take(stack: list[_Frame], is_key: bool, value: Any) -> None:
    if not stack or not stack[-1].is_object:
        return
    if is_key:
        stack[-1].key = value
        stack[-1].keys.append(value)
    elif stack[-1].key is not None:
        stack[-1].given[stack[-1].key] = value


def _spot(stack: list[_Frame], key_next: bool, start: int, shape: s.Shape | None, name: str) -> Spot:
    if not stack:
        return Spot(start, shape=shape, name=name)
    frame = stack[-1]
    if key_next:
        of = bare(frame.shape) if frame.shape is not None else None
        if isinstance(of, s.DictOf):
            return Spot(start, shape=of.key, name=name)
        return Spot(start, keys={k: f for k, f in fields_of(of, frame.given).items() if k not in frame.keys})
    inner, called = frame.inner()
    return Spot(start, shape=inner, name=called)
