"""Values as literals of the spec language."""

from __future__ import annotations

import json
from typing import Any

from envscaler.runtime import shapes as s

__all__ = ["key_literal", "literal"]


def literal(shape: s.Shape, value: Any) -> str:
    """A plain value in its internal form (money in minor units) as the language writes it."""
    if shape is s.MONEY:
        sign, (whole, cents) = "-" if value < 0 else "", divmod(abs(value), 100)
        return f"{sign}{whole}.{cents:02d}" if cents else f"{sign}{whole}"
    if value.__class__ is bool or value is None:
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    return repr(value)


def key_literal(key: Any) -> str:
    """A record's key as the language writes it."""
    return literal(s.STR, key) if isinstance(key, str) else repr(key)
