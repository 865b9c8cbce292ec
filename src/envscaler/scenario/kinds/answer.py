"""Questions: the agent fills typed slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.kinds.afterwards import afterwards
from envscaler.scenario.kinds.common import Found, found_questions, mixed, rng_of, scenario_of
from envscaler.scenario.literals import literal
from envscaler.scenario.model import Answer as Slot
from envscaler.scenario.model import Goal, Guard, Only, Scenario, User
from envscaler.scenario.search import Question
from envscaler.scenario.wording import worded
from envscaler.scenario.wording.english import words_of
from envscaler.scenario.wording.questions import question
from envscaler.scenario.world import World

__all__ = ["Answer"]

_STOP_WHEN: Final = "You were told what you asked for."


_DONE_WHEN: Final = "What you asked for is done, and you were told what you asked for."
_WITH_WRITES: Final = 0.35  # the share of questions that come after a wish


class Answer:
    """Something is to be found out; the agent gives it in a typed slot of `submit`, where a number is right or wrong and no
    text around it counts. Of some tasks that is all, and nothing may change; others ask for a change first, and then for
    what it has made of the record."""

    name: Final = "answer"
    summary: Final = "a question is to be answered in a typed slot"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`. Where certain ``tools`` are wanted, all that is made asks for a change."""
        after = (self._after(world, *one) for one in afterwards(world, state, self.name, seed, tools))
        if tools:
            return after
        alone = (self._alone(world, *one) for one in found_questions(world, state, self.name, seed))
        return mixed(alone, after, _WITH_WRITES, rng_of(world, self.name, seed, "mixed"))

    def _alone(self, world: World, found: Found, asked: Question) -> Scenario:
        guard = Guard(only=Only(), text="Nothing has changed.")
        return self._made(world, found, asked, "please ", _STOP_WHEN, (), (guard,))

    def _after(self, world: World, found: Found, asked: Question) -> Scenario:
        plan = found.plan
        return self._made(world, found, asked, "after all that, please ", _DONE_WHEN, plan.goals, plan.guards)

    def _made(
        self,
        world: World,
        found: Found,
        asked: Question,
        lead: str,
        stop_when: str,
        goals: tuple[Goal, ...],
        guards: tuple[Guard, ...],
    ) -> Scenario:
        last = len(found.plan.calls) - 1
        wish = question(world, found.plan, last, asked.name, asked.row, count=asked.way == "count")
        told = worded(world, found.plan, found.style, found.rng, more=[f"{lead}{wish}"])
        name = _slot(asked)
        goal = Goal(f"answer.{name} == {_literal(asked)}", f"the answer is {asked.value}")
        return scenario_of(
            world,
            self.name,
            found,
            told,
            goals=(*goals, goal),
            guards=guards,
            user=User(told.facts, told.unknown, stop_when),
            answers=(Slot(name, asked.type, f"{words_of(name)}, as it was asked for"),),
            submitted={"answer": {name: asked.value}},
        )


def _slot(asked: Question) -> str:
    name = f"number_of_{asked.name or 'entries'}" if asked.way == "count" else asked.name
    return name if name.isidentifier() and name.islower() and not name.startswith("_") else "answer"


def _literal(asked: Question) -> str:
    if asked.type == "money":
        return literal(s.MONEY, int(Decimal(repr(asked.value)) * 100))
    return literal(s.ANY, asked.value)
