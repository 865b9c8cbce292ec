"""Goals and the guard that follow from what a plan changed: one goal for each changed fact, and nothing else may differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.scenario.facts import Facts, Loose, conjunction
from envscaler.scenario.literals import key_literal
from envscaler.scenario.model import Goal, Guard, Only
from envscaler.scenario.places import Place, places
from envscaler.scenario.wording.english import words_of

__all__ = ["Derived", "Loose", "derive"]


@dataclass(frozen=True, slots=True)
class Derived:
    """What an end state asks for. The first of ``guards`` is over all fields that did not change, the others over those that
    changed in parts only."""

    goals: tuple[Goal, ...]
    guards: tuple[Guard, ...]


@dataclass(slots=True)
class _Change:
    """What became of one record: ``fields`` are those that differ, or all of a new one."""

    place: Place
    kind: str  # added, removed, changed
    fields: list[s.Field] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)


def derive(
    env: Environment, changes: Sequence[tuple[int, Sequence[Mapping[str, Any]]]], loose: Loose | None = None
) -> Derived:
    """Goals and guard for where ``env`` stands. ``changes``: for each write its index among the plan's calls and its
    operations, as `Environment.diff` gives them. ``loose``: what is left open; it may differ and no goal names it.
    """
    open_ = loose or Loose()
    found = _changes(env, changes)
    goals: list[Goal] = []
    facts = Facts(env, open_)
    for change in found:
        if change.kind == "changed":
            goals += _of_fields(change, facts)
        elif change.kind == "removed":
            where = f"final.{change.place.state}"
            text = f"{words_of(change.place.shape.record.name)} {change.place.key} is gone"
            goals.append(Goal(f"{key_literal(change.place.key)} not in {where}", text, tuple(change.steps)))
    goals += _of_added([c for c in found if c.kind == "added"], facts)
    guards = [Guard(only=_only(found), text="Nothing else has changed."), *_of_parts(found, facts)]
    return Derived(tuple(goals), tuple(guards))


def _of_parts(found: Iterable[_Change], facts: Facts) -> Iterable[Guard]:
    """That of a field which changed in parts the other parts have not."""
    for change in found:
        if change.kind == "changed":
            old, new = facts.before(change.place), facts.now(change.place)
            for one in change.fields:
                kept = [] if one.incidental else facts.kept(change.place.expression(), one, old, new)
                if kept:
                    text = f"Nothing else has changed in {words_of(one.name)} of {change.place.words()}."
                    bracketed = [f"({part})" if " and " in part and len(kept) > 1 else part for part in kept]
                    yield Guard(expr=conjunction(bracketed), text=text)


def _changes(env: Environment, changes: Sequence[tuple[int, Sequence[Mapping[str, Any]]]]) -> list[_Change]:
    """What became of the records that differ between the start and now, in the order of the states."""
    found: dict[tuple[str, Any], _Change] = {}
    for op, place in places(env, env.diff()):
        change = found.get(place.at)
        if change is None:
            whole = not place.path
            kind = {"add": "added", "remove": "removed"}.get(op["op"], "changed") if whole else "changed"
            change = found[place.at] = _Change(place, kind)
        if change.kind == "changed" and place.field is not None and place.field not in change.fields:
            change.fields.append(place.field)
    for index, ops in changes:
        for _, place in places(env, ops):
            change = found.get(place.at)
            if change is not None and index not in change.steps and _bears(change, place):
                change.steps.append(index)
    return list(found.values())


def _bears(change: _Change, place: Place) -> bool:
    return change.kind != "changed" or place.field is None or place.field in change.fields


def _of_fields(change: _Change, facts: Facts) -> Iterable[Goal]:
    place = change.place
    old, new = facts.before(place), facts.now(place)
    for one in change.fields:
        if one.incidental or (place.state, one.name) in facts.loose.fields:
            continue
        for expression, text in facts.changed(place.expression(), one, old, new):
            yield Goal(expression, f"{text} of {place.words()}" if place.key is not None else text, tuple(change.steps))


def _of_added(added: Sequence[_Change], facts: Facts) -> Iterable[Goal]:
    """One goal for all new records that are alike; a key that somebody gives is part of the goal."""
    made: list[tuple[_Change, list[str]]] = []
    for change in added:
        shape = change.place.shape
        assert isinstance(shape, s.Collection)
        record = facts.now(change.place)
        if shape.key.make is not None:
            made.append((change, facts.all_of("r", shape.record, record, shape.name)))
            continue
        where, key = f"final.{shape.name}", key_literal(change.place.key)
        said = facts.all_of(f"{where}[{key}]", shape.record, record, shape.name)
        text = f"there is a new {change.place.words()}"
        yield Goal(conjunction([f"{key} in {where}", *said]), text, tuple(change.steps))
    told: set[tuple[str, frozenset[str]]] = set()
    for change, said in made:
        name, each = change.place.state, frozenset(said)
        if (name, each) in told:
            continue
        told.add((name, each))
        group = [other for other, parts in made if other.place.state == name and each <= frozenset(parts)]
        fresh = conjunction([f"k not in initial.{name}", *said])
        noun, many = words_of(change.place.shape.record.name), len(group)
        text = f"there is one new {noun}" if many == 1 else f"there are {many} new ones of {noun}, all alike"
        details = facts.described(change.place.shape.record, facts.now(change.place), name)
        steps = tuple(sorted({n for one in group for n in one.steps}))
        expression = f"count(k for k, r in final.{name}.items() if {fresh}) == {many}"
        yield Goal(expression, f"{text}: {details}" if details else text, steps)


def _only(found: Iterable[_Change]) -> Only:
    fields: dict[str, dict[str, tuple[str, ...]]] = {}
    added: dict[str, int] = {}
    removed: dict[str, tuple[str, ...]] = {}
    for change in found:
        name, key = change.place.state, "" if change.place.key is None else str(change.place.key)
        if change.kind == "added":
            added[name] = added.get(name, 0) + 1
        elif change.kind == "removed":
            removed[name] = (*removed.get(name, ()), key)
        else:
            names = tuple(f.name for f in change.fields if not f.incidental)
            if names:
                fields.setdefault(name, {})[key] = names
    return Only(fields, added, removed)
