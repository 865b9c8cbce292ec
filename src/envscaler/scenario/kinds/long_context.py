"""Tasks among much that does not matter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from envscaler.scenario.data import DataSettings, make_state
from envscaler.scenario.kinds.background import correspondence, statements
from envscaler.scenario.kinds.common import Found, found_plans, made_of, scenario_of
from envscaler.scenario.model import Scenario
from envscaler.scenario.plan import Plan
from envscaler.scenario.wording import worded
from envscaler.scenario.world import World

__all__ = ["LongContext"]

_FEWEST: Final = 3  # statements; where a state has less to say, nothing is made
_SIZES: Final = (12, 20, 32, 48)
_RECORDS: Final = (120, 200)  # of a large state, at least and at most;
_TIMES: Final = 4  # between them so many times as many as the spec's own has
_STATES: Final = 3  # large states that a world has; making one takes about as long as a few scenarios


class LongContext:
    """The wishes stand among statements about other records and notes of no account. Nothing in them is asked for, and
    nothing in them fits the records that the task is about. What is looked up is long as well: the state is one of a few
    large ones made for the world, unless the one given is as large, or the spec has no collections."""

    name: Final = "long_context"
    summary: Final = "a long text and a large state, little of which matters"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`. The scenarios have a state of their own."""
        large = _large(world, state, seed)
        played = state if large is None else large
        plans = found_plans(world, played, self.name, seed, tools)
        return made_of(plans, lambda found: self._made(world, played, large, found))

    def _made(
        self, world: World, state: Mapping[str, Any], own: Mapping[str, Any] | None, found: Found
    ) -> Scenario | None:
        background = self._background(world, state, found.plan, found.rng)
        if not background:
            return None
        told = worded(world, found.plan, found.style, found.rng, background=background)
        tags = {"words": len(told.task.split()), "records": _count(world, state)}
        return scenario_of(world, self.name, found, told, state=own, tags=tags)

    def _background(self, world: World, state: Mapping[str, Any], plan: Plan, rng: random.Random) -> list[str]:
        said = statements(world, state, plan, rng, rng.choice(_SIZES))
        return correspondence(world, said, rng) if len(said) >= _FEWEST else []


def _large(world: World, state: Mapping[str, Any], seed: int) -> Mapping[str, Any] | None:
    """The large state to play in, None for the one that is given."""
    least, most = _RECORDS
    own = _count(world, world.environment.new().state)
    wanted = max(least, min(most, _TIMES * own))
    if not world.collections or _count(world, state) >= wanted:
        return None
    return _made_large(world, wanted, seed % _STATES)


@lru_cache(maxsize=16)
def _made_large(world: World, records: int, number: int) -> Mapping[str, Any]:
    """A state of about so many records; the same whoever asks first."""
    return make_state(world, DataSettings(size=records), f"large:{number}")


def _count(world: World, state: Mapping[str, Any]) -> int:
    return sum(len(state[name]) for name in world.collections if name in state)
