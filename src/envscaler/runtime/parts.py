"""What a transaction knows of the parts of a state that a call touched: their checks, steps and random numbers included."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final, Protocol

from envscaler.runtime.results import Failure
from envscaler.runtime.values import same

__all__ = ["BUDGET", "Before", "Check", "Draws", "Meter", "Part", "Record", "as_check"]

Record = dict[str, Any]

BUDGET: Final = 1_000_000
"""Steps of a call: one for each element that a loop enters."""

Before = dict[Any, Record | None]
Check = Callable[[Any, Before, Callable[[Any], Record | None]], list[Any] | None]
"""(state, versions from before, get for those now) -> the keys whose versions are equal, or None; Failure if one may not be."""


def check_each(check: Callable[..., None] | None, exact: bool) -> Check:
    """The check of a part from one of a single entry, ``check(state, key, old, new)``, or from none."""

    def check_part(state: Any, before: Before, current: Callable[[Any], Record | None]) -> list[Any] | None:
        equal: list[Any] | None = None
        for key in before:
            old, new = before[key], current(key)
            if new == old and (exact or same(new, old)):
                equal = equal or []
                equal.append(key)
            elif check is not None:
                check(state, key, old, new)
        return equal

    return check_part


def check_nothing(state: Any, before: Before, current: Callable[[Any], Record | None]) -> list[Any]:
    """The check of a part that has no entries, and so none that differ."""
    return []


def as_check(check: Callable[..., Any] | None, exact: bool) -> Check:
    """A declared check, whichever of its two forms it has: (state, before, current) or (state, key, old, new)."""
    if check is not None and check.__code__.co_argcount == 3:
        return check
    return check_each(check, exact)


class Part(Protocol):
    """A part of the state that a call touched, as the transaction sees it."""

    before: dict[Any, Record | None]
    check: Check
    own_get: Callable[[Any], Record | None]
    overlay: Any
    saved: Any

    def flush(self) -> None:
        """Bring the lookup tables up to what the call wrote."""

    def unchanged(self, key: Any) -> bool:
        """Whether an entry that is equal to what it was counts as untouched."""

    def keep(self, key: Any, old: Record | None) -> None:
        """Put the version from before back, as the new one is equal to it."""

    def close(self) -> None:
        """The call succeeded (asked when ``saved`` is set): forget what it was before. ``before`` is emptied already."""

    def rollback(self) -> None:
        """The call failed: all is as it was before."""


class Meter:
    """What all parts of one episode's state share: the touched parts, the steps left, the phase, the random numbers."""

    __slots__ = ("before", "dirty", "draws", "indexed", "own_get", "settling", "steps")

    check = staticmethod(check_nothing)
    overlay = None
    saved = True

    def __init__(self, seed: int) -> None:
        self.steps = BUDGET
        self.settling = False
        self.indexed = False
        self.dirty: list[Any] = []
        self.draws = Draws(seed, self.dirty)
        self.before: dict[Any, Record | None] = {}
        self.own_get: Callable[[Any], Record | None] = self.before.get

    def charge(self, n: int) -> None:
        """Take n steps; Failure when none are left."""
        if self.steps == BUDGET and n > 0:
            self.dirty.append(self)
        self.steps -= n
        if self.steps < 0:
            raise Failure("limit", f"The call takes more than {BUDGET} steps.")

    def close(self) -> None:
        self.steps = BUDGET

    rollback = close


class Draws:
    """The episode's random numbers; their state before a call is kept from the call's first draw on."""

    __slots__ = ("_rng", "before", "dirty", "own_get", "saved", "seed")

    check = staticmethod(check_nothing)
    overlay = None

    def __init__(self, seed: int, dirty: list[Any]) -> None:
        self.seed = seed
        self.dirty = dirty
        self._rng: random.Random | None = None
        self.saved: Any = None
        self.before: dict[Any, Record | None] = {}
        self.own_get: Callable[[Any], Record | None] = self.before.get

    def rng(self) -> random.Random:
        """The generator, for use within a call."""
        if self._rng is None:
            self._rng = random.Random(self.seed)  # noqa: S311
        if self.saved is None:
            self.saved = self._rng.getstate()
            self.dirty.append(self)
        return self._rng

    def state(self) -> Any:
        """What a snapshot holds: None before the first draw."""
        return None if self._rng is None else self._rng.getstate()

    def set_state(self, state: Any) -> None:
        """Go back (or ahead) to a state."""
        if state is None:
            self._rng = None
            return
        if self._rng is None:
            self._rng = random.Random(0)  # noqa: S311
        self._rng.setstate(state)

    def flush(self) -> None:
        """Nothing is looked up here."""

    def unchanged(self, key: Any) -> bool:
        """Not asked: there are no entries."""
        return True

    def keep(self, key: Any, old: Record | None) -> None:
        """Not asked: there are no entries."""

    def close(self) -> None:
        self.saved = None

    def rollback(self) -> None:
        if self._rng is not None and self.saved is not None:
            self._rng.setstate(self.saved)
        self.saved = None
