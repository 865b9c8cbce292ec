"""Models as assessors: the paper's loop of a testing and a checking agent, and a judge for its three dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envscaler.errors import UsageError
from envscaler.plugin.records import Subject, Verdict

if TYPE_CHECKING:
    from envscaler.llm import Models

__all__ = ["DualAssessor", "JudgeAssessor"]


class DualAssessor:
    """The assessor `dual`. Its settings are the fields of DualSettings."""

    def assess(self, subject: Subject, settings: Mapping[str, Any]) -> Verdict:
        """The verdict of the rounds. Raises UsageError for a wrong setting or without models, LlmError when one cannot be
        asked."""
        from envscaler.assess.dual.settings import DualSettings, read

        wanted = read(DualSettings, settings)
        models = _models(subject, "dual")
        from envscaler.assess.dual.loop import dual, reached

        coverage = reached(subject, wanted.calls, wanted.seed)
        return dual(subject, models, wanted, coverage=coverage).verdict(subject)


class JudgeAssessor:
    """The assessor `judge`. Its settings are the fields of JudgeSettings."""

    def assess(self, subject: Subject, settings: Mapping[str, Any]) -> Verdict:
        """The verdict on the three dimensions. Raises as DualAssessor does."""
        from envscaler.assess.dual.settings import JudgeSettings, read

        wanted = read(JudgeSettings, settings)
        models = _models(subject, "judge")
        from envscaler.assess.dual.dimensions import judge

        return judge(subject, models, wanted).verdict(subject)


def _models(subject: Subject, name: str) -> Models:
    if subject.means.models is None:
        raise UsageError(
            f"the assessor {name} asks language models, and none are lent to it: `envscaler assess` does, by --llm"
        )
    return subject.means.models()
