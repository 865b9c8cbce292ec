"""The conformance suite, and each rule on a spec that breaks it and one that does not."""

from collections.abc import Callable

import envscaler_naming
import pytest
from envscaler_naming import Naming
from envscaler_naming.rules import RULES

from envscaler import UsageError
from envscaler.plugin import Subject, Verdict
from envscaler.testing import AssessorConformance

pytest_plugins = ["envscaler.testing.fixtures"]

SPEC = """\
envscaler: 1
name: yard
title: A yard
description: Boats are kept here.
states:
  boats:
    record: Boat
    key: {name: boat_id, make: "B-{n:03d}"}
    fields:
      title: str
      length_m: {type: float, ge: 0}
tools:
  launch_boat:
    kind: write
    description: Put a boat into the water and give back its title.
    params: {boat_id: {ref: boats, as: boat}}
    do: |
      boat.title = boat.title + "!"
      return boat.title
  rename_boat:
    kind: write
    description: Paint another title on a hull.
    params: {boat_id: {ref: boats, as: boat}, title: str}
    do: |
      boat.title = title
  longest_boats:
    kind: read
    description: Titles of all boats that are at least as long as another one.
    params: {boat_id: {ref: boats, as: boat}}
    do: |
      return [b.title for b in boats.values() if b.length_m >= boat.length_m]
initial_state:
  boats: {B-001: {title: Nell, length_m: 7.5}}
"""

Judge = Callable[[str], Verdict]

# code: what to replace in SPEC, by what, and the line of the finding
BAD = {
    "vague-name": ("rename_boat:", "process_data:", 20),
    "numbered-name": ("length_m: {type: float, ge: 0}", "title2: {type: str, default: x}\n      length_m: float", 11),
    "abbreviation": ("longest_boats:", "longest_bts:", 26),
    "thin-description": ("Paint another title on a hull.", "Rename a boat.", 20),
    "like-descriptions": ("Paint another title on a hull.", "Put a boat into the water and give back its titles.", 20),
    "near-names": ("rename_boat:", "boats_launch:", 20),
    "noun-first": ("rename_boat:", "boat_rename:", 20),
    "mixed-terms": (
        "params: {boat_id: {ref: boats, as: boat}, title: str}",
        "params: {vessel: {ref: boats, as: boat}, title: str}",
        23,
    ),
    "no-unit": ("length_m", "length", 11),
}


class TestConformance(AssessorConformance):
    make = staticmethod(Naming)


@pytest.fixture
def judge(envscaler_subject: Callable[[str], Subject]) -> Judge:
    return lambda text: Naming().assess(envscaler_subject(text), {})


def test_a_good_spec_has_no_finding(judge: Judge) -> None:
    assert judge(SPEC) == Verdict(True, 1.0)


def test_every_rule_is_tested() -> None:
    assert set(BAD) == set(RULES)


@pytest.mark.parametrize("code", BAD)
def test_each_rule_at_its_line(judge: Judge, code: str) -> None:
    old, new, line = BAD[code]
    assert old in SPEC
    verdict = judge(SPEC.replace(old, new))
    assert (code, line) in [(f.code, f.span.line) for f in verdict.findings if f.span]
    assert verdict.score < 1


def test_settings(envscaler_subject: Callable[[str], Subject]) -> None:
    subject = envscaler_subject(SPEC.replace("longest_boats:", "longest_bts:"))
    found = Naming().assess(subject, {}).findings
    assert [f.code for f in found] == ["abbreviation"]
    assert Naming().assess(subject, {"words": ["BTS"]}).findings == ()
    assert Naming().assess(subject, {"ignore": ["abbreviation"]}).findings == ()
    assert not Naming().assess(subject, {"at_least": 0.99}).sound
    for wrong in ({"ignore": ["abreviation"]}, {"at_least": 2}, {"words": "bts"}, {"at_least": True}):
        with pytest.raises(UsageError):
            Naming().assess(subject, wrong)


def test_the_shipped_specs_are_named_well() -> None:
    from envscaler.testing import subject

    for name in ("bank", "retail"):
        verdict = Naming().assess(subject(name), {})
        assert verdict.sound, [f.title for f in verdict.findings]


def test_envscaler_finds_it(envscaler_plugins: Callable[..., object]) -> None:
    assert envscaler_plugins(envscaler_naming).assessor("naming")  # type: ignore[attr-defined]
