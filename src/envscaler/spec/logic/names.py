"""Types of names, fields and elements: what a place in logic refers to."""

from __future__ import annotations

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.language import BUILTINS, CLOCK_NAMES, DATE_PARTS, DATETIME_PARTS, MOMENTS, TIME_PARTS, methods_of
from envscaler.spec.logic.block import Block, Value, path_of
from envscaler.spec.logic.infer import infer, maybe_null, read, rule
from envscaler.spec.logic.relations import assignable, container, join, literal, textual
from envscaler.spec.logic.scope import Binding
from envscaler.spec.logic.storing import an, store
from envscaler.spec.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    LOCAL,
    MONEY,
    NEVER,
    NONE,
    NUMBER,
    STR,
    TIME,
    Const,
    DictOf,
    Enum,
    Field,
    IterOf,
    Key,
    ListOf,
    Nullable,
    Obj,
    Scalar,
    StateOf,
    Struct,
    TupleOf,
    Type,
    Union,
    strip_null,
)
from envscaler.trees import literal_value

__all__ = ["key_of", "record_state"]


@rule(cst.Name)
def _name(b: Block, node: cst.Name, expected: Type | None) -> Value:
    name = node.value
    if name in ("True", "False"):
        return b.note(node, Value(BOOL))
    if name == "None":
        return b.note(node, Value(NONE))
    if (binding := b.env.names.get(name)) is not None:
        return _local(b, node, binding)
    spec = b.world.spec
    if name in spec.constants:
        b.use("constant", name)
        return b.note(node, Value(spec.constants[name].type, frozen="a constant"), Role("constant", name))
    if b.mode == "goal" and (name in MOMENTS or name in spec.states or name == "state"):
        return _no_moment(b, node, name)
    if name in spec.states:
        return _state(b, node, name)
    if name in CLOCK_NAMES:
        return b.note(node, Value(CLOCK_NAMES[name]), Role("clock", name))
    return _no_such_name(b, node, name)


def _local(b: Block, node: cst.Name, binding: Binding) -> Value:
    name = node.value
    if not b.muted:
        b.locals_used.add(name)
    if not binding.certain:
        b.say(
            "maybe-unassigned",
            node,
            f"'{name}' may not have a value here",
            fix=f"assign '{name}' before the branch or loop",
        )
    elif binding.clash:
        b.say("unlike-types", node, f"'{name}' has unlike types depending on the way here", fix="use two names")
    of = b.env.facts.get((name,), binding.type)
    copy_of = record_state(of) if binding.view is None else None
    value = Value(of, binding.view, copy_of, binding.frozen, (name,), binding.field)
    return b.note(node, value, Role(binding.kind, name))


def record_state(of: Type) -> str | None:
    inner = strip_null(of)
    while isinstance(inner, ListOf | IterOf):
        inner = inner.item
    return inner.collection if isinstance(inner, Struct) else None


def _state(b: Block, node: cst.BaseExpression, name: str) -> Value:
    b.use("state", name)
    state = b.world.states[name]
    b.reads(name)
    role = Role("state", name)
    if state.single:
        return b.note(node, Value(state.record, view=name, path=(name,)), role)
    return b.note(node, Value(StateOf(name), view=name, path=(name,)), role)


def _no_moment(b: Block, node: cst.Name, name: str) -> Value:
    """In a goal a state stands behind `initial` or `final`, and these stand before a state."""
    if name in MOMENTS or name == "state":
        moment = name if name in MOMENTS else "final"
        b.say("unknown-name", node, f"'{name}' is not a value by itself", fix=f"name a state: {moment}.NAME")
    else:
        b.say(
            "unknown-name",
            node,
            f"a goal says at which moment it means {name}",
            fix=f"write final.{name}, or initial.{name} for how it was at the start",
        )
    return b.note(node, Value(NEVER))


