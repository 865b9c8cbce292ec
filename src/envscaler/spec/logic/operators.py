"""Types of operators: arithmetic, conditions, `and or not`, conditional expressions."""

from __future__ import annotations

from typing import Final

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.infer import infer, read, rule
from envscaler.spec.logic.narrowing import narrow
from envscaler.spec.logic.relations import NUMERIC, arithmetic, assignable, container, join, plain, textual
from envscaler.spec.logic.storing import an, money_literal, number_literal
from envscaler.spec.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    DURATION,
    INT,
    MONEY,
    NEVER,
    DictOf,
    Enum,
    ListOf,
    Nullable,
    Obj,
    Scalar,
    StateOf,
    Type,
    strip_null,
)
from envscaler.trees import literal_value

__all__ = ["condition", "operation", "operator_text"]

_OPERATORS: Final[dict[type[cst.CSTNode], str]] = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.Power: "**", cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//", cst.ModuloAssign: "%", cst.PowerAssign: "**",
}  # fmt: skip


def operation(b: Block, node: cst.CSTNode, op: str, left: cst.BaseExpression, right: cst.BaseExpression) -> Value:
    """``left op right``, also for augmented assignment."""
    x, y = read(b, left), read(b, right)
    if (
        op == "**"
        and isinstance(node, cst.BinaryOperation)
        and _constant(node) is None
        and _constant(left) is not None
        and _constant(right) is not None
    ):
        b.say("number-too-large", node, "this power is beyond 2**53")
    found = arithmetic(op, x.type, y.type)
    if op == "**" and x.type == INT and isinstance(right, cst.Integer):
        found = (INT, "power")
    if found is None and MONEY in (x.type, y.type) and op in "+-":
        found = _money_with_literal(b, x, y, left, right)
    if found is not None:
        return b.note(node, Value(found[0]), Role("operator", found[1]))
    _no_operation(b, node, op, x.type, y.type)
    return b.note(node, Value(NEVER))


def _constant(node: cst.BaseExpression) -> int | None:
    """The value of whole-number literals and powers of them; None when it is no constant or beyond 2**53."""
    match node:
        case cst.Integer():
            value: int = literal_value(node)
            return value
        case cst.BinaryOperation(operator=cst.Power(), left=left, right=right):
            base, power = _constant(left), _constant(right)
            if base is None or power is None or (abs(base) > 1 and power > 53):
                return None
            value = base ** max(power, 0)
            return value if abs(value) < 2**53 else None
        case _:
            return None


def _money_with_literal(
    b: Block, x: Value, y: Value, left: cst.BaseExpression, right: cst.BaseExpression
) -> tuple[Type, str] | None:
    other, node = (y, right) if x.type == MONEY else (x, left)
    if other.type in NUMERIC and number_literal(node) is not None:
        return (MONEY, "") if money_literal(b, node) else (NEVER, "")
    return None


def _no_operation(b: Block, node: cst.CSTNode, op: str, x: Type, y: Type) -> None:
    fix = ""
    numbers = (*NUMERIC, DURATION)
    if MONEY in (x, y) and (x in NUMERIC or y in NUMERIC) and op in "+-":
        fix = "make the number money first: money(x)"
    elif op == "+" and (textual(x) or textual(y)):
        fix = 'put values into text with an f-string: f"{a} {b}"'
    elif DURATION in (x, y) and (x in NUMERIC or y in NUMERIC):
        fix = "a duration in days is d // days(1); n days are days(n)"
    elif {x, y} == {DATE, DATETIME}:
        fix = "take the date of the datetime: x.date"
    elif {x, y} & {DATE, DATETIME} and (x in numbers or y in numbers):
        fix = "a date moves by days(n), hours(n), minutes(n)"
    elif ANY in (x, y):
        fix = "say what it is first: as_type(x, number)"
    b.say("wrong-type", node, f"'{op}' has no meaning between {an(x)} and {an(y)}", fix=fix)


@rule(cst.UnaryOperation)
def _unary(b: Block, node: cst.UnaryOperation, expected: Type | None) -> Value:
    if isinstance(node.operator, cst.Not):
        condition(b, node.expression)
        return b.note(node, Value(BOOL))
    value = read(b, node.expression)
    of = plain(value.type)
    if of in (*NUMERIC, MONEY, DURATION, NEVER):
        return b.note(node, Value(of), Role("operator"))
    b.say("wrong-type", node, f"{an(value.type)} has no sign")
    return b.note(node, Value(NEVER))


