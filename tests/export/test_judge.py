"""The judge: what it is shown, what becomes of its verdicts, and that it is asked about each trajectory once."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envscaler.export.judging import _RECORD, question
from envscaler.llm.backends.scripted import ScriptedBackend
from envscaler.llm.errors import ContextError, OverloadedError
from envscaler.llm.ledger import FILE, Ledger
from envscaler.llm.messages import Message, Request
from envscaler.rollout.store import Trajectories
from envscaler.testing.exporters import sample
from tests.export.test_command import export, good, lines, manifest, run

POSSIBLE = {"reason": "The card was found and blocked.", "verdict": "possible", "cause": "none"}
MODEL = ("--llm", "judge=scripted/judge.json", "--cache", "off", "--judge")


def impossible(cause: str = "no-tool") -> dict[str, str]:
    return {
        "reason": "No tool closes the books for a year, see the call of close.",
        "verdict": "impossible",
        "cause": cause,
    }


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., ScriptedBackend]:
    """Puts a script in place of the model of each export that follows; what was asked is in its ``requests``."""
    monkeypatch.chdir(tmp_path)
    run(tmp_path / "run", [good(f"bank-{n}") for n in range(4)])

    def scripted(script: Any) -> ScriptedBackend:
        made = ScriptedBackend(script, identity="scripted/judge")
        monkeypatch.setattr("envscaler.llm.backends.scripted.make", lambda _: made)
        return made

    return scripted


def named(request: Request) -> str:
    """The trajectory that is asked about: its last words are its name."""
    return next(m.content for m in request.messages if "[agent] bank-" in m.content).split("[agent] bank-")[1][0]


def by_name(**said: Any) -> Callable[[Request], Any]:
    return lambda request: said_as(said.get(f"n{named(request)}", POSSIBLE))


def said_as(one: Any) -> Any:
    return json.dumps(one) if isinstance(one, dict) else one


def test_impossible_ones_are_left_out_and_counted(backend: Callable[..., ScriptedBackend]) -> None:
    backend(by_name(n1=impossible(), n3=impossible("NO_VALUE")))
    code, output = export("run", "-o", "out", *MODEL)
    assert code == 0, output
    said = manifest("out")
    assert (said["dropped"]["impossible"], said["kept"]) == (2, 2)
    assert list(said["dropped"])[-1] == "impossible"
    judged = said["judge"]
    assert (judged["model"], judged["asked"], judged["possible"]) == ("scripted/judge", 4, 2)
    assert judged["impossible"] == {"no-tool": 1, "no-value": 1}
    assert judged["left_out"][0] == {"id": "bank-1", "cause": "no-tool", "reason": impossible()["reason"]}
    assert {row["id"] for row in lines("out/train.jsonl")} == {"bank-0", "bank-2"}
    assert "left out: impossible" in output
    assert "judged 4: 2 possible, 2 impossible (no-tool: 1, no-value: 1)" in output


def test_the_account_is_the_runs(backend: Callable[..., ScriptedBackend]) -> None:
    backend(by_name())
    assert export("run", "-o", "out", *MODEL)[0] == 0
    attempts = list(Ledger(Path("run") / FILE, only_read=True).attempts())
    assert {(a.role, a.stage) for a in attempts} == {("judge", "export")}
    assert {a.unit for a in attempts} == {f"bank-{n}" for n in range(4)}


def test_never_asked_twice(backend: Callable[..., ScriptedBackend]) -> None:
    """Neither for another form, nor after an end in the middle; another model, or another task, is another question."""
    dead = backend(by_name(n2=OverloadedError("no capacity")))
    code, output = export(
        "run", "-o", "out", "--concurrency", "1", *MODEL, "--llm", "judge=scripted/judge.json,attempts=1"
    )
    assert (code, "no capacity" in output, Path("out").exists()) == (5, True, False)
    assert [named(r) for r in dead.requests] == ["0", "1", "2"]
    rest = backend(by_name(n3=impossible()))
    assert export("run", "-o", "out", *MODEL)[0] == 0
    assert sorted(named(r) for r in rest.requests) == ["2", "3"]
    none = backend([])
    assert export("run", "-o", "trl", "-f", "trl", *MODEL)[0] == 0
    assert export("run", "-o", "out", "--force", *MODEL)[0] == 0
    assert none.requests == []
    assert manifest("trl")["judge"] == manifest("out")["judge"]
    more = backend(by_name())
    with Trajectories.writing("run") as kept:
        kept.add(replace(good("bank-9"), offers=next(kept.each()).offers))
    assert export("run", "-o", "out", "--force", *MODEL)[0] == 0
    assert [named(r) for r in more.requests] == ["9"]


def test_replies_that_are_no_verdict_keep_the_sample(backend: Callable[..., ScriptedBackend]) -> None:
    fast = ("--llm", "judge=scripted/judge.json,backoff=0,structured=text")
    cut_off = {"message": {"role": "assistant", "content": "{"}, "finish": "length"}
    declined = {"message": {"role": "assistant", "content": "No."}, "finish": "refusal"}
    for turn, (said, codes) in enumerate(
        (
            (["I would say that it can be done.", '{"verdict": "maybe", "reason": "x"}', cut_off, declined],
             {"llm-invalid-reply": 2, "llm-refused": 1, "llm-truncated": 1}),
            (['{"verdict": "impossible"}', "", ContextError("too long"), json.dumps(impossible())],
             {"llm-context-exceeded": 1, "llm-empty": 1, "llm-invalid-reply": 1}),
        )
    ):  # fmt: skip
        run(Path(f"run{turn}"), [good(f"bank-{n}") for n in range(4)])
        backend(lambda request, said=said: said[int(named(request))])
        code, output = export(f"run{turn}", "-o", f"out{turn}", *MODEL, *fast)
        assert code == 0, output
        found = manifest(f"out{turn}")
        assert found["judge"]["unusable"] == codes
        assert (found["kept"], found["dropped"]["impossible"]) == (4 - turn, turn)
        assert f"{sum(codes.values())} without a usable verdict (" in output
        assert "are kept" in output


def test_after_what_costs_nothing_and_before_the_best(backend: Callable[..., ScriptedBackend], tmp_path: Path) -> None:
    again = replace(good("bank-5", scenario="bank-0"), messages=good("bank-5").messages[:5], reward=0.5)
    again = replace(again, messages=(*again.messages, Message("assistant", "bank-5")), steps=again.steps[:1])
    run(tmp_path / "run", [again, replace(good("bank-6"), reward=0.2)])
    asked = backend(by_name(n0=impossible()))
    assert export("run", "-o", "out", "--min-reward", "0.5", "--best", "1", *MODEL)[0] == 0
    assert sorted(named(r) for r in asked.requests) == ["0", "1", "2", "3", "5"]
    assert {row["id"] for row in lines("out/train.jsonl")} == {"bank-1", "bank-2", "bank-3", "bank-5"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "--judge"), "no model for the role judge"),
        (("card.yaml", "-f", "rl-parquet", "--judge"), "filters trajectories"),
    ],
)
def test_what_cannot_be_asked(backend: Callable[..., ScriptedBackend], words: tuple[str, ...], told: str) -> None:
    backend([])
    code, output = export(*words, "-o", "out")
    assert (code, told in output, Path("out").exists()) == (2, True, False)


def test_what_the_judge_sees() -> None:
    """The task, the tools, what was done and what came of it; no reward, no goal, no solution."""
    one = replace(sample().trajectory, goals=(True,), reward=0.1234, submitted={"refusal": "canary"})
    system, user = question(one, "Close the books of A-1.", sample().tools, submit="close")
    assert "`close`" in system.content
    for shown in (
        "Close the books of A-1.", "You serve the customers of a bank.", "- balance: What is on an account.", "- close: Close",
        '[agent calls balance] {"account": "A-1"}', '[result of balance] {"success": true, "data": 1}',
        "[told] ", "[user] And now?", "[agent] Done",
    ):  # fmt: skip
        assert shown in user.content
    for hidden in ("0.1234", "canary", "Both at once.", "reward"):
        assert hidden not in user.content
    assert "And now?" in question(one, "", sample().tools)[1].content.split("told of the world")[0]


def test_a_record_that_is_long() -> None:
    one = sample().trajectory
    many = (*one.messages[:2], *(Message("user", f"<{n}> " + "x" * 4000) for n in range(500)), one.messages[-1])
    text = question(replace(one, messages=many), "Do it.", sample().tools)[1].content
    assert len(text) < _RECORD + 20_000
    assert "<0>" in text
    assert "<499>" in text
    assert "<250>" not in text
    assert "(4,006 characters)" in text
    assert "more messages, calls and results are left out here" in text