def _no_such_name(b: Block, node: cst.Name, name: str) -> Value:
    spec = b.world.spec
    if b.world.refused(name):
        return b.note(node, Value(NEVER))
    states = MOMENTS if b.mode == "goal" else spec.states
    known = [*b.env.names, *states, *spec.constants, *CLOCK_NAMES]
    if name in BUILTINS or name in spec.helpers:
        b.say("unknown-name", node, f"'{name}' is a function", fix=f"call it: {name}(…)")
    elif name in spec.types or b.world.record_type(name):
        b.say("unknown-name", node, f"'{name}' is a type", fix=f"build a value: {name}(…)")
    elif name == "it":
        b.say(
            "unknown-name",
            node,
            "'it' is a record of the collection that 'each' names",
            fix="give the rule 'each: COLLECTION'",
        )
    elif name == "state":
        b.say("unknown-name", node, "'state' is not a value by itself", fix="name a collection: state.NAME")
    else:
        b.unknown("unknown-name", node, f"nothing here is called '{name}'", name, known, "names here")
    return b.note(node, Value(NEVER))


@rule(cst.Attribute)
def _attribute(b: Block, node: cst.Attribute, expected: Type | None) -> Value:
    owner, name = node.value, node.attr.value
    before = MOMENTS if b.mode == "goal" else ("state",)
    if isinstance(owner, cst.Name) and owner.value in before and owner.value not in b.env.names:
        if name in b.world.states:
            return _state(b, node, name)
        b.unknown("unknown-name", node, f"there is no state '{name}'", name, list(b.world.states), "states")
        return b.note(node, Value(NEVER))
    value = infer(b, owner)
    of = value.type
    if isinstance(of, Nullable):
        maybe_null(b, owner, of)
        of = of.of
    match of:
        case Struct():
            return _field(b, node, value, of, name)
        case Union():
            return _union_field(b, node, value, of, name)
        case Scalar(name="never"):
            return b.note(node, Value(NEVER))
        case Key(collection=collection):
            b.say("key-not-record", node, f"'{b.source(owner)}' is a key of {collection}, not the record",
                  fix=f"write {collection}[{b.source(owner)}].{name}, or loop over {collection}.values()")  # fmt: skip
            return b.note(node, Value(NEVER))
        case _:
            parts = _parts(of)
            if name in parts:
                return b.note(node, Value(parts[name]), Role("part", name))
            return _no_attribute(b, node, of, name, parts)


def _parts(of: Type) -> dict[str, Type]:
    if of == DATE:
        return DATE_PARTS
    if of == TIME:
        return TIME_PARTS
    return {**DATETIME_PARTS, "date": DATE, "time": TIME} if of in (DATETIME, LOCAL) else {}


def _no_attribute(b: Block, node: cst.Attribute, of: Type, name: str, parts: dict[str, Type]) -> Value:
    kind = "str" if textual(of) else "list" if isinstance(of, ListOf) else "dict" if isinstance(of, DictOf) else ""
    if kind and name in methods_of(kind):  # type: ignore[arg-type]
        b.say("unknown-field", node.attr, f"'{name}' is a method", fix=f"call it: {b.source(node)}(…)")
    elif textual(of) or of in (INT, FLOAT, NUMBER, BOOL, MONEY):
        b.say("unknown-field", node.attr, f"{an(of)} has no fields")
    elif isinstance(of, Obj | DictOf):
        b.say("unknown-field", node, "a dict has no fields", fix=f'write {b.source(node.value)}["{name}"]')
    elif isinstance(of, StateOf):
        b.unknown(
            "unknown-method",
            node.attr,
            f"{of.name} has no '{name}'",
            name,
            list(methods_of("collection")),
            "methods of a collection",
        )
    elif of == ANY:
        b.say("unknown-field", node, "an 'any' value has no fields", fix=f'write {b.source(node.value)}["{name}"]')
    else:
        b.unknown("unknown-field", node.attr, f"{an(of)} has no '{name}'", name, list(parts), f"parts of {an(of)}")
    return b.note(node, Value(NEVER))


