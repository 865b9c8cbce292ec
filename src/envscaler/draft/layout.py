"""A spec's parts, given as JSON, as YAML in the formatter's form: logic in literal blocks, the rest on a line where it fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.diagnostics import printable
from envscaler.spec.edit import inline
from envscaler.spec.forms import form

__all__ = ["comment", "entry"]

_WIDTH: Final = 110
_STEP: Final = "  "
_LOGIC: Final = ("do", "holds")
_PROSE: Final = ("description", "text")
_OPEN: Final = ("states", "helpers", "tools", "initial_state")  # sections whose entries are never put on one line
_FORM_OF: Final = {"states": "state", "rules": "rule", "helpers": "helper", "tools": "tool"}
_TEXT: Final = 200  # characters of a comment


def entry(section: str, name: str, value: Any, depth: int) -> list[str]:
    """The lines of one entry of a section, or of a key of the spec with section ""; ``depth`` counts indentation.

    Values are JSON. What has no place in the language is laid out as it is: the checker says so.
    """
    if section in _FORM_OF and isinstance(value, Mapping):
        value = _ordered(value, form(_FORM_OF[section]).names)
    return list(_entry(name, value, depth, section in _OPEN))


def comment(text: str, depth: int = 0) -> str:
    """A text as a comment on one line."""
    line = " ".join(printable(text).split())
    return f"{_STEP * depth}# {line if len(line) <= _TEXT else line[: _TEXT - 1] + '…'}"


def _ordered(value: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The keys in the order of the reference, `description` before what it describes, unknown ones last."""
    known = {name: value[name] for name in names if name in value}
    if "description" in known and "params" not in known and "kind" not in known:
        known = {"description": known.pop("description"), **known}
    return {**known, **{k: v for k, v in value.items() if k not in known}}


def _entry(name: str, value: Any, depth: int, opened: bool = False) -> Iterator[str]:
    head = f"{_STEP * depth}{_key(name)}:"
    if isinstance(value, str) and _block(name, value):
        yield from _literal(head, value, depth)
    elif isinstance(value, Mapping) and value and (opened or not _fits(head, value)):
        yield head
        for key, inner in value.items():
            yield from _entry(str(key), inner, depth + 1)
    elif isinstance(value, list) and value and (name == "examples" or not _fits(head, value)):
        yield head
        for item in value:
            yield from _item(item, depth + 1)
    else:
        yield f"{head} {_flow(value)}"


def _item(value: Any, depth: int) -> Iterator[str]:
    dash = f"{_STEP * depth}-"
    if isinstance(value, Mapping) and value and not _fits(dash, value):
        lines = [line for key, inner in value.items() for line in _entry(str(key), inner, depth + 1)]
        yield f"{dash} {lines[0].lstrip()}"
        yield from lines[1:]
    else:
        yield f"{dash} {_flow(value)}"


def _literal(head: str, text: str, depth: int) -> Iterator[str]:
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    yield head + (" |2" if lines and lines[0].startswith(" ") else " |")
    for line in lines:
        yield f"{_STEP * (depth + 1)}{line}" if line else ""


def _fits(head: str, value: Any) -> bool:
    """Whether a value has a form on one line that is short enough, and no logic or lines of prose in it."""
    return not _lined(value) and len(head) + 1 + len(_flow(value)) <= _WIDTH


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return inline(value)


def _key(name: str) -> str:
    """A key without quotes where it can be: all keys are texts, `null` too."""
    return name if name == "null" else inline(name)


def _lined(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any((isinstance(v, str) and _block(k, v)) or _lined(v) for k, v in value.items())
    return isinstance(value, list) and any(_lined(item) for item in value)


def _block(name: str, text: str) -> bool:
    """Whether a text is a literal block: logic, and prose of several lines, but not what YAML cannot hold unescaped."""
    if not all(c == "\n" or c.isprintable() for c in text):
        return False
    return name in _LOGIC or (name in _PROSE and "\n" in text.strip())
