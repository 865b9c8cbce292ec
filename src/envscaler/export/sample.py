"""What an exporter is given: a trajectory with its tools and what of it is to be learnt, or a task to be played."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from envscaler.agents import as_text
from envscaler.llm.messages import Message, Tool
from envscaler.rollout.trajectory import Trajectory
from envscaler.scenario.model import Scenario

__all__ = ["REASONING", "Reasoning", "Sample", "TaskSample", "malformed_steps", "with_reasoning"]

Reasoning = Literal["last", "all", "none"]
REASONING: Final = ("last", "all", "none")
"""Which of the agent's turns keep their reasoning: the last one, all, none."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A trajectory to be exported. ``offers``: from which step on which tools were on offer, in order."""

    trajectory: Trajectory
    offers: tuple[tuple[int, tuple[Tool, ...]], ...] = ()

    @property
    def environment(self) -> str:
        """The name of the spec; what samples are split by."""
        return self.trajectory.spec["name"]

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools that were on offer at some time, each once, in the order in which they came."""
        found: dict[str, Tool] = {}
        for _, tools in self.offers:
            found |= {tool.name: tool for tool in tools}
        return tuple(found.values())

    def tools_at(self, place: int) -> tuple[Tool, ...]:
        """The tools that were on offer when the message at ``place`` was written."""
        step = next((s["number"] for s in self.trajectory.steps if s.get("message", -1) >= place), 1 << 30)
        found: tuple[Tool, ...] = ()
        for first, tools in self.offers:
            if first <= step or not found:
                found = tools
        return found

    @property
    def trained(self) -> tuple[bool, ...]:
        """For each message whether it counts in the loss: the agent's own, but for those of which a part could not be read."""
        bad = {step.get("message") for step in malformed_steps(self.trajectory)}
        return tuple(m.role == "assistant" and n not in bad for n, m in enumerate(self.trajectory.messages))


def malformed_steps(one: Trajectory) -> Iterator[Mapping[str, Any]]:
    """The steps whose reply was not as it should be: not to be read, cut off, refused by a provider, or nothing at all."""
    return (
        s for s in one.steps if s.get("problems") or s.get("finish") or "message" not in s or not _json_calls(one, s)
    )


def _json_calls(one: Trajectory, step: Mapping[str, Any]) -> bool:
    """Whether the arguments of all calls are JSON objects."""
    for call in one.messages[step["message"]].tool_calls:
        try:
            if call.arguments.strip() and not isinstance(json.loads(call.arguments), dict):
                return False
        except (ValueError, RecursionError):
            return False
    return True


def with_reasoning(messages: Sequence[Message], kept: str) -> tuple[Message, ...]:
    """The messages with the reasoning of the agent's ``last`` turn only, with ``all`` of it, or with ``none``."""
    last = max((n for n, m in enumerate(messages) if m.role == "assistant"), default=-1)
    return tuple(
        m if not m.reasoning or kept == "all" or (kept == "last" and n == last) else replace(m, reasoning="")
        for n, m in enumerate(messages)
    )


@dataclass(frozen=True, slots=True)
class TaskSample:
    """A scenario to be exported as a task. ``messages`` are those that an episode begins with, ``tools`` those that are on
    offer first, ``state`` the hash of the state that it begins in."""

    scenario: Scenario
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    state: str

    @property
    def environment(self) -> str:
        """The name of the spec; what samples are split by."""
        return self.scenario.spec.name

    @property
    def prompt(self) -> list[dict[str, str]]:
        """The first messages for a model that writes its calls: role and content, the tools among the documentation."""
        return [{"role": m.role, "content": m.content} for m in as_text(self.messages, self.tools)]
