"""All of the trajectories, as they are kept, with the tools that were on offer: `jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envscaler.export.sample import REASONING, Sample, with_reasoning
from envscaler.export.writing import choice, lines_of
from envscaler.plugin.records import Splits
from envscaler.plugin.settings import refuse_unknown

__all__ = ["Jsonl"]


class Jsonl:
    """A line for each trajectory: its JSON object, with ``tools`` (from which step on which) and ``trained``, which says of
    each message whether it counts in the loss. Reasoning is kept in all turns, if it is not asked for otherwise."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        refuse_unknown("jsonl", settings, ("reasoning",))
        self._reasoning = choice(settings, "reasoning", REASONING, "all")

    def write(self, splits: Splits[Sample], folder: Path) -> Mapping[str, int]:
        return lines_of(splits, folder, self.row, str)

    def row(self, sample: Sample) -> dict[str, Any]:
        """The JSON object of a trajectory."""
        plain = sample.trajectory.to_json()
        plain["messages"] = [m.to_json() for m in with_reasoning(sample.trajectory.messages, self._reasoning)]
        plain["tools"] = [{"step": step, "tools": [tool.to_json() for tool in tools]} for step, tools in sample.offers]
        plain["trained"] = list(sample.trained)
        return plain
