"""Values and texts as Python source: the only way that anything of a spec's data reaches generated code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from envscaler.compiler.layout import Doc, Group, Prefixed

__all__ = ["docstring", "literal", "quoted"]

# Of the Unicode versions that the supported interpreters carry none is the same; the 3.2 tables are in all of them, so
# which characters are printed as they are does not depend on the interpreter that compiles.
_category = unicodedata.ucd_3_2_0.category


def quoted(text: str, quote: str = '"') -> str:
    """``text`` as a one-line string literal in the given quotes; anything unprintable, lone surrogates too, escaped."""
    return quote + "".join(_escaped(c, quote) for c in text) + quote


def _escaped(char: str, quote: str) -> str:
    if char in ("\\", quote):
        return "\\" + char
    if " " <= char <= "~":
        return char
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    if code >= 0xA0 and _category(char)[0] not in "CZ":
        return char
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def docstring(text: str, indent: int) -> str:
    """``text`` as a triple-quoted docstring whose lines are indented by ``indent`` spaces; never more than one literal."""
    pad = " " * indent
    lines = ["".join(_escaped(c, "") for c in line).rstrip() for line in text.strip().split("\n")]
    body = _LOOSE_QUOTE.sub(r'\\"', "\n".join(pad + line if n and line else line for n, line in enumerate(lines)))
    return f'"""{body}\n{pad}"""' if len(lines) > 1 else f'"""{body}"""'


_LOOSE_QUOTE = re.compile(r'"(?="|\Z)')


def literal(value: Any) -> Doc:
    """A JSON-like value (also tuples and Decimal) as an expression. Raises TypeError for anything else."""
    if value is None or value is True or value is False:
        return repr(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Decimal):
        return literal(int(value) if value == value.to_integral_value() else float(value))
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        return Group("{", tuple(Prefixed(_key(k), literal(v)) for k, v in value.items()), "}")
    if isinstance(value, tuple):
        return Group("(", tuple(literal(v) for v in value), ")", single_comma=True)
    if isinstance(value, Sequence):
        return Group("[", tuple(literal(v) for v in value), "]")
    raise TypeError(f"no literal for a {type(value).__name__}")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return quoted(key) + ": "
    if isinstance(key, int):
        return f"{int(key)!r}: "
    raise TypeError(f"no dict key from a {type(key).__name__}")


def _float(value: float) -> str:
    if value - value != 0:
        raise TypeError(f"{value!r} is no JSON number")
    return repr(float(value))
