"""What exporters share: their settings taken, rows counted and written as lines of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from envscaler.diagnostics import one_of
from envscaler.errors import UsageError
from envscaler.llm.messages import Message
from envscaler.plugin.records import Splits

__all__ = ["choice", "json_text", "lines_of", "thinking", "whole", "with_ids", "write_lines"]

T = TypeVar("T")
# One escape of JSON after the other, so that what an escaped backslash stands before is none.
_ESCAPE: Final = re.compile(r"\\(?:ud[89ab]..\\ud[c-f]..|(?P<half>ud[89a-f]..)|.)")
_TAG: Final = re.compile(r"<(?=/?think)")


def choice(settings: Mapping[str, Any], name: str, values: Sequence[str], default: str) -> str:
    """The setting ``name``, which is one of ``values``. Raises UsageError."""
    value = settings.get(name, default)
    if value not in values:
        raise UsageError(f"{name} is {one_of(values)}, not {value!r}")
    return str(value)


def json_text(value: Any) -> str:
    """JSON in one line and in ASCII, as it was ordered."""
    return json.dumps(value, separators=(",", ":"))


def whole(text: str) -> str:
    """JSON in ASCII with U+FFFD for halves of surrogate pairs: Arrow, which trainers read with, loads no file that has one."""
    return _ESCAPE.sub(_whole, text) if "\\ud" in text else text


def _whole(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["half"] else escape[0]


def write_lines(path: Path, rows: Iterable[Any], mend: Callable[[str], str] = whole) -> int:
    """Write a line of JSON for each row; how many. ``mend`` is done to each."""
    count = 0
    with path.open("w", encoding="ascii", newline="\n") as lines:
        for count, row in enumerate(rows, 1):  # noqa: B007
            lines.write(mend(json_text(row)) + "\n")
    return count


def lines_of(
    splits: Splits[T], folder: Path, row: Callable[[T], Any], mend: Callable[[str], str] = whole
) -> dict[str, int]:
    """Write a file of lines for each part of the data, a row for each sample; how many are in which."""
    return {
        (name := f"{split}.jsonl"): write_lines(folder / name, map(row, samples()), mend)
        for split, samples in splits.items()
    }


def thinking(message: Message) -> str:
    """The reasoning of a message as a text before its content, empty where it has none; no tag in it ends it."""
    return f"<think>\n{_TAG.sub('< ', message.reasoning)}\n</think>\n\n" if message.reasoning else ""


def with_ids(message: Message) -> dict[str, Any]:
    """A message in OpenAI's form, without reasoning. What an agent was told of a reply that could not be read answers no call:
    the form knows such a text only from the user."""
    if message.role == "tool" and not message.tool_call_id:
        return {"role": "user", "content": message.content}
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        plain["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    return plain
