"""Commands over folders: a bad file does not stop the others, and more processes change nothing but the time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.app import app
from envscaler.errors import UsageError

SPEC = """\
envscaler: 1
name: {name}
title: A lamp
description: A lamp.
states:
  lamp:
    record: Lamp
    single: true
    fields: {{lit: {{type: bool, default: false}}}}
tools:
  switch:
    kind: write
    description: Switch the lamp.
    do: |
      lamp.lit = {lit}
      return "done"
initial_state:
  lamp: {{}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good specs, one with an error, one that leads nowhere."""
    for name, lit in (("first", "not lamp.lit"), ("second", "true"), ("third", "not lamp.lit")):
        (tmp_path / f"{name}.yaml").write_text(SPEC.format(name=name, lit=lit), encoding="utf-8")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere.yaml")
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


@pytest.mark.parametrize("jobs", ["1", "2", pytest.param("0", marks=pytest.mark.slow)])
def test_check_goes_on(folder: Path, jobs: str) -> None:
    result = run("check", str(folder), "--jobs", jobs)
    assert result.exit_code == exits.SPEC
    assert f"envscaler: {folder / 'gone.yaml'}: no such file or directory" in result.stderr
    assert "error[unknown-name]" in result.stdout
    assert result.stdout.endswith("3 specs checked: 1 error, 0 warnings\n")


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_compile_goes_on(folder: Path, jobs: str) -> None:
    out = folder / "build"
    result = run("compile", str(folder), "-o", str(out), "--jobs", jobs)
    assert result.exit_code == exits.SPEC
    assert sorted(p.name for p in out.iterdir()) == ["first.py", "third.py"]
    assert result.stdout.splitlines() == [str(out / "first.py"), str(out / "third.py")]
    assert "gone.yaml: no such file" in result.stderr


def test_fmt_goes_on(folder: Path) -> None:
    (folder / "second.yaml").unlink()
    third = folder / "third.yaml"
    third.write_text(third.read_text(encoding="utf-8").replace("title: A lamp", "title:   A lamp"), encoding="utf-8")
    result = run("fmt", str(folder), "--jobs", "2")
    assert result.exit_code == exits.USAGE
    assert result.stdout == f"{third}: formatted\n"
    assert "title: A lamp" in third.read_text(encoding="utf-8")


def test_an_unreadable_file_alone_is_a_wrong_command_line(folder: Path) -> None:
    (folder / "second.yaml").unlink()
    assert run("check", str(folder)).exit_code == exits.USAGE
    assert run("compile", str(folder), "-o", str(folder / "build")).exit_code == exits.USAGE


def test_two_specs_of_one_name_are_told_after_the_others_are_written(folder: Path) -> None:
    deep = folder / "deep"
    deep.mkdir()
    (deep / "first.yaml").write_text(SPEC.format(name="third", lit="not lamp.lit"), encoding="utf-8")
    made = []
    with pytest.raises(UsageError, match="would both be compiled to"):
        made += [unit.output for unit in session.compile(folder, folder / "build") if unit.output is not None]
    assert sorted(p.name for p in (folder / "build").iterdir()) == ["first.py", "third.py"]


def test_jobs_are_a_number_that_makes_sense(folder: Path) -> None:
    result = run("check", str(folder), "--jobs", "-1")
    assert result.exit_code == exits.USAGE
    assert "--jobs is 0 (all cores) or more, not -1" in result.stderr


def recorded(folder: Path) -> Path:
    """Recordings of the first lamp, one right and one not, listed; and of the third, right."""
    (folder / "recordings.yaml").write_text(
        "first: {folder: lamps, known: known.yaml}\nthird: {folder: others, api: Lamp}\n", encoding="utf-8"
    )
    (folder / "known.yaml").write_text("- {case: b, call: 1, reason: It was broken.}\n", encoding="utf-8")
    call = {"tool": "switch", "arguments": {}, "error": None, "error_kind": None}
    start = {"lamp": {"lit": False}}
    after = [{"op": "replace", "path": "/lamp/lit", "value": True}]
    rows = {
        "lamps/a.jsonl": {
            "case_id": "a",
            "initial_state": start,
            "calls": [{**call, "result": "done"}],
            "final_state_diff": after,
        },
        "lamps/b.jsonl": {
            "case_id": "b",
            "initial_state": start,
            "calls": [{**call, "result": "dark"}],
            "final_state_diff": after,
        },
        "others/c.jsonl": {
            "case_id": "c",
            "initial_state": {"Lamp": start},
            "calls": [{**call, "class": "Lamp", "result": "done"}],
            "final_state_diff": [{**after[0], "path": "/Lamp/lamp/lit"}],
        },
    }
    for name, row in rows.items():
        (folder / "kept" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "kept" / name).write_text(json.dumps(row) + "\n", encoding="utf-8")
    return folder / "kept"


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_folder_of_ports_is_replayed_from_its_list(folder: Path, jobs: str) -> None:
    kept = recorded(folder)
    result = run("replay", str(folder), str(kept), "--markdown", "--jobs", jobs)
    assert result.exit_code == exits.OK, result.output
    assert result.stdout.splitlines()[2:] == [
        "| first | lamps | 1 | 1 of 2 | 2 of 2 | 1 call |",
        "| third | others, Lamp | 1 | 1 of 1 | 1 of 1 | nothing |",
    ]
    shown = run("replay", str(folder), str(kept))
    assert "1 of 2" in shown.stdout


def test_a_difference_that_is_not_listed_is_shown(folder: Path) -> None:
    kept = recorded(folder)
    (folder / "known.yaml").write_text("", encoding="utf-8")
    result = run("replay", str(folder), str(kept))
    assert result.exit_code == exits.FINDINGS
    assert "b, call 1 of 1: switch" in result.stdout
    rows = json.loads(run("replay", str(folder), str(kept), "--json").stdout)
    assert [row["ok"] for row in rows] == [False, True]


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_port_with_errors_is_told(folder: Path, jobs: str) -> None:
    kept = recorded(folder)
    third = folder / "third.yaml"
    third.write_text(third.read_text(encoding="utf-8").replace("not lamp.lit", "true"), encoding="utf-8")
    result = run("replay", str(folder), str(kept), "--jobs", jobs)
    assert result.exit_code == exits.SPEC
    assert "third.yaml" in result.output
    assert "error[unknown-name]" in result.output


@pytest.mark.parametrize(
    ("listing", "says"),
    [
        ("[]", "an entry is `SPEC: {folder: name}`"),
        ("first: lamps", "an entry is `SPEC: {folder: name}`"),
        ("first: {folder: lamps, apy: Lamp}", "no key 'apy'; did you mean api?"),
        ("first: {folder: 3}", "folder is a text"),
        ("frist: {folder: lamps}", "no frist.yaml in"),
        ("first: {folder: empty}", "no recording"),
        ("first: [", "recordings.yaml"),
    ],
)
def test_a_wrong_list_is_one_line(folder: Path, listing: str, says: str) -> None:
    kept = recorded(folder)
    (folder / "recordings.yaml").write_text(listing, encoding="utf-8")
    result = run("replay", str(folder), str(kept))
    assert result.exit_code == exits.USAGE
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_folder_of_specs_wants_a_folder_of_recordings(folder: Path) -> None:
    kept = recorded(folder)
    (folder / "recordings.yaml").unlink()
    assert "recordings.yaml: no such file" in run("replay", str(folder), str(kept)).stderr
    assert "--api and --known stand in its list" in run("replay", str(folder), str(kept), "--api", "Lamp").stderr
    assert "are kept in a folder" in run("replay", str(folder), str(kept / "lamps" / "a.jsonl")).stderr
