"""`envscaler rollout` and `envscaler runs`, end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from envscaler.rollout import Select, Trajectories
from envscaler.scenario.model import Goal, Scenario, SpecRef
from envscaler.session.rollouts import RolloutOptions, rollout
from tests.plugin.fake import install, on_path
from tests.rollout import lives
from tests.rollout.line import run

ROOT = Path(__file__).parents[2]
KILLS = 50


def hashes(folder: Path | str) -> dict[str, str]:
    """By id; as the lines say."""
    lines = [
        json.loads(line) for line in (Path(folder) / "trajectories.jsonl").read_text(encoding="ascii").splitlines()
    ]
    assert len({line["id"] for line in lines}) == len(lines), "an id stands there twice"
    return {line["id"]: line["hash"] for line in lines}


def test_a_run(till: Path) -> None:
    said = run("rollout", till, "-n", 2, "-o", "out")
    assert said.exit_code == 0, said.output
    assert "10 of 10 episodes played; out" in said.output
    assert "mean reward 1.0000 over 10 scored" in said.output
    manifest = json.loads(Path("out/run.json").read_text())
    assert (manifest["scenarios"], manifest["count"], manifest["options"]["samples"]) == (str(till), 5, 2)
    again = run("rollout", till, "-n", 3, "-o", "out")
    assert "5 of 15 episodes played, 10 were there; out" in again.output
    other = run("rollout", till, "--agent", "noop", "--user", "facts", "-o", "out")
    assert "20 in the run: mean reward 0.7500 over 20 scored" in other.output


def test_the_same_one_by_one_and_many_at_once(till: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envscaler.session.rollouts._BATCH", 2)
    for setting in ("non-conversation", "conversation"):
        options = RolloutOptions("random", "facts" if setting == "conversation" else None, setting, samples=2)
        found = []
        for concurrency in (1, 64):
            rolled = rollout(till, f"{setting}-{concurrency}", options, concurrency=concurrency)
            assert rolled.complete
            found.append(hashes(rolled.folder))
        assert found[0] == found[1]
        assert len(found[0]) == 10


THREADS = """
from envscaler.plugin import ExecutorEntry, hookimpl
from envscaler.work import Threads

def make(settings):
    assert settings == {"width": 3, "pool": "small"}
    return Threads(3)

@hookimpl
def envscaler_executors():
    return [ExecutorEntry("threads", "Calls in threads", make)]
"""


def test_by_an_executor_of_a_plugin(till: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envscaler.session.rollouts._BATCH", 4)
    site = tmp_path / "site"
    site.mkdir()
    install(site, "envscaler-threads", THREADS)
    words = ("rollout", till, "--agent", "random", "-n", 3)
    with on_path(site):
        said = run(*words, "--executor", "threads,pool=small", "--jobs", 3, "--concurrency", 2, "-o", "threads")
    assert said.exit_code == 0, said.output
    assert run(*words, "--concurrency", 1, "-o", "alone").exit_code == 0
    assert len(hashes("threads")) == 15
    assert hashes("threads") == hashes("alone")


@pytest.mark.slow
def test_several_processes_on_one_folder(till: Path) -> None:
    words = [sys.executable, "-m", "envscaler", "rollout", str(till), "-n", "30", "-o", "out"]
    both = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [one.wait(120) for one in both] == [0, 0]
    rollout(till, "alone", RolloutOptions(samples=30))
    assert hashes("out") == hashes("alone")


def killed(till: Path, kills: int, seed: int) -> dict[str, Any]:
    words = [sys.executable, "-m", "tests.rollout.lives", str(till), str(till.parent / "out"), str(kills), str(seed)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_killed_at_fifty_moments(till: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
    came = killed(till, KILLS, seed=50)
    rollout(till, till.parent / "unbroken", RolloutOptions(samples=lives.samples(KILLS)))
    assert came["killed"] == KILLS
    assert 0 < came["kept"] < came["wanted"]
    assert came["failed"] == {}
    assert len(came["found"]) == came["wanted"]
    assert dict(came["found"]) == hashes(till.parent / "unbroken")


# -- failures


DEAD = """
import os
from envscaler.plugin import Said, UserEntry, hookimpl

class Dead:
    def __init__(self, part):
        self.turn = 0

    async def open(self):
        return Said("Hello.")

    async def answer(self, text):
        self.turn += 1
        if self.turn == 3 and not os.environ.get("ALIVE"):
            raise OSError("the line is dead")
        return Said("Yes?", ends=self.turn > 4)

@hookimpl
def envscaler_users():
    return [UserEntry("dead", "Dies in its third turn", Dead)]
