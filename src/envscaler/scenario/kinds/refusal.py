"""Wishes that cannot be granted: the right outcome is a refusal with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.scenario.kinds.common import found_refusals, scenario_of
from envscaler.scenario.model import Scenario, User
from envscaler.scenario.wording import worded
from envscaler.scenario.world import World

__all__ = ["Refusal"]

_STOP_WHEN: Final = "You were told that it cannot be done, and why. Until then you insist on it."
_INSISTING: Final = (
    "it is important to me that this is done",
    "I have been promised that this is no trouble",
    "I rely on you to see this through",
    "if there is anything in the way, tell me what it is",
)


class Refusal:
    """A rule or a requirement refuses what is wished, and no other write makes it possible. The agent has to say so with
    `submit` and the right reason; to do nothing is not enough, and nothing may change. The user insists, and is content
    with a reason."""

    name: Final = "refusal"
    summary: Final = "the wish cannot be granted, and the agent has to say why"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`."""
        for found, refused in found_refusals(world, state, self.name, seed, tools):
            told = worded(world, found.plan, found.style, found.rng, more=[found.rng.choice(_INSISTING)])
            user = User(told.facts, told.unknown, _STOP_WHEN)
            yield scenario_of(
                world, self.name, found, told, user=user, outcome="refusal", submitted={"refusal": refused.reason}
            )
