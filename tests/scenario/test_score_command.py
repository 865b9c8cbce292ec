"""`envscaler score` as it is used: on final states, on recorded calls in every form, on a spec that has changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from envscaler.cli import exits
from envscaler.cli.app import app
from envscaler.errors import UsageError
from envscaler.scenario.model import Answer, Goal, Guard, Only, Scenario, SpecRef, Step
from envscaler.scenario.recorded import recorded_calls
from envscaler.scenario.world import World
from envscaler.scenario.yamlform import to_yaml
from envscaler.session import worlds
from envscaler.spec.checked import Checked
from tests.scenario.sample_depot import TEXT, depot

PUT = {"number": 1, "n": 2}
ORDER = Scenario(
    "complete",
    depot().ref,
    "Put two bolts into bin 1, and say how many there are.",
    (Goal("final.bins[1].count == 7"), Goal("answer.count == 7")),
    (Guard(only=Only({"bins": {"1": ("count",)}})),),
    (Step("put", PUT),),
    answers=(Answer("count", "int"),),
    submitted={"answer": {"count": 7}},
    id="put-1",
)
FORBIDDEN = replace(
    ORDER,
    goals=(Goal('refusal == "not_possible"'),),
    guards=(Guard(only=Only()),),
    answers=(),
    outcome="refusal",
    submitted={"refusal": "not_possible"},
    id="refuse-1",
)
CALLS = [{"tool": "look", "arguments": {"number": 1}}, {"tool": "put", "arguments": PUT}]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("specs/depot.yaml").write_text(TEXT, encoding="utf-8")
    Path("all.jsonl").write_text(
        "".join(json.dumps(one.to_json()) + "\n" for one in (ORDER, FORBIDDEN)), encoding="utf-8"
    )
    Path("one.yaml").write_text(to_yaml([ORDER]), encoding="utf-8")
    Path("start.json").write_text(json.dumps(depot().environment.new().state), encoding="utf-8")
    env = depot().environment.new()
    assert env.call("put", PUT).ok
    Path("end.json").write_text(json.dumps(env.state), encoding="utf-8")
    assert env.call("cancel", {"order_id": "O-001"}).ok
    Path("stray.json").write_text(json.dumps(env.state), encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The depot as it is is not compiled by each command; a changed one is."""
    real_sound, real_of = worlds.sound, World.of

    def sound(path: Path) -> Checked:
        return depot().checked if Path(path).read_text(encoding="utf-8") == TEXT else real_sound(path)

    def of(checked: Checked, templates: Any = ()) -> World:
        return depot() if checked is depot().checked else real_of(checked, templates)

    monkeypatch.setattr(worlds, "sound", sound)
    monkeypatch.setattr(World, "of", of)


def score(*words: str) -> tuple[int, list[str]]:
    done = CliRunner().invoke(app, ["score", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output.splitlines()


def as_json(*words: str) -> Any:
    done = CliRunner().invoke(app, ["score", *words, "--json"])
    return json.loads(done.stdout)


SEVEN = ("--answer", '{"count": 7}')


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("one.yaml", "--state", "end.json", *SEVEN), "put-1: 1.0 (guarded; 2 of 2 goals, no guard broken)"),
        (("one.yaml", "--state", "end.json"), "put-1: 0.5 (guarded; 1 of 2 goals, no guard broken)"),
        (("one.yaml", "--state", "start.json"), "put-1: 0.0 (guarded; 0 of 2 goals, no guard broken)"),
        (("one.yaml", "--state", "stray.json", *SEVEN), "put-1: 0.0 (guarded; 2 of 2 goals, 1 guard broken)"),
        (("one.yaml", "--state", "stray.json", *SEVEN, "--mode", "paper"), "put-1: 1.0 (paper; 2 of 2 goals, 1 guard broken)"),
        (("one.yaml", "--state", "end.json", "--mode", "strict"), "put-1: 0.0 (strict; 1 of 2 goals, no guard broken)"),
        (("all.jsonl", "--id", "refuse-1", "--state", "start.json", "--refusal", "not_possible"),
         "refuse-1: 1.0 (guarded; 1 of 1 goals, no guard broken)"),
        (("all.jsonl", "--id", "refuse-1", "--state", "start.json"), "refuse-1: 0.0 (guarded; 0 of 1 goals, no guard broken)"),
    ],
)  # fmt: skip
def test_a_final_state(words: tuple[str, ...], first: str) -> None:
    code, lines = score(*words)
    assert (code, lines[0]) == (exits.OK, first)


