"""Arguments of calls: which are given, of what type, in what order of elements."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.language import BUILTINS, METHODS, Builtin, Method
from envscaler.spec.logic.binding import elements_of
from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.infer import infer, read
from envscaler.spec.logic.relations import NUMERIC, assignable, container, join, ordered, plain
from envscaler.spec.logic.scope import Binding
from envscaler.spec.logic.storing import an, store
from envscaler.spec.types import (
    ANY,
    DATE,
    DATETIME,
    INT,
    MONEY,
    NEVER,
    NONE,
    NUMBER,
    STR,
    ListOf,
    Nullable,
    Type,
    strip_null,
)

__all__ = [
    "arguments_of",
    "ignore_arguments",
    "one_of",
    "ordered_by",
    "origin",
    "plain_call",
    "run_through",
    "with_default",
]


def ignore_arguments(b: Block, node: cst.Call) -> None:
    for arg in node.args:
        if not isinstance(arg.value, cst.Lambda):
            infer(b, arg.value)


def arguments_of(
    b: Block,
    node: cst.Call,
    name: str,
    positional: Sequence[str],
    optional: Sequence[str] = (),
    keywords: Sequence[str] = (),
) -> dict[str, cst.BaseExpression] | None:
    """Arguments by name; None (and a diagnostic) when they do not fit. ``optional`` are those that may be left out."""
    order = [*positional, *optional]
    found: dict[str, cst.BaseExpression] = {}
    for i, arg in enumerate(node.args):
        if arg.keyword is None:
            if i >= len(order):
                b.say("wrong-arguments", arg, f"'{name}' takes {_number(len(order))}", fix=_signature(name))
                return None
            found[order[i]] = arg.value
        elif arg.keyword.value in found:
            b.say("wrong-arguments", arg, f"'{arg.keyword.value}' is given twice")
            return None
        elif arg.keyword.value in (*order, *keywords):
            found[arg.keyword.value] = arg.value
        else:
            b.unknown(
                "wrong-arguments",
                arg,
                f"'{name}' has no parameter '{arg.keyword.value}'",
                arg.keyword.value,
                [*order, *keywords],
                "parameters",
            )
            return None
    missing = [p for p in positional if p not in found]
    if missing:
        b.say("wrong-arguments", node, f"'{name}' also needs {' and '.join(missing)}", fix=_signature(name))
        return None
    return found


def _number(n: int) -> str:
    return "no arguments" if n == 0 else "one argument" if n == 1 else f"at most {n} arguments"


def _signature(name: str) -> str:
    known = BUILTINS.get(name) or METHODS.get(name)
    return known.signature if known else ""


def plain_call(b: Block, node: cst.Call, entry: Builtin | Method, name: str, role: Role) -> Value:
    """A call whose parameters each take one of a few types."""
    params = entry.params or ()
    names = [f"argument {i + 1}" for i in range(len(params))]
    cut = len(names) - entry.optional
    found = arguments_of(b, node, name, names[:cut], names[cut:])
    if found is None:
        ignore_arguments(b, node)
        return b.note(node, Value(entry.returns or NEVER), role)
    for label, value in found.items():
        one_of(b, value, params[names.index(label)], name)
    return b.note(node, Value(entry.returns or ListOf(STR)), role)


def one_of(b: Block, node: cst.BaseExpression, types: Sequence[Type], name: str) -> Value:
    value = read(b, node)
    if value.type in (NEVER, ANY) and value.type == NEVER:
        return value
    if any(assignable(value.type, t) or plain(value.type) == t for t in types):
        return value
    if MONEY in types and value.type in NUMERIC:
        store(b, node, value, MONEY, f"'{name}'")
        return value
    if (DATE in types or DATETIME in types) and isinstance(node, cst.SimpleString):
        store(b, node, value, next(t for t in types if t in (DATE, DATETIME)), f"'{name}'")
        return value
    wanted = " or ".join(str(t) for t in types)
    fix = f"write as_type({b.source(node)}, {types[0]})" if value.type == ANY else ""
    b.say("wrong-type", node, f"'{name}' takes {wanted}, this is {an(value.type)}", fix=fix)
    return value


def run_through(b: Block, node: cst.BaseExpression) -> tuple[Value, Value]:
    """An iterable argument: its own value and that of its elements."""
    source = read(b, node)
    b.loops()
    return source, elements_of(b, node, source)


def with_default(b: Block, node: cst.Call, item: Value, default: Value) -> Value:
    of = join(item.type, default.type)
    if of is None:
        if strip_null(item.type) == MONEY and default.type in NUMERIC:
            return Value(MONEY) if store(b, node.args[-1].value, default, MONEY, "the default") else Value(NEVER)
        b.say("unlike-types", node, f"the elements are {item.type}, the default is {default.type}")
        return Value(NEVER)
    return Value(
        of, item.view if default.type == NONE or default.view == item.view else None, item.copy_of, item.frozen
    )


def ordered_by(b: Block, node: cst.Call, found: dict[str, cst.BaseExpression], item: Value) -> None:
    of = item.type
    if (key := found.get("key")) is not None:
        of = _key_result(b, key, item)
    if isinstance(of, Nullable):
        b.say("maybe-null", found.get("key", node), "some of these may be null and have no order")
    elif not ordered(of, of):
        word = "the keys are" if "key" in found else "these are"
        fix = "give key=lambda x: …" if "key" not in found else ""
        b.say("wrong-type", found.get("key", node), f"{word} {of}, which has no order", fix=fix)


def _key_result(b: Block, key: cst.BaseExpression, item: Value) -> Type:
    if isinstance(key, cst.Lambda):
        before = b.env.copy()
        param = key.params.params[0].name
        b.env.bind(param.value, Binding(item.type, "local", item.view, "an element"))
        b.locals_used.add(param.value)
        b.note(param, item, Role("local", param.value))
        of = infer(b, key.body).type
        b.env.take(before)
        b.note(key, Value(of))
        return of
    if isinstance(key, cst.Name) and key.value in ("len", "abs", "str", "int", "float"):
        b.note(key, Value(NEVER), Role("builtin", key.value))
        return STR if key.value == "str" else INT if key.value == "len" else NUMBER
    b.say("wrong-type", key, "a sort key is a lambda", fix="key=lambda x: x.field")
    return NEVER


def origin(source: Value, item: Value) -> str | None:
    return (item.view or item.copy_of) if container(item.type) else None
