"""Initial states from a spec alone: records copied, renewed, added, taken away and mixed, and every rule kept."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

from envscaler.errors import StateError
from envscaler.scenario.data.acting import acted
from envscaler.scenario.data.cloning import Cloner
from envscaler.scenario.data.editing import mixed, odd, stirred
from envscaler.scenario.data.fakes import Fakes
from envscaler.scenario.data.growing import grown, shrunk, sizes
from envscaler.scenario.data.inventing import invented
from envscaler.scenario.data.known import Known, known_of
from envscaler.scenario.data.records import Records
from envscaler.scenario.data.renewing import renewed
from envscaler.scenario.data.settings import DataSettings
from envscaler.scenario.data.values import Values
from envscaler.scenario.world import World

_ACTS: Final = 5

__all__ = ["allowed", "make_state"]


def allowed(world: World, state: Any, where: str = "the state") -> dict[str, Any]:
    """A state as somebody wrote it, in its canonical JSON form. Raises StateError, ``where`` and the number of problems in
    front."""
    try:
        env = world.environment.new(state)
    except StateError as error:
        many = len(error.problems)
        head = f"{where}: {many} problem{'s' * (many > 1)} with what {world.spec.name} allows"
        raise StateError([head, *error.problems]) from None
    return env.state


def make_state(
    world: World, settings: DataSettings | None = None, seed: int | str = 0, state: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A state in JSON form that the spec allows, all rules included; the same for the same arguments and Faker.

    ``state``: what to begin with, the spec's own initial state when left out. Sizes and shares are met as far as the
    rules let them; `summary` tells what came out. Raises UsageError for settings that the world has no place for or
    without Faker where it is needed, StateError for a ``state`` that is not allowed.
    """
    chosen = (settings or DataSettings()).checked(world)
    known = known_of(world)
    records = known.base.copy() if state is None else Records.taken(world.states, allowed(world, state))
    rng = random.Random(f"{world.spec.hash}:state:{seed}")  # noqa: S311
    maker = _Maker(world, known, records, chosen, rng)
    return maker.made()


class _Maker:
    """One state on its way."""

    def __init__(
        self, world: World, known: Known, records: Records, settings: DataSettings, rng: random.Random
    ) -> None:
        self.world, self.known, self.records, self.settings, self.rng = world, known, records, settings, rng
        self.fakes = Fakes(rng, settings.locale)

    def made(self) -> dict[str, Any]:
        settings, records, rng = self.settings, self.records, self.rng
        targets = sizes(records, settings.size, settings.sizes)
        fresh = settings.way == "fresh"
        shrunk(self.known, records, targets if fresh else targets.less(settings.change / 4), rng)
        if fresh:
            renewed(self.known, records, self._cloner())
        elif settings.change:
            places = records.places()
            stirred(self.known, self._cloner(), rng.sample(places, round(settings.change * len(places))))
        cloner = self._cloner()
        grown(self.known, records, targets, cloner)
        invented(self.known, records, targets, cloner)
        cloner = self._cloner()
        mixed(self.known, cloner, settings.shares)
        if settings.edges:
            odd(self.known, cloner, settings.edges)
        acts = settings.acts if settings.acts is not None else 0 if self.world.collections else _ACTS
        return acted(self.world, allowed(self.world, records.state()), acts, self.fakes, rng)

    def _cloner(self) -> Cloner:
        records = self.records
        values = Values(self.rng, self.fakes, self.known.clock, lambda name: list(records.of[name]))
        return Cloner(self.known, records, values)
