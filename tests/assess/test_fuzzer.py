"""The fuzzer as a whole: sound environments have no finding, a seed decides everything, what is reached is told."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import envscaler
from envscaler.assess import FuzzReport, FuzzSettings, Progress, fuzz
from envscaler.errors import UsageError
from envscaler.session.specs import sound
from tests.assess.shelf import SPEC, attacked, checked, compiled, line_of

ROOT = Path(__file__).resolve().parents[2]
_REPORT = """
import json, sys
from tests.assess.shelf import attacked, checked, compiled, spoilt
spoil = spoilt('return {"box_id": made["box_id"]}', 'return {"box": made["box_id"]}')
print(json.dumps([[f.to_json() for f in r.findings] + [r.coverage.to_json(), r.episodes]
                  for r in (attacked(spoil, checked(), calls=500, seed=5), attacked(compiled(checked()), checked(), calls=500))]))
"""


def as_text(report: FuzzReport) -> str:
    return json.dumps(
        [*(f.to_json() for f in report.findings), report.coverage.to_json(), report.calls, report.episodes]
    )


@pytest.mark.parametrize("calls", [300, pytest.param(600, marks=pytest.mark.slow)])
def test_a_sound_environment_has_no_finding_over_seeds(calls: int) -> None:
    for seed in range(4):
        report = attacked(compiled(checked()), checked(), calls=calls, seed=seed)
        assert [f.title for f in report.findings] == []
        assert report.sound
        assert report.calls == calls


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    made = [as_text(attacked(compiled(checked()), checked(), calls=200, seed=seed)) for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_in_other_processes() -> None:
    """Whatever the hash seed is, and whatever else was imported before."""
    texts = []
    for number, more in (("0", ""), ("1", "import decimal, tests.semantics.naive, xml.dom.minidom\n"), ("77", "")):
        done = subprocess.run(
            [sys.executable, "-c", more + _REPORT], capture_output=True, check=True, cwd=ROOT, encoding="utf-8",
            env={"PYTHONHASHSEED": number, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": ""},
        )  # fmt: skip
        texts.append(done.stdout)
    assert texts[0] == texts[1] == texts[2]
    assert "results-as-declared" in texts[0]


def test_coverage_says_what_was_reached_and_where_it_stands() -> None:
    coverage = attacked(compiled(checked()), checked(), calls=800).coverage
    assert {t.name: t.kind for t in coverage.tools}["look"] == "read"
    assert all(t.ok for t in coverage.tools)
    put = next(r for r in coverage.requirements if r.owner == "tool put" and "would hold" in r.message)
    assert put.refused > 0
    assert put.line == line_of("would hold")
    assert {r.name: (r.kind, r.checked) for r in coverage.rules} == {"few": ("holds", True), "life": ("moves", True)}
    assert {(m.source, m.target): m.made > 0 for m in coverage.moves} == {
        ("open", "sealed"): True, ("sealed", "open"): True, ("sealed", "gone"): False,
    }  # fmt: skip
    assert coverage.messages[put.message] == put.refused


BRANCHES = SPEC.replace(
    """      box.marks = marks
""",
    """      for m in marks:
          if m == "never":
              fail("Never.")
          elif m == "":
              break
      box.marks = marks
""",
)


def test_branches_are_told_by_side_and_line() -> None:
    from envscaler.spec.check import check_text

    spec = check_text("shelf.yaml", BRANCHES)
    reached = {
        (b.line, b.side): b.reached for b in fuzz(compiled(spec), spec, FuzzSettings(calls=900)).coverage.branches
    }
    loop, rare, common = (line_of(text, BRANCHES) for text in ("for m in marks", 'if m == "never"', 'elif m == ""'))
    assert reached[loop, "taken"]
    assert reached[loop, "skipped"]
    assert reached[common, "taken"]
    assert reached[common, "skipped"]
    assert reached[rare, "skipped"]
    assert fuzz(compiled(spec), spec, FuzzSettings(calls=50, coverage=False)).coverage.branches == []


def test_generated_states_are_allowed_and_used() -> None:
    report = attacked(compiled(checked()), checked(), calls=100)
    offered, accepted = report.states
    assert offered >= accepted > 0
    assert attacked(compiled(checked()), checked(), calls=100, states=False).states == (0, 0)


def test_only_chosen_properties_are_looked_at() -> None:
    spec = checked("{call: {box_id: B-1, count: 2}, returns: 2}", "{call: {box_id: B-1, count: 2}, returns: 3}")
    assert attacked(compiled(spec), spec, calls=50, properties=("reads-write-nothing",)).findings == ()
    with pytest.raises(UsageError, match="did you mean reads-write-nothing"):
        attacked(compiled(spec), spec, properties=("reads-write-nothin",))


@pytest.mark.parametrize("wrong", [{"calls": 0}, {"episode": 0}, {"findings": 0}])
def test_settings_without_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        attacked(compiled(checked()), checked(), **wrong)


def test_progress_is_told_and_time_ends_it() -> None:
    heard: list[Progress] = []
    report = attacked(compiled(checked()), checked(), calls=10**6, seconds=0.5, progress=heard.append)
    assert not report.complete
    assert 0 < report.calls < 10**6
    assert [p.calls for p in heard] == sorted(p.calls for p in heard)
    assert heard[-1].tools == 7


def test_it_works_in_a_thread_too() -> None:
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(attacked(compiled(checked()), checked(), calls=100)))
    thread.start()
    thread.join()
    assert made[0].sound


@pytest.mark.slow
def test_the_bank_is_reached_nearly_whole() -> None:
    path = ROOT / "specs" / "bank.yaml"
    report = fuzz(envscaler.load(path), sound(path), FuzzSettings(calls=2500))
    assert report.sound
    shares = {name: reached / of for name, reached, of in report.coverage.shares()}
    assert shares["tools"] == 1
    assert shares["requirements"] > 0.85
    assert shares["rules"] > 0.85
    assert shares["branches"] > 0.85
