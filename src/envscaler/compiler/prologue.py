"""What a tool does before its body: bring arguments to internal form, and see that referred records exist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from envscaler.compiler.layout import flat
from envscaler.compiler.literals import literal, quoted
from envscaler.compiler.statement import Stmt, message
from envscaler.spec.checked import CheckedBody
from envscaler.spec.model import Param, Spec
from envscaler.spec.types import (
    BOOL,
    FLOAT,
    INT,
    MISSING,
    MONEY,
    STR,
    Const,
    Enum,
    Field,
    Key,
    ListOf,
    Nullable,
    Type,
    strip_null,
)  # fmt: skip

__all__ = ["LIMIT", "only_looked_up", "prologue", "signature_default", "type_text"]

LIMIT = 2**53
"""Whole numbers lie strictly between -LIMIT and LIMIT. Written as a literal, which is quicker than a name."""


def prologue(
    spec: Spec, params: tuple[Param, ...], table: str, edits: frozenset[str], keys: frozenset[str] = frozenset()
) -> Iterator[Stmt]:
    """Statements in the order of the contract: all arguments first, then all references, in parameter order.

    ``table`` is the name of the parameters' descriptions; ``edits`` the states whose records the body may write;
    ``keys`` the parameters that are only looked up, see `only_looked_up`.
    """
    for param in params:
        yield Stmt(_coerced(param.field, table, param.name in keys), param.field.span.line)
    for param in params:
        yield from _exists(spec, param, edits, params)


def only_looked_up(body: CheckedBody) -> frozenset[str]:
    """The parameters that a body reads as keys of collections and in the messages of failures, and nowhere else."""
    names: list[cst.Name] = []
    fine: set[cst.CSTNode] = set()
    for node, note in body.notes.items():
        role = note.role
        match node:
            case cst.Name() if role is not None and role.kind == "param":
                names.append(node)
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
                if role is not None and (role.kind, role.name) == ("at", "collection"):
                    fine.add(key)
            case cst.Call(args=args) if role is not None:
                if (role.kind, role.name) == ("method", "collection.get"):
                    fine.update(a.value for a in args)
                elif role.kind == "call" and role.name in ("fail", "require"):
                    for arg in args[role.name == "require" :]:
                        if arg.keyword is None or arg.keyword.value == "message":
                            fine.update(_names(arg))
    return frozenset(n.value for n in names) - {n.value for n in names if n not in fine}


def _names(node: cst.CSTNode) -> Iterator[cst.Name]:
    if isinstance(node, cst.Name):
        yield node
    for child in node.children:
        yield from _names(child)


def _coerced(of: Field, table: str, key: bool) -> str:
    name = of.name
    slow = f"{name} = _rt.coerce(_state, {table}[{quoted(name)}], {name})"
    kind = strip_null(of.type)
    if kind == MONEY and not isinstance(of.type, Nullable):
        return _money(of, slow)
    test = _test(of, kind, key)
    if test is None:
        return slow
    if isinstance(of.type, Nullable):
        alternatives = f"({test})" if " or " in test else test
        null = f"{name} is not None and " if of.default in (None, MISSING) else ""
        test = f"{null}{alternatives}" if null else test
    return f"if {test}:\n    {slow}"


def _test(of: Field, kind: Type, key: bool) -> str | None:
    """The expression that is true when an argument needs a closer look; None when it always does. ``key``: it is only
    looked up, and text that is not valid Unicode is not found."""
    name = of.name
    if of.pattern is not None:
        return None
    plain_key = kind == STR and key and of.min_length is None and of.max_length is None
    if (plain_key or (isinstance(kind, Key) and kind.of == STR)) and not isinstance(of.type, Nullable):
        return f"{name}.__class__ is not str"  # whatever text it is, it must be the key of a record
    if kind == STR or (isinstance(kind, Key) and kind.of == STR):
        return f"{name}.__class__ is not str or not {name}.isascii()" + _length(of)
    if kind == INT or (isinstance(kind, Key) and kind.of == INT):
        return f"{name}.__class__ is not int or not {between(name, of, f'-{LIMIT}', str(LIMIT))}"
    if kind == FLOAT:
        bounded = f" or not {between(name, of)}" if _has_bounds(of) else ""
        return f"{name}.__class__ is not float or {name} - {name} != 0.0{bounded}"
    if kind == BOOL:
        return f"{name}.__class__ is not bool"
    if isinstance(kind, (Enum, Const)):
        values = kind.values if isinstance(kind, Enum) else (kind.value,)
        if all(isinstance(v, str) for v in values):
            return f"{name}.__class__ is not str or {name} not in {flat(literal(tuple(values)))}"
    return None


def _length(of: Field) -> str:
    low, high = of.min_length, of.max_length
    if low is not None and high is not None:
        return f" or not {low} <= len({of.name}) <= {high}"
    if low is not None:
        return f" or len({of.name}) < {low}"
    return f" or len({of.name}) > {high}" if high is not None else ""


def _has_bounds(of: Field) -> bool:
    return any(b is not None for b in (of.ge, of.gt, of.le, of.lt))


def between(value: str, of: Field, low: str = "", high: str = "") -> str:
    """``ge <= value < lt`` from a field's bounds, ``low`` and ``high`` (both exclusive) where it has none."""
    left = f"{low} < " if low else ""
    if of.ge is not None or of.gt is not None:
        left = f"{_bound(of.ge)} <= " if of.ge is not None else f"{_bound(of.gt)} < "
    right = f" < {high}" if high else ""
    if of.le is not None or of.lt is not None:
        right = f" <= {_bound(of.le)}" if of.le is not None else f" < {_bound(of.lt)}"
    return f"{left}{value}{right}"


