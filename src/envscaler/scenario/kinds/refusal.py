"""Wishes that cannot be granted: the right outcome is a refusal with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from envscaler.scenario.kinds.absent import Absent, absences, steps_to
from envscaler.scenario.kinds.common import Found, found_refusals, mixed, rng_of, scenario_of
from envscaler.scenario.model import Goal, Guard, Only, Scenario, User
from envscaler.scenario.search import Refused
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


_NOT_THERE: Final = "You were told that there is no such thing."
_CERTAIN: Final = (
    "I am certain of what I have told you",
    "there is nothing else that I could tell you about it",
    "if you cannot find it, say so rather than take another",
    "please do not take anything else for it",
)
_ABSENT: Final = 0.25  # the share of refusals that are for something that is not there


class Refusal:
    """A rule or a requirement refuses what is wished, and no other write makes it possible; or the wish is about a record
    that does not exist, as the reads that would find it show. The agent has to say so with `submit` and the right reason; to
    do nothing is not enough, and nothing may change. The user insists, and is content with a reason."""

    name: Final = "refusal"
    summary: Final = "the wish cannot be granted, and the agent has to say why"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`. Where certain ``tools`` are wanted, nothing is made that does not call them."""
        refused = (self._refused(world, *one) for one in found_refusals(world, state, self.name, seed, tools))
        absent = (self._absent(world, *one) for one in absences(world, state, self.name, seed))
        return refused if tools else mixed(refused, absent, _ABSENT, rng_of(world, self.name, seed, "mixed"))

    def _refused(self, world: World, found: Found, refused: Refused) -> Scenario:
        told = worded(world, found.plan, found.style, found.rng, more=[found.rng.choice(_INSISTING)])
        user = User(told.facts, told.unknown, _STOP_WHEN)
        submitted = {"refusal": refused.reason}
        return scenario_of(world, self.name, found, told, user=user, outcome="refusal", submitted=submitted)

    def _absent(self, world: World, found: Found, absent: Absent) -> Scenario:
        told = worded(world, absent.plan, found.style, found.rng, more=[found.rng.choice(_CERTAIN)])
        made = scenario_of(
            world,
            self.name,
            found,
            told,
            goals=(Goal('refusal == "not_found"', "the wish is refused: not_found"),),
            guards=(Guard(only=Only(), text="Nothing has changed."),),
            user=User(told.facts, told.unknown, _NOT_THERE),
            outcome="refusal",
            submitted={"refusal": "not_found"},
            tags={"reason": "not_found", "absent": absent.collection},
        )
        steps = steps_to(absent, told.sources)
        counted = {"steps": len(steps), "writes": 0, "reads": len(steps), "tools": sorted({one.tool for one in steps})}
        return replace(made, solution=steps, tags={**made.tags, **counted})
