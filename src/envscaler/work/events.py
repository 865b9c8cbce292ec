"""What listeners hear of a run while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from envscaler.work.problems import Problem

__all__ = ["Counts", "Event", "Listener", "What"]

What = Literal["started", "claimed", "done", "failed", "skipped", "finished", "interrupted"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Units of one `map`, equal inputs counted once. ``done`` and ``failed`` were ended here and now; ``skipped`` had an
    outcome already, or got one in another process; ``running`` are under way here."""

    total: int
    done: int = 0
    failed: int = 0
    skipped: int = 0
    running: int = 0

    @property
    def ended(self) -> int:
        return self.done + self.failed + self.skipped

    def and_one(self, what: Literal["done", "failed", "skipped"]) -> Counts:
        """The counts once one more unit is done, has failed or was skipped."""
        match what:
            case "done":
                return replace(self, done=self.done + 1)
            case "failed":
                return replace(self, failed=self.failed + 1)
        return replace(self, skipped=self.skipped + 1)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. ``key``, ``label`` and ``seconds`` are a unit's, empty for `started` and the end, which is
    `finished` or `interrupted`. ``counts`` are those after it."""

    what: What
    kind: str
    counts: Counts
    key: str = ""
    label: str = ""
    seconds: float = 0.0
    problem: Problem | None = None


Listener = Callable[[Event], None]
"""Hears events one at a time, in order, in whichever thread they happen. What it raises ends the run."""
