"""The assessors and checkers that ship. Naming one of them runs nothing."""

from __future__ import annotations

from envscaler.plugin.entries import AssessorEntry, CheckerEntry
from envscaler.plugin.records import Assessor

__all__ = ["ASSESSORS", "checkers"]


def _fuzz() -> Assessor:
    from envscaler.assess.assessor import Fuzzing

    return Fuzzing()


def _dual() -> Assessor:
    from envscaler.assess.dual import DualAssessor

    return DualAssessor()


def _judge() -> Assessor:
    from envscaler.assess.dual import JudgeAssessor

    return JudgeAssessor()


ASSESSORS: tuple[AssessorEntry, ...] = (
    AssessorEntry(
        "fuzz", "Attacks the class with calls of all kinds; holds it to its properties; asks no model", _fuzz
    ),
    AssessorEntry("dual", "One model tests by calls, another checks each; sound from a share of passes", _dual),
    AssessorEntry("judge", "A model marks alignment and correctness; the fuzzer measures robustness", _judge),
)


def checkers() -> tuple[CheckerEntry, ...]:
    """The fuzzer's properties that need nothing but the events of an episode."""
    from envscaler.assess.checkers import factories

    return tuple(CheckerEntry(name, summary, factory) for name, (summary, factory) in factories().items())
