"""`envscaler scenarios` from end to end: a batch is made, checked, edited by hand, reported; and it is the same every time."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from envscaler.cli.app import app
from envscaler.resources import folder
from envscaler.scenario import Scenario, World
from envscaler.scenario.reading import from_json
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.states import StateStore
from envscaler.session.specs import sound

BANK = folder("specs") / "bank.yaml"
SMALL = ("--seed", "3", "--kinds", "complete,missing_parameter", "-n", "4")


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["scenarios", *map(str, words)], catch_exceptions=False)
    return done.exit_code, done.output


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def contents(place: Path) -> dict[str, bytes]:
    """Everything that a batch wrote, by name."""
    return {str(p.relative_to(place)): p.read_bytes() for p in sorted(place.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    code, output = run(BANK, *SMALL, "-o", place / "few.jsonl")
    assert code == 0, output
    assert "4 scenarios" in output
    return place / "few.jsonl"


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made.parent, tmp_path / "copy")
    return tmp_path / "copy" / made.name


def test_a_batch_with_its_states_and_manifest(made: Path) -> None:
    scenarios = rows(made)
    manifest = json.loads(made.with_suffix(".manifest.json").read_text(encoding="utf-8"))
    assert [len(scenarios), manifest["summary"]["scenarios"], manifest["wanted"]] == [4, 4, 4]
    assert {s["kind"] for s in scenarios} == set(manifest["summary"]["kinds"]) == {"complete", "missing_parameter"}
    assert manifest["specs"]["bank"] == {"file": "bank.yaml", "hash": scenarios[0]["spec"]["hash"]}
    states = {f"sha256:{p.stem.removeprefix('sha256-')}"[:20] for p in made.with_suffix(".states").rglob("*.json")}
    assert {s["state"][:20] for s in scenarios} == states
    assert all(s["proof"]["ok"] and s["proof"]["gates"]["elsewhere"]["ok"] for s in scenarios)
    assert not made.with_suffix(".run").exists()
    tried = sum(n for kinds in manifest["tried"].values() for n in kinds.values())
    dropped = sum(n for kinds in manifest["dropped"].values() for whys in kinds.values() for n in whys.values())
    assert tried - dropped == 4


def test_doing_nothing_scores_0_and_the_solution_1(made: Path) -> None:
    world, states = World.of(sound(BANK)), StateStore.beside(made)
    for plain in rows(made):
        scenario: Scenario = from_json(plain)
        scorer, env = Scorer.of(world, scenario), world.start(scenario, states)
        assert scorer.score(env).reward == 0
        for step in scenario.solution:
            env.call(step.tool, dict(step.arguments), actor=step.actor)
        assert scorer.score(env, scenario.submitted).reward == 1


@pytest.mark.slow
def test_check_passes_what_was_made(made: Path) -> None:
    code, output = run("check", made, "--specs", BANK.parent)
    assert (code, output.splitlines()[-1]) == (0, "4 scenarios: 4 proved, no errors")


def edited(copy: Path, row: dict[str, Any]) -> tuple[int, str]:
    """What `check` says of a file that holds a bad line and then ``row``."""
    copy.write_text(f"{{not json\n{json.dumps(row)}\n", encoding="utf-8")
    code, output = run("check", copy, "--specs", BANK.parent)
    assert f"{copy}:1:1: error[scenario-not-json]" in output
    return code, output


def test_a_step_taken_out(copy: Path) -> None:
    row = next(row for row in rows(copy) if row["goals"][-1].get("steps"))
    row["solution"] = row["solution"][: row["goals"][-1]["steps"][0]]
    code, output = edited(copy, row)
    assert code == 1
    assert f"{copy}:2:1: error[goal-false-after-solution]" in output
    assert output.splitlines()[-1].startswith("2 scenarios: 0 proved, ")


@pytest.mark.slow
def test_a_value_taken_out_of_the_text(copy: Path) -> None:
    row, value = next(
        (row, str(step["arguments"][name]))
        for row in rows(copy)
        for step in row["solution"]
        for name, source in step["sources"].items()
        if source["from"] == "task" and str(step["arguments"][name]) in row["task"]
    )
    row["task"] = row["task"].replace(value, "something")
    code, output = edited(copy, row)
    assert code == 1
    assert f"{copy}:2:1: error[argument-untold]" in output, output


@pytest.mark.slow
def test_a_changed_spec_is_refused_unless_asked_for(copy: Path, tmp_path: Path) -> None:
    specs = tmp_path / "specs"
    specs.mkdir()
    text = BANK.read_text(encoding="utf-8")
    (specs / "bank.yaml").write_text(text.replace("version: 1.0.0", "version: 1.0.1"), encoding="utf-8")
    copy.write_text("".join(copy.read_text(encoding="utf-8").splitlines(keepends=True)[:2]), encoding="utf-8")
    code, output = run("check", copy, "--specs", specs / "bank.yaml")
    if "2 proved" in output:  # the one that is installed was found in its place
        assert code == 0
    else:
        assert (code, "scenario-spec" in output, "--any-hash" in output) == (1, True, True)
    code, output = run("check", copy, "--specs", specs, "--any-hash")
    assert (code, "2 proved" in output) == (0, True), output


@pytest.mark.slow
def test_yaml_to_be_edited_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    code, output = run(BANK, "--seed", 5, "--kinds", "complete", "-n", 1, "-o", file, "--yaml")
    assert code == 0, output
    assert run("check", file, "--specs", BANK.parent)[0] == 0
    text = file.read_text(encoding="utf-8")
    goal = next(n for n, line in enumerate(text.splitlines(), 1) if "final." in line)
    file.write_text(text.replace("final.", "finally.", 1), encoding="utf-8")
    code, output = run("check", file, "--specs", BANK.parent)
    assert code == 1
    assert re.search(rf"one\.yaml:{goal}:\d+: error\[", output), output


@pytest.mark.slow
def test_report(made: Path, tmp_path: Path) -> None:
    code, output = run("report", made, "--html", tmp_path / "pages", "--specs", BANK.parent)
    assert code == 0
    assert re.search(r"^ all +4 ", output, re.M)
    assert "4 scenarios: 4 proved" in output
    assert len(list((tmp_path / "pages").glob("*.html"))) == 5
    code, output = run("report", made, "--json")
    assert json.loads(output)["proofs"]["proved"] == 4


@pytest.mark.slow
def test_what_cannot_be_reached_is_said(tmp_path: Path) -> None:
    spec = tmp_path / "lamp.yaml"
    spec.write_text(LAMP, encoding="utf-8")
    code, output = run(spec, "-n", 40, "-o", tmp_path / "lamp.jsonl", "--kinds", "complete")
    assert code == 1
    assert re.search(r"^\d scenarios? of the 40 wanted", output, re.M), output
    assert "lamp: no more complete" in output


LAMP = """\
envscaler: 1
name: lamp
title: A lamp
description: A lamp to be lit.
states:
  lamp: {record: Lamp, single: true, fields: {lit: {type: bool, default: false}}}
