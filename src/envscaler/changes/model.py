"""A change, whom it concerns, and the list in which changes are gathered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from envscaler.diagnostics import Span

__all__ = ["AUDIENCES", "Audience", "Change", "Changes", "Place"]

Audience = Literal["agent", "scenario", "recording"]
AUDIENCES: Final[tuple[Audience, ...]] = ("agent", "scenario", "recording")

Place = Span | int | None


@dataclass(frozen=True, slots=True)
class Change:
    """One change as one audience meets it.

    ``subject``: what was changed, `tool transfer`; ``what``: how, in a few words; ``reason``: what that means for the
    audience, in a line. ``breaking``: what worked with the old version may not work with the new one. ``old`` and ``new``
    are lines of the two files, None where there is nothing; ``was`` and ``now`` are texts that are too long for ``what``.
    """

    audience: Audience
    subject: str
    what: str
    reason: str
    breaking: bool
    old: int | None = None
    new: int | None = None
    was: str | None = None
    now: str | None = None


@dataclass(slots=True)
class Changes:
    """Changes as they are found."""

    found: list[Change] = field(default_factory=list)

    def add(
        self,
        audiences: Iterable[Audience] | Audience,
        subject: str,
        what: str,
        reason: str,
        *,
        breaking: bool,
        at: tuple[Place, Place] = (None, None),
        old: Place = None,
        new: Place = None,
        was: str | None = None,
        now: str | None = None,
    ) -> None:
        """Add a change for one audience or several; its places as ``at`` or as ``old`` and ``new``."""
        first, second = (_line(given if given is not None else one) for given, one in zip(at, (old, new), strict=True))
        for audience in (audiences,) if isinstance(audiences, str) else audiences:
            change = Change(audience, subject, what, reason, breaking, first, second, was, now)
            self.found.append(change)

    def sorted(self) -> list[Change]:
        """By audience, breaking ones first, else in the order of the new file; the same change of several tools once."""
        merged: dict[Change, list[str]] = {}
        for change in self.found:
            kind, _, name = change.subject.partition(" ")
            shared = replace(change, subject=kind) if kind == "tool" and " " not in name and name else change
            names = merged.setdefault(shared, [])
            if shared is not change and name not in names:
                names.append(name)
        result = [_named(change, names) for change, names in merged.items()]
        return sorted(result, key=lambda c: (AUDIENCES.index(c.audience), not c.breaking))


def _named(change: Change, names: list[str]) -> Change:
    if not names:
        return change
    return replace(change, subject=f"tool{'s' if len(names) > 1 else ''} {', '.join(names)}")


def _line(place: Place) -> int | None:
    return place.line if isinstance(place, Span) else place
