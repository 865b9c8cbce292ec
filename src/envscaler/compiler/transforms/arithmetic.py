"""Arithmetic: money, dates and durations by their own functions, products and powers bounded, operators elsewhere."""

from __future__ import annotations

import libcst as cst

from envscaler.compiler.transforms import nodes
from envscaler.compiler.transforms.base import Case, Lowering
from envscaler.spec.logic.relations import plain
from envscaler.spec.types import (
    DATE,
    DATETIME,
    DURATION,
    FLOAT,
    INT,
    MONEY,
    NUMBER,
    STR,
    TIME,
    ListOf,
    Type,
    strip_null,
)

CASES = (
    Case("return today + days(21)", "return _rt.date_shift(_state._today, _rt.days(21))"),
    Case("return now - hours(1)", "return _rt.datetime_shift(_state._now, -_rt.hours(1))"),
    Case("return a * b", "return _rt.mul(a, b)", params="{a: int, b: int}"),
    Case("return 'x' * a", "return _rt.repeat('x', a)", params="{a: int}"),
    Case("return fee * n", "return _rt.money_mul(fee, n) / 100", params="{fee: money, n: int}"),
    Case("return fee / 2", "return _rt.money_over(fee, 2) / 100", params="{fee: money}"),
    Case("return (today - day) // days(1)", "return (_rt.date_diff(_state._today, day)) // _rt.days(1)", params="{day: date}"),
    Case("return at - minutes(30)", "return _rt.time_shift(at, -_rt.minutes(30))", params="{at: time}"),
    Case("x = a + 'y'\nreturn x", "x = _rt.text(a + 'y')\nreturn x", params="{a: str}"),
    Case(
        "desk.notes = xs if xs != [] else ['a']",
        "_state.desk.edit()[\"notes\"] = _rt.copy(xs if xs != [] else ['a'])",
        params="{xs: {list: str}}",
    ),
    Case(
        "n = 0\nfor x in xs:\n    n += x\nreturn n",
        "n = 0\nfor x in _rt.loop(_state, xs):\n    n = _rt.integer(n + x)\nreturn n",
        params="{xs: {list: int}}",
    ),
)  # fmt: skip

_SHIFT = {DATE: "date_shift", DATETIME: "datetime_shift", TIME: "time_shift"}
_DIFFERENCE = {DATE: "date_diff", DATETIME: "datetime_diff", TIME: "time_diff"}
_NUMERIC = (INT, FLOAT, NUMBER)


def operation(
    operator: str, a: Type, b: Type, left: cst.BaseExpression, right: cst.BaseExpression
) -> cst.BaseExpression | None:
    """``left operator right`` by a runtime function, or None where Python's operator does it."""
    match operator, a, b:
        case "+", _, _ if a in _SHIFT and b == DURATION:
            return nodes.call(f"_rt.{_SHIFT[a]}", left, right)
        case "+", _, _ if a == DURATION and b in _SHIFT:
            return nodes.call(f"_rt.{_SHIFT[b]}", right, left)
        case "-", _, _ if a in _SHIFT and b == DURATION:
            return nodes.call(f"_rt.{_SHIFT[a]}", left, _minus(right))
        case "-", _, _ if a in _DIFFERENCE and b == a:
            return nodes.call(f"_rt.{_DIFFERENCE[a]}", left, right)
        case "*", _, _:
            return _product(a, b, left, right)
        case "/", _, _ if a == MONEY and b in _NUMERIC:
            return nodes.call("_rt.money_over", left, right)
        case "**", _, _:
            return nodes.call("_rt.power", left, right)
    return None


def _product(a: Type, b: Type, left: cst.BaseExpression, right: cst.BaseExpression) -> cst.BaseExpression | None:
    if a == MONEY:
        return nodes.call("_rt.money_mul", left, right)
    if b == MONEY:
        return nodes.call("_rt.money_mul", right, left)
    if a == STR or isinstance(a, ListOf):
        return nodes.call("_rt.repeat", left, right)
    if b == STR or isinstance(b, ListOf):
        return nodes.call("_rt.repeat", right, left)
    return None if FLOAT in (a, b) else nodes.call("_rt.mul", left, right)


def _minus(value: cst.BaseExpression) -> cst.BaseExpression:
    return cst.UnaryOperation(cst.Minus(whitespace_after=cst.SimpleWhitespace("")), nodes.enclosed(value))


_SYMBOLS: dict[type[cst.CSTNode], str] = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.Power: "**",
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//", cst.ModuloAssign: "%", cst.PowerAssign: "**",
}  # fmt: skip


def symbol(operator: cst.CSTNode) -> str:
    return _SYMBOLS.get(type(operator), "")


def leave_binary(low: Lowering, original: cst.BinaryOperation, updated: cst.BinaryOperation) -> cst.BaseExpression:
    a, b = low.plain(original.left), low.plain(original.right)
    made = operation(symbol(original.operator), a, b, updated.left, updated.right)
    if made is not None:
        return made.with_changes(lpar=updated.lpar, rpar=updated.rpar)
    if a == STR and _terms(original) % 8 == 0:  # a long sum of texts is bounded on the way, not only at its end
        return nodes.call("_rt.text", updated)
    return updated


def _terms(node: cst.BaseExpression) -> int:
    count = 1
    while isinstance(node, cst.BinaryOperation):
        node, count = node.left, count + 1
    return count


def guarded(low: Lowering, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
    """The value for a place that keeps it, bounded if it may have grown."""
    of = strip_null(low.type(original))
    if isinstance(original, cst.IfExp) and isinstance(updated, cst.IfExp):
        body, orelse = guarded(low, original.body, updated.body), guarded(low, original.orelse, updated.orelse)
        return updated.with_changes(body=body, orelse=orelse)
    function = growth(plain(of), low.loops > 0) if _grows(low, original, of) else ""
    return nodes.call(f"_rt.{function}", updated) if function else updated


def growth(of: Type, in_loop: bool) -> str:
    """The runtime's bound for sums of a type, or "" where none is needed."""
    if of == STR:
        return "text"
    if isinstance(of, ListOf):
        return "items"
    if of in (FLOAT, NUMBER):
        return "finite"
    return "integer" if in_loop and of in (INT, MONEY, DURATION) else ""


def _grows(low: Lowering, node: cst.BaseExpression, of: Type) -> bool:
    match node:
        case cst.BinaryOperation(operator=operator):
            if isinstance(operator, (cst.FloorDivide, cst.Modulo)) or of in (DATE, DATETIME, TIME):
                return False
            return not isinstance(operator, (cst.Multiply, cst.Power)) or of in (FLOAT, NUMBER)
        case cst.FormattedString():
            return any(
                low.plain(p.expression) == STR and not isinstance(p.expression, cst.SimpleString)
                for p in node.parts
                if isinstance(p, cst.FormattedStringExpression)
            )
        case cst.ConcatenatedString():
            return True
        case cst.Call():
            return of in (FLOAT, NUMBER) and low.is_role(node, "call", "sum")
    return False


HANDLERS = {cst.BinaryOperation: leave_binary}
