"""The reward of an episode: which goals are met at its end, whether the guards hold, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from envscaler.diagnostics import Span
from envscaler.errors import SpecError, UsageError
from envscaler.runtime.results import Failure
from envscaler.runtime.state import State
from envscaler.scenario.answers import Slots, Submitted
from envscaler.scenario.expressions import Expression, Expressions, place_of
from envscaler.scenario.guards import ClosedWorld
from envscaler.spec.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envscaler.runtime import Environment
    from envscaler.scenario.model import Guard, Scenario
    from envscaler.scenario.world import World

__all__ = ["MODES", "Mode", "Score", "Scorer"]

Mode: TypeAlias = Literal["guarded", "paper", "strict"]

MODES: Final[Mapping[str, str]] = {
    "guarded": "the share of goals that are met, 0 when a guard is broken",
    "paper": "the share of goals that are met, as in the paper; guards count for nothing",
    "strict": "1 when every goal is met and every guard holds, else 0",
}
"""How goals and guards become a reward."""


@dataclass(frozen=True, slots=True)
class Score:
    """The reward, from 0 to 1, and what it is made of, in the order of the scenario's goals and guards.

    ``broken``: in words what broke each guard, "" for one that holds. ``errors``: goals and guards of which it could not
    be told whether they hold, and why; they count as not met and broken, and the scenario is at fault.
    """

    reward: float
    goals: tuple[bool, ...]
    guards: tuple[bool, ...]
    errors: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    mode: Mode = "guarded"

    def to_json(self) -> dict[str, Any]:
        """The score as a JSON object."""
        return {
            "reward": self.reward,
            "mode": self.mode,
            "goals": list(self.goals),
            "guards": list(self.guards),
            "broken": [text for text in self.broken if text],
            "errors": list(self.errors),
        }


@dataclass(slots=True)
class _Evaluation:
    """One look at the end of an episode."""

    first: State | None
    last: State
    submitted: Submitted
    errors: list[str] = field(default_factory=list)

    def holds(self, expression: Expression, what: str) -> bool:
        try:
            return expression.holds(self.first, self.last, self.submitted)
        except Failure as failure:
            self.errors.append(f"{what}: {failure.message}")
            return False


class Scorer:
    """The goals and guards of one scenario, compiled. It keeps nothing of the episodes that it scores."""

    def __init__(
        self, goals: tuple[Expression, ...], guards: tuple[ClosedWorld | Expression, ...], slots: Slots
    ) -> None:
        self.goals = goals
        self.guards = guards
        self.slots = slots
        conditions = (*goals, *(guard for guard in guards if isinstance(guard, Expression)))
        self._initial = any(one.initial for one in conditions)

    @classmethod
    def of(cls, world: World, scenario: Scenario) -> Scorer:
        """The scorer of a scenario. Raises SpecError, with a diagnostic for everything that is wrong with its answer slots,
        goals and guards; the path of the diagnostics is the scenario's id."""
        report = Report()
        expressions = Expressions.of(world)
        name = scenario.id or "scenario"
        slots = expressions.slots(scenario.answers, _line(name, scenario.line), report)
        goals = [_expression(expressions, goal.expr, _line(name, goal.line), slots, report) for goal in scenario.goals]
        guards = [_guard(world, expressions, guard, name, slots, report) for guard in scenario.guards]
        if not scenario.goals:
            report.error(
                "scenario-no-goals",
                _line(name, scenario.line),
                "the scenario has no goals",
                "what is not asked cannot be met: an empty list would pass whatever the agent does",
            )
        if report.failed:
            raise SpecError(report.items)
        return cls(tuple(g for g in goals if g is not None), tuple(g for g in guards if g is not None), slots)

    def score(
        self,
        env: Environment,
        submitted: Mapping[str, Any] | None = None,
        mode: Mode = "guarded",
        *,
        first: State | None = None,
    ) -> Score:
        """The score of an episode as it stands. ``submitted``: the last `submit` in JSON form, None when there was none.
        ``first``: the state at its start, where it is at hand.

        Nothing is copied, and the episode can go on. Raises UsageError for a mode that does not exist.
        """
        if first is None and self._initial:
            first = env.start_state()
        last = env._state
        given = self.slots.read(submitted) if submitted else self.slots.nothing
        look = _Evaluation(first, last, given)
        goals = tuple([look.holds(goal, f"goal {n + 1}") for n, goal in enumerate(self.goals)])
        broken = tuple([self._broken(look, n) for n in range(len(self.guards))])
        guards = tuple([not text for text in broken])
        return Score(_reward(mode, goals, guards), goals, guards, tuple(look.errors), broken, mode)

    def _broken(self, look: _Evaluation, number: int) -> str:
        guard = self.guards[number]
        if isinstance(guard, ClosedWorld):
            return guard.broken(look.last)
        return "" if look.holds(guard, f"guard {number + 1}") else f"no longer true: {guard.text}"


def _reward(mode: str, goals: tuple[bool, ...], guards: tuple[bool, ...]) -> float:
    share = round(sum(goals) / len(goals), 4)
    match mode:
        case "guarded":
            return share if all(guards) else 0.0
        case "paper":
            return share
        case "strict":
            return 1.0 if all(goals) and all(guards) else 0.0
    raise UsageError(f"no such mode: {mode}; there are {', '.join(MODES)}")


def _line(path: str, line: int) -> Span:
    return Span(path, max(line, 1), 1, max(line, 1), 1)


def _expression(expressions: Expressions, text: str, where: Span, slots: Slots, report: Report) -> Expression | None:
    found, problems = expressions.compile(place_of(text, where), slots)
    report.extend(problems)
    return found


def _guard(
    world: World, expressions: Expressions, guard: Guard, name: str, slots: Slots, report: Report
) -> ClosedWorld | Expression | None:
    where = _line(name, guard.line)
    if guard.only is not None:
        return ClosedWorld.of(world, guard.only, lambda *_: where, report)
    return _expression(expressions, guard.expr, where, slots, report)
