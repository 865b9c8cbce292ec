"""Tasks that tell everything at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.scenario.kinds.common import found_plans, scenario_of
from envscaler.scenario.model import Scenario
from envscaler.scenario.wording import worded
from envscaler.scenario.world import World

__all__ = ["Complete"]


class Complete:
    """The task tells every value, or tells what each record is recognised by. The user's facts say the same once more, for
    an agent that asks all the same."""

    name: Final = "complete"
    summary: Final = "the task tells everything at once"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`."""
        for found in found_plans(world, state, self.name, seed, tools):
            yield scenario_of(world, self.name, found, worded(world, found.plan, found.style, found.rng))
