"""Types of list and dict displays, comprehensions and f-strings."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.language import TIME_DIRECTIVES
from envscaler.spec.logic.binding import bind_loop
from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.infer import infer, maybe_null, read, rule
from envscaler.spec.logic.narrowing import narrow
from envscaler.spec.logic.operators import condition
from envscaler.spec.logic.relations import NUMERIC, holds_records, join, literal, plain
from envscaler.spec.logic.storing import an, store
from envscaler.spec.types import (
    ANY,
    DATE,
    DATETIME,
    DURATION,
    FLOAT,
    INT,
    MONEY,
    NEVER,
    STR,
    TIME,
    DictOf,
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
    strip_null,
)
from envscaler.trees import literal_value

__all__ = []

_MAX_INT: Final = 2**53
_MAX_WIDTH: Final = 200  # of a format specification


@rule(cst.List)
def _list(b: Block, node: cst.List, expected: Type | None) -> Value:
    target = strip_null(expected) if expected is not None else None
    wanted = target.item if isinstance(target, ListOf) else None
    item: Type = NEVER
    for part in node.elements:
        value = infer(b, part.value, wanted)
        if wanted is not None:
            store(b, part.value, value, wanted, "an element")
            continue
        both = join(item, value.type)
        if both is None:
            b.say("unlike-types", part.value, f"the elements before are {item}, this is {an(value.type)}")
        else:
            item = both
    return b.note(node, Value(ListOf(wanted if wanted is not None else item)))


@rule(cst.Dict)
def _dict(b: Block, node: cst.Dict, expected: Type | None) -> Value:
    target = strip_null(expected) if expected is not None else None
    elements = [e for e in node.elements if isinstance(e, cst.DictElement)]
    if isinstance(target, DictOf):
        for part in elements:
            store(b, part.key, infer(b, part.key), target.key, "a key")
            store(b, part.value, infer(b, part.value, target.value), target.value, "a value")
        return b.note(node, Value(target))
    if not elements:
        return b.note(node, Value(DictOf(NEVER, NEVER)))
    if all(isinstance(e.key, cst.SimpleString) for e in elements):
        return _object(b, node, elements, target)
    key: Type = NEVER
    value: Type = NEVER
    for part in elements:
        key, value = join(key, _dict_key(b, part.key)) or ANY, join(value, infer(b, part.value).type) or ANY
    return b.note(node, Value(DictOf(value, plain(key))))


def _dict_key(b: Block, node: cst.BaseExpression) -> Type:
    """The type of a dict's key: text or a whole number."""
    of = read(b, node).type
    if plain(of) in (STR, INT, NEVER, DATE, TIME, DATETIME):
        return STR if plain(of) in (DATE, TIME, DATETIME) else of
    b.say("wrong-type", node, f"the keys of a dict are texts or whole numbers, this is {an(of)}")
    return NEVER


def _object(b: Block, node: cst.Dict, elements: Sequence[cst.DictElement], target: Type | None) -> Value:
    fields = target.fields if isinstance(target, Struct) else {}
    known = dict(target.items) if isinstance(target, Obj) else {}
    items: dict[str, Type] = {}
    for part in elements:
        assert isinstance(part.key, cst.SimpleString)
        name = str(literal_value(part.key))
        b.note(part.key, Value(literal(name)))
        if name in items:
            b.say("duplicate-entry", part.key, f"'{name}' stands twice in the dict")
        wanted = fields[name].type if name in fields else known.get(name)
        value = infer(b, part.value, wanted)
        if name in fields:
            store(b, part.value, value, fields[name].type, f"'{name}'")
        items[name] = value.type
        if isinstance(value.type, StateOf | IterOf | TupleOf):
            b.say("wrong-type", part.value, f"{an(value.type)} cannot be stored", fix="make it a list: list(…)")
    return b.note(node, Value(Obj(tuple(items.items()))))


@rule(cst.ListComp, cst.GeneratorExp, cst.DictComp)
def _comprehension(b: Block, node: cst.ListComp | cst.GeneratorExp | cst.DictComp, expected: Type | None) -> Value:
    before = b.env.copy()
    _comp_for(b, node.for_in)
    b.loops()
    if isinstance(node, cst.DictComp):
        key, item = _dict_key(b, node.key), infer(b, node.value)
        result = Value(DictOf(item.type, plain(key)), copy_of=item.view or item.copy_of)
    else:
        target = strip_null(expected) if expected is not None else None
        wanted = target.item if isinstance(target, ListOf) else None
        item = infer(b, node.elt, wanted)
        if wanted is not None:
            store(b, node.elt, item, wanted, "an element")
        of = wanted if wanted is not None else item.type
        result = Value(ListOf(of), copy_of=item.view or item.copy_of)
        if isinstance(node, cst.GeneratorExp):
            result = Value(IterOf(item.type), item.view, item.copy_of, item.frozen)
    b.env.take(before)
    return b.note(node, result)


def _comp_for(b: Block, node: cst.CompFor) -> None:
    source = read(b, node.iter)
    _new_names(b, node.target)
    bind_loop(b, node, source)
    for test in node.ifs:
        condition(b, test.test)
        narrow(b, test.test, True)
    if node.inner_for_in is not None:
        _comp_for(b, node.inner_for_in)


