"""A state after calls of the environment's own write tools: whatever they lead to is allowed, by construction."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.scenario.data.fakes import Fakes
from envscaler.scenario.data.records import Records
from envscaler.scenario.data.values import Values
from envscaler.scenario.world import ToolInfo, World

__all__ = ["acted"]

_TRIES: Final = 25  # calls for each one that is to succeed


def acted(world: World, state: dict[str, Any], count: int, fakes: Fakes, rng: random.Random) -> dict[str, Any]:
    """The state after ``count`` calls that changed it, or as many as were found."""
    tools = [tool for tool in world.tools.values() if tool.kind == "write"]
    if not count or not tools:
        return state
    env = world.environment.new(state, seed=rng.getrandbits(32))
    found = 0
    for _ in range(count * _TRIES):
        tool = rng.choice(tools)
        before = len(env.diff())
        arguments = _arguments(world, env, tool, fakes, rng)
        if env.call(tool.name, arguments, tool.actor).ok and len(env.diff()) != before:
            found += 1
            if found == count:
                break
    return env.state


def _arguments(world: World, env: Environment, tool: ToolInfo, fakes: Fakes, rng: random.Random) -> dict[str, Any]:
    """Those of one of the tool's examples, some of them replaced by others that the parameters take."""
    records = Records.taken(world.states, env.state)
    named = _named(records)
    values = Values(rng, fakes, world.environment.clock, lambda name: list(records.of[name]))
    made: dict[str, Any] = dict(rng.choice(tool.examples)) if tool.examples and rng.random() < 0.8 else {}
    for name, param in tool.params.items():
        if name in made and (rng.random() < 0.5 or not _plain(param)):
            continue
        if name not in made and not param.required and rng.random() < 0.7:
            continue
        known = named.get(name, ())
        made[name] = rng.choice(known) if known and rng.random() < 0.8 else values.invented(param, {}, {})
    return made


def _plain(param: s.Field) -> bool:
    return isinstance(param.shape, s.Scalar | s.Enum | s.Ref)


def _named(records: Records) -> Mapping[str, list[Any]]:
    """The plain values in the state by the name of their field."""
    found: dict[str, list[Any]] = {}
    waiting: list[Any] = [*records.singles.values(), *(r for part in records.of.values() for r in part.values())]
    for record in waiting:
        for name, value in record.items():
            if isinstance(value, dict):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [one for one in value if isinstance(one, dict)]
            elif value is not None:
                found.setdefault(name, []).append(value)
    return found