def _field(b: Block, node: cst.Attribute, value: Value, struct: Struct, name: str) -> Value:
    if name == struct.key_name and struct.key is not None:
        if value.view is not None:
            b.reads(value.view)
        return b.note(node, Value(struct.key, path=path_of(node)), Role("key", name, struct))
    found = struct.fields.get(name)
    if found is None:
        names = [*([struct.key_name] if struct.key_name else []), *struct.fields]
        b.unknown(
            "unknown-field", node.attr, f"{struct.name} has no field '{name}'", name, names, f"fields of {struct.name}"
        )
        return b.note(node, Value(NEVER))
    return _known_field(b, node, value, struct, found)


def _known_field(b: Block, node: cst.Attribute, value: Value, struct: Struct, found: Field) -> Value:
    path = path_of(node)
    if value.view is not None:
        b.reads(value.view, found.name if b.world.state_of(struct) is not None else value.field)
    if found.absent and (path is None or path not in b.env.present):
        owner = b.source(node.value)
        b.say("maybe-absent", node, f"'{found.name}' may be absent from {struct.name}",
              fix=f'test `"{found.name}" in {owner}` first, or use {owner}.get("{found.name}")')  # fmt: skip
    of = found.type if path is None else b.env.facts.get(path, found.type)
    shares = container(of)
    within = found.name if b.world.state_of(struct) is not None else value.field
    result = Value(
        of,
        value.view if shares else None,
        value.copy_of if shares else None,
        value.frozen,
        path,
        within if shares else "",
    )
    return b.note(node, result, Role("field", found.name, struct))


def _union_field(b: Block, node: cst.Attribute, value: Value, union: Union, name: str) -> Value:
    if name == union.tag:
        tags = tuple(m.fields[union.tag].type.value for m in union.members)  # type: ignore[attr-defined]
        return b.note(node, Value(Enum(tags), path=path_of(node)), Role("field", name))
    holders = [m for m in union.members if name in m.fields]
    if len(holders) == len(union.members):
        types = [m.fields[name].type for m in holders]
        if all(t == types[0] for t in types):
            return _known_field(b, node, value, holders[0], holders[0].fields[name])
    owner = b.source(node.value)
    if holders:
        tag = holders[0].fields[union.tag].type
        shown = tag.value if isinstance(tag, Const) else "…"
        b.say("not-narrowed", node, f"only {' and '.join(m.name for m in holders)} of {union.name} has '{name}'",
              fix=f'test `{owner}.{union.tag} == "{shown}"` first')  # fmt: skip
    else:
        names = sorted({n for m in union.members for n in m.fields})
        b.unknown(
            "unknown-field",
            node.attr,
            f"no member of {union.name} has a field '{name}'",
            name,
            names,
            "fields of its members",
        )
    return b.note(node, Value(NEVER))


@rule(cst.Subscript)
def _subscript(b: Block, node: cst.Subscript, expected: Type | None) -> Value:
    owner = read(b, node.value)
    inner = node.slice[0].slice
    if isinstance(inner, cst.Slice):
        return _slice(b, node, owner, inner)
    assert isinstance(inner, cst.Index)
    of, index = owner.type, inner.value
    match of:
        case StateOf(name=name):
            key_of(b, index, name)
            record = b.world.states[name].record
            return b.note(node, Value(record, view=name, path=path_of(node)), Role("at", "collection", record))
        case ListOf(item=item):
            _index_is(b, index, INT, "an index")
            return _at(b, node, owner, item, "list")
        case DictOf(value=item, key=key):
            store(b, index, infer(b, index, key), key, "a key")
            return _at(b, node, owner, item, "dict")
        case Obj(items=items):
            return _object_item(b, node, owner, dict(items), index)
        case Scalar(name="any"):
            infer(b, index)
            return _at(b, node, owner, ANY, "any")
        case TupleOf():
            b.say("wrong-type", node, "pairs are taken apart by names", fix="write 'for a, b in …'")
        case Scalar(name="never"):
            infer(b, index)
        case _ if textual(of):
            _index_is(b, index, INT, "an index")
            return b.note(node, Value(STR), Role("at", "str"))
        case Struct() | Union():
            b.say("wrong-type", node, f"fields of {of} are read by name", fix=_field_fix(b, node))
        case _:
            b.say("wrong-type", node, f"{an(of)} has no elements")
    return b.note(node, Value(NEVER))


