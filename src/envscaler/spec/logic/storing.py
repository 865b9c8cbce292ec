"""Whether a value may be stored where something is declared, literals of money and dates included."""

from __future__ import annotations

from decimal import Decimal

import libcst as cst

from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.infer import maybe_null
from envscaler.spec.logic.relations import NUMERIC, assignable, conversion, plain, textual
from envscaler.spec.scalars import NotA, parse_scalar
from envscaler.spec.types import (
    ANY,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MONEY,
    NONE,
    NUMBER,
    STR,
    TIME,
    Const,
    Enum,
    IterOf,
    Key,
    Nullable,
    Obj,
    Scalar,
    StateOf,
    Struct,
    TupleOf,
    Type,
    strip_null,
)
from envscaler.trees import literal_value

__all__ = ["an", "date_literal", "money_literal", "number_literal", "store"]


def store(b: Block, node: cst.BaseExpression, value: Value, place: Type, what: str) -> bool:
    """Check that a value may be stored where ``place`` is wanted, and write down the conversion; ``what`` names the place."""
    target = strip_null(place)
    if target == MONEY and value.type in NUMERIC and number_literal(node) is not None:
        return money_literal(b, node)
    if target in (DATE, TIME, DATETIME) and isinstance(node, cst.SimpleString):
        return date_literal(b, node, target)
    number = number_literal(node) if isinstance(target, Enum) and plain(value.type) == INT else None
    if number is not None and isinstance(target, Enum) and int(number, 0) in target.values:
        return True
    if isinstance(target, Struct) and isinstance(value.type, Obj):
        return _store_object(b, node, value.type, target, what)
    if assignable(value.type, place):
        b.convert(node, conversion(value.type, place))
        return True
    _cannot_store(b, node, value.type, place, what)
    return False


def _store_object(b: Block, node: cst.BaseExpression, given: Obj, target: Struct, what: str) -> bool:
    items = dict(given.items)
    for name in items:
        if name not in target.fields:
            b.unknown(
                "unknown-field", node, f"{target.name} has no field '{name}'", name, list(target.fields), "fields"
            )
            return False
    missing = [f.name for f in target.fields.values() if f.name not in items and f.required]
    if missing:
        b.say("wrong-arguments", node, f"{target.name} also needs {', '.join(missing)}")
        return False
    wrong = [n for n, t in items.items() if not assignable(t, target.fields[n].type)]
    if wrong and not all(strip_null(target.fields[n].type) == MONEY for n in wrong):
        _cannot_store(b, node, items[wrong[0]], target.fields[wrong[0]].type, f"'{wrong[0]}'")
        return False
    b.convert(node, target)
    return True


def _cannot_store(b: Block, node: cst.BaseExpression, value: Type, place: Type, what: str) -> None:
    target = strip_null(place)
    if isinstance(value, Nullable) and assignable(value.of, place):
        maybe_null(b, node, value)
        return
    if isinstance(target, Enum) and isinstance(value, Enum) and isinstance(node, cst.SimpleString):
        text = str(literal_value(node))
        b.unknown(
            "unknown-member",
            node,
            f"'{text}' is no member of {target}",
            text,
            list(map(str, target.values)),
            "members",
        )
        return
    b.say(
        "wrong-type", node, f"{what} takes {an(place)}, this is {an(value)}", fix=_storing_fix(b, node, value, target)
    )


def _storing_fix(b: Block, node: cst.BaseExpression, value: Type, target: Type) -> str:
    source = b.source(node)
    if value == NONE:
        return f"declare it nullable: {target}?"
    if target == MONEY and value in NUMERIC:
        return f"write money({source})"
    if target in NUMERIC and value == MONEY:
        return f"write float({source})"
    if target == INT and value in (FLOAT, NUMBER):
        return f"write int({source}) or round({source})"
    if target == STR:
        return f'write "{source}"' if number_literal(node) is not None else f'write f"{{{source}}}"'
    if (target == DATE and textual(value)) or (target == DATE and value == DATETIME):
        return f"write date({source})"
    if target == DATETIME and textual(value):
        return f"write instant({source})"
    if isinstance(target, Enum) and textual(value):
        return f"declare it as {target} where it comes from, or as_type({source}, …)"
    if isinstance(target, Key) and isinstance(value, Struct):
        return f"write {source}.{value.key_name}"
    if value == ANY:
        return f"write as_type({source}, {target})"
    if isinstance(value, IterOf):
        return f"write list({source})"
    return ""


def number_literal(node: cst.BaseExpression) -> str | None:
    """The text of a number literal, its sign included."""
    match node:
        case cst.Integer(value=text) | cst.Float(value=text):
            return text
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=text) | cst.Float(value=text)):
            return f"-{text}"
        case _:
            return None


def money_literal(b: Block, node: cst.BaseExpression) -> bool:
    """Take a number literal as money; false (and a diagnostic) when it has more than two decimals."""
    amount = Decimal((number_literal(node) or "0").replace("_", ""))
    if amount.as_tuple().exponent < -2 and amount != round(amount, 2):  # type: ignore[operator]
        b.say("wrong-type", node, "money has two decimals")
        return False
    b.convert(node, MONEY)
    return True


def date_literal(b: Block, node: cst.BaseExpression, of: Type) -> bool:
    """Whether a text literal is a date (time, datetime) in canonical form; a diagnostic when it is not."""
    assert isinstance(node, cst.SimpleString)
    assert isinstance(of, Scalar)
    text = str(literal_value(node))
    try:
        canonical = parse_scalar(text, of, zoned=b.world.spec.zoned)
    except NotA as reason:
        b.say("bad-literal", node, f"this is no {of}: {reason}")
    else:
        if canonical != text:
            b.say("bad-literal", node, f"not the one way to write this {of}", fix=f'write "{canonical}"')
    return True


def an(of: Type) -> str:
    match of:
        case Enum(values=(value,), name=None):
            return f"the text {value!r}" if isinstance(value, str) else f"the number {value}"
        case Scalar() | Enum() | Const() | StateOf() | TupleOf():
            return str(of)
        case _:
            word = str(of)
            return f"an {word}" if word[0] in "aeiou" else f"a {word}"