tools:
  light:
    kind: write
    description: Light the lamp.
    do: |
      lamp.lit = True
      return "It is light."
    examples: [{call: {}, returns: It is light.}]
initial_state: {}
"""


def test_what_is_asked_for_wrongly(tmp_path: Path) -> None:
    for words, said in (
        (("nothing.yaml",), "nothing.yaml"),
        ((BANK, "-n", 0), "at least one"),
        ((BANK, "--kinds", "complet"), "did you mean complete?"),
        ((BANK, "--jobs", -1), "--jobs"),
        (("check", tmp_path / "none.jsonl"), "none.jsonl"),
    ):
        where = () if words[0] == "check" else ("-o", tmp_path / "x.jsonl")
        code, output = run(*words, *where)
        assert (code, said in output) == (2, True), output


# -- the same bytes


def command(place: Path, *more: object) -> list[str]:
    words = [BANK, "--seed", 3, "--kinds", "complete,missing_parameter", "-n", 20, "-o", place / "some.jsonl", *more]
    return [sys.executable, "-m", "envscaler", "scenarios", *map(str, words)]


@pytest.mark.slow
def test_the_same_bytes_with_any_number_of_jobs_and_after_a_kill(tmp_path: Path) -> None:
    one, two, killed = (tmp_path / name for name in ("one", "two", "killed"))
    subprocess.run(command(one), check=True, capture_output=True)
    subprocess.run(command(two, "--jobs", 2), check=True, capture_output=True)
    assert contents(two) == contents(one)

    process = subprocess.Popen(command(killed), stdout=subprocess.DEVNULL, start_new_session=True)
    journal = killed / "some.run" / "work.sqlite"
    while not _outcomes(journal):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (killed / "some.jsonl").exists()
    before = _outcomes(journal)
    subprocess.run(command(killed, "--run", killed / "some.run"), check=True, capture_output=True)
    assert _outcomes(journal) > before
    shutil.rmtree(killed / "some.run")
    assert contents(killed) == contents(one)


def _outcomes(journal: Path) -> int:
    try:
        with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM outcomes").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
