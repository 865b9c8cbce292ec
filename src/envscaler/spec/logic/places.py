"""Writing: whether a place may be changed, what that does to the block's effects, and how local lists grow."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.relations import assignable, join
from envscaler.spec.logic.storing import an
from envscaler.spec.types import NEVER, DictOf, ListOf, Obj, Partial, Struct, Type, Union, strip_null
from envscaler.trees import literal_value

__all__ = ["change", "grows", "joined_local"]


def change(b: Block, place: cst.BaseExpression, owner: Value, *, field: str = "", structure: bool = False) -> bool:
    """Check a write to (a part of) ``place``, whose value is ``owner``; note the effect; forget what it unproves.

    ``field`` is set when a field of a record or struct is written, ``structure`` when the number of elements changes.
    """
    if owner.type == NEVER:
        return True
    if owner.view is not None:
        return _change_state(b, place, owner, field, structure)
    if owner.frozen:
        b.say(
            "write-to-copy",
            place,
            f"'{b.source(place)}' is {owner.frozen} and is not changed",
            fix=_own_copy(b, place, owner),
        )
        return False
    inner = strip_null(owner.type)
    if isinstance(inner, Struct | Union | Partial) or _inside_copy(place, owner):
        b.say(
            "write-to-copy",
            place,
            f"'{b.source(place)}' is a copy; a change to it would be lost",
            fix=_write_through(b, place, owner),
        )
        return False
    if structure and b.source(place) in (text for text, _ in b.iterating):
        b.say(
            "change-while-iterating",
            place,
            f"'{b.source(place)}' changes while it is being gone through",
            fix=f"go through list({b.source(place)})",
        )
    return True


def _change_state(b: Block, place: cst.BaseExpression, owner: Value, field: str, structure: bool) -> bool:
    assert owner.view is not None
    record = b.world.state_of(owner.type) if isinstance(owner.type, Struct) else None
    name = field if record is not None else owner.field
    what = f"{owner.view}.{name}" if name else owner.view
    if b.mode == "read":
        b.say("write-in-read", place, f"a read tool changes {what}", fix="declare 'kind: write'")
    elif b.only_tells:
        b.say("impure-rule", place, f"a {b.mode} changes {what}; it only reads")
    if structure and b.source(place) in (text for text, _ in b.iterating):
        b.say(
            "change-while-iterating",
            place,
            f"'{b.source(place)}' changes while it is being gone through",
            fix=f"go through list({b.source(place)})",
        )
    b.writes(owner.view, name)
    if field:
        b.env.forget_fields({field})
    else:
        b.env.forget_elements()
    return True


def _inside_copy(place: cst.BaseExpression, owner: Value) -> bool:
    """Whether a list or dict is a part of something copied, so that changing it changes nothing that lasts."""
    return owner.copy_of is not None and not isinstance(place, cst.Name)


def _own_copy(b: Block, place: cst.BaseExpression, owner: Value) -> str:
    if isinstance(owner.type, ListOf):
        return f"make a list of your own: xs = list({b.source(place)})"
    if isinstance(owner.type, DictOf | Obj):
        return f"make a dict of your own: d = {b.source(place)}.copy()"
    return "look the record up by its key and write to that"


def _write_through(b: Block, place: cst.BaseExpression, owner: Value) -> str:
    node = place
    while isinstance(node, cst.Attribute | cst.Subscript):
        node = node.value
    note = b.notes.get(node)
    inner = strip_null(note.type) if note is not None else strip_null(owner.type)
    if isinstance(inner, Struct) and inner.collection is not None:
        return f"write through the collection: {inner.collection}[{b.source(node)}.{inner.key_name}]"
    return "build the value with its final fields, or write through a view of the record that holds it"


def grows(b: Block, place: cst.BaseExpression, owner: Value) -> bool:
    """Whether a list or dict is a local one, or stands in one, so that new elements widen its type."""
    node = place
    while isinstance(node, cst.Subscript):
        node = node.value
    return owner.view is None and isinstance(node, cst.Name) and node.value in b.env.names


def joined_local(b: Block, place: cst.BaseExpression, owner: Value, more: Type, node: cst.BaseExpression) -> None:
    """Elements of type ``more`` come into a list or dict: into a local one by widening it, elsewhere if they fit."""
    if not grows(b, place, owner):
        if not assignable(more, owner.type):
            b.say("wrong-type", node, f"'{b.source(place)}' is {an(owner.type)}; this would make it {an(more)}")
        return
    both = join(owner.type, more)
    if both is None:
        b.say("unlike-types", node, f"'{b.source(place)}' is {an(owner.type)} so far; this would make it {an(more)}")
        return
    _widen(b, place, both)


def _widen(b: Block, place: cst.BaseExpression, of: Type) -> None:
    """Give a local list or dict, or one inside it, a wider type."""
    if isinstance(place, cst.Name):
        b.env.names[place.value] = replace(b.env.names[place.value], type=of)
        b.env.facts.pop((place.value,), None)
        return
    assert isinstance(place, cst.Subscript)
    index = place.slice[0].slice
    outer = strip_null(b.notes[place.value].type)
    match outer:
        case ListOf():
            _widen(b, place.value, ListOf(of))
        case DictOf(key=key):
            _widen(b, place.value, DictOf(of, key))
        case Obj(items=items) if isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString):
            entries = {**dict(items), str(literal_value(index.value)): of}
            _widen(b, place.value, Obj(tuple(entries.items())))
        case _:
            pass
