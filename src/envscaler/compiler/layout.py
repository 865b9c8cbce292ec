"""Lays out expressions: on one line where they fit, else one part a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["WIDTH", "Doc", "Group", "Prefixed", "call", "fit", "flat"]

WIDTH = 110


@dataclass(frozen=True, slots=True)
class Group:
    """Brackets around parts that can be broken over lines; ``single_comma`` for tuples, where `(x,)` needs it."""

    open: str
    items: tuple[Doc, ...]
    close: str
    single_comma: bool = False


@dataclass(frozen=True, slots=True)
class Prefixed:
    """`name=` or `key: ` before a part."""

    prefix: str
    of: Doc


Doc: TypeAlias = "str | Group | Prefixed"


def call(function: str, *args: Doc, **named: Doc | None) -> Group:
    """A call; keyword arguments that are None are left out."""
    parts = [*args, *(Prefixed(f"{k}=", v) for k, v in named.items() if v is not None)]
    return Group(f"{function}(", tuple(parts), ")")


def flat(doc: Doc) -> str:
    """The expression on one line."""
    if isinstance(doc, str):
        return doc
    if isinstance(doc, Prefixed):
        return doc.prefix + flat(doc.of)
    comma = "," if doc.single_comma and len(doc.items) == 1 else ""
    return doc.open + ", ".join(map(flat, doc.items)) + comma + doc.close


def fit(doc: Doc, indent: int = 0, used: int | None = None, after: int = 0) -> str:
    """The expression for a line indented by ``indent`` of which ``used`` characters are taken, ``after`` still to come."""
    used = indent if used is None else used
    if isinstance(doc, str):
        return doc
    if isinstance(doc, Prefixed):
        return doc.prefix + fit(doc.of, indent, used + len(doc.prefix), after)
    line = flat(doc)
    if used + len(line) + after <= WIDTH or not doc.items:
        return line
    pad = " " * (indent + 4)
    parts = [f"{pad}{fit(item, indent + 4, after=1)},\n" for item in doc.items]
    return doc.open + "\n" + "".join(parts) + " " * indent + doc.close
