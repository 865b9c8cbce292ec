"""Plans without end: walks from a state, pruned to what they need, with the reads that an agent needs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from envscaler.runtime.prepare import Base
from envscaler.scenario.plan import Plan
from envscaler.scenario.search.assembling import Assembly
from envscaler.scenario.search.ground import Ground
from envscaler.scenario.search.lookups import Lookups
from envscaler.scenario.search.pruning import pruned
from envscaler.scenario.search.settings import SearchSettings
from envscaler.scenario.search.walk import Walk, rarest
from envscaler.scenario.world import World

__all__ = ["grounded", "plans"]

_FAILURES: Final = 40  # walks in a row that come to nothing before the search gives up
_HOPELESS: Final = 6  # such walks to a tool that was never reached, after which it is no longer looked for
_LATER: Final = 0.3  # the share of walks that begin with another tool than the one that is looked for


def plans(
    world: World, base: Base, settings: SearchSettings | None = None, rng: random.Random | None = None, seed: int = 0
) -> Iterator[Plan]:
    """Plans from a state, as long as they are asked for; it ends where nothing is found any more.

    ``base``: the prepared state (`World.base`). ``seed``: of the episodes. Equal arguments, the state of ``rng`` included,
    give equal plans. The tools that its plans use count for it as ``settings.counts`` do.
    """
    chosen, draws = settings or SearchSettings(), rng or random.Random(0)  # noqa: S311 - no secret is made
    lookups = grounded(world, base, seed)
    counts = dict(chosen.counts)
    tools = [tool for tool in world.writes if not chosen.tools or tool.name in chosen.tools]
    failed = 0
    left = {tool.name: _HOPELESS for tool in tools}
    while tools and failed < _FAILURES:
        target = rarest(tools, counts, draws)
        found = _plan(lookups, chosen, draws, target.name, counts)
        counts[target.name] = counts.get(target.name, 0) + 1
        failed = failed + 1 if found is None else 0
        if found is None:
            left[target.name] -= 1
            tools = [tool for tool in tools if left[tool.name]]
        else:
            left[target.name] = -1
            for call in found.calls:
                if call.kind == "write" and call.tool != target.name:
                    counts[call.tool] = counts.get(call.tool, 0) + 1
            yield found


def _plan(
    lookups: Lookups, settings: SearchSettings, rng: random.Random, target: str, counts: dict[str, int]
) -> Plan | None:
    world = lookups.world
    walk = Walk(lookups.ground, settings, rng)
    if rng.random() < _LATER:  # what an earlier write made possible, and would not last without it
        walk.reach(rarest(world.writes, counts, rng))
    if not walk.reach(world.tools[target], about=bool(walk.moves)):
        return None
    length = rng.choices(range(1, len(settings.writes) + 1), settings.writes)[0]
    for _ in range(2 * length):
        if len(walk.moves) >= length:
            break
        about = rng.random() < settings.dependent
        walk.reach(rarest(world.writes, counts, rng), about=about, depth=1)
    kept = pruned(lookups.ground, walk.moves)
    if not kept:
        return None
    return Assembly(lookups, settings, rng).plan(kept)


@lru_cache(maxsize=16)
def grounded(world: World, base: Base, seed: int = 0) -> Lookups:
    """What is known of a state; the same for all who ask for the same one."""
    return Lookups(Ground(world, base, seed))