"""


def test_a_user_that_dies(till: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    site.mkdir()
    install(site, "envscaler-dead", DEAD)
    with on_path(site):
        first = run("rollout", till, "--agent", "noop", "--user", "dead", "--retries", 1, "-o", "out")
        assert first.exit_code == 1
        assert "0 of 5 episodes played" in first.output
        assert "none is scored" in first.output
        assert "5 failed and have no reward" in first.output
        assert "infra_error: the user:" in first.output
        assert "the line is dead" in first.output
        with Trajectories.open("out") as kept:
            aside = list(kept.each(Select(aside=True)))
            assert [one.attempt for one in aside[:2]] == [1, 2]
            assert all(one.status == "infra_error" and one.reward is None for one in aside)
            assert kept.totals()[:4] == (0, 0, None, 5)
        monkeypatch.setenv("ALIVE", "1")
        second = run("rollout", till, "--agent", "noop", "--user", "dead", "--retries", 1, "-o", "out")
        assert second.exit_code == 0, second.output
        with Trajectories.open("out") as kept:
            assert {one.attempt for one in kept.each()} == {3}
            assert kept.totals()[:4] == (5, 5, 0.0, 0)


def test_a_scenario_that_cannot_be_played_costs_only_itself(till: Path) -> None:
    lines = till.read_text(encoding="utf-8").splitlines()
    wrong = json.loads(lines[2])
    wrong["id"], wrong["goals"] = "till-wrong", [{"expr": "coins == 1"}]
    till.write_text("\n".join([*lines, json.dumps(wrong)]) + "\n", encoding="utf-8")
    said = run("rollout", till, "-o", "out")
    assert said.exit_code == 1
    assert "5 of 6 episodes played" in said.output
    assert "till-wrong.0." in said.output
    assert "coins" in said.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--agent", "referense"), "did you mean reference?"),
        (("--user", "facs"), "did you mean facts?"),
        (("--agent", "random", "--set", "agent.cals=1"), "did you mean calls?"),
        (("--set", "patience=1"), "agent.NAME=VALUE or user.NAME=VALUE"),
        (("--agent", "llm"), "no model for the role agent"),
        (("--agent", "scripted"), "needs the file of its moves"),
        (("--user", "facts", "--setting", "non-conversation"), "a conversation has a user"),
        (("--steps", 0), "the limit steps is a number above 0"),
        (("-n", 0), "numbers above 0"),
        (("--executor", "procesess"), "did you mean processes?"),
        (("--executor", "processes,nodes=2"), "has no setting nodes"),
        (("--executor", "processes,nodes"), "NAME,KEY=VALUE"),
        (("--executor", "processes,width=2"), "by --jobs"),
        (("--executor", "async", "--jobs", 2), "has none but this one"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_played(till: Path, words: tuple[object, ...], message: str) -> None:
    said = run("rollout", till, *words, "-o", "out")
    assert said.exit_code == 2, said.output
    assert message in said.output
    assert not Path("out/trajectories.jsonl").exists()


def test_a_changed_spec_is_refused(till: Path) -> None:
    spec = Path("specs/till.yaml")
    spec.write_text(spec.read_text().replace("MOST: 10", "MOST: 11"), encoding="utf-8")
    assert "--any-hash" in run("rollout", till, "-o", "out").output
    assert run("rollout", till, "--any-hash", "-o", "out").exit_code == 0


# -- looking at runs


def test_listing(till: Path) -> None:
    run("rollout", till, "--agent", "noop", "-o", "out")
    run("rollout", till, "-o", "out")
    said = run("runs", "list", "out", "--agent", "reference")
    assert "5 shown of 10; mean reward 0.5000" in said.output
    rows = json.loads(run("runs", "list", "out", "--least", 1, "--json").output)
    assert [row["agent"] for row in rows] == ["reference"] * 5
    assert "no trajectories there" in run("runs", "list", "nowhere").output


def test_a_transcript_with_everything_escaped(till: Path) -> None:
    label = "\x1b[31m<script>alert(1)</script>\u202e"
    ref = json.loads(till.read_text(encoding="utf-8").splitlines()[0])["spec"]
    one = Scenario(
        kind="x\x1b[0m",
        spec=SpecRef(**ref),
        task=f"Add \x1b]0;owned\x07 {label}",
        goals=(Goal("final.drawer.count == 3", "one more coin"), Goal("final.drawer.open", "it is open")),
        guards=(),
        solution=(),
    ).named()
    till.write_text(json.dumps(one.to_json()) + "\n", encoding="utf-8")
    moves = [[["add_coin", {"value": 3, "label": label}], ["nothing\x1b[2J", {}]], f"Done {label}"]
    Path("moves.json").write_text(json.dumps(moves), encoding="utf-8")
    assert run("rollout", till, "--agent", "scripted", "--set", "agent.file=moves.json", "-o", "out").exit_code == 0
    for words in (("show", "out", one.id), ("show", "out", one.id, "--whole"), ("list", "out")):
        said = run("runs", *words)
        assert said.exit_code == 0, said.output
        assert "\x1b" not in said.output
        assert "\u202e" not in said.output
        assert "\x07" not in said.output
    shown = run("runs", "show", "out", one.id).output
    assert "<script>" in shown
    assert "+ /coins/C-3" in shown
    assert "~ /drawer/count 2 -> 3" in shown
    assert "[x] 1. one more coin" in shown
    assert "[ ] 2. it is open" in shown
    assert "reward     0.5 (guarded)" in shown


def test_scenarios_in_which_the_user_acts_are_for_those_with_a_user(bank: dict[str, Scenario], tmp_path: Path) -> None:
    file = tmp_path / "bank.jsonl"
    file.write_text("".join(json.dumps(one.to_json()) + "\n" for one in bank.values()), encoding="utf-8")
    specs = ("--specs", ROOT / "specs")
    alone = run("rollout", file, *specs, "-o", tmp_path / "alone")
    assert "1 scenario left out: the user acts there, and only --user plays one" in alone.output
    assert "4 of 4 episodes played" in alone.output
    both = run("rollout", file, *specs, "--user", "facts", "-o", tmp_path / "both")
    assert "5 of 5 episodes played" in both.output
    assert "mean reward 1.0000" in both.output
    file.write_text(json.dumps(bank["shared"].to_json()) + "\n", encoding="utf-8")
    none = run("rollout", file, *specs, "-o", tmp_path / "none")
    assert none.exit_code == 2
    assert "in every scenario the user acts; play them with a user (--user)" in none.output
