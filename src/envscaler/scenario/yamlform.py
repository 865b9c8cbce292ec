"""Scenarios as YAML for people: what the reader of `reading` reads as the same scenarios."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from envscaler.scenario.model import Scenario

__all__ = ["to_yaml", "yaml_text"]

_WIDTH: Final = 110
_PLAIN: Final = re.compile(r"[A-Za-z_][\w .()/+*=<>-]*(?<! )", re.ASCII)
_WORDS: Final = ("true", "false", "null")
_SAFE: Final = re.compile(r"[ -~\xa1-\u024f\u0370-\u1fff\u3040-\ud7ff]")


def to_yaml(scenarios: Sequence[Scenario]) -> str:
    """The scenarios in YAML: one as the document, several under `scenarios`."""
    if len(scenarios) == 1:
        return yaml_text(scenarios[0].to_json())
    return yaml_text({"scenarios": [one.to_json() for one in scenarios]})


def yaml_text(value: dict[str, Any]) -> str:
    """A JSON object in block style; what fits on a line stands on one."""
    return "".join(f"{line}\n" for line in _block(value, 0))


def _block(value: Any, indent: int) -> Iterator[str]:
    pad = " " * indent
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _entry(f"{pad}{_scalar(key)}:", inner, indent)
        return
    for item in value:
        flow = _flow(item)
        if _short(flow, indent + 2) and not _lines(item):
            yield f"{pad}- {flow}"
        elif isinstance(item, dict | list):
            first, *rest = _block(item, indent + 2)
            yield f"{pad}- {first[indent + 2 :]}"
            yield from rest
        else:
            yield from _entry(f"{pad}-", item, indent)


def _entry(head: str, value: Any, indent: int) -> Iterator[str]:
    text = _lines(value)
    flow = _flow(value)
    if text:
        yield f"{head} |"
        yield from (f"{' ' * (indent + 2)}{line}" for line in text)
    elif isinstance(value, dict | list) and value and not _short(flow, len(head)):
        yield head
        yield from _block(value, indent + 2)
    else:
        yield f"{head} {flow if isinstance(value, dict | list) else _scalar(value, flow=False)}"


def _short(flow: str, start: int) -> bool:
    """Whether what is written in one line should be."""
    return start + len(flow) <= _WIDTH and '\\"' not in flow


def _lines(value: Any) -> list[str]:
    """The lines of a text that stands best in a literal block: of several lines, or one that would be full of escapes."""
    if not isinstance(value, str) or ("\n" not in value and ('"' not in value or _sentence(value))):
        return []
    lines = value.split("\n")
    good = lines[-1] and not lines[0].startswith(" ") and all(line == line.rstrip() for line in lines)
    return lines if good and lines[0] and all(map(_printed, lines)) else []


def _printed(text: str) -> bool:
    return all(_SAFE.match(char) for char in text)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any, *, flow: bool = True) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value not in _WORDS and len(value) <= _WIDTH:
        return value
    if not flow and _sentence(value):
        return value
    return '"' + "".join(map(_escaped, value)) + '"'


def _sentence(text: str) -> bool:
    """Whether a text can stand as it is where nothing follows in its line."""
    return (
        text[:1].isalpha()
        and _printed(text)
        and text == text.strip()
        and ": " not in text
        and " #" not in text
        and not text.endswith(":")
        and text not in _WORDS
    )


def _escaped(char: str) -> str:
    if char in '\\"':
        return "\\" + char
    if _SAFE.match(char):
        return char
    code = ord(char)
    return {"\n": "\\n", "\t": "\\t"}.get(char) or (f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}")