def _new_names(b: Block, target: cst.BaseExpression) -> None:
    """A comprehension's names are its own: they hide no local."""
    for part in [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]:
        known = b.env.names.get(part.value) if isinstance(part, cst.Name) else None
        if known is not None and known.kind == "local" and known.certain:
            b.say("shadowing", part, f"'{b.source(part)}' is a local name already", fix="take another name")


@rule(cst.FormattedString)
def _fstring(b: Block, node: cst.FormattedString, expected: Type | None) -> Value:
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            _formatted(b, part)
    return b.note(node, Value(STR))


def _formatted(b: Block, part: cst.FormattedStringExpression) -> None:
    value = infer(b, part.expression)
    of = strip_null(value.type)
    if part.conversion is not None or part.equal is not None:
        b.say("forbidden-syntax", part, "f-strings take a value and a format, nothing else")
    if isinstance(of, Struct | Union | StateOf | IterOf | TupleOf | Partial) or _money_inside(of):
        b.say("wrong-type", part.expression, f"{an(of)} has no text", fix="name the fields that should be shown")
    runtime = "money_text" if of == MONEY else ""
    if part.format_spec:
        runtime = _format_spec(b, part, of)
    b.notes[part] = b.notes[part.expression].__class__(value.type, Role("operator", runtime))


def _money_inside(of: Type) -> bool:
    match of:
        case ListOf(item=item):
            return (
                strip_null(item) == MONEY
                or holds_records(item)
                or _money_inside(item)
                or isinstance(strip_null(item), Struct | Union)
            )
        case DictOf(value=value):
            return (
                strip_null(value) == MONEY
                or holds_records(value)
                or _money_inside(value)
                or isinstance(strip_null(value), Struct | Union)
            )
        case Obj(items=items):
            return any(strip_null(t) == MONEY or _money_inside(t) or isinstance(t, Struct | Union) for _, t in items)
        case _:
            return False


def _time_format(b: Block, part: cst.FormattedStringExpression, text: str, of: Type) -> str:
    allowed = TIME_DIRECTIVES[of]
    rest = text.replace("%%", "")
    wrong = [f"%{after[:1]}" for after in rest.split("%")[1:] if after[:1] not in tuple(allowed)]
    if wrong:
        parts = " ".join(f"%{letter}" for letter in allowed)
        b.say("bad-format", part, f"'{wrong[0]}' shows no part of {an(of)}", detail=f"parts: {parts}")
    elif len(text) > _MAX_WIDTH or set(text) & set("\\{}'\""):
        b.say("bad-format", part, "a format of times is short and holds no quotes, braces or backslashes")
    if isinstance(b.notes[part.expression].type, Nullable):
        maybe_null(b, part.expression, of)
    return "time_text"


def _format_spec(b: Block, part: cst.FormattedStringExpression, of: Type) -> str:
    spec = part.format_spec or ()
    text = "".join(p.value for p in spec if isinstance(p, cst.FormattedStringText))
    if any(isinstance(p, cst.FormattedStringExpression) for p in spec):
        b.say("bad-format", part, "a format is constant")
        return ""
    if plain(of) in TIME_DIRECTIVES and "%" in text:
        return _time_format(b, part, text, plain(of))
    found = re.fullmatch(r"(?:.?[<>^=])?[+\- ]?#?0?(\d*)[,_]?(?:\.(\d+))?([bdeEfFgGnosxX%]?)", text)
    if found is None or any(int(n) > _MAX_WIDTH for n in found.group(1, 2) if n and len(n) < 9) or len(text) > 20:
        b.say(
            "bad-format",
            part,
            f"'{text}' is not a format the language has",
            detail=f"as Python's, width and digits up to {_MAX_WIDTH}",
        )
    kind = found.group(3) if found else ""
    numeric = plain(of) in (*NUMERIC, MONEY, DURATION)
    if kind and kind != "s" and not numeric and of not in (ANY, NEVER):
        b.say("bad-format", part, f"'{text}' formats numbers; this is {an(of)}")
    elif kind in tuple("bdoxXn") and plain(of) not in (INT, ANY, NEVER, DURATION):
        b.say("bad-format", part, f"'{text}' formats whole numbers; this is {an(of)}", fix="use .2f, or int(x)")
    if isinstance(b.notes[part.expression].type, Nullable):
        maybe_null(b, part.expression, of)
    return "money_number" if of == MONEY else ""


@rule(cst.SimpleString)
def _text(b: Block, node: cst.SimpleString, expected: Type | None) -> Value:
    return b.note(node, Value(literal(str(literal_value(node)))))


@rule(cst.ConcatenatedString)
def _texts(b: Block, node: cst.ConcatenatedString, expected: Type | None) -> Value:
    infer(b, node.left)
    infer(b, node.right)
    return b.note(node, Value(STR))


@rule(cst.Integer)
def _integer(b: Block, node: cst.Integer, expected: Type | None) -> Value:
    if abs(literal_value(node)) >= _MAX_INT:
        b.say("number-too-large", node, "whole numbers stay below 2**53")
    return b.note(node, Value(INT))


@rule(cst.Float)
def _float(b: Block, node: cst.Float, expected: Type | None) -> Value:
    if not math.isfinite(float(literal_value(node))):
        b.say("number-too-large", node, "this is no finite number")
    return b.note(node, Value(FLOAT))


@rule(cst.Tuple)
def _tuple(b: Block, node: cst.Tuple, expected: Type | None) -> Value:
    return b.note(node, Value(TupleOf(tuple(infer(b, e.value).type for e in node.elements))))
