"""In goals: going through a collection for the records that are new since the start needs only what the episode added."""

from __future__ import annotations

import libcst as cst

from envscaler.compiler.transforms import nodes
from envscaler.compiler.transforms.base import Lowering
from envscaler.compiler.transforms.index import Found, first_of, rest_of

__all__ = ["fresh"]

_ROWS = {"collection.values": "_rt.fresh_values", "collection.items": "_rt.fresh_items"}


def fresh(low: Lowering, loop: cst.CompFor, made: cst.CompFor) -> Found | None:
    """What ``for k, r in final.c.items() if k not in initial.c and …`` comes to; None for any other loop.

    A goal's first state is the start of the episode whose end is its last one, so that what the episode added is all that
    can be new.
    """
    rows = _rows(low, loop.iter)
    test = first_of(loop.ifs[0].test)
    if rows is None or not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    comparison = test.comparisons[0]
    if not isinstance(comparison.operator, cst.NotIn) or not _is_start(low, comparison.comparator, loop.iter):
        return None
    if not _is_key(low, loop.target, test.left):
        return None
    assert isinstance(made.iter, cst.Call)
    assert isinstance(made.iter.func, cst.Attribute)
    return Found(nodes.call(rows, made.iter.func.value), rest_of(made.ifs[0].test))


def _rows(low: Lowering, iterable: cst.BaseExpression) -> str | None:
    """The function that gives the new ones of what a loop goes through."""
    role = low.role(iterable)
    if role is None or role.kind != "method" or not _moment(_owner(iterable), "final"):
        return None
    return _ROWS.get(role.name)


def _owner(call: cst.BaseExpression) -> cst.BaseExpression | None:
    return call.func.value if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) else None


def _moment(node: cst.BaseExpression | None, name: str) -> bool:
    return isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == name


def _is_start(low: Lowering, node: cst.BaseExpression, iterable: cst.BaseExpression) -> bool:
    """Whether a node is the collection that is gone through, as it was at the start."""
    owner = _owner(iterable)
    state = low.state_of(node)
    return state is not None and owner is not None and state == low.state_of(owner) and _moment(node, "initial")


def _is_key(low: Lowering, target: cst.BaseExpression, node: cst.BaseExpression) -> bool:
    """Whether a node is the key of the record that is gone through."""
    match target, node:
        case cst.Tuple(elements=[cst.Element(value=cst.Name(value=key)), _]), cst.Name(value=name):
            return key == name
        case cst.Name(value=record), cst.Attribute(value=cst.Name(value=name)):
            return record == name and low.is_role(node, "key")
    return False