@pytest.mark.usefixtures("folder")
def test_what_broke_a_guard_is_said() -> None:
    assert score("one.yaml", "--state", "stray.json")[1][1:] == ["  goal 2 is not met", "  orders O-001 is gone"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("all.jsonl", "--state", "end.json"), "all.jsonl holds 2 scenarios; say which: --id put-1, refuse-1"),
        (("all.jsonl", "--id", "put-2", "--state", "end.json"), "did you mean put-1?"),
        (("one.yaml",), "score either a run"),
        (("one.yaml", "one.yaml", "--state", "end.json"), "score either a run"),
        (("one.yaml", "--state", "end.json", "--answer", "{"), "--answer is not JSON"),
        (("one.yaml", "--state", "end.json", "--answer", "3"), "--answer is an object of slots"),
        (("one.yaml", "--state", "end.json", *SEVEN, "--refusal", "x"), "exclude each other"),
        (("one.yaml", "end.json", "--refusal", "x"), "go with --state"),
        (("one.yaml", "--state", "ende.json"), "no such file"),
        (("two.yaml", "--state", "end.json"), "no such file"),
        (("one.yaml", "--state", "end.json", "--specs", "spec"), "spec"),
    ],
)
def test_a_wrong_command_line(words: tuple[str, ...], said: str) -> None:
    code, lines = score(*words)
    assert code == exits.USAGE
    assert said in "\n".join(lines)


def test_a_state_that_cannot_be(folder: Path) -> None:
    Path("bad.json").write_text('{"bins": {"1": {"label": "x", "count": -1}}}', encoding="utf-8")
    assert score("one.yaml", "--state", "bad.json")[0] == exits.STATE


def test_a_scenario_with_problems(folder: Path) -> None:
    Path("one.yaml").write_text(to_yaml([replace(ORDER, goals=())]), encoding="utf-8")
    code, lines = score("one.yaml", "--state", "end.json")
    assert code == exits.SPEC
    assert "scenario-no-goals" in lines[0]


# -- recorded calls


def written(*records: Any, name: str = "run.jsonl") -> str:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return name


SUBMIT = {"tool": "submit", "arguments": {"answer": {"count": 7}}}
TURNS = [("c1", "look", '{"number": 1}', True), ("c2", "put", '{"number": 9, "n": 2}', False), ("c3", "put", json.dumps(PUT), True),
         ("c4", "submit", '{"answer": {"count": 7}}', True)]  # fmt: skip


def transcript() -> dict[str, Any]:
    """As `agents.Transcript.to_json` has it."""
    asked = [{"id": i, "name": name, "arguments": arguments} for i, name, arguments, _ in TURNS]
    calls = [{**one, "result": {"text": "", "ok": ok}} for one, (*_, ok) in zip(asked, TURNS, strict=True)]
    message = {"role": "assistant", "content": "", "tool_calls": asked}
    return {"scenario": "put-1", "steps": [{"number": 1, "message": message, "calls": calls}]}


def trajectory() -> dict[str, Any]:
    """As rollouts store it: arguments stand in the messages only."""
    asked = [{"id": i, "name": name, "arguments": arguments} for i, name, arguments, _ in TURNS]
    calls = [{"id": i, "tool": name, "ok": ok} for i, name, _, ok in TURNS]
    return {
        "format": 1, "id": "put-1.0", "scenario": "put-1", "spec": {"name": "depot", "hash": depot().spec.hash},
        "status": "finished", "reward": 1.0, "mode": "guarded", "submitted": {"answer": {"count": 7}},
        "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": asked}],
        "steps": [{"number": 1, "message": 1, "calls": calls}],
    }  # fmt: skip


@pytest.mark.parametrize(
    "record",
    [
        {"scenario": "put-1", "calls": [*CALLS, SUBMIT]},
        {"scenario": "put-1", "calls": CALLS, "submitted": {"answer": {"count": 7}}},
        {"scenario": "put-1", "calls": [*CALLS[:1], {"tool": "put", "arguments": json.dumps(PUT)}, SUBMIT]},
        {"scenario": "put-1", "calls": [{**CALLS[1], "ok": False}, *CALLS, SUBMIT]},
        transcript(),
        trajectory(),
    ],
)
def test_recorded_calls_are_made_once_more(folder: Path, record: dict[str, Any]) -> None:
    code, lines = score("all.jsonl", written(record))
    assert (code, lines[-1]) == (exits.OK, "1 scored, mean 1.0000")


