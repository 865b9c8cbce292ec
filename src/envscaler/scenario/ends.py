"""An episode put where it is said to have ended, so that a final state can be scored without its calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envscaler.runtime import Environment
from envscaler.runtime.plans import Table
from envscaler.runtime.values import same
from envscaler.scenario.model import Scenario
from envscaler.scenario.world import States, World

__all__ = ["at_end"]


def at_end(world: World, scenario: Scenario, final: Mapping[str, Any], states: States | None = None) -> Environment:
    """An episode of the scenario whose state is ``final``, in JSON form. Raises StateError for one that the spec does not
    allow, and whatever `World.start` raises."""
    env = world.start(scenario, states)
    for name, part in world.environment.prepare(final).parts.items():
        now = getattr(env._state, name)
        if isinstance(part, Table):
            base = now.base
            own = {key: one for key, one in part.records.items() if key not in base or not same(base[key], one)}
            gone = frozenset(key for key in base if key not in part.records)
            now.load((own, gone, sum(key not in base for key in own), part.top()))
        elif not same(now.base, part):
            now.load(part)
    return env
