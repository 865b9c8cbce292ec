"""A state under new keys and with new values throughout, what its records say about each other kept."""

from __future__ import annotations

from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.data.cloning import Cloner
from envscaler.scenario.data.editing import stirred
from envscaler.scenario.data.known import Known
from envscaler.scenario.data.records import Place, Records, maker_of, remapped

__all__ = ["renewed"]

_TRIES: Final = 3


def renewed(known: Known, records: Records, cloner: Cloner) -> None:
    """Renew all records in place. What rules then forbid stays as it was."""
    places = records.places()
    for _ in range(_TRIES):
        empty = Records(records.shapes, {name: {} for name in records.of}, dict(records.singles))
        copier = Cloner(known, empty, cloner.values, _starts(records, cloner), trade=True)
        renamed = copier.clone(_parents_first(records, places), records, bold=False)
        _place_singles(empty, renamed)
        if not known.problems(empty):
            records.of, records.singles = empty.of, empty.singles
            break
    copier = Cloner(known, records, cloner.values)
    stirred(known, copier, records.places())


def _parents_first(records: Records, places: list[Place]) -> list[Place]:
    """Nodes of nested trees after those that they stand in; they are taken in that order."""
    return sorted(places, key=lambda place: list(records.of).index(place[0]))


def _starts(records: Records, cloner: Cloner) -> dict[str, int]:
    """Where the counters of the keys begin: anywhere within the digits that the keys have."""
    found = {}
    for name, shape in records.shapes.items():
        maker = maker_of(shape) if isinstance(shape, s.Collection) else None
        if maker is not None and maker.counts:
            top = max(map(maker.number, records.of[name]), default=1) or 1
            most = int("9" * len(str(top)))
            found[name] = cloner.rng.randint(0, max(0, most - 10 * len(records.of[name]) - 1))
    return found


def _place_singles(records: Records, renamed: dict[Place, Place]) -> None:
    def new(collection: str, key: Any) -> Any:
        return renamed.get((collection, key), (collection, key))[1]

    for name, record in records.singles.items():
        records.singles[name] = remapped(records.shapes[name].record, record, new)
