"""What every assessor must do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from envscaler.plugin.records import Assessor, Means, Subject, Verdict
from envscaler.testing.base import Conformance, not_run, refused, shipped, subject_of, want

__all__ = ["AssessorConformance"]


def _no_models() -> NoReturn:
    not_run("asks a language model; give the suite means with models")


class AssessorConformance(Conformance):
    """Subclass it with ``make``. ``settings`` are given to `assess`; ``specs`` are further specs to judge; an assessor that
    asks a model says ``deterministic = False``, and is tested with ``means`` that have models; without them its tests are
    not run."""

    make: Callable[[], Assessor]
    settings: ClassVar[Mapping[str, Any]] = {}
    specs: ClassVar[Sequence[Path]] = ()
    deterministic: ClassVar[bool] = True
    means: ClassVar[Means] = Means(models=_no_models)

    def _subjects(self) -> list[Subject]:
        return [replace(subject_of(path), means=self.means) for path in (shipped("bank"), *self.specs)]

    def _verdict(self, subject: Subject) -> Verdict:
        verdict: object = self.make().assess(subject, dict(self.settings))
        want(isinstance(verdict, Verdict), f"assess must give a Verdict, not {type(verdict).__name__}")
        assert isinstance(verdict, Verdict)
        return verdict

    def test_gives_a_verdict(self) -> None:
        """`assess` gives a Verdict."""
        for subject in self._subjects():
            self._verdict(subject)

    def test_findings_point_into_the_spec(self) -> None:
        """The span of a finding lies within the file that was judged."""
        for subject in self._subjects():
            lines = subject.source.count("\n") + 1
            for finding in self._verdict(subject).findings:
                if finding.span is not None:
                    inside = finding.span.path == subject.path and 1 <= finding.span.line <= lines
                    want(
                        inside, f"{finding.code} is at {finding.span}, which is not in {subject.path} of {lines} lines"
                    )

    def test_not_sound_is_explained(self) -> None:
        """A verdict that is not sound has a finding."""
        for subject in self._subjects():
            verdict = self._verdict(subject)
            want(verdict.sound or verdict.findings, "the verdict is not sound, and no finding says why")

    def test_gives_the_same_twice(self) -> None:
        """Two assessors give equal verdicts on one subject."""
        if self.deterministic:
            for subject in self._subjects():
                want(self._verdict(subject) == self._verdict(subject), "two verdicts on one subject differ")

    def test_leaves_the_subject_as_it_was(self) -> None:
        """The environment class begins its episodes as before, and settings are not written to."""
        for subject in self._subjects():
            before = subject.environment.new().state_hash(), subject.environment.new().doc
            settings = dict(self.settings)
            self.make().assess(subject, settings)
            after = subject.environment.new().state_hash(), subject.environment.new().doc
            want(after == before, "the environment is not the same after it was judged")
            want(settings == self.settings, "the settings were written to")

    def test_refuses_unknown_settings(self) -> None:
        """A setting that it does not know is a UsageError."""
        unknown = {**self.settings, "no_such_setting": 1}
        refused("assess with an unknown setting", self.make().assess, subject_of(shipped("bank")), unknown)
