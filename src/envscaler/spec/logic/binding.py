"""Local names: what loops and assignments bind, and what they may not hide."""

from __future__ import annotations

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.language import BUILTINS, CLOCK_NAMES, MOMENTS
from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.names import record_state
from envscaler.spec.logic.relations import container, join, textual
from envscaler.spec.logic.scope import Binding
from envscaler.spec.logic.storing import an
from envscaler.spec.types import (
    ANY,
    NEVER,
    STR,
    DictOf,
    IterOf,
    Key,
    ListOf,
    Obj,
    Scalar,
    StateOf,
    Struct,
    TupleOf,
    Type,
)

__all__ = ["bind_loop", "bind_target", "declare", "element", "elements_of"]


def element(of: Type) -> Type | None:
    """What going through a value gives, or None when one cannot go through it."""
    match of:
        case ListOf(item=item) | IterOf(item=item):
            return item
        case DictOf(key=key):
            return key
        case Obj():
            return STR
        case TupleOf(items=items):
            joined: Type = NEVER
            for item in items:
                joined = join(joined, item) or ANY
            return joined
        case Scalar(name="any" | "never"):
            return of
        case _:
            return STR if textual(of) else None


def bind_loop(b: Block, node: cst.For | cst.CompFor, source: Value) -> None:
    """Bind the names of a loop or comprehension that goes through ``source``; a number of ``range`` need not be used."""
    bind_target(b, node.target, elements_of(b, node.iter, source))
    match node.target, node.iter:
        case cst.Name(value=name), cst.Call(func=cst.Name(value="range")):
            b.locals_used.add(name)


def bind_target(b: Block, target: cst.BaseExpression, value: Value) -> None:
    """Bind a loop's or comprehension's names to an element."""
    match target:
        case cst.Name(value=name):
            declare(b, target, name, value)
        case cst.Tuple(elements=elements):
            parts = value.type.items if isinstance(value.type, TupleOf) else None
            if parts is not None and len(parts) != len(elements):
                b.say("wrong-type", target, f"each element has {len(parts)} parts, not {len(elements)}")
            elif parts is None and value.type not in (ANY, NEVER):
                item = element(value.type) if isinstance(value.type, ListOf) else None
                if item is None:
                    b.say("wrong-type", target, f"{an(value.type)} is not a pair", fix=_pair_fix(value.type))
                parts = (item or NEVER,) * len(elements)
            for i, part in enumerate(elements):
                of = parts[i] if parts is not None and i < len(parts) else value.type
                bind_target(
                    b, part.value, _shared(Value(of, value.view, value.copy_of, value.frozen, field=value.field))
                )
        case _:
            b.say("forbidden-syntax", target, "only names can stand here")


def _pair_fix(of: Type) -> str:
    return "keys and records come from '.items()'" if isinstance(of, Struct | Key) else ""


def _shared(value: Value) -> Value:
    return value if container(value.type) else Value(value.type, frozen=value.frozen)


def declare(b: Block, node: cst.CSTNode, name: str, value: Value) -> None:
    """Bind a local name; refused when it would hide something."""
    known = b.env.names.get(name)
    if known is not None and known.kind == "param":
        b.say("shadowing", node, f"'{name}' is a parameter", fix="take another name; parameters keep their value")
    elif (hidden := _hidden(b, name)) is not None:
        b.say("shadowing", node, f"'{name}' hides {hidden}", fix="take another name")
    b.locals_bound.setdefault(name, node)
    b.env.bind(name, Binding(value.type, "local", value.view, value.frozen, field=value.field))
    b.note(node, value, Role("local", name))


def _hidden(b: Block, name: str) -> str | None:
    spec = b.world.spec
    if name in spec.states:
        return f"the state {name}"
    if name in spec.constants:
        return f"the constant {name}"
    if name in spec.helpers:
        return f"the helper {name}"
    if name in BUILTINS:
        return f"the built-in {name}"
    if name in CLOCK_NAMES or name in ("state", "it"):
        return f"'{name}' of the language"
    if b.mode == "goal" and name in MOMENTS:
        return f"'{name}' of goals"
    return f"the type {name}" if name in spec.types or b.world.record_type(name) else None


def elements_of(b: Block, node: cst.BaseExpression, source: Value) -> Value:
    """What going through ``source`` gives each time."""
    if isinstance(source.type, StateOf):
        key = b.world.states[source.type.name].key
        assert key is not None
        return Value(key.type)
    item = element(source.type)
    if item is None:
        fix = "name the list or collection in it" if isinstance(source.type, Struct) else ""
        b.say("not-iterable", node, f"one cannot go through {an(source.type)}", fix=fix)
        return Value(NEVER)
    if isinstance(item, TupleOf):
        return Value(item, source.view, source.copy_of, source.frozen, field=source.field)
    copy_of = source.copy_of or (record_state(item) if source.view is None else None)
    return _shared(Value(item, source.view, copy_of, source.frozen, field=source.field))
