"""Tasks for which a tool is missing at first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.scenario.kinds.common import Found, found_plans, made_of, scenario_of
from envscaler.scenario.model import Reveal, Scenario
from envscaler.scenario.wording import worded
from envscaler.scenario.wording.worded import asked
from envscaler.scenario.world import World

__all__ = ["MissingTool"]

_TEXTS: Final = (
    "One more tool can be used from now on: {tool}.",
    "The tool {tool} is there now.",
    "You can use {tool} as well from here on.",
)


class MissingTool:
    """A tool that the solution writes with is not offered at first. It appears after a message to the user, or when the agent
    has said that it cannot go on; an agent that makes do with another tool is as wrong as one that gives up."""

    name: Final = "missing_tool"
    summary: Final = "a tool that is needed appears only later"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`."""
        plans = found_plans(world, state, self.name, seed, tools)
        return made_of(plans, lambda found: self._made(world, found))

    def _made(self, world: World, found: Found) -> Scenario | None:
        calls = [found.plan.calls[n] for n in asked(found.plan)]
        needed = list(dict.fromkeys(call.tool for call in calls if call.actor == "agent"))
        if not needed:
            return None
        tool = found.rng.choice(needed)
        reveal = Reveal((tool,), 1, found.rng.choice(_TEXTS).format(tool=tool))
        told = worded(world, found.plan, found.style, found.rng)
        return scenario_of(world, self.name, found, told, reveal=(reveal,), tags={"missing": tool})
