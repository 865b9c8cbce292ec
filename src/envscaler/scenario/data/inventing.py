"""Records from their types alone, for collections that hold nothing to copy from; those that rules forbid are left out."""

from __future__ import annotations

from typing import Final

from envscaler.runtime import shapes as s
from envscaler.scenario.data.cloning import Cloner
from envscaler.scenario.data.growing import Targets
from envscaler.scenario.data.known import Known, Links
from envscaler.scenario.data.records import Place, Records, blamed

__all__ = ["invented"]

_ROUNDS: Final = 6


def invented(known: Known, records: Records, targets: Targets, cloner: Cloner) -> None:
    """Add records to the collections that lack some and were asked for, or that had none; references first."""
    for name in _in_order(records):
        asked = name in targets.exact or not known.base.of[name]
        for _ in range(_ROUNDS):
            lack = targets.counts[name] - len(records.of[name])
            if not asked or lack <= 0:
                break
            _add(known, records, name, lack, cloner)


def _in_order(records: Records) -> list[str]:
    """The collections, those after that refer to others as far as that can be."""
    found: list[str] = []
    waiting = list(records.of)
    while waiting:
        ready = [n for n in waiting if not (_needed(records.shapes[n]) - set(found) - {n})] or waiting[:1]
        found += ready
        waiting = [n for n in waiting if n not in ready]
    return found


def _needed(shape: s.StateShape) -> set[str]:
    return {f.shape.collection for f in shape.record.fields if isinstance(f.shape, s.Ref)}


def _add(known: Known, records: Records, name: str, count: int, cloner: Cloner) -> None:
    shape = records.shapes[name]
    assert isinstance(shape, s.Collection)
    if shape.tree is not None and shape.tree.nested is not None:
        return
    added: list[Place] = []
    for _ in range(count):
        record = cloner.values.struct(shape.record)
        if record is None:
            return
        key = cloner.keys.new(name, 0 if shape.key.of is s.INT else f"{name}-1", record, {})
        records.of[name][key] = cloner.unique.settle(cloner, name, key, record)
        added.append((name, key))
    _left(known, records, added, cloner)


def _left(known: Known, records: Records, added: list[Place], cloner: Cloner) -> None:
    """Take away again what breaks a rule, or what was added and the one that complains has to do with."""
    fresh = set(added)
    while fresh and (problems := known.problems(records)):
        wrong = {place for found in blamed(records, problems) for place in found}
        links = Links(records)
        near = {p for place in wrong for p in (*links.referrers.get(place, ()), *links.targets.get(place, ()))}
        gone = (wrong & fresh) or (near & fresh) or fresh
        cloner.drop(gone)
        fresh -= gone
