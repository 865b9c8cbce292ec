"""Faults in what a spec asks for: requirements, conditions, comparisons, bounds."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from envscaler.assess.mutation.blocks import LogicBlock
from envscaler.assess.mutation.mutants import Edit, Site

__all__ = [
    "drop_requirement",
    "invert_requirement",
    "inverted_condition",
    "off_by_one",
    "wrong_comparison",
    "wrong_connective",
]  # fmt: skip

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "!=", "!=": "==", "in": "not in", "not in": "in",
           "is": "is not", "is not": "is"}  # fmt: skip
_SHIFTED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def drop_requirement(block: LogicBlock) -> Iterator[Site]:
    """A `require`, or an `if` that only fails, is gone."""
    for node in block.nodes:
        if isinstance(node, cst.Expr) and block.calls(node.value, "require", "fail"):
            site = block.removal(node)
            if site is not None:
                yield site


def invert_requirement(block: LogicBlock) -> Iterator[Site]:
    """A `require` asks for the opposite."""
    for node in block.nodes:
        if block.calls(node, "require"):
            assert isinstance(node, cst.Call)
            condition = node.args[0].value
            yield block.replace(condition, _opposite(block, condition), node)


def inverted_condition(block: LogicBlock) -> Iterator[Site]:
    """An `if`, a conditional expression or the filter of a comprehension takes the other way."""
    for node in block.nodes:
        if isinstance(node, cst.If | cst.IfExp | cst.CompIf):
            yield block.replace(node.test, _opposite(block, node.test), node if isinstance(node, cst.IfExp) else None)


def _opposite(block: LogicBlock, condition: cst.BaseExpression) -> str:
    if isinstance(condition, cst.UnaryOperation) and isinstance(condition.operator, cst.Not):
        return block.text(condition.expression)
    return f"not ({block.text(condition)})"


def wrong_connective(block: LogicBlock) -> Iterator[Site]:
    """`and` where `or` is meant, and the other way round."""
    for node in block.nodes:
        if isinstance(node, cst.BooleanOperation) and not block.calls(node.right, "fail"):
            old, new = ("and", "or") if isinstance(node.operator, cst.And) else ("or", "and")
            yield from _between(block, node.left, node.right, old, new, node)


def wrong_comparison(block: LogicBlock) -> Iterator[Site]:
    """A comparison is turned round: `<` for `>`, `==` for `!=`, `in` for `not in`."""
    for node, left, right, sign in _comparisons(block):
        yield from _between(block, left, right, sign, _TURNED[sign], node)


def off_by_one(block: LogicBlock) -> Iterator[Site]:
    """A bound is included that should not be, or left out; a whole number is one more than it should be."""
    for node, left, right, sign in _comparisons(block):
        if sign in _SHIFTED:
            yield from _between(block, left, right, sign, _SHIFTED[sign], node)
    for whole in block.nodes:
        if isinstance(whole, cst.Integer) and not block.in_message(whole):
            up = block.parents[whole]
            shown = up if isinstance(up, cst.Comparison | cst.BinaryOperation | cst.Subscript) else whole
            yield block.replace(whole, str(int(whole.value.replace("_", "")) + 1), shown)


def _comparisons(block: LogicBlock) -> Iterator[tuple[cst.Comparison, cst.CSTNode, cst.CSTNode, str]]:
    for node in block.nodes:
        if isinstance(node, cst.Comparison):
            left: cst.CSTNode = node.left
            for target in node.comparisons:
                sign = " ".join(cst.Module(body=[]).code_for_node(target.operator).split())
                yield node, left, target.comparator, sign
                left = target.comparator


def _between(
    block: LogicBlock, left: cst.CSTNode, right: cst.CSTNode, old: str, new: str, shown: cst.CSTNode
) -> Iterator[Site]:
    """The operator between two operands is another one."""
    start, _, gap = block.between(left, right)
    at = gap.find(old)
    if at >= 0 and not block.in_message(shown):
        yield block.site(left, (Edit(start + at, start + at + len(old), new),), shown)
