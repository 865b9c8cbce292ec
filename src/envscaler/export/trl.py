"""Conversations with tools as TRL's `SFTTrainer` takes them: `trl`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from envscaler.export.openai import openai_tool
from envscaler.export.sample import REASONING, Sample, with_reasoning
from envscaler.export.writing import choice, json_text, lines_of, with_ids
from envscaler.plugin.records import Splits
from envscaler.plugin.settings import refuse_unknown

__all__ = ["Trl"]

_ARGUMENTS: Final = ("text", "dict")


class Trl:
    """A line for each trajectory: ``messages``, ``tools`` as one JSON text, ``trained`` for each message.

    Arrow gives all objects of a column the same keys, and fills in null where there was none: a model would learn to send
    arguments that nobody sent. So tools are a JSON text, and arguments are one too (``arguments=text``), which templates of
    the Qwen family write down as it is. Templates that want an object need ``arguments=dict``, and a reader that does not
    fill in, such as `datasets.Json`. Reasoning is `reasoning_content`.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        refuse_unknown("trl", settings, ("reasoning", "arguments"))
        self._reasoning = choice(settings, "reasoning", REASONING, "last")
        self._arguments = choice(settings, "arguments", _ARGUMENTS, "text")

    def write(self, splits: Splits[Sample], folder: Path) -> Mapping[str, int]:
        return lines_of(splits, folder, self.row)

    def row(self, sample: Sample) -> dict[str, Any]:
        """The JSON object of a trajectory."""
        messages = []
        for message in with_reasoning(sample.trajectory.messages, self._reasoning):
            plain = with_ids(message)
            if message.role == "assistant" and message.reasoning:
                plain["reasoning_content"] = message.reasoning
            if self._arguments == "dict":
                for call in plain.get("tool_calls", ()):
                    call["function"]["arguments"] = _object(call["function"]["arguments"])
            messages.append(plain)
        return {
            "messages": messages,
            "tools": json_text([openai_tool(tool.to_json()) for tool in sample.tools]),
            "trained": list(sample.trained),
            "id": sample.trajectory.id,
            "environment": sample.environment,
        }


def _object(arguments: str) -> Any:
    """The arguments as an object; what is none stays the text that it is."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return value if isinstance(value, dict) else arguments
