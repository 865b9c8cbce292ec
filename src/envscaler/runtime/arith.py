"""The value of an arithmetic text: numbers, + - * / // % **, signs and parentheses, as Python computes them. No eval."""

from __future__ import annotations

import math
import operator
import re
from typing import Final

from envscaler.runtime.results import Failure
from envscaler.runtime.shapes import MAX

__all__ = ["arith"]

_PART: Final = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(\*\*|//|[-+*/%()]))", re.ASCII)
_LENGTH, _DEPTH = 1000, 50
_OPERATORS: Final = {"*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod}

Number = int | float


def arith(text: str, otherwise: str = "invalid syntax") -> Number:
    """The value; Failure `arithmetic` when the text has no finite value, with the words ``otherwise`` when it is none."""
    if len(text) > _LENGTH:
        raise Failure("arithmetic", f"The expression is longer than {_LENGTH} characters.")
    try:
        return _finite(_Parser(_split(text)).whole())
    except _NoArithmetic:
        raise Failure("arithmetic", otherwise) from None
    except OverflowError:
        raise Failure("arithmetic", "The result is too large.") from None


class _NoArithmetic(Exception):
    """The text does not follow the grammar."""


def _split(text: str) -> list[str]:
    result, at, end = [], 0, len(text.rstrip())
    while at < end:
        found = _PART.match(text, at)
        if found is None:
            raise _NoArithmetic
        result.append(found[1] or found[2])
        at = found.end()
    return result


class _Parser:
    """Recursive descent in Python's precedence: sum, product, sign, power."""

    def __init__(self, parts: list[str]) -> None:
        self.parts = parts
        self.at = 0
        self.depth = 0

    def whole(self) -> Number:
        value = self.sum()
        if self.at != len(self.parts):
            raise _NoArithmetic
        return value

    def peek(self) -> str:
        return self.parts[self.at] if self.at < len(self.parts) else ""

    def take(self) -> str:
        part = self.peek()
        self.at += 1
        return part

    def sum(self) -> Number:
        value = self.product()
        while self.peek() in ("+", "-"):
            value = _finite(value + self.product() if self.take() == "+" else value - self.product())
        return value

    def product(self) -> Number:
        value = self.sign()
        while (sign := self.peek()) in ("*", "/", "//", "%"):
            self.at += 1
            other = self.sign()
            if other == 0 and sign != "*":
                raise Failure("arithmetic", _by_zero(sign, isinstance(value, float) or isinstance(other, float)))
            value = _finite(_OPERATORS[sign](value, other))
        return value

    def sign(self) -> Number:
        self.depth += 1
        if self.depth > _DEPTH:
            raise Failure("arithmetic", "The expression nests too deeply.")
        sign = self.peek()
        self.at += sign in ("+", "-")
        value = self.sign() if sign == "+" else -self.sign() if sign == "-" else self.power()
        self.depth -= 1
        return value

    def power(self) -> Number:
        base = self.atom()
        if self.peek() != "**":
            return base
        self.at += 1
        exponent = self.sign()
        if (
            isinstance(base, int)
            and isinstance(exponent, int)
            and abs(base) > 1
            and exponent * math.log2(abs(base)) > 53.5
        ):
            raise Failure("arithmetic", "The result is too large.")
        if base == 0 and exponent < 0:
            raise Failure("arithmetic", "0.0 cannot be raised to a negative power")
        result = base**exponent
        if isinstance(result, complex):
            raise Failure("arithmetic", "The result is not a real number.")
        return _finite(result)

    def atom(self) -> Number:
        part = self.take()
        if part == "(":
            value = self.sum()
            if self.take() != ")":
                raise _NoArithmetic
            return value
        if not part or not (part[0].isdigit() or part[0] == "."):
            raise _NoArithmetic
        if part.isdigit():
            if len(part) > 1 and part[0] == "0" and part.strip("0"):
                raise _NoArithmetic
            return _finite(int(part))
        return float(part)


def _by_zero(sign: str, floats: bool) -> str:
    """Python's words, which recorded worlds answer with; the same on every version of Python."""
    match sign:
        case "/":
            return "float division by zero" if floats else "division by zero"
        case "//":
            return "float floor division by zero" if floats else "integer division or modulo by zero"
        case _:
            return "float modulo" if floats else "integer modulo by zero"


def _finite(value: Number) -> Number:
    if isinstance(value, int):
        if not -MAX < value < MAX:
            raise Failure("arithmetic", "The result is too large.")
    elif not math.isfinite(value):
        raise Failure("arithmetic", "The result is not a finite number.")
    return value