def _field_fix(b: Block, node: cst.Subscript) -> str:
    index = node.slice[0].slice
    name = index.value if isinstance(index, cst.Index) else None
    shown = str(literal_value(name)) if isinstance(name, cst.SimpleString) else "FIELD"
    return f"write {b.source(node.value)}.{shown}"


def key_of(b: Block, node: cst.BaseExpression, state: str) -> None:
    """Check that an expression can be a key of a collection."""
    key = b.world.states[state].key
    assert key is not None
    value = read(b, node)
    if isinstance(value.type, Struct):
        b.say(
            "wrong-type",
            node,
            f"{state} is read by key, not by record",
            fix=f"write {b.source(node)}.{value.type.key_name or 'KEY'}",
        )
    elif not assignable(value.type, key.type) and value.type != ANY:
        b.say("wrong-type", node, f"{an(value.type)} is no key of {state}", detail=f"expected: {key.type}")


def _at(b: Block, node: cst.Subscript, owner: Value, item: Type, word: str) -> Value:
    path = path_of(node)
    of = item if path is None else b.env.facts.get(path, item)
    shares = container(of)
    if owner.view is not None:
        b.reads(owner.view, owner.field)
    copy_of = owner.copy_of or (record_state(of) if owner.view is None else None)
    value = Value(
        of,
        owner.view if shares else None,
        copy_of if shares else None,
        owner.frozen,
        path,
        owner.field if shares else "",
    )
    return b.note(node, value, Role("at", word))


def _object_item(
    b: Block, node: cst.Subscript, owner: Value, items: dict[str, Type], index: cst.BaseExpression
) -> Value:
    if isinstance(index, cst.SimpleString):
        name = str(literal_value(index))
        b.note(index, Value(literal(name)))
        if name in items:
            return b.note(node, Value(items[name], frozen=owner.frozen, path=path_of(node)), Role("at", "dict"))
        b.unknown("unknown-field", index, f"the dict has no entry '{name}'", name, list(items), "entries")
        return b.note(node, Value(NEVER))
    store(b, index, infer(b, index), STR, "a key")
    joined: Type = NEVER
    for item in items.values():
        joined = join(joined, item) or ANY
    return b.note(node, Value(joined), Role("at", "dict"))


def _index_is(b: Block, node: cst.BaseExpression, of: Type, word: str) -> None:
    value = read(b, node)
    if value.type not in (of, NEVER, ANY):
        b.say("wrong-type", node, f"{word} is {an(of)}, this is {an(value.type)}")


def _slice(b: Block, node: cst.Subscript, owner: Value, parts: cst.Slice) -> Value:
    for bound in (parts.lower, parts.upper, parts.step):
        if bound is not None:
            _index_is(b, bound, INT, "a bound")
    if isinstance(owner.type, ListOf):
        return b.note(node, Value(owner.type, copy_of=owner.view or owner.copy_of), Role("slice"))
    if textual(owner.type):
        return b.note(node, Value(STR), Role("slice"))
    if owner.type != NEVER:
        b.say(
            "wrong-type",
            node,
            f"{an(owner.type)} cannot be sliced",
            detail="lists and texts can",
            fix="make a list first: list(…)",
        )
    return b.note(node, Value(NEVER))
