"""The closed world: what may change is what was said, in every form of state, and what is incidental counts for nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.diagnostics import Span
from envscaler.runtime import Environment
from envscaler.scenario.guards import ClosedWorld
from envscaler.scenario.model import Only
from envscaler.spec.report import Report
from tests.scenario.sample_depot import depot

PLACE = Span("depot", 1, 1, 1, 1)


def guard(only: Only) -> ClosedWorld:
    report = Report()
    found = ClosedWorld.of(depot(), only, lambda *_: PLACE, report)
    assert not report.items
    return found


def after(*calls: tuple[str, dict[str, Any]]) -> Environment:
    env = depot().environment.new()
    for tool, arguments in calls:
        result = env.call(tool, arguments)
        assert result.ok, result.error
    return env


def broken(only: Only, *calls: tuple[str, dict[str, Any]]) -> str:
    return guard(only).broken(after(*calls)._state)


NOTHING = Only()
PUT = ("put", {"number": 1, "n": 2})


def test_no_change_breaks_nothing() -> None:
    assert broken(NOTHING) == ""
    assert broken(NOTHING, ("look", {"number": 1}), ("look", {"number": 2})) == ""


@pytest.mark.parametrize(
    ("calls", "only", "said"),
    [
        ([PUT], NOTHING, "bins 1: count changed"),
        ([PUT], Only({"bins": {"2": ("count",)}}), "bins 1: count changed"),
        ([PUT], Only({"bins": {"1": ("label",)}}), "bins 1: count changed"),
        ([PUT], Only({"bins": {"1": ("count",)}}), ""),
        ([PUT, ("put", {"number": 12, "n": 1})], Only({"bins": {"1": ("count",)}}), "bins 12: count changed"),
        ([("switch", {"on": True})], NOTHING, "device: wifi changed"),
        ([("switch", {"on": True})], Only({"device": {"": ("wifi",)}}), ""),
        ([("switch", {"on": False})], NOTHING, ""),
        ([("order", {"number": 1})], NOTHING, "orders: 1 record is new, none may be"),
        ([("order", {"number": 1})] * 2, Only(added={"orders": 1}), "orders: 2 records are new, only 1 may be"),
        ([("order", {"number": 1})] * 2, Only(added={"orders": 2}), ""),
        ([("order", {"number": 1})], Only(added={"orders": 2}), ""),  # at most
        ([("order", {"number": 1}), ("cancel", {"order_id": "O-003"})], NOTHING, ""),
        ([("cancel", {"order_id": "O-001"})], NOTHING, "orders O-001 is gone"),
        ([("cancel", {"order_id": "O-001"})], Only(removed={"orders": ("O-002",)}), "orders O-001 is gone"),
        ([("cancel", {"order_id": "O-001"})], Only(removed={"orders": ("O-001",)}), ""),
        ([("move", {"folder_id": "F-03", "to": "F-01"})], NOTHING, "folders F-03: parent changed"),
        ([("move", {"folder_id": "F-03", "to": "F-01"})], Only({"folders": {"F-03": ("parent",)}}), ""),
        ([("drop", {"folder_id": "F-02"})], Only(removed={"folders": ("F-02",)}), "folders F-03 is gone"),
        ([("drop", {"folder_id": "F-02"})], Only(removed={"folders": ("F-02", "F-03")}), ""),
        ([("note", {"number": 1, "text": "a"})], NOTHING, "bins 1: note changed"),
        ([("keep", {"number": 1, "value": True})], NOTHING, "bins 1: loose changed"),
        ([("keep", {"number": 1, "value": None})], NOTHING, ""),
    ],
)  # fmt: skip
def test_only_what_was_said_may_change(calls: list[tuple[str, dict[str, Any]]], only: Only, said: str) -> None:
    assert broken(only, *calls) == said


def test_a_record_that_moved_in_its_list_is_gone_and_new() -> None:
    """In a mapping it would count as one that stayed; a list has an order."""
    renew = ("renew", {"order_id": "O-001"})
    assert broken(NOTHING, renew) == "orders: 1 record is new, none may be"
    assert broken(Only(added={"orders": 1}), renew) == "orders O-001 is gone"
    assert broken(Only(added={"orders": 1}, removed={"orders": ("O-001",)}), renew) == ""


def test_incidental_parts_count_for_nothing_at_any_depth() -> None:
    touched = after(("touch", {"number": 1, "at": "midnight"}))
    assert touched.state_hash() != depot().environment.new().state_hash()
    assert guard(NOTHING).broken(touched._state) == ""
    for call in (("sign", {"number": 1, "by": "Bo"}), ("pay_card", {"number": 1, "last": "1"})):
        assert broken(NOTHING, call), "what lies beside an incidental part counts"
    assert broken(NOTHING, ("pay_card", {"number": 1, "last": "1"})) == "bins 1: paid changed"


def test_what_was_changed_and_changed_back_did_not_change() -> None:
    assert broken(NOTHING, ("keep", {"number": 1, "value": 1}), ("keep", {"number": 1, "value": None})) == ""
    assert broken(NOTHING, ("keep", {"number": 1, "value": 0}), ("keep", {"number": 1, "value": False}))


@pytest.mark.parametrize(
    ("only", "code", "said"),
    [
        (Only({"bin": {"1": ("count",)}}), "scenario-unknown-state", "did you mean 'bins'?"),
        (Only({"bins": {"1": ("counts",)}}), "scenario-unknown-field", "did you mean 'count'?"),
        (Only(added={"device": 1}), "scenario-unknown-state", 'device: {"": [FIELD]}'),
        (Only(removed={"order": ("O-1",)}), "scenario-unknown-state", "did you mean 'orders'?"),
        (Only({"device": {"x": ("wifi",)}}), "scenario-unknown-state", 'write device: {"": [FIELD]}'),
    ],
)
def test_names_of_nothing_are_said(only: Only, code: str, said: str) -> None:
    report = Report()
    ClosedWorld.of(depot(), only, lambda *_: PLACE, report)
    (problem,) = report.items
    assert problem.code == code
    assert said in problem.help


CALLS = st.one_of(
    st.tuples(st.just("put"), st.fixed_dictionaries({"number": st.sampled_from([1, 2, 12]), "n": st.integers(0, 2)})),
    st.tuples(st.just("order"), st.fixed_dictionaries({"number": st.sampled_from([1, 2])})),
    st.tuples(st.just("cancel"), st.fixed_dictionaries({"order_id": st.sampled_from(["O-001", "O-002", "O-003"])})),
    st.tuples(st.just("switch"), st.fixed_dictionaries({"on": st.booleans()})),
    st.tuples(st.just("move"), st.fixed_dictionaries({"folder_id": st.just("F-03"), "to": st.sampled_from(["F-01", "F-02"])})),
    st.tuples(st.just("note"), st.fixed_dictionaries({"number": st.just(2), "text": st.sampled_from("ab")})),
)  # fmt: skip

ONLY = st.builds(
    Only,
    st.dictionaries(
        st.just("bins"),
        st.dictionaries(
            st.sampled_from(["1", "2", "12"]), st.lists(st.sampled_from(["count", "note"]), unique=True).map(tuple)
        ),
    ),
    st.dictionaries(st.just("orders"), st.integers(0, 2)),
    st.dictionaries(st.just("orders"), st.lists(st.sampled_from(["O-001", "O-002"]), unique=True).map(tuple)),
)


@settings(max_examples=60)
@given(st.lists(CALLS, max_size=5), ONLY)
def test_it_says_what_a_comparison_of_whole_states_says(calls: list[tuple[str, dict[str, Any]]], only: Only) -> None:
    env = depot().environment.new()
    before = env.state
    for tool, arguments in calls:
        env.call(tool, arguments)
    assert (guard(only).broken(env._state) == "") is _by_hand(only, before, env.state)


def _by_hand(only: Only, old: dict[str, Any], new: dict[str, Any]) -> bool:
    """The same from two states as JSON."""
    for key, record in old["bins"].items():
        for name in {*record, *new["bins"][key]} - {"touched", *only.fields.get("bins", {}).get(key, ())}:
            if record.get(name) != new["bins"][key].get(name):
                return False
    kept = {o["order_id"]: o for o in old["orders"]}
    now = {o["order_id"]: o for o in new["orders"]}
    if len(now.keys() - kept.keys()) > only.added.get("orders", 0):
        return False
    if kept.keys() - now.keys() - set(only.removed.get("orders", ())):
        return False
    return old["folders"] == new["folders"] and old["wifi"] == new["wifi"]
