"""Tasks that leave something out which the user knows and tells when asked."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.scenario.kinds.common import Found, found_plans, made_of, scenario_of
from envscaler.scenario.model import Scenario, User
from envscaler.scenario.plan import Plan
from envscaler.scenario.wording import Worded, worded
from envscaler.scenario.wording.leaves import Leaf, leaves, source_of
from envscaler.scenario.wording.told import tells
from envscaler.scenario.wording.worded import asked
from envscaler.scenario.world import World

__all__ = ["MissingParameter"]

_MOST: Final = 2


class MissingParameter:
    """One or two values that a call cannot do without are left out of the task and are facts of the user.

    Neither the task nor the first message tells them, so that an agent has to ask in either setting: a message to the user
    is answered from the facts. What the user knows is thus the task and the facts together.
    """

    name: Final = "missing_parameter"
    summary: Final = "a value is left out, and the user tells it when asked"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`."""
        plans = found_plans(world, state, self.name, seed, tools)
        return made_of(plans, lambda found: self._made(world, found))

    def _made(self, world: World, found: Found) -> Scenario | None:
        options = list(_options(world, found.plan))
        if not options:
            return None
        withheld = found.rng.sample(options, min(len(options), found.rng.choice((1, 1, _MOST))))
        told = _without(world, found.plan, found.style, found.rng, withheld)
        if told is None:
            return None
        user = User(told.facts, told.unknown, told.stop_when, told.opening)
        return scenario_of(world, self.name, found, told, user=user, tags={"withheld": len(withheld)})


def _options(world: World, plan: Plan) -> Iterator[tuple[int, str]]:
    """Arguments that a task may leave out: required, told, and a plain value that is more than yes or no."""
    for index in asked(plan):
        call = plan.calls[index]
        if call.actor == "user":
            continue
        for name in call.arguments:
            field = world.tools[call.tool].params.get(name)
            parts = _parts(world, plan, index, name)
            plain = all(not isinstance(one.value, bool | list | dict) and one.value not in (None, "") for one in parts)
            told = all(source_of(call.sources, one.path).kind == "task" for one in parts)
            if field is not None and field.required and plain and told:
                yield index, name


def _parts(world: World, plan: Plan, index: int, name: str) -> list[Leaf]:
    call = plan.calls[index]
    return list(leaves(name, call.arguments[name], world.tools[call.tool].params.get(name)))


def _without(
    world: World, plan: Plan, style: str, rng: random.Random, withheld: Sequence[tuple[int, str]]
) -> Worded | None:
    """The plan in words that do not tell what is withheld; None where they tell it in another place."""
    told = worded(world, plan, style, rng, withheld=withheld)
    parts = [leaf for index, name in withheld for leaf in _parts(world, plan, index, name)]
    said = f"{told.task}\n{told.opening}"
    return None if any(tells(said, leaf) for leaf in parts) else told
