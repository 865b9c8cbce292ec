"""The JSON lines that OpenAI's fine-tuning takes: `openai`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envscaler.export.sample import REASONING, Sample, with_reasoning
from envscaler.export.writing import choice, lines_of, thinking, with_ids
from envscaler.plugin.records import Splits
from envscaler.plugin.settings import refuse_unknown

__all__ = ["OpenAI", "openai_tool"]


class OpenAI:
    """A line for each trajectory: ``messages`` up to the agent's last, ``tools``, ``parallel_tool_calls``.

    Arguments are JSON text. A turn that is not to be learnt has ``weight`` 0. Reasoning, which the form has no place for, is
    left out unless asked for; then it stands before the content between tags.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        refuse_unknown("openai", settings, ("reasoning",))
        self._reasoning = choice(settings, "reasoning", REASONING, "none")

    def write(self, splits: Splits[Sample], folder: Path) -> Mapping[str, int]:
        return lines_of(splits, folder, self.row)

    def row(self, sample: Sample) -> dict[str, Any]:
        """The JSON object of a trajectory."""
        messages = []
        turns = with_reasoning(sample.trajectory.messages, self._reasoning)
        for message, trained in zip(turns, sample.trained, strict=True):
            plain = with_ids(message)
            if message.role == "assistant":
                plain["content"] = thinking(message) + message.content
                if not trained:
                    plain["weight"] = 0
            messages.append(plain)
        while messages and messages[-1]["role"] != "assistant":
            messages.pop()
        parallel = any(len(m.get("tool_calls", ())) > 1 for m in messages)
        tools = [openai_tool(tool.to_json()) for tool in sample.tools]
        return {"messages": messages} | ({"tools": tools, "parallel_tool_calls": parallel} if tools else {})


def openai_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool in OpenAI's form."""
    return {"type": "function", "function": dict(tool)}
