"""One scenario on the bench: its episode, set back to any moment of the solution, and calls tried from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from envscaler.runtime import Environment
from envscaler.runtime.environment import Snapshot
from envscaler.runtime.results import ToolResult
from envscaler.runtime.values import same
from envscaler.scenario.essence import Ending
from envscaler.scenario.model import Scenario, Step
from envscaler.scenario.pointers import MISSING, lookup, replaced
from envscaler.scenario.scoring import Score, Scorer
from envscaler.scenario.world import World

__all__ = ["Call", "End", "Trial"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call to try. ``step``: the step of the solution that it stands for, -1 for none."""

    tool: str
    arguments: Mapping[str, Any]
    step: int = -1
    actor: str = "agent"


@dataclass(frozen=True, slots=True)
class End:
    """What some calls came to."""

    results: tuple[ToolResult, ...]
    score: Score

    @property
    def accepted(self) -> bool:
        """Whether all goals are met and all guards hold."""
        return all(self.score.goals) and all(self.score.guards)

    @property
    def failed(self) -> tuple[int, ...]:
        """The goals that are not met."""
        return tuple(n for n, met in enumerate(self.score.goals) if not met)

    @property
    def broken(self) -> tuple[int, ...]:
        """The guards that do not hold."""
        return tuple(n for n, held in enumerate(self.score.guards) if not held)


class Trial:
    """The episode of a scenario at its start, and a scorer. All that is tried leaves the episode where it likes; each try
    begins by setting it back. ``ends``: wrong ends that were tried, each with what was done."""

    def __init__(self, world: World, scenario: Scenario, env: Environment, scorer: Scorer) -> None:
        self.world = world
        self.scenario = scenario
        self.env = env
        self.scorer = scorer
        self.start: Snapshot = env.snapshot()
        self.first = env.start_state()
        self.calls = tuple(_call(n, step) for n, step in enumerate(scenario.solution))
        self.ends: list[tuple[Mapping[str, Any], End]] = []

    # -- the solution

    @cached_property
    def solved(self) -> tuple[tuple[ToolResult, ...], tuple[Snapshot, ...]]:
        """The results of the solution's steps, and the moments before each of them and after the last."""
        self.env.restore(self.start)
        results, moments = [], [self.start]
        for call in self.calls:
            results.append(self.env.call(call.tool, dict(call.arguments), call.actor))
            moments.append(self.env.snapshot())
        return tuple(results), tuple(moments)

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The results of the solution's steps."""
        return self.solved[0]

    @cached_property
    def end(self) -> End:
        """The end of the solution."""
        self.env.restore(self.solved[1][-1])
        return self.ended(self.results)

    @cached_property
    def _ending(self) -> Ending:
        return Ending(self.world, self.env, self.solved[1][-1])

    @cached_property
    def writes(self) -> tuple[int, ...]:
        """The steps that change something."""
        return tuple(n for n, result in enumerate(self.results) if result.changed)

    def at(self, step: int) -> Environment:
        """The episode before a step of the solution; with the number of steps, after the last."""
        self.env.restore(self.solved[1][step])
        return self.env

    # -- tries

    def nothing(self, submitted: Mapping[str, Any] | None = None) -> End:
        """The end of an episode in which nothing is done."""
        self.env.restore(self.start)
        return self.ended((), submitted)

    def run(self, calls: Sequence[Call], since: int = 0, submitted: Any = ...) -> End:
        """The end of the solution's first ``since`` steps with ``calls`` after them. ``submitted`` is the solution's when it
        is not given."""
        results = self.play(calls, since)
        assert results is not None
        return self.ended(results, submitted)

    def play(self, calls: Sequence[Call], since: int = 0, sure: int = -1) -> tuple[ToolResult, ...] | None:
        """The results of ``calls`` after the solution's first ``since`` steps; None as soon as the one that is to be ``sure``
        is refused.

        A step takes what an earlier step made from that one's result, which may be another than the solution's.
        """
        env = self.at(since)
        live: dict[int, ToolResult] = dict(enumerate(self.results[:since]))
        results: list[ToolResult] = []
        for n, call in enumerate(calls):
            result = env.call(call.tool, self._bound(call, live), call.actor)
            if n == sure and not result.ok:
                return None
            if call.step >= 0:
                live[call.step] = result
            results.append(result)
        return tuple(results)

    def arrived(self) -> bool:
        """Whether the episode stands where the solution ends, but for incidental fields and the keys of new records."""
        return self._ending.like(self.env)

    def ended(self, results: tuple[ToolResult, ...], submitted: Any = ...) -> End:
        """The end of the episode as it stands after calls with these ``results``."""
        given = self.scenario.submitted if submitted is ... else submitted
        return End(results, self.scorer.score(self.env, given, first=self.first))

    def _bound(self, call: Call, live: Mapping[int, ToolResult]) -> dict[str, Any]:
        arguments = dict(call.arguments)
        if call.step < 0:
            return arguments
        step = self.scenario.solution[call.step]
        for name, source in step.sources.items():
            if source.kind != "found" or source.step not in self.writes or source.step not in live:
                continue
            told, value = lookup(step.arguments, name), lookup(arguments, name)
            made = lookup(live[source.step].value, source.path)
            if made is not MISSING and same(told, value) and not same(made, value):
                arguments = replaced(arguments, name, made)
        return arguments


def _call(number: int, step: Step) -> Call:
    return Call(step.tool, step.arguments, number, step.actor)
