"""Questions: the agent fills typed slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.kinds.common import found_questions, scenario_of
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


class Answer:
    """Something is to be found out; the agent gives it in a typed slot of `submit`, where a number is right or wrong and no
    text around it counts. Nothing may change."""

    name: Final = "answer"
    summary: Final = "a question is to be answered in a typed slot"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`; ``tools`` are taken for writes, and a question has none: nothing is made where any is
        wanted."""
        if tools:
            return
        for found, asked in found_questions(world, state, self.name, seed):
            last = len(found.plan.calls) - 1
            wish = question(world, found.plan, last, asked.name, asked.row, count=asked.way == "count")
            told = worded(world, found.plan, found.style, found.rng, more=[f"please {wish}"])
            name = _slot(asked)
            goal = Goal(f"answer.{name} == {_literal(asked)}", f"the answer is {asked.value}")
            yield scenario_of(
                world,
                self.name,
                found,
                told,
                goals=(goal,),
                guards=(Guard(only=Only(), text="Nothing has changed."),),
                user=User(told.facts, told.unknown, _STOP_WHEN),
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
