"""Types of methods of text, lists, dicts, collections and structs, and what they write."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.language import METHODS, Method, methods_of
from envscaler.spec.logic.arguments import (
    arguments_of,
    ignore_arguments,
    one_of,
    ordered_by,
    plain_call,
    run_through,
    with_default,
)
from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.construct import check_fields, not_while_iterating
from envscaler.spec.logic.infer import infer, read
from envscaler.spec.logic.names import key_of
from envscaler.spec.logic.places import change, grows, joined_local
from envscaler.spec.logic.relations import container, holds_records, join, textual
from envscaler.spec.logic.storing import an, store
from envscaler.spec.types import (
    ANY,
    INT,
    NEVER,
    NONE,
    STR,
    DictOf,
    Field,
    IterOf,
    ListOf,
    Nullable,
    Obj,
    Partial,
    StateOf,
    Struct,
    TupleOf,
    Type,
    Union,
    nullable,
)
from envscaler.trees import literal_value

__all__ = ["method_call", "remove"]


def method_call(b: Block, node: cst.Call, func: cst.Attribute) -> Value:
    owner = read(b, func.value)
    name, kind = func.attr.value, _owner_kind(owner.type)
    if kind is None:
        if owner.type != NEVER:
            b.say("unknown-method", func.attr, f"{owner.type} has no methods", fix=_method_fix(b, func, owner.type))
        ignore_arguments(b, node)
        return b.note(node, Value(NEVER))
    method = METHODS.get(f"{kind}.{name}")
    if method is None:
        _no_method(b, func, owner.type, kind, name)
        ignore_arguments(b, node)
        return b.note(node, Value(NEVER))
    role = Role("method", method.key)
    if method.params is not None:
        return plain_call(b, node, method, method.key, role)
    return b.note(node, _METHOD_RULES[kind](b, node, func, owner, method), role)


def _method_fix(b: Block, func: cst.Attribute, of: Type) -> str:
    return f"say what it is first: as_type({b.source(func.value)}, str)" if of == ANY else ""


def _owner_kind(of: Type) -> str | None:
    match of:
        case ListOf():
            return "list"
        case DictOf() | Obj():
            return "dict"
        case StateOf():
            return "collection"
        case Struct() | Union() | Partial():
            return "struct"
        case _:
            return "str" if textual(of) else None


def _no_method(b: Block, func: cst.Attribute, of: Type, kind: str, name: str) -> None:
    known = methods_of(kind)  # type: ignore[arg-type]
    if kind == "struct" and isinstance(of, Struct) and name in of.fields:
        b.say(
            "unknown-method", func.attr, f"'{name}' is a field, not a method", fix=f"write {b.source(func)} without ()"
        )
    elif name in ("format", "format_map", "encode", "translate"):
        b.say("unknown-method", func.attr, f"the language has no '{name}'", fix='use an f-string: f"{a} {b}"')
    else:
        b.unknown(
            "unknown-method", func.attr, f"{of} has no method '{name}'", name, list(known), f"methods of a {kind}"
        )


def _text_method(b: Block, node: cst.Call, func: cst.Attribute, owner: Value, method: Method) -> Value:
    found = arguments_of(b, node, method.key, ["texts"])
    if found is not None:
        of = run_through(b, found["texts"])[1].type
        if not textual(of) and of != NEVER:
            b.say(
                "wrong-type",
                found["texts"],
                f"'join' takes texts, these are {of}",
                fix="turn each into text: str(x) for x in …",
            )
    return Value(STR)


def _list_method(b: Block, node: cst.Call, func: cst.Attribute, owner: Value, method: Method) -> Value:
    assert isinstance(owner.type, ListOf)
    shapes = {"append": ["x"], "extend": ["ys"], "insert": ["i", "x"], "remove": ["x"], "index": ["x"], "count": ["x"]}
    optional = ["i"] if method.name == "pop" else []
    keywords = ["key", "reverse"] if method.name == "sort" else []
    found = arguments_of(b, node, method.key, shapes.get(method.name, []), optional, keywords)
    if found is None:
        ignore_arguments(b, node)
        return Value(NEVER)
    item = owner.type.item
    if method.writes:
        change(b, func.value, owner, structure=method.name not in ("sort", "reverse"))
    if "i" in found:
        one_of(b, found["i"], (INT,), method.key)
    if method.name in ("append", "insert"):
        _added(b, func.value, owner, found["x"], item)
    elif method.name == "extend":
        more = run_through(b, found["ys"])[1]
        joined_local(b, func.value, owner, ListOf(more.type), found["ys"])
    elif method.name in ("remove", "index", "count"):
        _looked_for(b, found["x"], item)
    elif method.name == "sort":
        ordered_by(b, node, found, owner.part(item))
    if method.name == "pop":
        return Value(item, copy_of=owner.view or owner.copy_of)
    return Value({"index": INT, "count": INT, "copy": owner.type}.get(method.name, NONE))


def _added(b: Block, place: cst.BaseExpression, owner: Value, node: cst.BaseExpression, item: Type) -> None:
    if not grows(b, place, owner):
        store(b, node, infer(b, node, item), item, "an element")
        return
    value = infer(b, node, None if item == NEVER else item)
    joined_local(b, place, owner, ListOf(value.type), node)


def _looked_for(b: Block, node: cst.BaseExpression, item: Type) -> None:
    from envscaler.spec.logic.relations import comparable

    value = infer(b, node)
    if holds_records(item):
        b.say("compare-records", node, "records are not compared", fix="compare their keys")
    elif not comparable(value.type, item):
        b.say("unlike-comparison", node, f"the list holds {item}, this is {an(value.type)}")


def _dict_method(b: Block, node: cst.Call, func: cst.Attribute, owner: Value, method: Method) -> Value:
    of = owner.type
    if isinstance(of, Obj):
        value: Type = NEVER
        for _, t in of.items:
            value = join(value, t) or ANY
        of = DictOf(value)
    assert isinstance(of, DictOf)
    names = {"get": (["key"], ["default"]), "pop": (["key"], ["default"]), "update": (["other"], [])}
    found = arguments_of(b, node, method.key, *names.get(method.name, ([], [])))
    if found is None:
        ignore_arguments(b, node)
        return Value(NEVER)
    if method.writes:
        change(b, func.value, owner, structure=True)
    if "key" in found:
        key = infer(b, found["key"], of.key)
        if isinstance(key.type, Nullable) or of.key not in (NEVER,):
            store(b, found["key"], key, of.key, "a key")
    return _dict_result(b, node, func, owner, of, method, found)


def _dict_result(
    b: Block,
    node: cst.Call,
    func: cst.Attribute,
    owner: Value,
    of: DictOf,
    method: Method,
    found: dict[str, cst.BaseExpression],
) -> Value:
    view = owner.view if container(of.value) else None
    match method.name:
        case "get" | "pop":
            item = Value(of.value, view if method.name == "get" else None, owner.copy_of, owner.frozen)
            if "default" in found:
                return with_default(b, node, item, infer(b, found["default"], of.value))
            return Value(nullable(of.value), item.view, item.copy_of, item.frozen) if method.name == "get" else item
        case "keys":
            return Value(IterOf(of.key))
        case "values":
            return Value(IterOf(of.value), view, owner.copy_of, owner.frozen, field=owner.field)
        case "items":
            return Value(IterOf(TupleOf((of.key, of.value))), view, owner.copy_of, owner.frozen, field=owner.field)
        case "update":
            value = infer(b, found["other"], of)
            store(b, found["other"], value, of, "'update'")
            return Value(NONE)
        case "copy":
            return Value(of)
        case _:
            return Value(NONE)


def _collection_method(b: Block, node: cst.Call, func: cst.Attribute, owner: Value, method: Method) -> Value:
    assert isinstance(owner.type, StateOf)
    state = b.world.states[owner.type.name]
    record, name = state.record, state.name
    assert state.key is not None
    if method.name == "add":
        _changes_collection(b, node, name)
        b.adds(name)
        if state.key.make is not None and "{hex" in state.key.make:
            b.draws()
        key = Field(state.key.name, state.key.type.of, state.key.name, state.key.span)
        check_fields(b, node, record, f"{name}.add", key, state.key.make is None)
        return Value(record, view=name)
    found = arguments_of(b, node, method.key, ["key"] if method.name in ("get", "remove") else [])
    if found is None:
        ignore_arguments(b, node)
    elif "key" in found:
        key_of(b, found["key"], name)
    match method.name:
        case "get":
            return Value(nullable(record), view=name)
        case "remove":
            remove(b, node, name)
            return Value(NONE)
        case "keys":
            return Value(IterOf(state.key.type))
        case "values":
            return Value(IterOf(record), view=name)
        case _:
            return Value(IterOf(TupleOf((state.key.type, record))), view=name)


def _changes_collection(b: Block, node: cst.CSTNode, state: str) -> None:
    if b.mode == "read":
        b.say("write-in-read", node, f"a read tool changes {state}", fix="declare 'kind: write'")
    elif b.only_tells:
        b.say("impure-rule", node, f"a {b.mode} changes {state}; it only reads")
    not_while_iterating(b, node, state, f"this changes {state}")
    b.env.forget_state(state)


def remove(b: Block, node: cst.CSTNode, state: str) -> None:
    """Check the removal of a record."""
    _changes_collection(b, node, state)
    b.removes(state)
    for name, binding in b.env.names.items():
        if binding.view == state:  # it may be the one removed: still readable, no longer written to
            b.env.names[name] = replace(binding, view=None, frozen="of a collection something was removed from")


def _struct_method(b: Block, node: cst.Call, func: cst.Attribute, owner: Value, method: Method) -> Value:
    if method.name == "update":
        return _update(b, node, func, owner)
    found = arguments_of(b, node, "x.get", ["field"], ["default"])
    if found is None:
        return Value(NEVER)
    name_node = found["field"]
    if not isinstance(name_node, cst.SimpleString):
        b.say("wrong-type", name_node, "the name of a field is a literal text here")
        return Value(NEVER)
    of = owner.type.of if isinstance(owner.type, Partial) else owner.type
    name = str(literal_value(name_node))
    infer(b, name_node)
    structs = of.members if isinstance(of, Union) else (of,)
    fields = [s.fields[name] for s in structs if isinstance(s, Struct) and name in s.fields]
    if not fields:
        known = sorted({n for s in structs if isinstance(s, Struct) for n in s.fields})
        b.unknown("unknown-field", name_node, f"{owner.type} has no field '{name}'", name, known, "fields")
        return Value(NEVER)
    if owner.view is not None:
        b.reads(owner.view, name)
    kind = fields[0].type
    item = owner.part(kind) if container(kind) else Value(kind)
    if "default" in found:
        return with_default(b, node, item, infer(b, found["default"], kind))
    return Value(nullable(kind), item.view, item.copy_of, item.frozen)


def _update(b: Block, node: cst.Call, func: cst.Attribute, owner: Value) -> Value:
    found = arguments_of(b, node, "x.update", ["partial"])
    if found is None:
        return Value(NONE)
    value = read(b, found["partial"])
    if not (isinstance(value.type, Partial) and value.type.of is owner.type):
        b.say("wrong-type", found["partial"], f"'update' takes {{partial: {owner.type}}}, this is {an(value.type)}")
    elif isinstance(owner.type, Struct):
        for name in owner.type.fields:
            change(b, func.value, owner, field=name)
    return Value(NONE)


_METHOD_RULES: Final = {
    "str": _text_method, "list": _list_method, "dict": _dict_method, "collection": _collection_method,
    "struct": _struct_method,
}  # fmt: skip
