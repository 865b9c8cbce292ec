"""Statements about records that a task is not about, true and of no account; and the notes that they stand in."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.plan import Plan
from envscaler.scenario.wording.english import listed, noun_of
from envscaler.scenario.wording.leaves import Leaf, leaves
from envscaler.scenario.wording.styles import notes
from envscaler.scenario.wording.told import tells
from envscaler.scenario.wording.values import currency, label_of, said, strip_null, unit_of
from envscaler.scenario.world import World

__all__ = ["correspondence", "statement", "statements"]

_FIELDS: Final = 4
_LONG: Final = 80


def statements(world: World, state: Mapping[str, Any], plan: Plan, rng: random.Random, many: int) -> list[str]:
    """At most ``many`` statements, one for a record each, none of which tells a value that the plan needs."""
    told = list(_told(world, plan))
    about = {record for records in plan.about.values() for record in records} | set(plan.described)
    records = [
        (name, str(key), record)
        for name, shape in world.collections.items()
        for key, record in _records(state, shape)
        if (name, str(key)) not in about
    ]
    rng.shuffle(records)
    found: list[str] = []
    for name, key, record in records:
        if len(found) == many:
            break
        text = statement(world, name, key, record)
        if text and not any(tells(text, leaf) for leaf in told):
            found.append(text)
    return found


def statement(world: World, collection: str, key: str, record: Mapping[str, Any]) -> str:
    """What a record holds in one sentence; empty for one of which there is nothing to say."""
    shape = world.collections[collection].record
    money = currency(world.spec.description.value, world.spec.title)
    parts: list[str] = []
    for field in shape.fields:
        value, of = record.get(field.json), strip_null(field.shape)
        plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        plain = plain and not isinstance(of, s.Ref) and of is not s.ZONE
        if len(parts) < _FIELDS and plain and value != "" and len(str(value)) <= _LONG and "\n" not in str(value):
            unit = unit_of(field) if isinstance(value, int | float) else ""
            parts.append(f"{label_of(field)} {said(value, field.shape, money)}" + (f" {unit}" if unit else ""))
    return f"{noun_of(shape.name).capitalize()} {key}: {listed(parts)}." if parts else ""


def correspondence(world: World, said: Sequence[str], rng: random.Random) -> list[str]:
    """The statements in paragraphs that say that they are of no account."""
    heaps = []
    left = list(said)
    while left:
        size = rng.randint(3, 8)
        heaps.append(left[:size])
        left = left[size:]
    return [notes(world.templates, rng, said=heap, number=n) for n, heap in enumerate(heaps)]


def _records(state: Mapping[str, Any], shape: s.Collection) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """The records of a collection in JSON form; none of a tree, whose form nests."""
    held = state.get(shape.name)
    if shape.tree is not None:
        return
    if isinstance(held, Mapping):
        yield from held.items()
    elif isinstance(held, list):
        yield from ((record.get(shape.key.json), record) for record in held)


def _told(world: World, plan: Plan) -> Iterator[Leaf]:
    """All that a plan's calls say, but for what many a sentence says: yes, no, and words of an enumeration."""
    for call in plan.calls:
        for name, value in call.arguments.items():
            for leaf in leaves(name, value, world.tools[call.tool].params.get(name)):
                common = (
                    isinstance(leaf.value, bool) or leaf.value in (None, "") or isinstance(leaf.shape, s.Enum | s.Const)
                )
                if not common and not isinstance(leaf.value, list | dict):
                    yield leaf
    for fields in plan.described.values():
        for name, value in fields.items():
            yield from (one for one in leaves(name, value, None) if not isinstance(value, bool) and value is not None)
