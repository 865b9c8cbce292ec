"""A model solves a task by tool calls; those that count become the reference solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from envscaler.agents import EnvironmentEpisode, Limits, LlmPolicy, Loop, Transcript
from envscaler.compiler.templates import render
from envscaler.llm import Llm, Message
from envscaler.runtime import Environment
from envscaler.scenario.llm.asking import Unusable
from envscaler.scenario.llm.author import Wish
from envscaler.scenario.world import World

__all__ = ["Call", "solve"]

_LIMITS = Limits(steps=30, tokens=64_000)


@dataclass(frozen=True, slots=True)
class Call:
    """A successful call: its arguments as the environment took them, and its result's data."""

    tool: str
    arguments: dict[str, Any]
    data: Any


@dataclass
class _Solving(EnvironmentEpisode):
    """The episode of the solver; it keeps the calls that succeeded."""

    system: str = ""
    calls: list[Call] = field(default_factory=list)

    def opening(self) -> Sequence[Message]:
        return [Message("system", self.system), Message("user", self.task)]

    def call(self, name: str, arguments: str) -> Any:
        import json

        seen = EnvironmentEpisode.call(self, name, arguments)
        if seen.ok:
            sent = json.loads(arguments) if arguments else {}
            self.calls.append(Call(name, sent if isinstance(sent, dict) else {}, json.loads(seen.text).get("data")))
        return seen


async def solve(
    world: World, env: Environment, wish: Wish, llm: Llm, *, limits: Limits = _LIMITS, sample: int = 0
) -> tuple[list[Call], Transcript]:
    """The calls that succeeded, in order, made on ``env``; the solver is told the task and the person's facts, nothing else.

    Raises Unusable when it did not come to an end, or gave up by changing nothing; LlmError.
    """
    told = "\n".join([wish.task, *(fact.text for fact in wish.user.facts)])
    system = render("prompts/scenario/solver.system.j2", world.templates, doc=env.doc).strip()
    episode = _Solving(env, told, system=system)
    transcript = await Loop(episode, LlmPolicy(llm, sample=sample), limits).run()
    if transcript.status == "infra_error":
        raise Unusable("solver-failed", transcript.reason)
    if transcript.status != "finished":
        raise Unusable("solver-unfinished", f"{transcript.status}: {transcript.reason}")
    if not env.diff():
        last = next((m.content for m in reversed(transcript.messages) if m.role == "assistant" and m.content), "")
        raise Unusable("solver-changed-nothing", last or "the solver changed nothing")
    return episode.calls, transcript
