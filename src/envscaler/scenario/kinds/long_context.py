"""Tasks among much that does not matter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.scenario.kinds.background import correspondence, statements
from envscaler.scenario.kinds.common import Found, found_plans, made_of, scenario_of
from envscaler.scenario.model import Scenario
from envscaler.scenario.plan import Plan
from envscaler.scenario.wording import worded
from envscaler.scenario.world import World

__all__ = ["LongContext"]

_FEWEST: Final = 3  # statements; where a state has less to say, nothing is made
_SIZES: Final = (12, 20, 32, 48)


class LongContext:
    """The wishes stand among statements about other records and notes of no account. Nothing in them is asked for, and
    nothing in them fits the records that the task is about."""

    name: Final = "long_context"
    summary: Final = "the wishes stand among much that does not matter"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`."""
        plans = found_plans(world, state, self.name, seed, tools)
        return made_of(plans, lambda found: self._made(world, state, found))

    def _made(self, world: World, state: Mapping[str, Any], found: Found) -> Scenario | None:
        background = self._background(world, state, found.plan, found.rng)
        if not background:
            return None
        told = worded(world, found.plan, found.style, found.rng, background=background)
        return scenario_of(world, self.name, found, told, tags={"words": len(told.task.split())})

    def _background(self, world: World, state: Mapping[str, Any], plan: Plan, rng: random.Random) -> list[str]:
        said = statements(world, state, plan, rng, rng.choice(_SIZES))
        return correspondence(world, said, rng) if len(said) >= _FEWEST else []
