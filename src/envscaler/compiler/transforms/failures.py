"""`require` and `fail`: plain `if` and `raise`, the message built only when it is needed."""

from __future__ import annotations

import libcst as cst

from envscaler.compiler.transforms import nodes
from envscaler.compiler.transforms.base import Case, Lowering

CASES = (
    Case(
        'require(1 < n, f"{n} is too small.")',
        'if not 1 < n:\n    raise _Failure("refused", f"{n} is too small.")',
        params="{n: int}",
    ),
    Case(
        'require(n != 1, "No.", rule="active_only")',
        'if n == 1:\n    raise _Failure("refused", "No.", rule="active_only")',
        params="{n: int}",
    ),
    Case(
        'm = members.get(k) or fail(f"no {k}")\nm.status = "active"',
        'm = _state.members.edit_or_none(k)\nif m is None:\n    raise _Failure("refused", f"no {k}")\nm["status"] = "active"',
        params="{k: str}",
    ),
    Case(
        'return (members.get(k) or fail("none")).name',
        'return (lambda _v: _rt.fail("none") if _v is None else _v)(_state.members.get(k))["name"]',
        params="{k: str}",
    ),
    Case(
        "if n == 1: fail('one')  # why",
        "if n == 1:  # why\n    raise _Failure(\"refused\", 'one')",
        params="{n: int}",
    ),
)

_OPPOSITE: dict[type[cst.BaseCompOp], cst.BaseCompOp] = {
    cst.Equal: cst.NotEqual(),
    cst.NotEqual: cst.Equal(),
    cst.Is: cst.IsNot(),
    cst.IsNot: cst.Is(),
    cst.In: cst.NotIn(),
    cst.NotIn: cst.In(),
}


def negated(test: cst.BaseExpression) -> cst.BaseExpression:
    """`not test`, in its plainest equal form, in parentheses where it goes over several lines."""
    found = _negated(test)
    return nodes.enclosed(found) if nodes.has_newline(found) else found


def _negated(test: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        comparison = test.comparisons[0]
        opposite = _OPPOSITE.get(type(comparison.operator))
        if opposite is not None:
            changed = comparison.with_changes(operator=opposite)
            return test.with_changes(comparisons=[changed])
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return test.expression
    simple = isinstance(test, cst.Comparison) or not isinstance(test, (cst.BooleanOperation, cst.IfExp, cst.NamedExpr))
    return cst.UnaryOperation(cst.Not(), test if simple else nodes.enclosed(test))


def failure(updated: cst.Call, skip: int) -> cst.Call:
    """`_Failure("refused", message, rule=…)` from the arguments of a `require` or `fail` after the first ``skip``."""
    named = {a.keyword.value: a.value for a in updated.args if a.keyword is not None}
    placed = [a.value for a in updated.args[skip:] if a.keyword is None]
    message = placed[0] if placed else named.get("message", nodes.text("refused"))
    rule = placed[1] if len(placed) > 1 else named.get("rule")
    extra = [] if rule is None else [cst.Arg(rule, keyword=cst.Name("rule"))]
    return nodes.call("_Failure", nodes.text("refused"), message, *extra)


def leave_boolean(low: Lowering, original: cst.BooleanOperation, updated: cst.BooleanOperation) -> cst.BaseExpression:
    """`x or fail(…)` inside a larger expression; as a whole assignment it is a statement (see `statements`)."""
    if not isinstance(original.operator, cst.Or) or not low.is_role(original.right, "call", "fail"):
        return updated
    if original in low.whole:
        return updated
    assert isinstance(updated.right, cst.Call)
    failing = nodes.code(updated.right)
    return nodes.call(nodes.expression(f"(lambda _v: {failing} if _v is None else _v)"), updated.left)


def leave_fail(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    """`fail(…)` where an expression stands."""
    return updated.with_changes(func=nodes.ref("_rt.fail"))


HANDLERS = {cst.BooleanOperation: leave_boolean}
