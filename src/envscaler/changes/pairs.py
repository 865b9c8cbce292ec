"""Things of two versions brought together by name, and those that look as if they had only got another name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Pairs", "paired"]

T = TypeVar("T")


class Pairs(NamedTuple, Generic[T]):
    """``both``: (old, new) of one name; ``renamed``: (old, new) of different names; ``gone`` and ``fresh``: alone."""

    both: list[tuple[T, T]]
    renamed: list[tuple[T, T]]
    gone: list[T]
    fresh: list[T]


def paired(old: Mapping[str, T], new: Mapping[str, T], alike: Callable[[T, T], bool]) -> Pairs[T]:
    """Bring together; ``alike`` says of two of different names whether the new one may be the old one renamed.

    Where several may be, the one with the nearest name is.
    """
    both = [(thing, new[name]) for name, thing in old.items() if name in new]
    gone = {name: thing for name, thing in old.items() if name not in new}
    fresh = {name: thing for name, thing in new.items() if name not in old}
    candidates = [
        (-difflib.SequenceMatcher(None, a, b).ratio(), a, b)
        for a, before in gone.items()
        for b, after in fresh.items()
        if alike(before, after)
    ]
    renamed = []
    for _, a, b in sorted(candidates):
        if a in gone and b in fresh:
            renamed.append((gone.pop(a), fresh.pop(b)))
    return Pairs(both, renamed, list(gone.values()), list(fresh.values()))
