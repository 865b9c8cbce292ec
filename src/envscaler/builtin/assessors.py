"""The assessors and checkers that ship. Naming one of them runs nothing."""

from __future__ import annotations

from envscaler.plugin.entries import AssessorEntry, CheckerEntry
from envscaler.plugin.records import Assessor

__all__ = ["ASSESSORS", "checkers"]


def _fuzz() -> Assessor:
    from envscaler.assess.assessor import Fuzzing

    return Fuzzing()


ASSESSORS: tuple[AssessorEntry, ...] = (
    AssessorEntry("fuzz", "Attacks the class with calls of all kinds; holds it to its properties; asks no model", _fuzz),
)


def checkers() -> tuple[CheckerEntry, ...]:
    """The fuzzer's properties that need nothing but the events of an episode."""
    from envscaler.assess.checkers import factories

    return tuple(CheckerEntry(name, summary, factory) for name, (summary, factory) in factories().items())
