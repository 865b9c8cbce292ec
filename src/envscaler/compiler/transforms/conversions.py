"""Conversions that a place asks for: number literals as money, whole numbers as float, parts as `any`, dicts as structs."""

from __future__ import annotations

from decimal import Decimal

import libcst as cst

from envscaler.compiler.transforms import lookups, nodes
from envscaler.compiler.transforms.base import Case, Lowering
from envscaler.spec.logic.relations import plain
from envscaler.spec.types import ANY, FLOAT, MONEY, Nullable, Struct, Type, strip_null
from envscaler.trees import literal_value

CASES = (
    Case(
        "require(fee > 2.50, 'no')", "if not fee > 250:\n    raise _Failure(\"refused\", 'no')", params="{fee: money}"
    ),
    Case("return money(n)", "return _rt.money(n) / 100", params="{n: number}"),
)


def converted(low: Lowering, original: cst.BaseExpression, updated: cst.BaseExpression, to: Type) -> cst.BaseExpression:
    """The value as the place wants it."""
    given = low.type(original)
    of, target = strip_null(given), plain(strip_null(to))
    if target == MONEY and of != MONEY:
        return as_money(original, updated)
    if target == FLOAT and of != FLOAT:
        return _as_float(original, updated, nullable=isinstance(given, Nullable))
    if target == ANY and of != ANY:
        source = nodes.code(updated)
        made = low.names.out(given, source)
        return updated if made == source else nodes.expression(made)
    if isinstance(target, Struct) and target is not of:
        return _as_struct(low, original, updated, target)
    return updated


def as_money(original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
    """A number as minor units; a literal is converted here and now."""
    amount = number(original)
    if amount is not None and amount * 100 == int(amount * 100):
        return nodes.integer(int(amount * 100))
    return nodes.call("_rt.money", updated)


def _as_float(original: cst.BaseExpression, updated: cst.BaseExpression, *, nullable: bool) -> cst.BaseExpression:
    amount = number(original)
    if amount is not None:
        return nodes.expression(repr(float(amount)))
    if not nullable:
        return nodes.call("float", updated)
    source = nodes.code(nodes.enclosed(updated))
    return nodes.expression(f"None if {source} is None else float({source})")


def _as_struct(
    low: Lowering, original: cst.BaseExpression, updated: cst.BaseExpression, target: Struct
) -> cst.BaseExpression:
    """A dict literal as the struct that the place declares; its values are converted where they stand."""
    if not isinstance(original, cst.Dict) or not isinstance(updated, cst.Dict):
        return nodes.call("_rt.copy", updated)
    values = {}
    for before, after in zip(original.elements, updated.elements, strict=True):
        assert isinstance(before, cst.DictElement)
        assert isinstance(before.key, cst.SimpleString)
        values[str(literal_value(before.key))] = lookups.stored(low, before.value, after.value)
    return lookups.display(low, values, target.fields)


def number(node: cst.BaseExpression) -> Decimal | None:
    """The value of a number literal, signed ones too."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = number(node.expression)
        return None if inner is None else -inner
    if isinstance(node, (cst.Integer, cst.Float)):
        return (
            Decimal(str(literal_value(node))) if isinstance(node, cst.Integer) else Decimal(node.value.replace("_", ""))
        )
    return None
