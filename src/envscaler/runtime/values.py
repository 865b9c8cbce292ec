"""Plain values whatever their shape: copying, comparing, naming them in messages, refusing what JSON cannot carry."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from envscaler.diagnostics import printable
from envscaler.runtime.shapes import MAX

__all__ = ["MAX_DEPTH", "any_problem", "clean_text", "copy", "kind", "same", "show", "shown"]

MAX_DEPTH: Final = 64
"""How deep lists and objects may nest in a value of type `any`."""


def copy(value: Any) -> Any:
    """A deep copy of a plain value."""
    cls = value.__class__
    if cls is dict:
        return {k: v if v.__class__ in _ATOMS else copy(v) for k, v in value.items()}
    if cls is list or cls is tuple:
        return [v if v.__class__ in _ATOMS else copy(v) for v in value]
    return value


_ATOMS: Final = frozenset((str, int, float, bool, type(None)))


def same(a: Any, b: Any) -> bool:
    """Equality of JSON values: numbers by value, true and 1 apart (Python has them equal)."""
    if a is b:
        return True
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def clean_text(value: str) -> bool:
    """Whether the text can be written as UTF-8: it holds no lone surrogate."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, str):
        return "text"
    return "a number" if isinstance(value, int | float) else "something that is not JSON"


def shown(value: Any) -> str:
    """A value for a message, short, harmless in a terminal and always valid UTF-8: its kind, and itself when simple."""
    if value.__class__ is str:
        cut = value if len(value) <= 40 else value[:40] + "…"
        return f'the text "{printable(cut)}"' if value else "empty text"
    if value.__class__ is int:
        return str(value) if -(10**20) < value < 10**20 else "a number of too many digits"
    if value.__class__ is float:
        return repr(value)
    return kind(value)


def show(value: Any) -> str:
    """A value as text, the way JSON writes it; text stands without quotes."""
    if value.__class__ is str:
        return str(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def any_problem(value: Any, depth: int = 0) -> str | None:
    """Why a value is not a JSON value that can be kept, or None."""
    cls = value.__class__
    if cls is str:
        return None if clean_text(value) else "holds text that is not valid Unicode"
    if value is None or cls is bool:
        return None
    if cls is int:
        return None if -MAX < value < MAX else "holds a whole number outside ±2^53"
    if cls is float:
        return None if math.isfinite(value) else "holds a number that is not finite"
    if depth >= MAX_DEPTH:
        return f"nests deeper than {MAX_DEPTH} levels"
    if cls is dict:
        for k, v in value.items():
            if k.__class__ is not str or not clean_text(k):
                return "holds a key that is not valid text"
            if (problem := any_problem(v, depth + 1)) is not None:
                return problem
        return None
    if cls is list or cls is tuple:
        return next((p for v in value if (p := any_problem(v, depth + 1)) is not None), None)
    return "holds something that is not JSON"
