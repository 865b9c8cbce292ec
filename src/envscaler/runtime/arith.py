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


def arith(text: str) -> Number:
    """The value; Failure `arithmetic` when the text is no arithmetic or has no finite value."""
    if len(text) > _LENGTH:
        raise Failure("arithmetic", f"The expression is longer than {_LENGTH} characters.")
    try:
        return _finite(_Parser(_split(text)).whole())
    except ZeroDivisionError:
        raise Failure("arithmetic", "division by zero") from None
    except OverflowError:
        raise Failure("arithmetic", "The result is too large.") from None


def _split(text: str) -> list[str]:
    result, at, end = [], 0, len(text.rstrip())
    while at < end:
        found = _PART.match(text, at)
        if found is None:
            raise _syntax()
        result.append(found[1] or found[2])
        at = found.end()
    return result


def _syntax() -> Failure:
    return Failure("arithmetic", "invalid syntax")


class _Parser:
    """Recursive descent in Python's precedence: sum, product, sign, power."""

    def __init__(self, parts: list[str]) -> None:
        self.parts = parts
        self.at = 0
        self.depth = 0

    def whole(self) -> Number:
        value = self.sum()
        if self.at != len(self.parts):
            raise _syntax()
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
        result = base**exponent
        if isinstance(result, complex):
            raise Failure("arithmetic", "The result is not a real number.")
        return _finite(result)

    def atom(self) -> Number:
        part = self.take()
        if part == "(":
            value = self.sum()
            if self.take() != ")":
                raise _syntax()
            return value
        if not part or not (part[0].isdigit() or part[0] == "."):
            raise _syntax()
        if part.isdigit():
            if len(part) > 1 and part[0] == "0" and part.strip("0"):
                raise _syntax()
            return _finite(int(part))
        return float(part)


def _finite(value: Number) -> Number:
    if isinstance(value, int):
        if not -MAX < value < MAX:
            raise Failure("arithmetic", "The result is too large.")
    elif not math.isfinite(value):
        raise Failure("arithmetic", "The result is not a finite number.")
    return value
