"""What every generator of scenarios must do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from envscaler.plugin.entries import Entry
from envscaler.plugin.records import Generator
from envscaler.testing.base import Conformance, not_run, shipped, want

if TYPE_CHECKING:
    from envscaler.scenario import Scenario, World

__all__ = ["GeneratorConformance"]

_LOOKED_AT = 6  # scenarios of one state


class GeneratorConformance(Conformance):
    """Subclass it with ``make`` and ``kind``, which is the name of the generator's entry. ``specs`` are further specs to make
    scenarios for; at least one of all, with the bank, must yield some."""

    make: Callable[[], Generator]
    kind: ClassVar[str] = ""
    specs: ClassVar[Sequence[Path]] = ()

    @classmethod
    def of(cls, entry: Entry) -> type[Self]:
        made = super().of(entry)
        made.kind = entry.name
        return made

    def _worlds(self) -> list[World]:
        return [_world(path) for path in (shipped("bank"), *self.specs)]

    def _some(self, world: World, seed: int = 1) -> list[Scenario]:
        return list(islice(self.make().generate(world, _state(world), seed), _LOOKED_AT))

    def test_gives_scenarios_as_it_is_asked(self) -> None:
        """`generate` gives an iterator, which can be left at any place, of Scenarios of its kind; some world yields one."""
        from envscaler.scenario import Scenario

        found = 0
        for world in self._worlds():
            made: Iterator[Any] = self.make().generate(world, _state(world), 1)
            want(iter(made) is made, f"generate must give an iterator, not {type(made).__name__}")
            for one in islice(made, _LOOKED_AT):
                want(isinstance(one, Scenario), f"a scenario must be a Scenario, not {type(one).__name__}")
                want(not self.kind or one.kind == self.kind, f"the kind {one.kind!r} is not the entry's, {self.kind!r}")
                found += 1
            getattr(made, "close", lambda: None)()
        want(found, "it gives no scenario for any of the specs")

    def test_gives_the_same_twice(self) -> None:
        """The same world, state and seed give the same scenarios, whatever was made before."""
        for world in self._worlds():
            want(self._some(world) == self._some(world), "two of them, with the same seed, give different scenarios")

    def test_leaves_the_state_as_it_was(self) -> None:
        """The state that it is given is not written to."""
        for world in self._worlds():
            state = _state(world)
            before = copy.deepcopy(state)
            list(islice(self.make().generate(world, state, 1), _LOOKED_AT))
            want(state == before, "the state was written to")

    def test_can_be_written_down(self) -> None:
        """A scenario is the same after it was written as JSON and read."""
        from envscaler.scenario.reading import from_json

        for world in self._worlds():
            for one in (made.named() for made in self._some(world)):
                want(from_json(one.to_json()) == one, f"{one.task!r} is not the same after writing and reading it")

    def test_takes_wished_tools(self) -> None:
        """Asked for solutions that use a certain tool, it gives any or none, and does not fail."""
        for world in self._worlds():
            for tool in world.writes[:2]:
                list(islice(self.make().generate(world, _state(world), 1, (tool.name,)), 1))

    def test_most_hold(self) -> None:
        """At least half of its scenarios pass the proof."""
        from dataclasses import replace

        from envscaler.scenario.proof import ProofSettings, prove
        from envscaler.scenario.states import StateStore

        held, failed = 0, []
        for world in self._worlds():
            store = StateStore()
            name = store.put(_state(world))
            for one in self._some(world):
                placed = replace(one, spec=world.ref, state=name if one.state is None else one.state).named()
                proof = prove(world, placed, store, ProofSettings(elsewhere=False))
                held += proof.ok
                failed += [f"{reason.code}: {reason.text}" for reason in proof.reasons[:1]]
        if not held and not failed:
            not_run("it gives no scenario")
        want(held >= len(failed), f"{held} scenarios hold and {len(failed)} do not, the first for {failed[:1]}")


@cache
def _world(spec: Path) -> World:
    from envscaler.scenario.world import World
    from envscaler.session.specs import sound

    return World.of(sound(spec))


_STATES: dict[str, Mapping[str, Any]] = {}


def _state(world: World) -> Mapping[str, Any]:
    """A made state; a copy of it, so that what is written to it hurts nobody else."""
    from envscaler.scenario.data import DataSettings, make_state

    if world.ref.hash not in _STATES:
        _STATES[world.ref.hash] = make_state(world, DataSettings(), 1)
    return copy.deepcopy(_STATES[world.ref.hash])