def condition(b: Block, node: cst.BaseExpression) -> None:
    """Check that an expression is a condition: bool and never null."""
    _is_condition(b, node, infer(b, node).type)


def _is_condition(b: Block, node: cst.BaseExpression, of: Type) -> None:
    if of in (BOOL, NEVER):
        return
    source = b.source(node)
    b.say("not-bool", node, f"a condition is a bool; '{source}' is {an(of)}", fix=_comparison_fix(of, source))


def _comparison_fix(of: Type, source: str) -> str:
    match of:
        case Nullable() | Scalar(name="none"):
            return f"write '{source} is not None'"
        case ListOf() | DictOf() | StateOf() | Obj():
            return f"write 'len({source}) > 0'"
        case Enum(values=values) if len(values) == 1:
            return "compare it with something"
        case Enum(values=values):
            return f"write '{source} == {values[0]!r}'"
        case _ if textual(of):
            return f'write `{source} != ""`'
        case _ if of in (*NUMERIC, MONEY, DURATION):
            return f"write '{source} != 0'"
        case _ if of == ANY:
            return f"write 'as_type({source}, bool)'"
        case _:
            return "write a comparison"


@rule(cst.BooleanOperation)
def _boolean(b: Block, node: cst.BooleanOperation, expected: Type | None) -> Value:
    if isinstance(node.operator, cst.Or) and _is_fail(node.right):
        return _or_fail(b, node)
    left = infer(b, node.left).type  # once only: chains of `and` are as deep as they are long
    if _is_default(b, node, left):
        return b.note(node, Value(NEVER))
    _is_condition(b, node.left, left)
    before = b.env.copy()
    narrow(b, node.left, isinstance(node.operator, cst.And))
    condition(b, node.right)
    if b.env.live:
        b.env.take(before)
    return b.note(node, Value(BOOL))


def _is_default(b: Block, node: cst.BooleanOperation, left: Type) -> bool:
    """`x or "default"` means a conditional expression here; said once, for both sides."""
    if left in (BOOL, NEVER) or infer(b, node.right).type == BOOL:
        return False
    x, y = b.source(node.left), b.source(node.right)
    test = _comparison_fix(left, x).removeprefix("write ").strip("`'")
    fix = f"write {x} if {test} else {y}" if isinstance(node.operator, cst.Or) else f"write {y} if {test} else {x}"
    b.say("not-bool", node, f"'and' and 'or' join conditions; '{x}' is {an(left)}", fix=fix)
    return True


def _is_fail(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "fail"


def _or_fail(b: Block, node: cst.BooleanOperation) -> Value:
    value = infer(b, node.left)
    before = b.env.copy()
    infer(b, node.right)
    b.env.take(before)
    if not isinstance(value.type, Nullable) and value.type not in (NEVER, ANY):
        b.say("not-bool", node.left, f"'… or fail(…)' takes something that may be null; this is {an(value.type)}",
              fix="write require(condition, message)")  # fmt: skip
    return b.note(
        node, Value(strip_null(value.type), value.view, value.copy_of, value.frozen), Role("operator", "or_fail")
    )


@rule(cst.IfExp)
def _conditional(b: Block, node: cst.IfExp, expected: Type | None) -> Value:
    condition(b, node.test)
    before = b.env.copy()
    narrow(b, node.test, True)
    x = infer(b, node.body, expected)
    b.env.take(before.copy())
    narrow(b, node.test, False)
    y = infer(b, node.orelse, expected)
    b.env.take(before)
    of = join(x.type, y.type)
    if of is None and expected is not None and _fit(b, node.body, x, expected) and _fit(b, node.orelse, y, expected):
        of = expected
    if of is None:
        b.say("unlike-types", node, f"one side is {an(x.type)}, the other {an(y.type)}")
        of = NEVER
    view = x.view if x.view == y.view else None
    copy_of = None if view else x.view or x.copy_of or y.view or y.copy_of
    frozen = x.frozen or y.frozen or ("one thing or another" if copy_of and container(of) else "")
    return b.note(node, Value(of, view, copy_of, frozen))


def _fit(b: Block, node: cst.BaseExpression, value: Value, place: Type) -> bool:
    return assignable(value.type, place) or (strip_null(place) == MONEY and number_literal(node) is not None)


def operator_text(operator: cst.CSTNode) -> str:
    """`+` for both `+` and `+=`."""
    return _OPERATORS.get(type(operator), "?")


@rule(cst.BinaryOperation)
def _binary(b: Block, node: cst.BinaryOperation, expected: Type | None) -> Value:
    return operation(b, node, operator_text(node.operator), node.left, node.right)
