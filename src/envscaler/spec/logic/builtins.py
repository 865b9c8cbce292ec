"""Types of the built-in functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.language import Builtin
from envscaler.spec.logic.arguments import (
    arguments_of,
    ignore_arguments,
    one_of,
    ordered_by,
    origin,
    plain_call,
    run_through,
    with_default,
)
from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.infer import infer, read
from envscaler.spec.logic.names import key_of
from envscaler.spec.logic.narrowing import narrow
from envscaler.spec.logic.operators import condition
from envscaler.spec.logic.relations import NUMERIC, container, join, ordered, plain, textual
from envscaler.spec.logic.storing import an, date_literal, store
from envscaler.spec.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    DURATION,
    FLOAT,
    INT,
    LOCAL,
    MONEY,
    NEVER,
    NONE,
    NUMBER,
    STR,
    TIME,
    DictOf,
    IterOf,
    ListOf,
    Nullable,
    Obj,
    StateOf,
    TupleOf,
    Type,
    nullable,
)
from envscaler.trees import literal_value

__all__ = ["builtin_call"]


def builtin_call(b: Block, node: cst.Call, entry: Builtin) -> Value:
    role = Role("call", entry.name)
    if entry.name in ("rand_int", "rand_float", "choice"):
        b.draws()
        if b.only_tells:
            b.say("impure-rule", node, f"a {b.mode} draws no random values")
    rule = _RULES.get(entry.name)
    if rule is not None:
        return b.note(node, rule(b, node, entry), role)
    if entry.name == "split":
        plain_call(b, node, entry, entry.name, role)
        return b.note(node, Value(ListOf(MONEY)), role)
    return plain_call(b, node, entry, entry.name, role)


def _require(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "require", ["condition", "message"], keywords=["rule"])
    if found is None:
        ignore_arguments(b, node)
        return Value(NONE)
    condition(b, found["condition"])
    before = b.env.copy()
    narrow(b, found["condition"], False)
    _message(b, found["message"])
    _cited(b, found.get("rule"))
    b.env.take(before)
    narrow(b, found["condition"], True)
    return Value(NONE)


def _fail(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "fail", ["message"], keywords=["rule"])
    if found is None:
        ignore_arguments(b, node)
    else:
        _message(b, found["message"])
        _cited(b, found.get("rule"))
    return Value(NEVER)


def _message(b: Block, node: cst.BaseExpression) -> None:
    if b.only_tells:
        b.say(
            "impure-rule",
            node,
            f"a {b.mode} only says whether it holds",
            fix=f"write the condition; the {b.mode}'s text is the message",
        )
    value = read(b, node)
    if not textual(value.type) and value.type != NEVER:
        b.say(
            "wrong-type", node, f"the message is a text, this is {an(value.type)}", fix=f'write f"{{{b.source(node)}}}"'
        )


def _cited(b: Block, node: cst.BaseExpression | None) -> None:
    if node is None:
        return
    rules = b.world.spec.rules
    if not isinstance(node, cst.SimpleString):
        b.say("wrong-type", node, "a rule is cited by its name, as a literal text")
        return
    name = str(literal_value(node))
    infer(b, node)
    if name in rules:
        b.use("rule", name)
    else:
        b.unknown("unknown-rule", node, f"there is no rule '{name}'", name, list(rules), "rules")


def _len(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "len", ["x"])
    if found is not None:
        of = read(b, found["x"]).type
        if not (isinstance(of, ListOf | DictOf | StateOf | Obj) or textual(of) or of in (NEVER, ANY)):
            fix = f"write count({b.source(found['x'])})" if isinstance(of, IterOf) else ""
            b.say("wrong-type", found["x"], f"'len' takes a text, list, dict or collection, this is {an(of)}", fix=fix)
    return Value(INT)


def _sum(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "sum", ["numbers"], ["start"])
    if found is None:
        return Value(NUMBER)
    of = run_through(b, found["numbers"])[1].type
    of = plain(of)
    if "start" in found:
        of = plain(join(of, infer(b, found["start"], of).type) or of)
    if isinstance(of, Nullable):
        b.say("maybe-null", found["numbers"], "some of these may be null", fix="leave them out: … if x is not None")
        of = of.of
    if of not in (*NUMERIC, MONEY, DURATION, NEVER):
        b.say("wrong-type", found["numbers"], f"'sum' adds numbers, money or durations, not {of}")
        return Value(NUMBER)
    return Value(INT if of == NEVER else of)


def _extreme(b: Block, node: cst.Call, entry: Builtin) -> Value:
    plain_args = [a for a in node.args if a.keyword is None]
    if len(plain_args) > 1:
        values = [read(b, a.value) for a in plain_args]
        _no_keywords(b, node, entry.name)
        return Value(_joined(b, node, values, plain_args))
    found = arguments_of(b, node, entry.name, ["xs"], keywords=["key", "default"])
    if found is None:
        return Value(NEVER)
    _, item = run_through(b, found["xs"])
    ordered_by(b, node, found, item)
    if "default" in found:
        default = infer(b, found["default"])
        return with_default(b, node, item, default)
    return item


def _no_keywords(b: Block, node: cst.Call, name: str) -> None:
    for arg in node.args:
        if arg.keyword is not None:
            b.say("wrong-arguments", arg, f"'{name}' of several values takes no '{arg.keyword.value}'")


def _joined(b: Block, node: cst.Call, values: Sequence[Value], args: Sequence[cst.Arg]) -> Type:
    money = any(v.type == MONEY for v in values)
    of: Type = NEVER
    for value, arg in zip(values, args, strict=True):
        this = value.type
        if money and this in NUMERIC:
            store(b, arg.value, value, MONEY, "here")
            this = MONEY
        if of != NEVER and not ordered(of, this):
            b.say("unlike-comparison", arg, f"{of} and {this} have no order")
            return NEVER
        of = join(of, plain(this)) or NEVER
    return of


def _conditions(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, entry.name, ["conditions"])
    if found is not None:
        of = run_through(b, found["conditions"])[1].type
        if of not in (BOOL, NEVER):
            b.say(
                "not-bool",
                found["conditions"],
                f"'{entry.name}' takes conditions, these are {of}",
                fix="write a comparison for each",
            )
    return Value(BOOL)


def _sorted(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "sorted", ["xs"], keywords=["key", "reverse"])
    if found is None:
        return Value(ListOf(NEVER))
    source, item = run_through(b, found["xs"])
    ordered_by(b, node, found, item)
    if "reverse" in found:
        condition(b, found["reverse"])
    return Value(ListOf(item.type), copy_of=origin(source, item))


def _listed(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, entry.name, ["xs"])
    if found is None:
        return Value(ListOf(NEVER))
    source, item = run_through(b, found["xs"])
    of = ListOf(TupleOf(item.type.items)) if isinstance(item.type, TupleOf) else ListOf(item.type)
    return Value(of, copy_of=origin(source, item))


def _zip(b: Block, node: cst.Call, entry: Builtin) -> Value:
    parts = [run_through(b, arg.value)[1] for arg in node.args]
    return Value(IterOf(TupleOf(tuple(p.type for p in parts))), _shared_view(parts))


def _shared_view(parts: Sequence[Value]) -> str | None:
    views = {p.view for p in parts if container(p.type)}
    return views.pop() if len(views) == 1 else None


def _range(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "range", ["start"], ["stop", "step"])
    for value in (found or {}).values():
        one_of(b, value, (INT,), "range")
    return Value(IterOf(INT))


def _enumerate(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "enumerate", ["xs"], ["start"])
    if found is None:
        return Value(IterOf(NEVER))
    if "start" in found:
        one_of(b, found["start"], (INT,), "enumerate")
    item = run_through(b, found["xs"])[1]
    return Value(IterOf(TupleOf((INT, item.type))), item.view, item.copy_of, item.frozen)


def _first(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "first", ["xs"], ["default"])
    if found is None:
        return Value(NEVER)
    item = run_through(b, found["xs"])[1]
    if "default" not in found:
        return item
    return with_default(b, node, item, infer(b, found["default"]))


def _count(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "count", ["xs"])
    if found is not None:
        run_through(b, found["xs"])
    return Value(INT)


def _abs(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "abs", ["x"])
    return (
        Value(NEVER) if found is None else Value(plain(one_of(b, found["x"], (*NUMERIC, MONEY, DURATION), "abs").type))
    )


def _round(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "round", ["x"], ["digits"])
    if found is None:
        return Value(NUMBER)
    of = one_of(b, found["x"], NUMERIC, "round").type
    if "digits" not in found:
        return Value(INT)
    one_of(b, found["digits"], (INT,), "round")
    return Value(of if of in NUMERIC else NUMBER)


def _convert(returns: Type, takes: tuple[Type, ...]) -> Callable[[Block, cst.Call, Builtin], Value]:
    def rule(b: Block, node: cst.Call, entry: Builtin) -> Value:
        found = arguments_of(b, node, entry.name, ["x"])
        if found is not None:
            one_of(b, found["x"], takes, entry.name)
        return Value(returns)

    return rule


def _typed(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, entry.name, ["x", "T"])
    if found is None:
        return Value(NEVER)
    infer(b, found["x"])
    of = _named_type(b, found["T"])
    if entry.name == "is_type":
        return Value(BOOL)
    return Value(of)


def _named_type(b: Block, node: cst.BaseExpression) -> Type:
    from envscaler.spec.types import Scalar

    names = ("str", "int", "float", "number", "bool", "money", "date", "time", "datetime", "zone")
    word = node.value if isinstance(node, cst.Name) else ""
    if isinstance(node, cst.Name) and word in ("list", "dict"):
        of: Type = ListOf(ANY) if word == "list" else DictOf(ANY)
    elif word in names:
        of = Scalar(word)  # type: ignore[arg-type]
    elif word in b.world.spec.types:
        b.use("type", word)
        of = b.world.spec.types[word]
    else:
        b.unknown(
            "unknown-type",
            node,
            f"'{b.source(node)}' is no type",
            word,
            [*names, "list", "dict", *b.world.spec.types],
            "types",
        )
        return NEVER
    b.note(node, Value(of))
    b.convert(node, of)
    return of


def _add_months(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "add_months", ["date", "n"])
    if found is None:
        return Value(DATE)
    one_of(b, found["n"], (INT,), "add_months")
    of = one_of(b, found["date"], (DATE, DATETIME), "add_months").type
    return Value(DATETIME if of == DATETIME else DATE)


def _date(b: Block, node: cst.Call, entry: Builtin) -> Value:
    if len(node.args) == 3:
        for arg in node.args:
            one_of(b, arg.value, (INT,), "date")
        return Value(DATE)
    found = arguments_of(b, node, "date", ["x"])
    if found is not None:
        value = read(b, found["x"])
        if isinstance(found["x"], cst.SimpleString):
            date_literal(b, found["x"], DATE)
        elif not textual(value.type) and value.type not in (DATE, DATETIME, NEVER):
            b.say(
                "wrong-type",
                found["x"],
                f"'date' takes a text or datetime, this is {an(value.type)}",
                fix=entry.signature,
            )
    return Value(DATE)


def _time(b: Block, node: cst.Call, entry: Builtin) -> Value:
    if len(node.args) == 2:
        for arg in node.args:
            one_of(b, arg.value, (INT,), "time")
        return Value(TIME)
    found = arguments_of(b, node, "time", ["x"])
    if found is not None and isinstance(found["x"], cst.SimpleString):
        infer(b, found["x"])
        date_literal(b, found["x"], TIME)
    elif found is not None:
        one_of(b, found["x"], (STR,), "time")
    return Value(TIME)


def _instant(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "instant", ["x"], ["time"])
    if found is None:
        return Value(DATETIME)
    if "time" in found:
        one_of(b, found["x"], (DATE,), "instant")
        one_of(b, found["time"], (TIME,), "instant")
    elif isinstance(found["x"], cst.SimpleString):
        infer(b, found["x"])
        date_literal(b, found["x"], DATETIME)
    else:
        one_of(b, found["x"], (STR,), "instant")
    return Value(DATETIME)


def _choice(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = arguments_of(b, node, "choice", ["xs"])
    if found is None:
        return Value(NEVER)
    source, item = run_through(b, found["xs"])
    if not isinstance(source.type, ListOf) and source.type != NEVER:
        b.say(
            "wrong-type",
            found["xs"],
            f"'choice' takes a list, this is {source.type}",
            fix=f"write list({b.source(found['xs'])})",
        )
    return item


def _tree(b: Block, node: cst.Call, entry: Builtin) -> Value:
    names = {"child": ["tree", "key", "name"]}.get(entry.name, ["tree", "key"])
    found = arguments_of(b, node, entry.name, names)
    if found is None:
        return Value(NEVER)
    of = infer(b, found["tree"]).type
    state = b.world.states.get(of.name) if isinstance(of, StateOf) else None
    if state is None or state.tree is None:
        if of != NEVER:
            b.say(
                "wrong-type",
                found["tree"],
                f"'{entry.name}' takes a collection that is a tree",
                fix="declare 'tree: {parent: …, name: …}' for it",
            )
        return Value(NEVER)
    b.loops()
    if entry.name in ("child", "children"):
        value = infer(b, found["key"])
        assert state.key is not None
        store(b, found["key"], value, nullable(state.key.type), "the parent")
    else:
        key_of(b, found["key"], state.name)
    if entry.name == "child":
        one_of(b, found["name"], (STR,), "child")
        return Value(nullable(state.record), view=state.name)
    if entry.name == "path":
        return Value(ListOf(STR))
    return Value(IterOf(state.record), view=state.name)


_CASTS: Final = (*NUMERIC, STR, MONEY, BOOL, ANY)


_RULES: Final[dict[str, Callable[[Block, cst.Call, Builtin], Value]]] = {
    "require": _require, "fail": _fail, "len": _len, "sum": _sum, "min": _extreme, "max": _extreme, "any": _conditions,
    "all": _conditions, "sorted": _sorted, "reversed": _listed, "list": _listed, "zip": _zip, "range": _range,
    "enumerate": _enumerate, "first": _first, "count": _count, "abs": _abs, "round": _round,
    "int": _convert(INT, _CASTS), "float": _convert(FLOAT, _CASTS), "money": _convert(MONEY, (*NUMERIC, MONEY)),
    "str": _convert(STR, (*_CASTS, DATE, TIME, DATETIME, LOCAL, DURATION)), "as_type": _typed, "is_type": _typed,
    "add_months": _add_months, "date": _date, "time": _time, "instant": _instant, "choice": _choice, "child": _tree,
    "children": _tree, "walk": _tree, "path": _tree,
}  # fmt: skip
