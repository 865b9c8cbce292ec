"""Look-ups by index: going through a collection for the records whose field equals something needs only those records."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from envscaler.compiler.transforms import nodes
from envscaler.compiler.transforms.base import Lowering
from envscaler.spec.logic.relations import plain
from envscaler.spec.types import DATE, DATETIME, INT, MONEY, STR, TIME, Enum, Struct, Type, strip_null

__all__ = ["Found", "first_of", "lookup", "rest_of"]

_INDEXED = (STR, INT, MONEY, DATE, DATETIME, TIME)


@dataclass(frozen=True, slots=True)
class Found:
    """``rows``: the expression of the records; ``rest``: the condition that is left, None when none is."""

    rows: cst.BaseExpression
    rest: cst.BaseExpression | None


def lookup(
    low: Lowering,
    loop: cst.For | cst.CompFor,
    test: cst.BaseExpression,
    made: cst.BaseExpression,
    collection: cst.BaseExpression,
) -> Found | None:
    """The look-up that ``loop`` over ``c.values()`` comes to, if its condition begins with a fitting equality.

    ``made`` is the condition after its transforms. Only the first conjunct is taken, so that nothing is evaluated that
    would not have been; the other side is a name or a field of a name, so that it cannot fail. Enums are not indexed:
    there are many records of each value.
    """
    first, first_made = first_of(test), first_of(made)
    if (
        not isinstance(first, cst.Comparison)
        or not isinstance(first_made, cst.Comparison)
        or len(first.comparisons) != 1
    ):
        return None
    if not isinstance(first.comparisons[0].operator, cst.Equal) or not isinstance(loop.target, cst.Name):
        return None
    sides = (first.left, first.comparisons[0].comparator)
    made_sides = (first_made.left, first_made.comparisons[0].comparator)
    row = loop.target.value
    for n in (0, 1):
        field = _field(low, sides[n], row)
        if field is not None and _fits(low, sides[n], sides[1 - n], row, writes=isinstance(loop, cst.For)):
            fields = nodes.expression(f"({nodes.code(nodes.text(field))},)")
            rows = nodes.call(cst.Attribute(collection, cst.Name("by")), fields, made_sides[1 - n])
            return Found(rows, rest_of(made))
    return None


def first_of(test: cst.BaseExpression) -> cst.BaseExpression:
    """The conjunct of a condition that is evaluated first."""
    while isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        test = test.left
    return test


def rest_of(made: cst.BaseExpression) -> cst.BaseExpression | None:
    """The condition without its first conjunct."""
    if not isinstance(made, cst.BooleanOperation) or not isinstance(made.operator, cst.And):
        return None
    left = rest_of(made.left)
    return made.right if left is None else made.with_changes(left=left)


def _field(low: Lowering, node: cst.BaseExpression, row: str) -> str | None:
    """The stored field of the record that an expression is."""
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == row:
        role, owner = low.role(node), strip_null(low.type(node.value))
        if role is not None and role.kind == "field" and isinstance(owner, Struct) and owner.collection is not None:
            return role.name
    return None


def _fits(low: Lowering, field: cst.BaseExpression, other: cst.BaseExpression, row: str, *, writes: bool) -> bool:
    if isinstance(strip_null(low.type(field)), Enum) or _bare(low.type(field)) not in _INDEXED:
        return False
    if _bare(low.type(field)) != _bare(low.type(other)):
        return False
    assert isinstance(field, cst.Attribute)
    owner = strip_null(low.type(field.value))
    assert isinstance(owner, Struct)
    written = {(owner.collection, field.attr.value), (owner.collection, "")}
    if writes and not written.isdisjoint(low.body.effects.writes):
        return False
    return _steady(low, other, row)


def _bare(of: Type) -> Type:
    return plain(strip_null(of))


def _steady(low: Lowering, node: cst.BaseExpression, row: str) -> bool:
    """Whether an expression cannot fail, nor depends on the record gone through."""
    while isinstance(node, cst.Attribute) and (low.is_role(node, "field") or low.is_role(node, "key")):
        node = node.value
    return isinstance(node, cst.Name) and node.value != row and low.role(node) is not None
