"""One unit of a batch: a state, and scenarios of several kinds in it, each proved; what is dropped is counted by reason."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from envscaler.errors import PluginError
from envscaler.plugin.records import Generator
from envscaler.scenario.alike import plan_key
from envscaler.scenario.model import Scenario
from envscaler.scenario.world import States, World

__all__ = ["Chunk", "Kept", "Order", "Store", "make_chunk", "seed_of", "write_tools"]

_TRIES: Final = 5  # candidates for each scenario that is wanted,
_MORE: Final = 6  # and so many more of each kind
_SEEKING: Final = 40  # where certain tools are looked for


class Store(States, Protocol):
    """Where states are put, and found by their content hash."""

    def put(self, state: Mapping[str, Any], /) -> str:
        """Keep a state; its hash."""
        ...


@dataclass(frozen=True, slots=True)
class Order:
    """What a unit is to make, as JSON: the ``index``-th state of a spec, and in it so many scenarios of each kind in ``want``.
    ``tools``: where any are named, only scenarios that write with one of them are kept."""

    spec: str
    index: int
    want: Mapping[str, int]
    tools: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"spec": self.spec, "index": self.index, "want": dict(self.want), "tools": list(self.tools)}


@dataclass(frozen=True, slots=True)
class Kept:
    """A scenario that was proved. ``key``: see `alike.plan_key`; ``tools``: those that it writes with."""

    scenario: Scenario
    key: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """What a unit made. ``dropped``: how many, by kind and reason; ``tried``: candidates by kind."""

    kept: tuple[Kept, ...]
    dropped: Mapping[tuple[str, str], int]
    tried: Mapping[str, int]


_PASSED_OVER: Final = "passed-over"  # not looked at, and not counted

Prove = Callable[[Scenario], tuple[Mapping[str, Any], tuple[str, ...]]]
"""Gives the proof of a scenario as JSON, and the codes of the reasons for which it fails, none for one that holds."""


def seed_of(*parts: object) -> int:
    """A number below 2**31 that is drawn from ``parts``, the same everywhere."""
    text = ":".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1


def write_tools(world: World, scenario: Scenario) -> tuple[str, ...]:
    """The agent's tools that a solution writes with, each once."""
    steps = (step.tool for step in scenario.solution if step.actor == "agent" and not step.refused)
    return tuple(dict.fromkeys(tool for tool in steps if world.tools[tool].kind == "write"))


def make_chunk(
    world: World,
    generators: Mapping[str, Generator],
    store: Store,
    prove: Prove,
    state: Mapping[str, Any],
    order: Order,
    seed: int,
) -> Chunk:
    """Carry out an order in ``state``, kinds in turn, all choices drawn from ``seed``. Raises PluginError."""
    name = store.put(state)
    sources = {
        kind: _candidates(kind, generators[kind], world, state, seed_of(seed, kind), order.tools)
        for kind in sorted(order.want)
    }
    tries = _SEEKING if order.tools else _TRIES
    left = {kind: (order.want[kind], tries * order.want[kind] + _MORE) for kind in sources}
    kept: list[Kept] = []
    keys: set[str] = set()
    dropped: Counter[tuple[str, str]] = Counter()
    tried: Counter[str] = Counter()
    while left:
        for kind in list(left):
            wanted, more = left[kind]
            made = next(sources[kind], None) if wanted and more else None
            if made is None:
                del left[kind]
                continue
            tried[kind] += 1
            one = _placed(world, store, made, name)
            reason, proof = _reason(world, prove, order, keys, one)
            if reason == _PASSED_OVER:
                tried[kind] -= 1
            elif reason:
                dropped[kind, reason] += 1
            else:
                proved = replace(one.scenario, proof=proof)
                keys.add(one.key)
                kept.append(Kept(proved, one.key, one.tools))
            left[kind] = (wanted - (not reason), more - 1)
    return Chunk(tuple(kept), dict(sorted(dropped.items())), dict(sorted(tried.items())))


def _candidates(
    kind: str, generator: Generator, world: World, state: Mapping[str, Any], seed: int, tools: tuple[str, ...]
) -> Iterator[Scenario]:
    made: Any
    for made in generator.generate(world, state, seed, tools):
        if not isinstance(made, Scenario):
            raise PluginError(f"the generator {kind} gave {type(made).__name__} where a Scenario is wanted")
        if made.kind != kind:
            raise PluginError(f"the generator {kind} gave a scenario of the kind {made.kind!r}")
        yield made


def _placed(world: World, store: Store, made: Scenario, state: str) -> Kept:
    """The candidate with its state in the store, and the id that follows."""
    name = made.state if isinstance(made.state, str) else state if made.state is None else store.put(made.state)
    scenario = replace(made, spec=world.ref, state=name, proof=None).named()
    return Kept(scenario, plan_key(world, scenario), write_tools(world, scenario))


def _reason(
    world: World, prove: Prove, order: Order, keys: set[str], one: Kept
) -> tuple[str, Mapping[str, Any] | None]:
    """Why a candidate is dropped, empty for one that is kept; and its proof."""
    if order.tools and not set(one.tools) & set(order.tools):
        return _PASSED_OVER, None
    if one.key in keys:
        return "same-plan", None
    proof, codes = prove(one.scenario)
    return (codes[0], None) if codes else ("", proof)
