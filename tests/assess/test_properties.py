"""Properties one by one: each can be used alone, and those that judge events are checkers like any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from envscaler.assess import PROPERTIES, Call
from envscaler.assess.assessor import Fuzzing
from envscaler.assess.events import Start, play
from envscaler.assess.facts import Facts
from envscaler.assess.properties.conforming import misfit
from envscaler.plugin.records import Assessor, CallEvent, Checker
from envscaler.session.plugins import open_plugins
from envscaler.spec import types as t
from envscaler.testing import AssessorConformance, CheckerConformance
from tests.assess.shelf import checked, compiled

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "assess.md"


def test_every_property_is_named_described_and_in_the_reference() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for name, prop in PROPERTIES.items():
        assert prop.name == name
        assert prop.about.endswith(".")
        assert f"`{name}`" in text
        assert prop.about in " ".join(text.replace("|", " ").split())


@pytest.mark.parametrize("name", [p.name for p in PROPERTIES.values() if p.level == "episode"])
def test_episode_properties_hold_of_a_sound_episode(name: str) -> None:
    facts = Facts(compiled(checked()), checked())
    calls = [
        Call("put", {"box_id": "B-1", "count": 2}),
        Call("draw"),
        Call("new_box", {"name": "x"}),
        Call("look", {"box_id": "B-3"}),
    ]
    for moment in range(5):
        assert PROPERTIES[name].run(play(Start(facts), calls, moment)) is None


@pytest.mark.parametrize("name", [p.name for p in PROPERTIES.values() if p.level == "class"])
def test_class_properties_hold_of_a_sound_class(name: str) -> None:
    assert list(PROPERTIES[name].run(Facts(compiled(checked()), checked()))) == []


def _event(**changes: Any) -> CallEvent:
    made: dict[str, Any] = {
        "environment": compiled(checked()), "step": 1, "actor": "agent", "tool": "look", "kind": "read", "arguments": {},
        "result": {"success": True, "data": 1}, "changes": (), "state": lambda: compiled(checked()).new().state, **changes,
    }  # fmt: skip
    return CallEvent(**made)


_CHANGE = {"op": "replace", "path": "/boxes/B-1/items", "before": 0, "value": 4}


def _full() -> Mapping[str, Any]:
    state = compiled(checked()).new().state
    state["boxes"]["B-1"]["items"] = 4
    return state  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("reads-write-nothing", {"changes": (_CHANGE,)}),
        ("failed-call-changes-nothing", {"result": {"success": False, "error": "no"}, "changes": (_CHANGE,)}),
        ("state-is-allowed", {"kind": "write", "tool": "put", "changes": (_CHANGE,), "state": _full}),
        ("results-are-json", {"result": {"success": True, "data": float("nan")}}),
        ("results-are-json", {"result": {"success": True, "data": "\ud800"}}),
    ],
)
def test_checkers_fail_what_breaks_them_and_pass_the_rest(name: str, event: dict[str, Any]) -> None:
    checker = open_plugins(third_parties=False).checker(name)
    said = checker.on_call(_event(**event))
    assert said is not None
    assert said.status == "fail"
    assert str(event.get("tool", "look")) in said.reason
    passed = checker.on_call(_event())
    assert passed is not None
    assert passed.status == "pass"


class TestTheChecker(CheckerConformance):
    make: Callable[[Mapping[str, Any]], Checker] = staticmethod(
        lambda settings: open_plugins(third_parties=False).checker("state-is-allowed", settings)
    )


class TestTheAssessor(AssessorConformance):
    make: Callable[[], Assessor] = Fuzzing
    settings: Mapping[str, Any] = {"calls": 150, "shrink": False}


BOX = t.Struct("Box", {})
PAIR = t.Obj((("a", t.INT), ("b", t.ListOf(t.MONEY))))


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (t.INT, 3, 3.0),
        (t.INT, 3, True),
        (t.FLOAT, 3.0, 3),
        (t.NUMBER, 3, "3"),
        (t.MONEY, 3.25, 3.255),
        (t.MONEY, 3, None),
        (t.BOOL, False, 0),
        (t.STR, "", None),
        (t.DATE, "2030-02-28", "2030-02-30"),
        (t.TIME, "09:00:00", "9:00"),
        (t.DATETIME, "2030-03-04T09:00:00Z", "2030-03-04"),
        (t.NONE, None, False),
        (t.Nullable(t.INT), None, "x"),
        (t.Enum(("a", "b")), "a", "c"),
        (t.Enum((1, 2)), 1, True),
        (t.Const("x"), "x", "y"),
        (t.Key("boxes"), "B-1", 1),
        (t.ListOf(t.INT), [1, 2], [1, "2"]),
        (t.DictOf(t.INT), {"a": 1}, {"a": None}),
        (t.TupleOf((t.STR, t.INT)), ["a", 1], ["a"]),
        (PAIR, {"a": 1, "b": [0.5]}, {"b": [0.5], "a": 1}),
        (PAIR, {"a": 1, "b": []}, {"a": 1}),
        (PAIR, {"a": 1, "b": []}, {"a": 1, "b": [], "c": 1}),
        (t.ANY, {"x": [1]}, None),
    ],
)
def test_results_are_held_against_types(kind: t.Type, good: Any, bad: Any) -> None:
    assert misfit(kind, good) is None
    if kind != t.ANY:
        assert misfit(kind, bad) is not None


def test_a_misfit_says_where_it_is() -> None:
    assert misfit(t.ListOf(PAIR), [{"a": 1, "b": [1, "x"]}]) == (" at /0/b/1", "expected an amount, got 'x'")
