"""One unit of a batch: a state, and scenarios of several kinds in it, each proved; what is dropped is counted by reason."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from envscaler.errors import PluginError
from envscaler.plugin.records import Generator
from envscaler.scenario.alike import plan_key
from envscaler.scenario.model import Scenario
from envscaler.scenario.proof.elsewhere import Elsewhere, replay_elsewhere
from envscaler.scenario.proof.prove import ProofSettings
from envscaler.scenario.proof.repair import settle
from envscaler.scenario.world import States, World

__all__ = ["Chunk", "Kept", "Order", "Store", "make_chunk", "seed_of", "write_tools"]

_TRIES: Final = 5  # candidates for each scenario that is wanted,
_MORE: Final = 6  # and so many more of each kind


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
    """What a unit made. ``dropped`` and ``repaired``: how many, by kind and reason; ``tried``: candidates by kind."""

    kept: tuple[Kept, ...]
    dropped: Mapping[tuple[str, str], int]
    tried: Mapping[str, int]
    repaired: Mapping[tuple[str, str], int] = field(default_factory=dict)


_SETTINGS: Final = ProofSettings(elsewhere=False, first=True)


def seed_of(*parts: object) -> int:
    """A number below 2**31 that is drawn from ``parts``, the same everywhere."""
    text = ":".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1


def write_tools(world: World, scenario: Scenario) -> tuple[str, ...]:
    """The agent's tools that a solution writes with, each once."""
    steps = (step.tool for step in scenario.solution if step.actor == "agent" and not step.refused)
    return tuple(dict.fromkeys(tool for tool in steps if tool in world.tools and world.tools[tool].kind == "write"))


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
    maker = _Maker(world, store, order, store.put(state))
    sources = {
        kind: _candidates(kind, generators[kind], world, state, seed_of(seed, kind), order.tools)
        for kind in sorted(order.want)
    }
    left = {kind: (order.want[kind], _TRIES * order.want[kind] + _MORE) for kind in sources}
    while left:
        for kind in list(left):
            wanted, more = left[kind]
            made = next(sources[kind], None) if wanted and more else None
            if made is None:
                del left[kind]
            else:
                left[kind] = (wanted - maker.takes(made), more - 1)
    return maker.chunk(other)


class _Maker:
    """What was kept, and what was dropped and why, while an order is carried out."""

    def __init__(self, world: World, store: Store, order: Order, state: str) -> None:
        self.world, self.store, self.order, self.state = world, store, order, state
        self.kept: list[Kept] = []
        self.keys: set[str] = set()
        self.dropped: Counter[tuple[str, str]] = Counter()
        self.repaired: Counter[tuple[str, str]] = Counter()
        self.tried: Counter[str] = Counter()

    def takes(self, made: Scenario) -> bool:
        """Whether a candidate is kept."""
        one = self._placed(made)
        if self.order.tools and not set(one.tools) & set(self.order.tools):
            return False  # passed over: neither tried nor dropped
        self.tried[made.kind] += 1
        if one.key in self.keys:
            self.dropped[made.kind, "same-plan"] += 1
            return False
        settled = settle(self.world, one.scenario, self.store, _SETTINGS)
        if not settled.proof.ok:
            self.dropped[made.kind, settled.proof.reasons[0].code] += 1
            return False
        self.repaired.update((made.kind, code) for code in settled.repairs)
        self.keys.add(one.key)
        self.kept.append(replace(one, scenario=settled.scenario))
        return True

    def _placed(self, made: Scenario) -> Kept:
        """The candidate with its state in the store, and the id that follows."""
        given = made.state
        name = given if isinstance(given, str) else self.state if given is None else self.store.put(given)
        scenario = replace(made, spec=self.world.ref, state=name, proof=None).named()
        return Kept(scenario, plan_key(self.world, scenario), write_tools(self.world, scenario))

    def chunk(self, other: Elsewhere | None) -> Chunk:
        """What is kept once all solutions came to the same in another process."""
        proofs = [(one.scenario, one.scenario.proof or {}) for one in self.kept]
        kept = []
        for one, proof in zip(self.kept, replay_elsewhere(self.world, proofs, self.store, other), strict=True):
            if proof["ok"]:
                kept.append(replace(one, scenario=replace(one.scenario, proof=proof)))
            else:
                self.dropped[one.scenario.kind, "replay-differs"] += 1
        dropped, repaired = (dict(sorted(counted.items())) for counted in (self.dropped, self.repaired))
        return Chunk(tuple(kept), dropped, dict(sorted(self.tried.items())), repaired)


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
