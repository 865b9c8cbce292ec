"""One unit of a batch: a state, and scenarios of several kinds in it, each proved; what is dropped is counted by reason."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from envscaler.errors import PluginError
from envscaler.plugin.records import Generator
from envscaler.scenario.alike import plan_key
from envscaler.scenario.model import Scenario
from envscaler.scenario.proof.elsewhere import Elsewhere, replay_elsewhere
from envscaler.scenario.proof.prove import ProofSettings, prove
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


_SETTINGS: Final = ProofSettings(elsewhere=False, first=True)
_PASSED_OVER: Final = "passed-over"  # not looked at, and not counted


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
    state: Mapping[str, Any],
    order: Order,
    seed: int,
    other: Elsewhere | None = None,
) -> Chunk:
    """Carry out an order in ``state``, kinds in turn, all choices drawn from ``seed``. ``other``: the process in which
    solutions are replayed, one of its own by default. Raises PluginError."""
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
            reason, proof = _reason(world, store, order, keys, one)
            if reason == _PASSED_OVER:
                tried[kind] -= 1
            elif reason:
                dropped[kind, reason] += 1
            else:
                keys.add(one.key)
                kept.append(replace(one, scenario=replace(one.scenario, proof=proof)))
            left[kind] = (wanted - (not reason), more - 1)
    kept = list(_confirmed(world, store, kept, dropped, other))
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
    world: World, store: Store, order: Order, keys: set[str], one: Kept
) -> tuple[str, Mapping[str, Any] | None]:
    """Why a candidate is dropped, empty for one that is kept; and its proof."""
    if order.tools and not set(one.tools) & set(order.tools):
        return _PASSED_OVER, None
    if one.key in keys:
        return "same-plan", None
    proof = prove(world, one.scenario, store, _SETTINGS)
    return ("", proof.to_json()) if proof.ok else (proof.reasons[0].code, None)


def _confirmed(
    world: World, store: Store, kept: Sequence[Kept], dropped: Counter[tuple[str, str]], other: Elsewhere | None
) -> Iterator[Kept]:
    """Those whose solutions come to the same in another process."""
    proofs = replay_elsewhere(world, [(one.scenario, one.scenario.proof or {}) for one in kept], store, other)
    for one, proof in zip(kept, proofs, strict=True):
        if proof["ok"]:
            yield replace(one, scenario=replace(one.scenario, proof=proof))
        else:
            dropped[one.scenario.kind, "replay-differs"] += 1
