"""States on the way in and out: forms, problems, trees, uniqueness, references, diffs and hashes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from envscaler.errors import StateError, UsageError
from envscaler.runtime import canonical_json, digest
from envscaler.runtime.diff import compare
from tests.runtime.sample_forms import Forms
from tests.runtime.sample_library import Library


def problems(env: Any, state: Any) -> list[str]:
    with pytest.raises(StateError) as caught:
        env.new(state)
    return list(caught.value.problems)


def test_the_form_out_is_the_form_in() -> None:
    assert Forms.new().state == Forms.initial_state
    assert Forms.new(Forms.new().state).state == Forms.initial_state


def test_defaults_are_filled_in_and_states_may_be_left_out() -> None:
    assert Library.new({}).state == {"members": {}, "copies": {}, "loans": {}, "desk": {"notes": []}}
    state = Library.new({"members": {"M-1": {"name": "A", "status": "active"}}}).state
    assert state["members"]["M-1"] == {"name": "A", "status": "active", "balance": 0, "paid_by": []}


def test_every_problem_is_listed_with_its_path() -> None:
    found = problems(
        Library,
        {
            "members": {
                "M-1": {"name": 5, "status": "activ", "balance": 1.005},
                "M-2": {
                    "name": "B",
                    "statuz": "active",
                    "balance": -1,
                    "paid_by": [{"by": "card"}, {"by": "gold"}, {}, 3],
                },
                "M-3": [],
            },
            "copies": [],
            "lones": {},
            "desk": {"notes": ["a", None]},
        },
    )
    assert found == [
        "lones: unknown state; did you mean loans?",
        "members.M-1.name: expected text, got 5",
        'members.M-1.status: expected one of "active", "suspended", got the text "activ"; did you mean active?',
        "members.M-1.balance: expected an amount with at most 2 decimals, got 1.005",
        "members.M-2.status: is missing",
        "members.M-2.balance: must be at least 0",
        "members.M-2.paid_by[0].last_four: is missing",
        'members.M-2.paid_by[1].by: expected one of "cash", "card", got the text "gold"',
        'members.M-2.paid_by[2].by: expected one of "cash", "card", it is missing',
        "members.M-2.paid_by[3]: expected an object, got 3",
        "members.M-2.statuz: unknown field; did you mean status?",
        "members.M-3: expected an object, got a list",
        "copies: expected an object, got a list",
        "desk.notes[1]: expected text, got null",
    ]


def test_references_and_rules_of_a_state() -> None:
    loan = {"member_id": "M-1", "barcode": "B-9", "due": "2030-01-01"}
    member = {"name": "A", "status": "active"}
    assert problems(
        Library, {"loans": {"L-1": loan, "L-2": {**loan, "due": "2030-02-30"}}, "members": {"M-1": member}}
    ) == ['loans.L-2.due: expected a date like 2030-03-04, got the text "2030-02-30"']
    assert problems(Library, {"loans": {"L-1": loan}, "members": {"M-1": member}}) == [
        "loans.L-1.barcode: copies has no B-9"
    ]
    copies = {"B-9": {"title": "T", "state": "on_loan"}}
    many = {f"L-{i}": loan for i in range(6)}
    assert problems(Library, {"loans": many, "members": {"M-1": member}, "copies": copies}) == [
        "members.M-1: breaks the rule loan_limit: A member holds at most 5 open loans."
    ]


@pytest.mark.parametrize(
    "state", [[], "x", 5, {3: {}}, {"members": {3: {}}}, {"members": {"M\ud800": {}}}, {"desk": None}]
)
def test_hostile_states(state: Any) -> None:
    for problem in problems(Library, state):
        problem.encode()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda s: s["items"]["3"].update(no=4), "items.3.no: expected 3, the key it stands under, got 4"),
        (lambda s: s["items"].update({"03": {}}), 'items: expected a whole number as key, got the text "03"'),
        (lambda s: s["items"]["3"].update(sku="abc"), "items.3: sku must be unique, and 7 has the same"),
        (lambda s: s["items"]["3"].update(sku="ABC"), "items.3.sku: must match the pattern ^[a-z]*$"),
        (lambda s: s["items"]["3"].update(at="2030-01-01T00:00:00+00:00"), "items.3.at: expected a time like"),
        (lambda s: s["items"]["3"].update(zone="Mars"), "items.3.zone: expected a time zone"),
        (
            lambda s: s["items"]["3"].update(tags={"c": "N-1"}),
            'items.3.tags.c: expected one of "a", "b", got the text "c"',
        ),
        (lambda s: s["items"]["3"].update(tags={"a": "N-99"}), "items.3.tags: nodes has no N-99"),
        (lambda s: s["items"]["3"].update(extra=float("nan")), "items.3.extra: holds a number that is not finite"),
        (lambda s: s["slots"].append(s["slots"][0]), "slots[3]: the key 00aa00 stands twice"),
        (lambda s: s["slots"][1].update(seat=1), "slots.00bb00: row and seat must be unique, and 00aa00 has the same"),
        (lambda s: s.update(cursor="N-99"), "top.cursor: nodes has no N-99"),
        (lambda s: s.pop("wifi"), "wifi: is missing"),
        (lambda s: s["nodes"]["home"].update(contents=[]), "nodes.home.contents: expected an object, got a list"),
        (lambda s: s["nodes"]["home"]["contents"].update(x=3), "nodes.home.x: expected an object, got a number"),
    ],
)
def test_one_problem(change: Any, problem: str) -> None:
    state = copy.deepcopy(Forms.initial_state)
    change(state)
    assert problems(Forms, state)[0].startswith(problem)


def test_trees() -> None:
    env = Forms.new()
    assert env.call("walk", {"key": "N-1"}).value == [
        ["home"], ["home", "a.txt"], ["home", "docs"], ["home", "docs", "b.txt"], ["home", "empty"],
    ]  # fmt: skip
    for parent, code in (("N-4", "constraint"), ("N-1", "constraint"), ("N-77", "constraint"), ("N-6", None)):
        error = env.call("set", {"where": "nodes", "key": "N-1", "field": "parent", "value": parent}).error
        assert (error and error.code) == code
    assert env.call("walk", {"key": "N-6"}).value[1] == ["tmp", "home"]
    record = {"kind": "directory", "parent": "N-1", "name": "docs"}
    assert env.call("add", {"where": "nodes", "record": record}).error.message == "Node docs already exists there"  # type: ignore[union-attr]
    assert env.call("add", {"where": "nodes", "record": {**record, "name": "more"}}).value == "N-7"
    assert list(env.state["nodes"]["tmp"]["contents"]["home"]["contents"]) == ["a.txt", "docs", "empty", "more"]


def test_removing_a_node_removes_what_is_below_it() -> None:
    env = Forms.new()
    result = env.call("remove", {"where": "nodes", "keys": ["N-1"]})
    assert result.error is not None
    assert result.error.message == "Node N-3 cannot be removed: Top refers to it"
    env.call("set", {"where": "top", "field": "cursor", "value": None})
    result = env.call("remove", {"where": "nodes", "keys": ["N-1"]})
    assert result.error is not None
    assert result.error.message == "Node N-1 cannot be removed: Item 7 refers to it"
    env.call("set", {"where": "items", "key": 7, "field": "tags", "value": {}})
    assert env.call("remove", {"where": "nodes", "keys": ["N-1"]}).ok
    assert env.state["nodes"] == {"tmp": {"type": "directory", "contents": {}}}


def test_lookups_within_a_call_see_what_it_wrote() -> None:
    env = Forms.new()
    assert env.call("nest", {"key": "N-3", "value": "N-6"}).value == [["docs", "newer"], None, "N-7"]
    assert env.call("nest", {"key": "N-2", "value": "N-6"}).error.message == "Node newer already exists there"  # type: ignore[union-attr]
    assert list(env.state["nodes"]["tmp"]["contents"]) == ["docs", "newer"]
    assert env.call("nest", {"key": "N-2", "value": "N-3"}).value == [["a.txt", "b.txt", "newer"], None, "N-8"]


def test_constraints_of_all_kinds() -> None:
    env = Forms.new()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"where": "items", "key": 7, "field": "sku", "value": "xyz"}, "Item with sku xyz already exists"),
        ({"where": "items", "key": 7, "field": "sku", "value": "X"}, "Item 7: sku: must match the pattern ^[a-z]*$"),
        ({"where": "items", "key": 7, "field": "sku", "value": "x" * 9}, "Item 7: sku: must have at most 8 characters"),
        ({"where": "items", "key": 7, "field": "size", "value": 2**60}, "Item 7: size: must be within ±2^53"),
        ({"where": "items", "key": 7, "field": "tags", "value": {"a": "N-9"}}, "Item 7: tags: there is no Node N-9"),
        ({"where": "slots", "key": "00bb00", "field": "seat", "value": 1}, "Slot with row 1 and seat 1 already exists"),
        ({"where": "slots", "key": "00bb00", "field": "item", "value": 4}, "Slot 00bb00: item: there is no Item 4"),
        ({"where": "top", "field": "cursor", "value": "N-9"}, "Top: cursor: there is no Node N-9"),
    ]
    for arguments, message in cases:
        error = env.call("set", arguments).error
        assert error is not None
        assert (error.code, error.message) == ("constraint", message)
    assert env.diff() == []
    assert (
        env.call("remove", {"where": "items", "keys": [7]}).error.message
        == "Item 7 cannot be removed: Slot 00aa00 refers to it"
    )  # type: ignore[union-attr]


def test_true_and_one_differ_in_any_values() -> None:
    env = Forms.new()
    assert env.call("set", {"where": "items", "key": 3, "field": "extra", "value": True}).changed
    assert env.state["items"]["3"]["extra"] is True
    assert env.diff() == [{"op": "replace", "path": "/items/3/extra", "value": True, "before": 1}]


def test_a_rule_over_the_whole_state() -> None:
    env = Forms.new()
    for row in range(10, 13):
        assert env.call("add", {"where": "slots", "record": {"row": row, "seat": None, "item": None}}).ok
    error = env.call("add", {"where": "slots", "record": {"row": 20, "seat": None, "item": None}}).error
    assert error is not None
    assert (error.code, error.rule) == ("rule", "few")
    keys = [slot["slot"] for slot in env.state["slots"]]
    assert len(set(keys)) == 6
    assert all(len(key) == 6 for key in keys)


def test_order_survives_a_failed_removal() -> None:
    env = Forms.new()
    for row in range(10, 13):
        env.call("add", {"where": "slots", "record": {"row": row, "seat": None, "item": None}})
    before = env.state["slots"]
    keys = [slot["slot"] for slot in before]
    assert not env.call("remove", {"where": "slots", "keys": [keys[4], keys[1], keys[3]], "then": "fail"}).ok
    assert env.state["slots"] == before
    assert env.call("remove", {"where": "slots", "keys": [keys[4], keys[1]], "then": "again"}).ok
    assert [slot["slot"] for slot in env.state["slots"]] == [keys[0], keys[2], keys[3], keys[5], keys[1]]
    ops = env.diff()
    assert [op["op"] for op in ops] == ["remove", "add", "add", "add"]
    env.reset()
    assert env.state == Forms.initial_state


def test_what_was_removed_before_stays_removed_when_a_removal_fails() -> None:
    env = Forms.new()
    assert env.call("remove", {"where": "slots", "keys": ["00aa00"]}).ok
    before = env.state
    assert not env.call("remove", {"where": "slots", "keys": ["00bb00"], "then": "fail"}).ok
    assert env.state == before
    assert [slot["slot"] for slot in before["slots"]] == ["00bb00", "00cc00"]


def test_diff_of_lists_and_absent_fields() -> None:
    ops: list[dict[str, Any]] = []
    compare("", {"a": [1, 2], "b~/": 1, "c": [1, 2, 3]}, {"a": [1, 3], "d": [{}], "c": [1]}, ops)
    assert ops == [
        {"op": "remove", "path": "/b~0~1", "before": 1},
        {"op": "replace", "path": "/a/1", "value": 3, "before": 2},
        {"op": "add", "path": "/d", "value": [{}]},
        {"op": "remove", "path": "/c/2", "before": 3},
        {"op": "remove", "path": "/c/1", "before": 2},
    ]
    env = Forms.new()
    env.call("set", {"where": "items", "key": 3, "field": "group"})
    assert env.diff() == [{"op": "remove", "path": "/items/3/GROUP(1)", "before": None}]


def test_diff_since_a_moment() -> None:
    env = Library.new()
    env.call("check_out", {"member_id": "M-0001", "barcode": "B-00001"})
    moment = env.snapshot()
    assert env.diff(moment) == []
    env.restore(Library.new().snapshot())
    (loan,) = [op for op in env.diff(moment) if op["path"].startswith("/loans")]
    assert (loan["op"], loan["path"], loan["before"]["due"]) == ("remove", "/loans/L-00001", "2030-03-25")
    start = env.snapshot()
    env.restore(moment)
    (loan,) = [op for op in env.diff(start) if op["path"].startswith("/loans")]
    assert (loan["op"], loan["value"]) == ("add", env.record("loans", "L-00001"))
    assert env.diff(start) == env.diff()
    with pytest.raises(UsageError):
        env.diff(Library.new({}).snapshot())


def test_a_record_alone() -> None:
    env = Library.new()
    assert env.record("members", "M-0001") == env.state["members"]["M-0001"]
    assert env.record("desk") == env.state["desk"]
    assert env.record("loans", "L-00001") is None


def test_views_copy_nothing_and_cannot_be_written() -> None:
    env = Library.new()
    env.call("check_out", {"member_id": "M-0001", "barcode": "B-00001"})
    assert env.final.loans["L-00001"].due == "2030-03-25"
    assert len(env.initial.loans) == 0
    assert env.initial.members["M-0001"]["balance"] == 150
    assert env.view().desk.notes == []
    assert list(env.final) == ["members", "copies", "loans", "desk"]
    with pytest.raises(TypeError):
        env.final.members["M-0001"]["balance"] = 3
    with pytest.raises(KeyError):
        env.final.members["M-9"]
    with pytest.raises(AttributeError):
        _ = env.final.members["M-0001"].nothing


def test_canonical_text_and_hash() -> None:
    assert (
        canonical_json({"b": 1.0, "a": [1.5, True, None, "e\u0301"], "c": -0.0})
        == '{"a":[1.5,true,null,"é"],"b":1,"c":0}'
    )
    assert digest({"x": 1}) == digest({"x": 1.0}) != digest({"x": True})
    env, other = Library.new(), Library.new()
    start = env.state_hash()
    env.call("rename", {"member_id": "M-0001", "name": "e\u0301"})
    other.call("rename", {"member_id": "M-0001", "name": "é"})
    assert env.state_hash() == other.state_hash() != start
    env.reset()
    assert env.state_hash() == start


def test_new_refuses_what_it_cannot_be_given() -> None:
    base = Library.prepare()
    assert Library.new(base).state == Library.new().state
    for wrong in (
        lambda: Forms.new(base),
        lambda: Library.new(seed=True),
        lambda: Library.new(policy="x"),
        lambda: Library.new(clock="2030-01-01"),
    ):
        with pytest.raises(UsageError):
            wrong()
    env = Library.new(clock="2031-01-01T00:00:00Z")
    assert env.call("check_out", {"member_id": "M-0001", "barcode": "B-00001"}).value["due"] == "2031-01-22"
    with pytest.raises(UsageError):
        env.restore(Library.new({}).snapshot())


def test_the_document() -> None:
    assert Library.new().doc.split("\n\n")[-1] == "## Policies\n- Ask the member before charging a fine."
