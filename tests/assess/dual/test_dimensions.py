"""The judge: two dimensions as a model marks them, the third as the fuzzer measures it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from envscaler.assess import Coverage, FuzzFinding, FuzzReport
from envscaler.assess.dual.dimensions import judge
from envscaler.assess.dual.settings import JudgeSettings
from envscaler.errors import LlmError
from envscaler.llm import Request
from envscaler.llm.errors import AccessError
from envscaler.plugin.records import Means, Subject
from envscaler.work import Run
from tests.assess.models import replied, scripted

CLEAN = FuzzReport((), Coverage(), 100, 10)


def marks(alignment: int, correctness: int, reason: str = "Nothing is wrong.") -> Any:
    return replied("Marks", {"reason": reason, "alignment": alignment, "correctness": correctness})


def test_scores_are_means_over_the_tools(shelf: Subject) -> None:
    with scripted(judge=[marks(10, 9), marks(9, 9), marks(8, 9, "It lends two.")]) as (models, _):
        report = judge(shelf, models, JudgeSettings(threshold=0.9), fuzzed=CLEAN)
    assert report.scores == {"alignment": 9, "correctness": 9, "robustness": 10}
    verdict = report.verdict(shelf)
    assert verdict.sound
    assert verdict.score == pytest.approx(28 / 30)
    assert [(f.code, f.title) for f in verdict.findings] == [
        ("judge-mark", "give_back: It lends two."),
        ("judge-summary", "of 10: tool-program alignment 9.0, functional correctness 9.0, code robustness 10.0"),
    ]


def test_robustness_is_measured(shelf: Subject) -> None:
    broken = FuzzFinding("never_raises", "lend raises KeyError", tool="lend", kind="KeyError")
    with scripted(judge=lambda _: marks(10, 10)) as (models, _):
        report = judge(shelf, models, JudgeSettings(), fuzzed=FuzzReport((broken,), Coverage(), 100, 10))
    assert report.scores["robustness"] == pytest.approx(10 * 2 / 3)
    verdict = report.verdict(shelf)
    assert not verdict.sound
    assert [f.title for f in verdict.findings if f.severity == "error"] == [
        "code robustness is 6.7 of 10; 8.5 is wanted",
        "lend raises KeyError",
    ]


def test_an_error_of_no_tool_leaves_nothing_of_robustness(shelf: Subject) -> None:
    broken = FuzzFinding("deterministic", "two runs differ")
    with scripted(judge=lambda _: marks(10, 10)) as (models, _):
        report = judge(shelf, models, JudgeSettings(), fuzzed=FuzzReport((broken,), Coverage(), 100, 10))
    assert report.scores["robustness"] == 0


def test_without_a_report_the_fuzzer_runs(shelf: Subject) -> None:
    with scripted(judge=lambda _: marks(10, 10)) as (models, _):
        report = judge(shelf, models, JudgeSettings(calls=60))
    assert report.fuzzed.calls > 0
    assert "fuzzed calls" in report.verdict(shelf).findings[-1].detail


def test_a_tool_without_a_usable_reply_counts_with_nothing(shelf: Subject) -> None:
    with scripted(judge=[marks(10, 10), marks(10, 10), marks(11, 10), marks(0, 10), "no"]) as (models, _):
        report = judge(shelf, models, JudgeSettings(at_once=1), fuzzed=CLEAN)
    assert report.scores["alignment"] == pytest.approx(20 / 3)
    assert report.marks[2].problem.startswith("invalid_reply")
    assert report.marks[2].tokens.total == 220  # two of its three replies were counted by the script
    assert "1 without a usable reply" in report.verdict(shelf).findings[-1].detail


def test_a_model_that_cannot_be_asked_is_no_verdict(shelf: Subject) -> None:
    with scripted(judge=lambda _: AccessError("no key")) as (models, _), pytest.raises(LlmError):
        judge(shelf, models, JudgeSettings(), fuzzed=CLEAN)


def test_it_sees_the_code_and_calls_that_were_made(shelf: Subject) -> None:
    with scripted(judge=lambda _: marks(10, 10)) as (models, backends):
        judge(shelf, models, JudgeSettings(), fuzzed=CLEAN)
    (text,) = [r.messages[-1].content for r in backends["judge"].requests if r.messages[-1].content.startswith("lend:")]
    assert "book.lent += 1" in text
    assert "Call: lend book_id=B-1\nResult: {" in text
    assert "All copies of Ulysses are lent." in text


def test_marks_are_journaled(shelf: Subject, tmp_path: Path) -> None:
    asked: list[Request] = []

    def one(request: Request) -> Any:
        asked.append(request)
        if len(asked) == 3:
            return AccessError("the key was revoked")
        return marks(9, 9)

    wanted = JudgeSettings(at_once=1)
    with Run.open(tmp_path) as run, scripted(judge=one) as (models, _), pytest.raises(AccessError):
        judge(shelf, models, wanted, fuzzed=CLEAN, means=Means(run=run))
    with Run.open(tmp_path) as run, scripted(judge=one) as (models, _):
        report = judge(shelf, models, wanted, fuzzed=CLEAN, means=Means(run=run))
    assert len(asked) == 4
    assert report.scores["alignment"] == 9
