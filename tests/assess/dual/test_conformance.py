"""The assessors that ask models keep the contract of assessors, and are offered through the hook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from envscaler.assess.dual import DualAssessor, JudgeAssessor
from envscaler.errors import UsageError
from envscaler.llm import Models, Request
from envscaler.plugin.records import Means, Subject
from envscaler.session.plugins import open_plugins
from envscaler.testing import AssessorConformance
from envscaler.testing.run import check_offers
from tests.assess.dual.test_loop import lending
from tests.assess.models import call, passing, replied, scripted


def first(request: Request) -> Any:
    """Calls the first tool on offer without arguments."""
    text = request.messages[-1].content
    return call(text.split("\n\n")[1].split(":")[0], "negative" if "Now a negative case" in text else "positive")


def marks(request: Request) -> Any:
    return replied("Marks", {"reason": "Nothing is wrong.", "alignment": 9, "correctness": 9})


@pytest.fixture(autouse=True, scope="module")
def models() -> Iterator[None]:
    with scripted(tester=first, judge=passing) as (dual, _), scripted(judge=marks) as (judge, _):
        TestDual.means = Means(models=lambda: dual)
        TestJudge.means = Means(models=lambda: judge)
        yield


@pytest.mark.slow
class TestDual(AssessorConformance):
    make = staticmethod(DualAssessor)
    settings = {"rounds": 3, "calls": 0}


@pytest.mark.slow
class TestJudge(AssessorConformance):
    make = staticmethod(JudgeAssessor)
    settings = {"calls": 50}


def test_they_are_offered() -> None:
    offered = {o.entry.name: o.entry for o in open_plugins(third_parties=False).offers("assessor")}
    assert isinstance(offered["dual"].factory(), DualAssessor)  # type: ignore[attr-defined]
    assert isinstance(offered["judge"].factory(), JudgeAssessor)  # type: ignore[attr-defined]


def test_without_models_their_conformance_is_not_run() -> None:
    offers = [o for o in open_plugins(third_parties=False).offers("assessor") if o.entry.name == "dual"]
    outcomes = {result.outcome for result in check_offers(offers)}
    assert outcomes == {"passed", "not run"}


@pytest.mark.parametrize("assessor", [DualAssessor(), JudgeAssessor()])
def test_without_models_they_say_so(assessor: Any, shelf: Subject) -> None:
    with pytest.raises(UsageError, match="asks language models, and none are lent to it"):
        assessor.assess(shelf, {})


def test_settings_reach_the_loop(shelf: Subject) -> None:
    opened: list[Models] = []
    with scripted(tester=lending, judge=passing) as (models, _):
        subject = replace(shelf, means=Means(models=lambda: opened.append(models) or models))  # type: ignore[func-returns-value]
        verdict = DualAssessor().assess(subject, {"rounds": "3", "calls": "40"})
    assert len(verdict.details["rounds"]) == 3
    assert len(opened) == 1