def test_a_run_of_several(folder: Path) -> None:
    run = written(
        trajectory(),
        {"id": "b", "scenario": "refuse-1", "calls": [], "submitted": {"refusal": "not_possible"}},
        {"id": "c", "scenario": "put-1", "calls": [*CALLS, *CALLS]},
        {**trajectory(), "id": "d", "reward": None, "status": "infra_error"},
        name="run/trajectories.jsonl",
    )
    code, lines = score("all.jsonl", str(Path(run).parent))
    assert code == exits.OK
    assert [line.split(" (")[0] for line in lines if not line.startswith(" ")] == [
        "put-1.0: 1.0", "b: 1.0", "c: 0.0", "d: no score, the episode ended as infra_error", "3 scored, mean 0.6667",
    ]  # fmt: skip
    assert [one["id"] for one in as_json("all.jsonl", run, "--id", "put-1")] == ["put-1.0", "c", "d"]


def test_another_reward_than_recorded_is_a_finding(folder: Path) -> None:  # F9, the check edited
    """The verdict is a function of what is stored: the same for the same goals, another and said so for edited ones."""
    run = written(trajectory())
    assert score("all.jsonl", run)[0] == exits.OK
    edited = replace(ORDER, goals=(Goal("final.bins[1].count == 8"), ORDER.goals[1]))
    Path("all.jsonl").write_text(json.dumps(edited.to_json()), encoding="utf-8")
    code, lines = score("all.jsonl", run)
    assert code == exits.FINDINGS
    assert lines[0] == "put-1.0: 0.5, was 1.0 (guarded; 1 of 2 goals, no guard broken)"
    assert lines[-1] == "1 scored, mean 0.5000, 1 other than recorded"
    assert score("all.jsonl", run, "--mode", "strict")[0] == exits.OK, "there is nothing to compare with"


def test_a_changed_spec_is_refused_or_flagged_with_both_hashes(folder: Path) -> None:  # F9, the spec changed
    run = written(trajectory())
    Path("specs/depot.yaml").write_text(TEXT.replace("bin.count += n", "bin.count += n * 2"), encoding="utf-8")
    code, lines = score("all.jsonl", run)
    assert code == exits.USAGE
    assert depot().spec.hash[:19] in lines[0]
    assert "--any-hash" in lines[0]
    code, lines = score("all.jsonl", run, "--any-hash")
    assert code == exits.FINDINGS
    assert lines[0].startswith("put-1.0: 0.5, was 1.0")
    (found,) = as_json("all.jsonl", run, "--any-hash")
    assert found["spec"] != depot().spec.hash
    assert found["spec"] in found["changed"]
    assert depot().spec.hash in found["changed"]
    assert any(found["changed"] in line for line in lines)


def test_calls_that_fail_now_are_said(folder: Path) -> None:
    more = TEXT.replace("n: {type: int, ge: 0}, by", "n: {type: int, ge: 5}, by")
    Path("specs/depot.yaml").write_text(more, encoding="utf-8")
    code, lines = score("all.jsonl", written(trajectory()), "--any-hash")
    assert code == exits.FINDINGS
    assert any(line.startswith("  call 3, put: n") for line in lines)


def test_a_scenario_of_no_hash_is_of_the_spec_that_is_there(folder: Path) -> None:
    Path("one.yaml").write_text(to_yaml([replace(ORDER, spec=SpecRef("depot", ""))]), encoding="utf-8")
    assert score("one.yaml", "--state", "end.json", *SEVEN)[0] == exits.OK


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"scenario": "put-1"}, "run.jsonl:1: neither 'calls' nor 'steps' say what was done"),
        ({"scenario": "put-1", "calls": 3}, "run.jsonl:1: no record of an episode"),
        ({"scenario": "put-1", "calls": [{}]}, "run.jsonl:1: no record of an episode"),
        ({"scenario": "put-1", "calls": [], "submitted": 3}, "run.jsonl:1: 'submitted' is no object"),
        ({"scenario": "put-3", "calls": []}, "run.jsonl:1: all.jsonl holds no scenario put-3"),
        ({"calls": []}, "run.jsonl:1: the trajectory does not say of which 'scenario' it is"),
        ([], "run.jsonl:1: a trajectory is an object"),
    ],
)
def test_records_of_no_form(folder: Path, record: Any, said: str) -> None:
    code, lines = score("all.jsonl", written(record))
    assert code == exits.USAGE
    assert said in lines[0]


def test_calls_of_the_user_are_among_the_calls() -> None:
    record = {
        "opening": [{"tool": "a", "arguments": "{}", "ok": True}],
        "messages": [],
        "steps": [{"number": 1, "user": [{"tool": "b", "arguments": "{}", "ok": False}]}],
    }
    assert [(c.tool, c.actor, c.ok) for c in recorded_calls(record)] == [("a", "user", True), ("b", "user", False)]
    with pytest.raises(UsageError):
        list(recorded_calls({"steps": [{"message": 4}], "messages": []}))
