"""Counting: each figure as the how-to page defines it, summed up, printed, drawn."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.app import app
from envscaler.session.specs import sound
from envscaler.stats import ITEMS, count, plot, summarize

ROOT = Path(__file__).parents[2]
BANK = ROOT / "specs" / "bank.yaml"

SMALL = """\
envscaler: 1
name: small
constants: {MOST: 3}
states:
  desks:
    record: Desk
    key: {name: desk_id}
    fields: {size: int, legs: {list: str}, status: {enum: [free, taken], default: free}}
  hall:
    record: Hall
    single: true
    fields: {open: bool}
rules:
  known: {text: Known by a refusal.}
  manners: {text: Be polite., policy: true}
  life: {text: Taken once., field: desks.status, moves: {free: [taken], taken: []}}
helpers:
  check_open:
    do: |
      require(hall.open, "Closed.", rule="known")
tools:
  look:
    kind: read
    description: Look.
    do: |
      check_open()
      return len(desks)
    examples: [{call: {}, returns: 2}]
  take:
    kind: write
    description: Take.
    params: {desk_id: {ref: desks, as: desk}, size: {type: int, default: 1}}
    do: |
      check_open()
      check_open()
      require(desk.size >= size and size <= MOST, "Too small.")
      desk.status = "taken"
      return desk.size
  own:
    kind: read
    actor: user
    description: Look too.
    do: |
      return hall.open
initial_state:
  desks: {A: {size: 1, legs: []}, B: {size: 2, legs: [x, y]}}
  hall: {open: true}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_each_figure(small: Path) -> None:
    found = count(sound(small))
    assert (found.rules, found.enforced) == (3, 2)
    assert (found.states, dict(found.fields), found.all_fields) == (2, {"desks": 4, "hall": 1}, 5)
    assert (found.queries, found.changes, found.tools, found.user_tools) == (2, 1, 3, 1)
    assert (found.params, found.examples, found.records) == (2, 1, 2)
    assert found.refusals == 1 + 3  # the helper once for each tool that calls it, a reference, a require
    assert found.lines == len(SMALL.splitlines())


def test_summing_up(small: Path) -> None:
    by_name = {s.item.name: s for s in summarize([count(sound(small)), count(sound(BANK))])}
    assert (by_name["rules"].mean, by_name["rules"].median, by_name["rules"].least, by_name["rules"].most) == (
        9,
        9,
        3,
        15,
    )
    level_2, total, level_1 = by_name["fields_per_state"], by_name["fields"], by_name["states"]
    assert len(level_2.values) == 9
    assert level_2.mean == pytest.approx(total.mean / level_1.mean)
    assert summarize([]) == []


def test_the_papers_table_is_the_papers() -> None:
    paper = {i.name: i.paper for i in ITEMS if i.paper is not None}
    assert paper == {
        "rules": (4.58, 5), "states": (3.74, 4), "fields_per_state": (5.72, 5), "fields": (21.38, 21),
        "queries": (10.44, 10), "changes": (8.14, 8), "tools": (18.58, 18),
    }  # fmt: skip


# -- pictures


@pytest.mark.slow
@pytest.mark.parametrize(("form", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_pictures_are_the_same_each_time(tmp_path: Path, small: Path, form: str, begins: bytes) -> None:
    pytest.importorskip("matplotlib")
    counts = [count(sound(small)), count(sound(BANK))]
    first, second = (plot(counts, tmp_path / name, form) for name in ("a", "b"))
    assert [p.name for p in first] == [f"{name}.{form}" for name in ("tools", "kinds", "states", "rules")]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert one.read_bytes().startswith(begins)


@pytest.mark.slow
def test_without_matplotlib_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def none(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", none)
    done = run("stats", BANK, "--plots", tmp_path)
    assert done.exit_code == exits.USAGE
    assert done.stderr == (
        "envscaler: pictures need matplotlib, which is not installed: pip install 'envscaler[plots]'\n"
    )


# -- the command


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(w) for w in words])


def test_the_table(small: Path) -> None:
    done = run("stats", small)
    assert done.exit_code == exits.OK
    lines = {" ".join(line.split()) for line in done.stdout.splitlines()}
    assert "Constraint rules 3.00 3 3 3 4.58 5" in lines
    assert "Level 2 per level 1 (fields) 2.50 2.5 1 4 5.72 5" in lines
    assert "Ways to be refused 4.00 4 4 4" in lines
    assert done.stdout.splitlines()[-1] == "1 spec counted"


def test_json(small: Path) -> None:
    found = json.loads(run("stats", small, BANK, "--json").stdout)
    assert [s["name"] for s in found["specs"]] == ["small", "bank"]
    assert found["specs"][0]["states"] == {"desks": 4, "hall": 1}
    assert {
        "item": "tools",
        "mean": 15.5,
        "median": 15.5,
        "least": 3,
        "most": 28,
        "paper": {"mean": 18.58, "median": 18},
    } in found["items"]


def test_a_bad_spec_is_named_and_left_out(small: Path) -> None:
    (small.parent / "bad.yaml").write_text("envscaler: 1\nname: bad\n", encoding="utf-8")
    (small.parent / "worse.yaml").write_bytes(b"envscaler: 1\n\xff")
    done = run("stats", small.parent, "--json")
    assert done.exit_code == exits.SPEC
    found = json.loads(done.stdout)
    assert [s["name"] for s in found["specs"]] == ["small"]
    assert [Path(b["path"]).name for b in found["left_out"]] == ["bad.yaml", "worse.yaml"]
    assert done.stderr.count("not counted") == 2


def test_an_unreadable_file_is_named_and_left_out(small: Path) -> None:
    (small.parent / "lost.yaml").symlink_to("nowhere")
    done = run("stats", small.parent, "--jobs", "2")
    assert done.exit_code == exits.USAGE
    assert "lost.yaml" in done.stderr
    assert done.stdout.splitlines()[-1] == "1 spec counted, 1 left out"


def test_nothing_but_bad_specs(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("envscaler: 1\n", encoding="utf-8")
    done = run("stats", bad, "--plots", tmp_path / "plots")
    assert done.exit_code == exits.SPEC
    assert done.stdout == "0 specs counted, 1 left out\n"
    assert not (tmp_path / "plots").exists()


@pytest.mark.slow
def test_the_shipped_specs_are_of_the_papers_size() -> None:
    own = [count(sound(p)) for p in session.spec_files([ROOT / "specs"])[0] if p.parent.name == "specs"]
    assert own
    for spec in own:
        assert spec.tools >= 18, spec.name
        assert spec.states >= 4, spec.name
        assert spec.all_fields >= 21, spec.name
        assert spec.enforced >= 5, spec.name
