"""States in which certain tools can succeed: what the spec's examples of a tool give is laid over a state."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.errors import StateError
from envscaler.replay.examples import given_state, laid_over
from envscaler.scenario.data.making import allowed
from envscaler.scenario.world import World
from envscaler.spec.model import Example

__all__ = ["fitted"]

_KEYS: Final = 6  # records that an example's change is tried on in the place of its own


def fitted(world: World, state: Mapping[str, Any], tools: Sequence[str], turn: int = 0) -> Mapping[str, Any]:
    """The state with changes after which calls of ``tools`` succeed, as far as examples tell how; the state is not changed.

    It is the spec's own state, changed as an example says, where the tool whose turn it is (the ``turn``-th, counted round
    and round) succeeds in no other.
    """
    rng = random.Random(f"{world.spec.hash}:{turn}:fitted")  # noqa: S311 - it is to be repeatable
    reached = set()
    for tool in tools:
        found = next(_reaching(world, state, tool, rng), None)
        if found is not None:
            state = found
            reached.add(tool)
    mine = tools[turn % len(tools)]
    if mine in reached:
        return state
    own = (given_state(world.spec, one.given or {}) for one in _examples(world, mine))
    return next((one for one in own if _reached(world, one, mine)), state)


def _examples(world: World, tool: str) -> list[Example]:
    """Those in which the tool succeeds, at the time at which episodes begin."""
    made = world.spec.tools[tool].examples
    return [one for one in made if one.error is None and one.rule is None and one.at is None]


def _reached(world: World, state: Mapping[str, Any], tool: str) -> bool:
    return any(_succeeds(world, state, tool, one.call) for one in _examples(world, tool))


def _reaching(world: World, state: Mapping[str, Any], tool: str, rng: random.Random) -> Iterator[Mapping[str, Any]]:
    """States near this one in which the tool succeeds, itself first."""
    if _reached(world, state, tool):
        yield state
    for example in _examples(world, tool):
        for given, call in _moved(world, state, example, rng) if example.given else ():
            changed = laid_over(world.spec, state, given)
            if _succeeds(world, changed, tool, call):
                yield allowed(world, changed)


def _moved(
    world: World, state: Mapping[str, Any], example: Example, rng: random.Random
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """What an example gives, with its call: as they are, then about other records of the same collection."""
    given = example.given or {}
    yield given, example.call
    for name, part in given.items():
        records = state.get(name)
        if name not in world.collections or not isinstance(records, Mapping) or len(part) != 1:
            continue
        (old,) = part
        for key in rng.sample(list(records), min(_KEYS, len(records))):
            call = {n: key if value == old else value for n, value in example.call.items()}
            yield {**given, name: {key: part[old]}}, call


def _succeeds(world: World, state: Mapping[str, Any], tool: str, call: Mapping[str, Any]) -> bool:
    """Whether the state is allowed, and the call changes something in it."""
    try:
        env = world.environment.new(state)
    except StateError:
        return False
    return env.call(tool, dict(call), world.tools[tool].actor).changed
