"""Types of calls: built-ins, methods, helpers, constructors, and what they write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.language import BUILTINS, METHODS, Builtin, Method, methods_of
from envscaler.spec.logic.binding import elements_of
from envscaler.spec.logic.block import Block, HelperInfo, Value
from envscaler.spec.logic.infer import infer, read, rule
from envscaler.spec.logic.names import key_of
from envscaler.spec.logic.narrowing import narrow
from envscaler.spec.logic.operators import condition
from envscaler.spec.logic.places import change, grows, joined_local
from envscaler.spec.logic.relations import NUMERIC, assignable, container, holds_records, join, ordered, plain, textual
from envscaler.spec.logic.scope import Binding
from envscaler.spec.logic.storing import an, date_literal, store
from envscaler.spec.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    DURATION,
    FLOAT,
    INT,
    MISSING,
    MONEY,
    NEVER,
    NONE,
    NUMBER,
    STR,
    TIME,
    Const,
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
    strip_null,
)  # fmt: skip

__all__ = ["call"]


@rule(cst.Call)
def call(b: Block, node: cst.Call, expected: Type | None) -> Value:
    """The value of a call."""
    if any(arg.star for arg in node.args):
        b.say("forbidden-syntax", node, "the language has no '*' in calls")
        return b.note(node, Value(NEVER))
    if isinstance(node.func, cst.Attribute):
        return _method(b, node, node.func)
    if isinstance(node.func, cst.Name):
        return _function(b, node, node.func.value)
    b.say("unknown-function", node.func, "only names and methods can be called")
    return b.note(node, Value(NEVER))


def _function(b: Block, node: cst.Call, name: str) -> Value:
    spec = b.world.spec
    if name in b.env.names:
        b.say(
            "unknown-function",
            node.func,
            f"'{name}' is a value here, not a function",
            fix="rename the local or parameter",
        )
        return b.note(node, Value(NEVER))
    if name in BUILTINS:
        return _builtin(b, node, BUILTINS[name])
    if name in b.world.helpers:
        return _helper(b, node, b.world.helpers[name])
    if name in spec.helpers:  # its own block has errors, or it calls itself
        _ignore_arguments(b, node)
        b.use("helper", name)
        return b.note(node, Value(NEVER))
    declared = spec.types.get(name)
    if isinstance(declared, Struct):
        b.use("type", name)
        return _construct(b, node, declared)
    _no_function(b, node, name)
    _ignore_arguments(b, node)
    return b.note(node, Value(NEVER))


def _no_function(b: Block, node: cst.Call, name: str) -> None:
    spec = b.world.spec
    record = b.world.record_type(name)
    if record is not None:
        b.say(
            "unknown-function",
            node.func,
            f"records of {name} are made by their collection",
            fix=f"write {record.collection or name.lower()}.add(…)",
        )
    elif name in spec.types:
        b.say(
            "unknown-function", node.func, f"{name} is no struct; it has no constructor", fix="write the value itself"
        )
    elif name in spec.setup:
        b.say(
            "unknown-function",
            node.func,
            f"'{name}' is a setup function, called by scenarios only",
            fix="move the shared part into a helper",
        )
    elif name in spec.tools:
        b.say(
            "unknown-function",
            node.func,
            f"'{name}' is a tool; tools do not call each other",
            fix="move the shared part into a helper",
        )
    elif (hint := _PYTHON.get(name)) is not None:
        b.say("unknown-function", node.func, f"the language has no '{name}'", fix=hint)
    elif b.world.refused(name):
        return
    else:
        known = [*BUILTINS, *spec.helpers, *(n for n, t in spec.types.items() if isinstance(t, Struct))]
        b.unknown("unknown-function", node.func, f"there is no function '{name}'", name, known, "functions")


_PYTHON: Final = {
    "isinstance": "write is_type(x, T)", "type": "write is_type(x, T)", "print": "return the text", "input": "take a parameter",
    "open": "data stands in initial_state", "getattr": "write x.field", "setattr": "write x.field = …", "hasattr": 'write "field" in x',
    "set": "use a list or a dict", "tuple": "use a list", "dict": "write {}", "bool": "write a comparison", "eval": "write arith(text)",
    "map": "write [f(x) for x in xs]", "filter": "write [x for x in xs if …]", "next": "write first(xs)",
    "datetime": "write instant(text)", "timedelta": "write days(n), hours(n) or minutes(n)", "Decimal": "write money(x)",
    "pow": "write a ** b", "divmod": "write a // b and a % b", "format": 'write f"{x:.2f}"', "exec": "", "repr": "write str(x)",
    "Exception": "write fail(message)", "ValueError": "write fail(message)", "uuid4": "give the collection a `make`",
}  # fmt: skip


def _ignore_arguments(b: Block, node: cst.Call) -> None:
    for arg in node.args:
        if not isinstance(arg.value, cst.Lambda):
            infer(b, arg.value)


# -- arguments


def _arguments(
    b: Block,
    node: cst.Call,
    name: str,
    positional: Sequence[str],
    optional: Sequence[str] = (),
    keywords: Sequence[str] = (),
) -> dict[str, cst.BaseExpression] | None:
    """Arguments by name; None (and a diagnostic) when they do not fit. ``optional`` are positional ones that may be left out."""
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


def _plain_call(b: Block, node: cst.Call, entry: Builtin | Method, name: str, role: Role) -> Value:
    """A call whose parameters each take one of a few types."""
    params = entry.params or ()
    names = [f"argument {i + 1}" for i in range(len(params))]
    cut = len(names) - entry.optional
    found = _arguments(b, node, name, names[:cut], names[cut:])
    if found is None:
        _ignore_arguments(b, node)
        return b.note(node, Value(entry.returns or NEVER), role)
    for label, value in found.items():
        _one_of(b, value, params[names.index(label)], name)
    return b.note(node, Value(entry.returns or ListOf(STR)), role)


def _one_of(b: Block, node: cst.BaseExpression, types: Sequence[Type], name: str) -> Value:
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


# -- built-ins


def _builtin(b: Block, node: cst.Call, entry: Builtin) -> Value:
    role = Role("call", entry.name)
    if entry.name in ("rand_int", "choice"):
        b.draws()
        if b.mode == "rule":
            b.say("impure-rule", node, "a rule draws no random values")
    rule = _RULES.get(entry.name)
    if rule is not None:
        return b.note(node, rule(b, node, entry), role)
    if entry.name == "split":
        _plain_call(b, node, entry, entry.name, role)
        return b.note(node, Value(ListOf(MONEY)), role)
    return _plain_call(b, node, entry, entry.name, role)


def _require(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "require", ["condition", "message"], keywords=["rule"])
    if found is None:
        _ignore_arguments(b, node)
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
    found = _arguments(b, node, "fail", ["message"], keywords=["rule"])
    if found is None:
        _ignore_arguments(b, node)
    else:
        _message(b, found["message"])
        _cited(b, found.get("rule"))
    return Value(NEVER)


def _message(b: Block, node: cst.BaseExpression) -> None:
    if b.mode == "rule":
        b.say(
            "impure-rule",
            node,
            "a rule only says whether it holds",
            fix="write the condition; the rule's text is the message",
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
    name = str(node.evaluated_value)
    infer(b, node)
    if name in rules:
        b.use("rule", name)
    else:
        b.unknown("unknown-rule", node, f"there is no rule '{name}'", name, list(rules), "rules")


def _len(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "len", ["x"])
    if found is not None:
        of = read(b, found["x"]).type
        if not (isinstance(of, ListOf | DictOf | StateOf | Obj) or textual(of) or of in (NEVER, ANY)):
            fix = f"write count({b.source(found['x'])})" if isinstance(of, IterOf) else ""
            b.say("wrong-type", found["x"], f"'len' takes a text, list, dict or collection, this is {an(of)}", fix=fix)
    return Value(INT)


def _run(b: Block, node: cst.BaseExpression) -> tuple[Value, Value]:
    """An iterable argument: its own value and that of its elements."""
    source = read(b, node)
    b.loops()
    return source, elements_of(b, node, source)


def _sum(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "sum", ["numbers"], ["start"])
    if found is None:
        return Value(NUMBER)
    of = _run(b, found["numbers"])[1].type
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
    found = _arguments(b, node, entry.name, ["xs"], keywords=["key", "default"])
    if found is None:
        return Value(NEVER)
    _, item = _run(b, found["xs"])
    _ordered_by(b, node, found, item)
    if "default" in found:
        default = infer(b, found["default"])
        return _with_default(b, node, item, default)
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


def _with_default(b: Block, node: cst.Call, item: Value, default: Value) -> Value:
    of = join(item.type, default.type)
    if of is None:
        if strip_null(item.type) == MONEY and default.type in NUMERIC:
            return Value(MONEY) if store(b, node.args[-1].value, default, MONEY, "the default") else Value(NEVER)
        b.say("unlike-types", node, f"the elements are {item.type}, the default is {default.type}")
        return Value(NEVER)
    return Value(
        of, item.view if default.type == NONE or default.view == item.view else None, item.copy_of, item.frozen
    )


def _ordered_by(b: Block, node: cst.Call, found: dict[str, cst.BaseExpression], item: Value) -> None:
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


def _conditions(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, entry.name, ["conditions"])
    if found is not None:
        of = _run(b, found["conditions"])[1].type
        if of not in (BOOL, NEVER):
            b.say(
                "not-bool",
                found["conditions"],
                f"'{entry.name}' takes conditions, these are {of}",
                fix="write a comparison for each",
            )
    return Value(BOOL)


def _sorted(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "sorted", ["xs"], keywords=["key", "reverse"])
    if found is None:
        return Value(ListOf(NEVER))
    source, item = _run(b, found["xs"])
    _ordered_by(b, node, found, item)
    if "reverse" in found:
        condition(b, found["reverse"])
    return Value(ListOf(item.type), copy_of=_origin(source, item))


def _origin(source: Value, item: Value) -> str | None:
    return (item.view or item.copy_of) if container(item.type) else None


def _listed(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, entry.name, ["xs"])
    if found is None:
        return Value(ListOf(NEVER))
    source, item = _run(b, found["xs"])
    of = ListOf(TupleOf(item.type.items)) if isinstance(item.type, TupleOf) else ListOf(item.type)
    return Value(of, copy_of=_origin(source, item))


def _zip(b: Block, node: cst.Call, entry: Builtin) -> Value:
    parts = [_run(b, arg.value)[1] for arg in node.args]
    return Value(IterOf(TupleOf(tuple(p.type for p in parts))), _shared_view(parts))


def _shared_view(parts: Sequence[Value]) -> str | None:
    views = {p.view for p in parts if container(p.type)}
    return views.pop() if len(views) == 1 else None


def _range(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "range", ["start"], ["stop", "step"])
    for value in (found or {}).values():
        _one_of(b, value, (INT,), "range")
    return Value(IterOf(INT))


def _enumerate(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "enumerate", ["xs"], ["start"])
    if found is None:
        return Value(IterOf(NEVER))
    if "start" in found:
        _one_of(b, found["start"], (INT,), "enumerate")
    item = _run(b, found["xs"])[1]
    return Value(IterOf(TupleOf((INT, item.type))), item.view, item.copy_of, item.frozen)


def _first(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "first", ["xs"], ["default"])
    if found is None:
        return Value(NEVER)
    item = _run(b, found["xs"])[1]
    if "default" not in found:
        return item
    return _with_default(b, node, item, infer(b, found["default"]))


def _count(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "count", ["xs"])
    if found is not None:
        _run(b, found["xs"])
    return Value(INT)


def _abs(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "abs", ["x"])
    return (
        Value(NEVER) if found is None else Value(plain(_one_of(b, found["x"], (*NUMERIC, MONEY, DURATION), "abs").type))
    )


def _round(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "round", ["x"], ["digits"])
    if found is None:
        return Value(NUMBER)
    of = _one_of(b, found["x"], NUMERIC, "round").type
    if "digits" not in found:
        return Value(INT)
    _one_of(b, found["digits"], (INT,), "round")
    return Value(of if of in NUMERIC else NUMBER)


def _convert(returns: Type, takes: tuple[Type, ...]) -> Callable[[Block, cst.Call, Builtin], Value]:
    def rule(b: Block, node: cst.Call, entry: Builtin) -> Value:
        found = _arguments(b, node, entry.name, ["x"])
        if found is not None:
            _one_of(b, found["x"], takes, entry.name)
        return Value(returns)

    return rule


def _typed(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, entry.name, ["x", "T"])
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
    found = _arguments(b, node, "add_months", ["date", "n"])
    if found is None:
        return Value(DATE)
    _one_of(b, found["n"], (INT,), "add_months")
    of = _one_of(b, found["date"], (DATE, DATETIME), "add_months").type
    return Value(DATETIME if of == DATETIME else DATE)


def _date(b: Block, node: cst.Call, entry: Builtin) -> Value:
    if len(node.args) == 3:
        for arg in node.args:
            _one_of(b, arg.value, (INT,), "date")
        return Value(DATE)
    found = _arguments(b, node, "date", ["x"])
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


def _instant(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "instant", ["x"], ["time"])
    if found is None:
        return Value(DATETIME)
    if "time" in found:
        _one_of(b, found["x"], (DATE,), "instant")
        _one_of(b, found["time"], (TIME,), "instant")
    elif isinstance(found["x"], cst.SimpleString):
        infer(b, found["x"])
        date_literal(b, found["x"], DATETIME)
    else:
        _one_of(b, found["x"], (STR,), "instant")
    return Value(DATETIME)


def _choice(b: Block, node: cst.Call, entry: Builtin) -> Value:
    found = _arguments(b, node, "choice", ["xs"])
    if found is None:
        return Value(NEVER)
    source, item = _run(b, found["xs"])
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
    found = _arguments(b, node, entry.name, names)
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
        _one_of(b, found["name"], (STR,), "child")
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
    "str": _convert(STR, (*_CASTS, DATE, TIME, DATETIME, DURATION)), "as_type": _typed, "is_type": _typed,
    "add_months": _add_months, "date": _date, "instant": _instant, "choice": _choice, "child": _tree,
    "children": _tree, "walk": _tree, "path": _tree,
}  # fmt: skip


# -- helpers and constructors


def _helper(b: Block, node: cst.Call, helper: HelperInfo) -> Value:
    b.use("helper", helper.name)
    role = Role("helper", helper.name)
    needed = [p.name for p in helper.params if p.field.default is MISSING]
    optional = [p.name for p in helper.params if p.field.default is not MISSING]
    found = _arguments(b, node, helper.name, needed, optional)
    if found is None:
        _ignore_arguments(b, node)
    else:
        types = {p.name: p.field.type for p in helper.params}
        for name, value in found.items():
            store(b, value, infer(b, value, types[name]), types[name], f"'{name}'")
    _helper_effects(b, node, helper)
    of = helper.returns
    frozen = f"what '{helper.name}' gave" if container(of) else ""
    return b.note(node, Value(of, copy_of=_record_of(of), frozen=frozen), role)


def _record_of(of: Type) -> str | None:
    inner = strip_null(of)
    while isinstance(inner, ListOf):
        inner = inner.item
    return inner.collection if isinstance(inner, Struct) else None


def _helper_effects(b: Block, node: cst.Call, helper: HelperInfo) -> None:
    b.calls(helper)
    effects = helper.effects
    for state in effects.adds | effects.removes:
        _not_while_iterating(b, node, state, f"'{helper.name}' adds to or removes from {state}")
        b.env.forget_state(state)
    b.env.forget_fields(field for _, field in effects.writes)
    if b.mode == "read" and (changed := sorted(effects.adds | effects.removes | effects.edits)):
        b.say(
            "write-in-read",
            node,
            f"'{helper.name}' changes {', '.join(changed)}; a read tool changes nothing",
            fix="declare 'kind: write'",
        )
    if b.mode == "rule" and not effects.pure:
        b.say("impure-rule", node, f"'{helper.name}' changes something; a rule only reads")


def _not_while_iterating(b: Block, node: cst.CSTNode, state: str, what: str) -> None:
    if any(s == state for _, s in b.iterating):
        b.say("change-while-iterating", node, f"{what} while it is being gone through",
              fix=f"go through list({state}) or collect the keys first")  # fmt: skip


def _construct(b: Block, node: cst.Call, struct: Struct) -> Value:
    _fields(b, node, struct, struct.name)
    return b.note(node, Value(struct), Role("construct", struct.name, struct))


def _fields(
    b: Block, node: cst.Call, struct: Struct, name: str, key: Field | None = None, key_needed: bool = False
) -> None:
    """Check the keyword arguments that give a struct its fields."""
    fields = dict(struct.fields)
    if key is not None:
        fields[key.name] = key
    given: set[str] = set()
    for arg in node.args:
        if arg.keyword is None:
            b.say(
                "wrong-arguments",
                arg,
                f"fields of {struct.name} are given by name",
                fix=f"write {name}({next(iter(fields), 'field')}=…)",
            )
            infer(b, arg.value)
            continue
        label = arg.keyword.value
        if label not in fields:
            b.unknown("unknown-field", arg, f"{struct.name} has no field '{label}'", label, list(fields), "fields")
            infer(b, arg.value)
            continue
        if label in given:
            b.say("wrong-arguments", arg, f"'{label}' is given twice")
        given.add(label)
        of = fields[label].type
        store(b, arg.value, infer(b, arg.value, of), of, f"'{label}'")
    missing = [f.name for f in struct.fields.values() if f.name not in given and _must_be_given(f)]
    if key is not None and key_needed and key.name not in given:
        missing.insert(0, key.name)
    if missing:
        b.say(
            "wrong-arguments",
            node,
            f"{struct.name} also needs {', '.join(missing)}",
            detail=f"fields: {', '.join(fields)}",
        )


def _must_be_given(field: Field) -> bool:
    return field.default is MISSING and not field.absent and not isinstance(field.type, Const | Nullable)


# -- methods


def _method(b: Block, node: cst.Call, func: cst.Attribute) -> Value:
    owner = read(b, func.value)
    name, kind = func.attr.value, _owner_kind(owner.type)
    if kind is None:
        if owner.type != NEVER:
            b.say("unknown-method", func.attr, f"{owner.type} has no methods", fix=_method_fix(b, func, owner.type))
        _ignore_arguments(b, node)
        return b.note(node, Value(NEVER))
    method = METHODS.get(f"{kind}.{name}")
    if method is None:
        _no_method(b, func, owner.type, kind, name)
        _ignore_arguments(b, node)
        return b.note(node, Value(NEVER))
    role = Role("method", method.key)
    if method.params is not None:
        return _plain_call(b, node, method, method.key, role)
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
    found = _arguments(b, node, method.key, ["texts"])
    if found is not None:
        of = _run(b, found["texts"])[1].type
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
    found = _arguments(b, node, method.key, shapes.get(method.name, []), optional, keywords)
    if found is None:
        _ignore_arguments(b, node)
        return Value(NEVER)
    item = owner.type.item
    if method.writes:
        change(b, func.value, owner, structure=method.name not in ("sort", "reverse"))
    if "i" in found:
        _one_of(b, found["i"], (INT,), method.key)
    if method.name in ("append", "insert"):
        _added(b, func.value, owner, found["x"], item)
    elif method.name == "extend":
        more = _run(b, found["ys"])[1]
        joined_local(b, func.value, owner, ListOf(more.type), found["ys"])
    elif method.name in ("remove", "index", "count"):
        _looked_for(b, found["x"], item)
    elif method.name == "sort":
        _ordered_by(b, node, found, owner.part(item))
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
    found = _arguments(b, node, method.key, *names.get(method.name, ([], [])))
    if found is None:
        _ignore_arguments(b, node)
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
                return _with_default(b, node, item, infer(b, found["default"], of.value))
            return Value(nullable(of.value), item.view, item.copy_of, item.frozen) if method.name == "get" else item
        case "keys":
            return Value(IterOf(of.key))
        case "values":
            return Value(IterOf(of.value), view, owner.copy_of, owner.frozen)
        case "items":
            return Value(IterOf(TupleOf((of.key, of.value))), view, owner.copy_of, owner.frozen)
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
        _fields(b, node, record, f"{name}.add", key, state.key.make is None)
        return Value(record, view=name)
    found = _arguments(b, node, method.key, ["key"] if method.name in ("get", "remove") else [])
    if found is None:
        _ignore_arguments(b, node)
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
    elif b.mode == "rule":
        b.say("impure-rule", node, f"a rule changes {state}; it only reads")
    _not_while_iterating(b, node, state, f"this changes {state}")
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
    found = _arguments(b, node, "x.get", ["field"], ["default"])
    if found is None:
        return Value(NEVER)
    name_node = found["field"]
    if not isinstance(name_node, cst.SimpleString):
        b.say("wrong-type", name_node, "the name of a field is a literal text here")
        return Value(NEVER)
    of = owner.type.of if isinstance(owner.type, Partial) else owner.type
    name = str(name_node.evaluated_value)
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
        return _with_default(b, node, item, infer(b, found["default"], kind))
    return Value(nullable(kind), item.view, item.copy_of, item.frozen)


def _update(b: Block, node: cst.Call, func: cst.Attribute, owner: Value) -> Value:
    found = _arguments(b, node, "x.update", ["partial"])
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
