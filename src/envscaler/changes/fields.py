"""Fields and parameters of two versions: what a value may be, what stands in for a missing one, what is said of it."""

from __future__ import annotations

from dataclasses import dataclass

from envscaler.changes.kinds import bounds_cover, covers, same, type_words
from envscaler.spec.types import MISSING, Const, Field, Nullable
from envscaler.spec.words import bound_words, value_words

__all__ = ["Accepted", "accepted", "alike", "default_words", "optional"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """How the accepted values changed, in words; ``narrower``: some that were accepted no longer are."""

    what: str
    narrower: bool


def accepted(old: Field, new: Field) -> Accepted | None:
    """The change of type, bounds and uniqueness, or None."""
    words, narrower = [], False
    if not same(old.type, new.type):
        words.append(type_words(old.type, new.type))
        narrower = not covers(new.type, old.type)
    if bound_words(old) != bound_words(new):
        before, after = ", ".join(bound_words(old)) or "any value", ", ".join(bound_words(new)) or "any value"
        words.append(f"was {before}; is {after}")
        narrower = narrower or not bounds_cover(new, old)
    if old.unique != new.unique:
        words.append("must be unique" if new.unique else "need not be unique")
        narrower = narrower or new.unique
    return Accepted("; ".join(words), narrower) if words else None


def optional(field: Field) -> bool:
    """Whether a value may be left out."""
    return not field.required


def default_words(old: Field, new: Field) -> str | None:
    """How the value that stands in for a missing one changed, where both may be left out; else None."""
    if not optional(old) or not optional(new) or isinstance(old.type, Const) or isinstance(new.type, Const):
        return None
    if _default(old) == _default(new):
        return None
    return f"left out it was {_words(old)}, is {_words(new)}"


def _default(field: Field) -> object:
    if field.default is MISSING:
        return MISSING if field.absent else None
    return value_words(field.default, field.type)


def _words(field: Field) -> str:
    if field.default is MISSING:
        return "absent" if field.absent else "null"
    return value_words(field.default, field.type)


def alike(old: Field, new: Field) -> bool:
    """Whether one may be the other renamed: the same values, default and nullness."""
    values = same(old.type, new.type) and bound_words(old) == bound_words(new) and old.unique == new.unique
    return (
        values
        and optional(old) == optional(new)
        and default_words(old, new) is None
        and _nullable(old) == _nullable(new)
    )


def _nullable(field: Field) -> bool:
    return isinstance(field.type, Nullable)
