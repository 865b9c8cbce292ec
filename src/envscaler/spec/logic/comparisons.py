"""Types of comparisons: equality, order, membership, null and presence tests."""

from __future__ import annotations

import libcst as cst

from envscaler.spec.logic.binding import element
from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.infer import infer, read, rule
from envscaler.spec.logic.names import key_of
from envscaler.spec.logic.relations import NUMERIC, comparable, holds_records, literal, ordered, textual
from envscaler.spec.logic.storing import an, date_literal, money_literal, number_literal
from envscaler.spec.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    DURATION,
    MONEY,
    NEVER,
    NONE,
    TIME,
    Enum,
    Field,
    Nullable,
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

_ORDER = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


@rule(cst.Comparison)
def _comparison(b: Block, node: cst.Comparison, expected: Type | None) -> Value:
    left = node.left
    for target in node.comparisons:
        _compare(b, node, left, target.operator, target.comparator)
        left = target.comparator
    return b.note(node, Value(BOOL))


def _compare(
    b: Block, node: cst.Comparison, left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression
) -> None:
    match operator:
        case cst.Is() | cst.IsNot():
            value = infer(b, left)
            if not (isinstance(right, cst.Name) and right.value == "None"):
                b.say("forbidden-syntax", node, "'is' compares with None only", fix="use ==")
            elif not isinstance(value.type, Nullable) and value.type not in (ANY, NONE, NEVER):
                b.say("never-null", left, f"'{b.source(left)}' is never null here", severity="warning")
            b.note(right, Value(NONE))
        case cst.In() | cst.NotIn():
            _membership(b, left, right)
        case cst.Equal() | cst.NotEqual():
            _equality(b, node, left, right)
        case _ if isinstance(operator, _ORDER):
            _ordering(b, node, left, right)


def _equality(b: Block, node: cst.Comparison, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
    x, y = infer(b, left), infer(b, right)
    if NONE in (x.type, y.type):
        b.say("null-comparison", node, "null is tested with 'is'", fix=f"write '{b.source(left)} is None'")
    elif holds_records(strip_null(x.type)) or holds_records(strip_null(y.type)):
        b.say("compare-records", node, "records are not compared with '=='", fix="compare their keys")
    elif not _like(b, x, y, left, right):
        _unlike(b, node, left, right, x.type, y.type)


def _like(b: Block, x: Value, y: Value, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    a, c = strip_null(x.type), strip_null(y.type)
    for money, other, node in ((a, c, right), (c, a, left)):
        if money == MONEY and other in NUMERIC and number_literal(node) is not None:
            return money_literal(b, node) or True
    for dated, node in ((a, right), (c, left)):
        if dated in (DATE, TIME, DATETIME) and isinstance(node, cst.SimpleString):
            return date_literal(b, node, dated)
    return comparable(a, c)


def _unlike_fix(x: Type, y: Type) -> str:
    if MONEY in (x, y) and (x in NUMERIC or y in NUMERIC):
        return "make the number money first: money(x)"
    if {x, y} == {DATE, DATETIME}:
        return "take the date of the datetime: x.date"
    if DURATION in (x, y) and (x in NUMERIC or y in NUMERIC):
        return "compare with days(n), hours(n) or minutes(n)"
    if ANY in (x, y):
        return "say what it is first: as_type(x, …)"
    return ""


def _unlike(b: Block, node: cst.CSTNode, left: cst.BaseExpression, right: cst.BaseExpression, x: Type, y: Type) -> None:
    for a, c, other in ((x, y, right), (y, x, left)):
        enum = strip_null(a)
        if isinstance(enum, Enum) and isinstance(c, Enum) and isinstance(other, cst.SimpleString):
            text = str(literal_value(other))
            if enum.name or len(enum.values) > 1:
                b.unknown(
                    "unknown-member",
                    other,
                    f"'{text}' is no member of {enum}",
                    text,
                    list(map(str, enum.values)),
                    "members",
                )
                return
    b.say(
        "unlike-comparison", node, f"{an(x)} and {an(y)} are never equal", fix=_unlike_fix(strip_null(x), strip_null(y))
    )


def _ordering(b: Block, node: cst.Comparison, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
    x, y = read(b, left), read(b, right)
    if ordered(x.type, y.type):
        return
    literals = MONEY in (x.type, y.type) or {x.type, y.type} & {DATE, TIME, DATETIME}
    if literals and _like(b, x, y, left, right):
        return
    b.say("unlike-comparison", node, f"{an(x.type)} and {an(y.type)} have no order", fix=_unlike_fix(x.type, y.type))


def _membership(b: Block, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
    holder = read(b, right)
    of = holder.type
    if isinstance(of, Struct | Partial | Union):
        _has_field(b, left, of)
        return
    if isinstance(of, StateOf):
        key_of(b, left, of.name)
        return
    value = infer(b, left)
    item = element(of)
    if item is None:
        if of != NEVER:
            b.say("wrong-type", right, f"{an(of)} holds no elements")
        return
    if (isinstance(of, TupleOf) and isinstance(right, cst.Tuple)) or (isinstance(right, cst.List) and right.elements):
        for part in right.elements:
            if not _like(b, value, Value(b.notes[part.value].type), left, part.value):
                _unlike(b, part.value, left, part.value, value.type, b.notes[part.value].type)
    elif holds_records(item) or holds_records(strip_null(value.type)):
        b.say("compare-records", right, "records are not compared", fix="compare their keys")
    elif textual(of) and not textual(strip_null(value.type)) and value.type not in (ANY, NEVER):
        b.say("unlike-comparison", left, f"a text does not contain {an(value.type)}")
    elif not comparable(value.type, item):
        b.say("unlike-comparison", left, f"{an(value.type)} is never in {an(of)}")


def _has_field(b: Block, left: cst.BaseExpression, of: Type) -> None:
    if not isinstance(left, cst.SimpleString):
        b.say("wrong-type", left, "the name of a field is a literal text here")
        return
    name = str(literal_value(left))
    b.note(left, Value(literal(name)))
    structs = of.members if isinstance(of, Union) else (of.of,) if isinstance(of, Partial) else (of,)
    fields: dict[str, Field] = {}
    for struct in structs:
        assert isinstance(struct, Struct)
        fields.update(struct.fields)
    if name not in fields:
        b.unknown("unknown-field", left, f"{of} has no field '{name}'", name, list(fields), "fields")
    elif not fields[name].absent and not isinstance(of, Partial):
        b.say("never-absent", left, f"'{name}' is never absent", severity="warning")
