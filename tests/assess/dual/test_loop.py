"""The dual-agent loop: what each agent sees, what counts as a pass, what is bounded, how a killed run goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envscaler.assess.dual.loop import dual
from envscaler.assess.dual.settings import DualSettings, read
from envscaler.assess.reach import BranchReach, Coverage, RequirementReach, ToolReach
from envscaler.errors import BudgetError, LlmError, UsageError
from envscaler.llm import Ledger, Request
from envscaler.llm.errors import AccessError, TruncatedError, UnreachableError
from envscaler.plugin.records import Means, Subject
from envscaler.work import Run
from tests.assess.models import call, passing, replied, says, scripted

SETTINGS = DualSettings(rounds=4, calls=0)


def lending(request: Request) -> Any:
    """A tester who lends Emma, and asks for a book that there is not when a negative case is wanted."""
    if "Now a negative case" in request.messages[-1].content:
        return call("lend", "negative", book_id="B-9")
    return call("find", words="Emma")


def settings(**changes: Any) -> DualSettings:
    return replace(SETTINGS, **changes)


# -- what counts


def test_all_pass(shelf: Subject) -> None:
    with scripted(tester=lending, judge=passing) as (models, _):
        report = dual(shelf, models, SETTINGS)
    assert [r.outcome for r in report.rounds] == ["pass"] * 4
    assert [r.case for r in report.rounds] == ["positive", "negative"] * 2
    verdict = report.verdict(shelf)
    assert (verdict.sound, verdict.score) == (True, 1.0)
    assert [f.code for f in verdict.findings] == ["dual-summary"]


@pytest.mark.parametrize(("passes", "sound"), [(17, True), (16, False)])
def test_sound_is_a_share_of_passes_of_all_rounds(shelf: Subject, passes: int, sound: bool) -> None:
    verdicts = [says("pass")] * passes + [says("warning", "message")] * (20 - passes)
    with scripted(tester=lending, judge=verdicts) as (models, _):
        report = dual(shelf, models, settings(rounds=20))
    assert report.score == passes / 20
    assert report.sound is sound
    verdict = report.verdict(shelf)
    assert verdict.sound is sound
    assert ("dual-unsound" in [f.code for f in verdict.findings]) is not sound


def test_a_reply_that_cannot_be_used_is_a_round_that_does_not_pass(shelf: Subject) -> None:
    tester = [call("find", words="E"), *["no JSON"] * 3, call("find", words="U")]
    with scripted(tester=tester, judge=[says("pass"), *[replied("Verdict", '{"verdict": "maybe"}')] * 3]) as (
        models,
        _,
    ):
        report = dual(shelf, models, settings(rounds=3, unusable=2))
    assert [(r.outcome, r.by) for r in report.rounds] == [
        ("pass", "judge"),
        ("unusable", "tester"),
        ("unusable", "judge"),
    ]
    assert report.score == 1 / 3
    assert "invalid_reply" in report.rounds[1].reason
    assert report.rounds[1].tester.attempts == 3  # two corrections are the bound of one call


def test_many_such_replies_end_it_and_are_not_held_against_the_environment(shelf: Subject) -> None:
    with scripted(tester=lambda _: "I would rather talk.", judge=passing) as (models, backends):
        report = dual(shelf, models, settings(rounds=100))
    assert len(report.rounds) == 16  # 15 of 100 could still fail and 85 pass
    assert len(backends["tester"].requests) == 16 * 3
    verdict = report.verdict(shelf)
    assert not verdict.sound
    assert verdict.findings[0].title == "16 of 16 rounds had no usable reply; that says nothing of the environment"


def test_a_cut_off_reply_counts(shelf: Subject) -> None:
    with scripted(tester=lambda _: TruncatedError("cut"), judge=passing) as (models, _):
        report = dual(shelf, models, settings(rounds=1, unusable=1))
    assert [r.outcome for r in report.rounds] == ["unusable"]


@pytest.mark.parametrize("error", [AccessError("no key"), UnreachableError("down")])
def test_a_model_that_cannot_be_asked_is_no_verdict(shelf: Subject, error: LlmError) -> None:
    with (
        scripted(more={"attempts": 1}, tester=lambda _: error, judge=passing) as (models, _),
        pytest.raises(type(error)),
    ):
        dual(shelf, models, SETTINGS)


def test_a_wrong_tool_name_goes_back_with_the_nearest(shelf: Subject) -> None:
    with scripted(tester=[call("lends", book_id="B-1"), call("lend", book_id="B-1")], judge=passing) as (
        models,
        backends,
    ):
        report = dual(shelf, models, settings(rounds=1))
    assert report.rounds[0].outcome == "pass"
    assert (
        "lends is not among the tools to choose from; did you mean lend?"
        in backends["tester"].requests[1].messages[-1].content
    )


def test_a_tool_that_is_not_offered_is_not_called(bank: Subject) -> None:
    """Models like to do again what they did last; the balance of tools is not theirs to upset."""
    seen: list[str] = []

    def tester(request: Request) -> Any:
        seen.append(request.messages[-1].content)
        again = call("transfer", "negative", amount=1)
        return again if len(seen) in (1, 3) else call(seen[0].split("\n\n")[1].split(":")[0])

    with scripted(tester=tester, judge=passing) as (models, _):
        dual(bank, models, settings(rounds=1))
    assert "transfer is not among the tools to choose from" in seen[1]


def test_arguments_as_json_text_are_read(shelf: Subject) -> None:
    said = replied("Call", {"case": "positive", "tool": "lend", "arguments": '{"book_id": "B-1"}'})
    with scripted(tester=[said], judge=passing) as (models, _):
        report = dual(shelf, models, settings(rounds=1))
    assert report.rounds[0].arguments == {"book_id": "B-1"}
    assert report.rounds[0].ok


def test_what_is_a_fact_is_not_asked(shelf: Subject, tmp_path: Path) -> None:
    broken = type("Broken", (shelf.environment,), {})
    broken.call = _raising(shelf.environment.call)  # type: ignore[method-assign]
    with scripted(tester=lending, judge=passing) as (models, backends):
        report = dual(replace(shelf, environment=broken), models, settings(rounds=2))
    assert [(r.outcome, r.by, r.cause) for r in report.rounds] == [("fail", "code", "type_or_attribute")] * 2
    assert backends["judge"].requests == []
    assert {f.severity for f in report.verdict(shelf).findings if f.code == "dual-fail"} == {"error"}


def _raising(inner: Any) -> Any:
    from envscaler.runtime.results import Refused, ToolError

    def run(self: Any, tool: str, arguments: Any = None, actor: str = "agent") -> Any:
        made = Refused.__new__(Refused)
        made.error = ToolError("internal", "AttributeError: 'dict' object has no attribute 'titel'")
        return made

    return run


# -- what each agent sees


def test_the_judge_sees_source_arguments_result_and_difference_only(shelf: Subject) -> None:
    with scripted(tester=[call("lend", book_id="B-1")], judge=passing) as (models, backends):
        dual(shelf, models, settings(rounds=1))
    (asked,) = backends["judge"].requests
    text = asked.messages[-1].content
    assert 'require(left(book) > 0, f"All copies of {book.title} are lent.")' in text
    assert "return book.copies - book.lent" in text
    assert "- few: At most 2 copies of a book are lent." in text
    assert "Call: lend book_id=B-1" in text
    assert 'Result: {"success": true, "data": 1}' in text
    assert '{"op": "replace", "path": "/books/B-1/lent", "value": 1, "before": 0}' in text
    assert "Ulysses" not in text  # no other record of the state
    assert "examples" not in text


def test_the_judge_s_prompt_does_not_grow_with_the_state(shelf: Subject) -> None:
    state = {"books": {f"B-{n}": {"title": f"Volume {n}", "copies": 9} for n in range(3000)}}
    big = type("Big", (shelf.environment,), {})
    base = shelf.environment.prepare(state)
    big.new = classmethod(lambda cls, state=None, seed=0: shelf.environment.new(base, seed=seed))  # type: ignore[method-assign, assignment]
    lengths = []
    for subject in (shelf, replace(shelf, environment=big)):
        with scripted(tester=[call("lend", book_id="B-1")], judge=passing) as (models, backends):
            dual(subject, models, settings(rounds=1))
        lengths.append([len(b.requests[0].messages[-1].content) for b in backends.values()])
    small, large = lengths
    assert large[1] == small[1]
    assert large[0] < small[0] + 300


def test_the_tester_s_prompt_does_not_grow_with_the_rounds(shelf: Subject) -> None:
    with scripted(tester=lending, judge=passing) as (models, backends):
        dual(shelf, models, settings(rounds=60))
    lengths = [len(r.messages[-1].content) for r in backends["tester"].requests]
    assert max(lengths[30:]) <= max(lengths[:30]) + 20


def test_tools_and_cases_are_balanced(bank: Subject) -> None:
    def first(request: Request) -> Any:
        text = request.messages[-1].content
        tool = text.split("\n\n")[1].split(":")[0]
        return call(tool, "negative" if "Now a negative" in text else "positive")

    with scripted(tester=first, judge=passing) as (models, _):
        report = dual(bank, models, settings(rounds=56))
    assert bank.checked.spec is not None
    made = [r.tool for r in report.rounds]
    assert {made.count(tool) for tool in bank.checked.spec.tools} == {2}
    assert [r.case for r in report.rounds].count("negative") == 28


def test_it_begins_with_what_the_fuzzer_did_not_reach(shelf: Subject) -> None:
    coverage = Coverage(
        tools=[ToolReach("find", "agent", "read", 30, ok=9), ToolReach("lend", "agent", "write", 38, ok=0)],
        requirements=[
            RequirementReach("tool lend", "All copies of {book.title} are lent.", 45),
            RequirementReach("tool give_back", "No copy of {book.title} is lent.", 56, refused=3),
        ],
        branches=[BranchReach("helper left", 29, "taken")],
    )
    with scripted(tester=[call("lend", "negative", book_id="B-2"), call("lend", book_id="B-1")], judge=passing) as (
        models,
        backends,
    ):
        report = dual(shelf, models, settings(rounds=2), coverage=coverage)
    first, second = (r.messages[-1].content for r in backends["tester"].requests)
    assert first.index("lend:") < first.index("find:")
    assert "lend: lend succeeds" in first
    assert "refused with 'All copies of {book.title} are lent.'" in first
    assert "No copy of" not in first
    assert "All copies of {book.title} are lent.'" not in second
    assert report.goals == (3, 1)  # the branch is left: whether a call took it is not seen


def test_an_episode_begins_anew(shelf: Subject) -> None:
    with scripted(tester=lambda _: call("lend", book_id="B-1"), judge=passing) as (models, _):
        report = dual(shelf, models, settings(rounds=4, episode=2))
    assert [json.loads(r.result)["data"] for r in report.rounds] == [1, 2, 1, 2]


def test_a_template_of_the_user_comes_first(shelf: Subject, tmp_path: Path) -> None:
    (tmp_path / "prompts" / "assess").mkdir(parents=True)
    (tmp_path / "prompts" / "assess" / "checker.system.j2").write_text("Be kind. {{ causes | length }} causes.")
    with scripted(tester=lending, judge=passing) as (models, backends):
        dual(shelf, models, settings(rounds=1), means=Means(templates=(str(tmp_path),)))
    assert backends["judge"].requests[0].messages[0].content == "Be kind. 9 causes."


# -- findings and figures


def test_failures_become_findings_that_can_be_replayed(shelf: Subject) -> None:
    tester = [call("find", words="E"), call("lend", book_id="B-1"), call("lend", book_id="B-1")]
    judge = [says("pass"), says("pass"), says("fail", "state consistency", "lent must not rise\nhere")]
    with scripted(tester=tester, judge=judge) as (models, _):
        verdict = dual(shelf, models, settings(rounds=3)).verdict(shelf)
    (found,) = [f for f in verdict.findings if f.code == "dual-fail"]
    assert found.title == "lend: lent must not rise here"
    assert found.severity == "warning"
    assert found.span is not None
    assert shelf.source.split("\n")[found.span.line - 1].startswith("  lend:")
    assert found.script == "lend book_id=B-1\nlend book_id=B-1"
    summary = verdict.findings[-1]
    assert "causes: state_consistency 1" in summary.detail
    assert verdict.details["causes"] == {"state_consistency": 1}


def test_tokens_of_all_attempts_are_counted(shelf: Subject) -> None:
    tester = [replied("Call", "{}"), call("lend", book_id="B-1")]
    with scripted(tester=tester, judge=passing) as (models, _):
        report = dual(shelf, models, settings(rounds=1))
        attempts = list(models.ledger.attempts())
    assert (report.tester.total, report.tester.attempts, report.judge.total) == (220, 2, 110)
    assert {(a.stage, a.unit) for a in attempts} == {("assessment", "shelf")}


# -- a run that was ended


@pytest.mark.parametrize("killed_in", [1, 2, 4, 6])
def test_a_killed_run_goes_on_without_asking_again(shelf: Subject, tmp_path: Path, killed_in: int) -> None:
    def tester(request: Request) -> Any:
        """Lends what is on the shelf, else takes back: a function of the state shown, as a model would be."""
        shown = request.messages[-1].content.split("B-1 | ")[1].split("\n")[0]
        return call("give_back" if shown.endswith("2") else "lend", book_id="B-1")

    seen: list[Request] = []

    def judge(request: Request) -> Any:
        seen.append(request)
        if len(seen) == killed_in:
            raise KeyboardInterrupt
        return says("pass")

    def made(run: Run | None, judge: Any) -> list[Any]:
        with scripted(tester=tester, judge=judge) as (models, _):
            return [
                r.to_json() for r in dual(shelf, models, settings(rounds=6, episode=5), means=Means(run=run)).rounds
            ]

    with Run.open(tmp_path / "run") as run, pytest.raises(KeyboardInterrupt):
        made(run, judge)
    with Run.open(tmp_path / "run") as run:
        resumed = made(run, judge)
        assert len(seen) == 6 + 1
        assert made(run, judge) == resumed
        assert len(seen) == 6 + 1
    assert resumed == made(None, passing)
    assert [json.loads(r["result"])["data"] for r in resumed] == [1, 2, 1, 2, 1, 1]


def test_a_limit_ends_it_and_keeps_what_was_done(shelf: Subject, tmp_path: Path) -> None:
    with Run.open(tmp_path / "run") as run:
        with scripted(tester=lending, judge=passing, max_tokens=500) as (models, _), pytest.raises(BudgetError):
            dual(shelf, models, SETTINGS, means=Means(run=run))
        with scripted(tester=lending, judge=passing) as (models, backends):
            dual(shelf, models, SETTINGS, means=Means(run=run))
    assert len(backends["judge"].requests) == 2


# -- settings


def test_settings_may_be_text() -> None:
    assert read(DualSettings, {"rounds": "20", "threshold": "0.9", "unusable": None}) == DualSettings(20, 0.9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"round": 3}, "there is no setting round; did you mean rounds?"),
        ({"rounds": "many"}, "rounds is a whole number, not 'many'"),
        ({"rounds": 0}, "rounds is at least 1, not 0"),
        ({"threshold": 85}, "threshold lies between 0 and 1; 85.0 does not"),
    ],
)
def test_wrong_settings(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        read(DualSettings, given)


def test_the_ledger_is_a_file_of_the_run(shelf: Subject, tmp_path: Path) -> None:
    with scripted(tmp_path / "ledger.sqlite", tester=lending, judge=passing) as (models, _):
        dual(shelf, models, settings(rounds=1))
    assert len(list(Ledger(tmp_path / "ledger.sqlite").attempts())) == 2
