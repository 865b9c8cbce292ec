"""Faults put in on purpose: each is found, by the property that is about it, with the fewest calls and the line of the spec."""

from __future__ import annotations

from typing import Any

import pytest

from envscaler.assess import Call, FuzzFinding
from tests.assess.shelf import attacked, checked, compiled, line_of, only, spoilt

# name: (what is replaced in the generated module, by what, property, calls as `envscaler play` takes them, line of the spec)
FAULTS: dict[str, tuple[str, str, str, str, str]] = {
    "a read that writes": (
        '    return {"box_id": box_id, "items"',
        '    _state.boxes.edit(box_id)["items"] = 0\n    return {"box_id": box_id, "items"',
        "reads-write-nothing",
        "look box_id=B-2",
        "  look:",
    ),
    "something carried from episode to episode": (
        'made = _state.boxes.add({"box_id": None, "name": name,',
        'made = _state.boxes.add({"box_id": None, "name": name + str(globals().setdefault("SEEN", []).append(1) or len(SEEN)),',
        "replay-equals-live",
        "new_box name=a",
        "  new_box:",
    ),
    "the time of day": (
        "return _rt.rand_int(_state, 1, 1000000)",
        "import time\n    return int(time.time())",
        "no-wall-clock",
        "draw",
        "  draw:",
    ),
    "the date": (
        "return _rt.rand_int(_state, 1, 1000000)",
        "import datetime\n    return datetime.date.today().toordinal()",
        "no-wall-clock",
        "draw",
        "  draw:",
    ),
    "random numbers of the process": (
        "return _rt.rand_int(_state, 1, 1000000)",
        "import random\n    return random.randint(1, 1000000)",
        "no-unseeded-randomness",
        "draw",
        "  draw:",
    ),
    "random numbers of the system": (
        "return _rt.rand_int(_state, 1, 1000000)",
        "import uuid\n    return uuid.uuid4().int % 1000000",
        "no-unseeded-randomness",
        "draw",
        "  draw:",
    ),
    "a result of another type": (
        'return {"box_id": made["box_id"]}',
        'return {"box_id": 7}',
        "results-as-declared",
        "new_box name=a",
        "  new_box:",
    ),
    "a result with other keys": (
        'return {"box_id": made["box_id"]}',
        'return {"box": made["box_id"]}',
        "results-as-declared",
        "new_box name=a",
        "  new_box:",
    ),
    "an attribute that is none": (
        '    return len(box["marks"])',
        '    return box["marks"].size',
        "never-raises",
        "mark box_id=B-1 marks=[]",
        "      return len(box.marks)",
    ),
    "a part of the state handed out": (
        '"marks": [*box["marks"]]',
        '"marks": box["marks"]',
        "results-are-copies",
        "look box_id=B-1",
        "  look:",
    ),
    "a rule that is not enforced": (
        'if not (it["items"] <= MOST):',
        'if it["items"] > 99:',
        "state-is-allowed",
        "put box_id=B-1 count=4",
        "  few:",
    ),
    "a move that is not declared": (
        'if old is not None and new["state"] != old["state"] and new["state"] not in _MOVES_LIFE.get(old["state"], ()):',
        "if False:",
        "moves-as-declared",
        "mark box_id=B-1 marks=[]",
        "  life:",
    ),
    "not a number": (
        "return _rt.rand_int(_state, 1, 1000000)",
        'return float("nan")',
        "results-are-json",
        "draw",
        "",
    ),
}
OWN = "MOST = 3", "MOST = 3  # a class of its own, which others do not meet when its shared state was written to"
_ALSO = {  # a second change that the fault needs to show at all
    "a rule that is not enforced": ('    if not box["items"] <= MOST:', "    if False:"),
    "a move that is not declared": (
        '    box["marks"] = _rt.copy(marks)',
        '    box["marks"], box["state"] = _rt.copy(marks), "gone"',
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_code_is_found(name: str) -> None:
    old, new, prop, calls, line = FAULTS[name]
    environment = spoilt(old, new, *_ALSO.get(name, ()))
    report = attacked(environment, checked(), calls=500)
    found = {f.property: f for f in report.findings}
    assert prop in found, [f.title for f in report.findings]
    assert found[prop].script == calls
    assert found[prop].state is None
    assert found[prop].seed == 0
    if line:
        assert found[prop].where[0].line == line_of(line)
    assert not report.sound
    shows_again(environment, found[prop])


def shows_again(environment: type[Any], finding: FuzzFinding) -> None:
    """The calls of a finding, attacked with nothing but themselves, are what breaks the property."""
    from envscaler.assess.events import Start
    from envscaler.assess.facts import Facts
    from envscaler.assess.fuzzer import Broken
    from envscaler.assess.minimal import shown_again
    from envscaler.assess.properties import PROPERTIES, Breach

    facts = Facts(environment, checked())
    broken = Broken(PROPERTIES[finding.property], Breach(""), tool=finding.tool)
    start = Start(facts, finding.state, finding.seed)
    for moment in (0, 1):
        if shown_again(facts, broken, start, finding.calls, moment, 2.0) is not None:
            return
    raise AssertionError("the finding cannot be shown again")


def test_a_rollback_that_was_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(state: Any) -> None:
        for part in state._dirty:
            part.before.clear()
        state._dirty.clear()
        state._marks.clear()
        state._meter.settling = False

    monkeypatch.setattr("envscaler.runtime.calls.rollback", forget)
    report = attacked(spoilt(*OWN), checked(), calls=500)
    found = {f.tool: f for f in report.findings if f.property == "failed-call-changes-nothing"}
    assert found["put"].script == "put box_id=B-1 count=4"
    assert "/boxes/B-1/items: 0 -> 4" in found["put"].detail
    assert found["put"].where[0].line == line_of("  put:")


@pytest.mark.parametrize(
    ("what", "replacement", "prop"),
    [
        ("Collection.reset", lambda self: None, "reset-begins-again"),
        ("Collection.save", lambda self: (self.own, self.gone, self.added, self.top), "snapshot-restores"),
        ("Collection.edit_or_none", lambda self, key: self.get(key), "base-stays"),
        ("Single.load", lambda self, saved: None, "snapshot-restores"),
    ],
)
def test_faults_of_the_runtime(monkeypatch: pytest.MonkeyPatch, what: str, replacement: Any, prop: str) -> None:
    environment = spoilt(*OWN)
    monkeypatch.setattr(f"envscaler.runtime.store.{what}", replacement)
    report = attacked(environment, checked(), calls=500)
    found = {f.property: f for f in report.findings}
    assert prop in found, [f"{f.property}: {f.title}" for f in report.findings]
    assert len(found[prop].calls) <= 2


def test_after_each_that_does_not_settle() -> None:
    spec = checked('"fine" if depot.total > 1 else "low"', '"fine" if depot.level == "low" else "low"')
    found = only(attacked(compiled(spec), spec, calls=500))
    assert found.property == "after-each-settles"
    assert len(found.calls) == 1
    assert found.where[0].line == line_of("after_each:")


def test_an_example_that_lies() -> None:
    spec = checked("{call: {box_id: B-1, count: 2}, returns: 2}", "{call: {box_id: B-1, count: 2}, returns: 3}")
    found = only(attacked(compiled(spec), spec, calls=100))
    assert found.property == "examples-hold"
    assert found.title == "example of put: result: expected 3, got 2"
    assert found.where[0].line == line_of("count: 2}, returns")
    assert found.calls == ()


def test_an_initial_state_that_breaks_a_rule() -> None:
    spec = checked("items: 1, state: sealed", "items: 7, state: sealed")
    report = attacked(compiled(spec), spec, calls=100)
    assert [f.property for f in report.findings] == ["initial-state-is-allowed"]
    assert "few" in report.findings[0].title
    assert report.calls == 0


def test_a_constant_that_the_code_has_otherwise() -> None:
    report = attacked(spoilt("MOST = 3", "MOST = 2"), checked(), calls=100)
    found = {f.property: f for f in report.findings}
    assert found["constants-as-told"].title == "the code enforces MOST 2, and the spec says 3"
    assert found["constants-as-told"].where[0].line == line_of("  MOST: 3")


def test_a_number_in_prose_that_contradicts_a_constant() -> None:
    spec = checked("text: A box holds at most {MOST} items.", "text: A box holds at most 5 items, as MOST says.")
    report = attacked(compiled(spec), spec, calls=100)
    assert {f.property for f in report.findings} <= {"constants-as-told"}


@pytest.mark.slow  # tests of classes written by hand have one too
def test_a_loop_without_an_end() -> None:
    environment = spoilt(
        '    box["marks"] = _rt.copy(marks)',
        '    while len(marks) > 1:\n        pass\n    box["marks"] = _rt.copy(marks)',
    )
    report = attacked(environment, checked(), calls=500, call_seconds=0.3)
    found = only(report)
    assert found.property == "always-ends"
    assert found.title == "mark does not end"
    assert [c.tool for c in found.calls] == ["mark"]
    assert isinstance(found.calls[0], Call)