def _bound(value: object) -> str:
    return flat(literal(value))


def _money(of: Field, slow: str) -> str:
    """Numbers with at most two decimals become minor units here; everything else is looked at more closely.

    Whatever is rounded to is right if divided by 100 it gives the number again. `x.__round__()` is quicker than
    `round(x)`, and floats compare and multiply quicker with floats.
    """
    name = of.name
    inside = _within(of)
    lines = [
        f"if {name}.__class__ is float and {inside} and (_m := ({name} * 100.0).__round__()) / 100.0 == {name}:",
        f"    {name} = _m",
        f"elif {name}.__class__ is int and {inside}:",
        f"    {name} *= 100",
        "else:",
        f"    {slow}",
    ]
    return "\n".join(lines)


def _within(of: Field) -> str:
    """The bounds in major units. Minor units over 100 are in the same order as the whole numbers they come from."""
    ge, gt, le, lt = (None if v is None else _major(v) for v in (of.ge, of.gt, of.le, of.lt))
    return between(of.name, replace(of, ge=ge, gt=gt, le=le, lt=lt), "-1e12", "1e12")


def _major(minor: int | float | str) -> float:
    assert isinstance(minor, int)
    return minor / 100


def _exists(spec: Spec, param: Param, edits: frozenset[str], params: tuple[Param, ...]) -> Iterator[Stmt]:
    name, of, line = param.name, param.field.type, param.field.span.line
    kind = strip_null(of)
    if isinstance(kind, ListOf) and isinstance(strip_null(kind.item), Key):
        yield from _each_exists(spec, param, kind, params)
    if not isinstance(kind, Key):
        return
    state = spec.states[kind.collection]
    text = param.missing.value if param.missing is not None else f"No {state.record.name} {{{name}}}."
    failure = f'raise _Failure("not_found", {message(text, params, spec.constants)})'
    null = f"{name} is not None and " if isinstance(of, Nullable) else ""
    if param.as_name is None:
        yield Stmt(f"if {null}_state.{kind.collection}.get({name}) is None:\n    {failure}", line)
        return
    look = "edit_or_none" if kind.collection in edits else "get"
    found = f"_state.{kind.collection}.{look}({name})"
    yield Stmt(f"{param.as_name} = {f'None if {name} is None else {found}' if null else found}", line)
    yield Stmt(f"if {null}{param.as_name} is None:\n    {failure}", line)


def _each_exists(spec: Spec, param: Param, kind: ListOf, params: tuple[Param, ...]) -> Iterator[Stmt]:
    key = strip_null(kind.item)
    assert isinstance(key, Key)
    record = spec.states[key.collection].record.name
    null = f"{param.name} or ()" if isinstance(param.field.type, Nullable) else param.name
    test = f"_state.{key.collection}.get(_key) is None"
    test = f"_key is not None and {test}" if isinstance(kind.item, Nullable) else test
    text = param.missing.value if param.missing is not None else f"No {record} {{{param.name}}}."
    shown = message(text, params, spec.constants, {param.name: "_key"})
    failure = f'raise _Failure("not_found", {shown})'
    yield Stmt(f"for _key in {null}:\n    if {test}:\n        {failure}", param.field.span.line)


def signature_default(of: Field) -> str:
    """The default that a tool's signature shows: `_MISSING` when one must be given or it is not its own JSON form."""
    value = of.default
    plain = value is None or isinstance(value, (str, int, float, bool))
    return flat(literal(value)) if plain and strip_null(of.type) != MONEY and value is not MISSING else "_MISSING"


def type_text(of: Type) -> str:
    """The type of an argument as an annotation."""
    match of:
        case Nullable(of=inner):
            text = type_text(inner)
            return text if text == "Any" else f"{text} | None"
        case ListOf(item=item):
            return f"list[{type_text(item)}]"
        case Enum(values=values):
            return f"Literal{flat(literal(list(values)))}"
        case Const(value=value):
            return f"Literal[{flat(literal(value))}]"
        case Key(of=inner):
            return type_text(inner)
    return _TYPES.get(str(of), "dict[str, Any]")


_TYPES = {
    "str": "str", "int": "int", "float": "float", "number": "float", "bool": "bool", "money": "float", "date": "str",
    "time": "str", "datetime": "str", "zone": "str", "any": "Any", "duration": "int", "local datetime": "str", "null": "None",
}  # fmt: skip
