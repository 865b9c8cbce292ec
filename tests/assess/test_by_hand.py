"""Classes written by hand, which have no spec: what people get wrong in them is found all the same."""

from __future__ import annotations

import pytest

from tests.assess import by_hand
from tests.assess.shelf import attacked


def test_a_sound_class_has_no_finding() -> None:
    for seed in range(3):
        report = attacked(by_hand.Pantry, calls=600, seed=seed)
        assert [f.title for f in report.findings] == []
        assert all(t.ok for t in report.coverage.tools)


@pytest.mark.parametrize(
    ("name", "prop", "calls"),
    [
        ("Raises", "never-raises", ['drop name=""']),
        ("Half", "failed-call-changes-nothing", ['add name="" count=5']),
        ("Leaks", "replay-equals-live", ['add name="" count=1']),
        ("Peeks", "reads-write-nothing", ["get name=rice"]),
        ("Clock", "no-wall-clock", ["roll"]),
        ("Shares", "fork-is-independent", ["roll"]),
        ("Hands", "results-are-copies", ["get name=rice", "drop name=salt"]),
        ("ForgetsToReset", "reset-begins-again", ["roll"]),
    ],
)
def test_a_fault_is_found_with_the_fewest_calls(name: str, prop: str, calls: list[str]) -> None:
    report = attacked(getattr(by_hand, name), calls=600)
    found = {f.property: f for f in reversed(report.findings)}
    assert prop in found, [f.title for f in report.findings]
    assert found[prop].script.splitlines() == calls
    assert found[prop].where[0].path == by_hand.__file__


def test_a_loop_without_an_end_is_found_and_the_rest_is_still_assessed() -> None:
    report = attacked(by_hand.Hangs, calls=400, call_seconds=0.3)
    assert [(f.property, f.script) for f in report.findings] == [("always-ends", "roll")]
    assert report.calls == 400


def test_a_finding_is_a_test_that_fails() -> None:
    report = attacked(by_hand.Peeks, calls=300)
    names = {"Environment": by_hand.Peeks}
    exec(report.findings[0].test, names)
    env = names["env"]
    assert env.state["looked"] == 1  # type: ignore[attr-defined]
