"""Settings and options that are given by name to a part of a plugin, refused where the part has none of that name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from envscaler.diagnostics import nearest, one_of
from envscaler.errors import UsageError

__all__ = ["refuse_unknown"]


def refuse_unknown(who: str, given: Mapping[str, Any], known: Iterable[str], what: str = "setting") -> None:
    """Raises UsageError for a name that ``who`` does not know, with the nearest that it does."""
    names = list(known)
    for name in given:
        if name not in names:
            near = nearest(name, names)
            hint = f"did you mean {near}?" if near else f"it has {one_of(names)}" if names else "it has none"
            raise UsageError(f"{who} has no {what} {name}; {hint}")
