"""Calls: results, error results, arguments of every kind, transactions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envscaler.errors import ToolCallError
from tests.runtime.sample_library import Library

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def env() -> Library:
    return Library.new()


def test_a_write_changes_the_state_and_says_so(env: Library) -> None:
    result = env.call("check_out", {"member_id": "M-0001", "barcode": "B-00001"})
    assert result.ok
    assert result.changed
    assert result.to_json() == {"success": True, "data": {"loan_id": "L-00001", "due": "2030-03-25"}}
    assert env.state["loans"] == {
        "L-00001": {"member_id": "M-0001", "barcode": "B-00001", "due": "2030-03-25", "returned": None}
    }


def test_methods_give_what_call_gives(env: Library) -> None:
    assert env.tools.find_copies("em") == env.call("find_copies", {"words": "em"})
    assert env.tools.get_member(member_id="M-0009") == env.call("get_member", {"member_id": "M-0009"})
    with pytest.raises(TypeError):
        env.tools.get_member(who="M-0001")


def test_the_first_failing_requirement_decides_and_names_its_rule(env: Library) -> None:
    result = env.call("check_out", {"member_id": "M-0002", "barcode": "B-00001"})
    assert not result.ok
    assert result.error is not None
    assert (result.error.code, result.error.rule) == ("refused", "active_only")
    assert result.error.where == "specs/library.yaml:58"
    assert result.output == {"error": "Member M-0002 is suspended."}
    with pytest.raises(ToolCallError, match="suspended"):
        result.unwrap()


def test_a_tool_has_its_own_error_shape_and_unknown_tools_the_spec_s(env: Library) -> None:
    assert env.call("join", {"name": ""}).output == "Error: name: must have at least 1 characters"
    assert env.call("nope").output == {"error": "Unknown tool: nope"}


@pytest.mark.parametrize(
    "name", ["verify", "__init__", "_state", "reset", "tool_check_out", "state_hash", "age", "pay_fine"]
)
def test_only_declared_tools_of_the_agent_are_reached(env: Library, name: str) -> None:
    before = env.state_hash()
    result = env.call(name, {})
    assert result.error is not None
    assert (result.error.code, result.error.message) == ("unknown_tool", f"Unknown tool: {name}")
    assert env.state_hash() == before


@pytest.mark.parametrize("name", [None, 3, ["check_out"], {}, "x\ud800", "\x1b[31m", "", "a" * 5000])
def test_hostile_tool_names(env: Library, name: Any) -> None:
    result = env.call(name, {})
    assert result.error is not None
    assert result.error.code == "unknown_tool"
    json.dumps(result.to_json(), ensure_ascii=False).encode()


def test_tools_of_the_user_s_side(env: Library) -> None:
    assert env.tools.names == (
        "check_out",
        "find_copies",
        "get_member",
        "remove_member",
        "join",
        "lottery",
        "rename",
        "break",
    )
    assert env.user_tools.names == ("pay_fine",)
    assert env.call("pay_fine", {"member_id": "M-0001", "amount": 0.5}, actor="user").value == "Thank you. 1 remains."
    assert env.user_tools.pay_fine("M-0001", 0.25).value == "Thank you. 0.75 remains."
    assert env.call("check_out", {}, actor="user").error.code == "unknown_tool"  # type: ignore[union-attr]
    assert env.call("age", {}, actor="setup").ok


def test_setup_is_reached_through_setup_only(env: Library) -> None:
    assert env.setup("age", {"fine": 2}).ok
    assert env.state["members"]["M-0002"]["balance"] == 2
    assert env.setup("check_out", {}).error.code == "unknown_tool"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"words": "x", "limt": 3}, "unknown argument limt; did you mean limit?"),
        ({}, "words: is missing"),
        (None, "words: is missing"),
        ("", "words: is missing"),
        ("{}", "words: is missing"),
        ('"{\\"words\\": 1}"', "The arguments must be a JSON object, not text."),
        ("[1]", "The arguments must be a JSON object, not a list."),
        ([], "The arguments must be a JSON object, not a list."),
        (["words"], "The arguments must be a JSON object, not a list."),
        (7, "The arguments must be a JSON object, not a number."),
        ({"words": "x", "_state": 1}, "unknown argument _state"),
        ({"words": "x", 3: 1}, "unknown argument 3"),
        ({"words": 5}, "words: expected text, got 5"),
        ({"words": "a\ud800"}, "words: text is not valid Unicode"),
        ({"words": "x", "limit": 0}, "limit: must be at least 1"),
        ({"words": "x", "limit": 10**5000}, "limit: expected a whole number within ±2^53"),
        ({"words": "x", "limit": NAN}, "limit: expected a whole number, got nan"),
        ({"words": "x", "limit": True}, "limit: expected a whole number, got true"),
        ({"words": "x", "limit": "ten"}, 'limit: expected a whole number, got the text "ten"'),
        ({"words": "x", "limit": []}, "limit: expected a whole number, got a list"),
        ('{"words": "x", "limit": NaN}', "The arguments are not a JSON object: NaN is not a JSON number."),
        ('{"words": "x", "words": "y"}', "The arguments are not a JSON object: the key words is given twice."),
    ],
)
def test_wrong_arguments_are_error_results(env: Library, arguments: Any, message: str) -> None:
    result = env.call("find_copies", arguments)
    assert result.error is not None
    assert (result.error.code, result.error.message) == ("invalid_argument", message)
    assert result.error.where == "specs/library.yaml:75"
    json.dumps(result.to_json(), ensure_ascii=False).encode()


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 50_000, "1" * 6000, "{", "\ud800", b"\xff\xfe{", "{'a': 1}"])
def test_hostile_argument_text(env: Library, text: Any) -> None:
    result = env.call("find_copies", text)
    assert result.error is not None
    assert result.error.code == "invalid_argument"
    json.dumps(result.to_json(), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "value", ["x" * 3, object(), {1, 2}, b"x", 10**400, NAN, INF, -INF, "\ud83d", {"a": object()}, [[]] * 3, (), None]
)
def test_no_value_of_any_kind_raises_or_stays(value: Any) -> None:
    env = Library.new()
    before = env.state_hash()
    for tool in Library.tool_table:
        if tool.name != "break":
            for param in tool.params.values():
                result = env.call(tool.name, {param.json: value}, actor=tool.actor)
                json.dumps(result.to_json(), ensure_ascii=False).encode()
                if not result.ok:
                    assert not result.changed
    env.reset()
    assert env.state_hash() == before


def test_arguments_as_text_bytes_and_other_mappings(env: Library) -> None:
    from collections import OrderedDict
    from types import MappingProxyType

    for arguments in (
        '{"words": "emma"}',
        b'{"words": "emma"}',
        OrderedDict(words="emma"),
        MappingProxyType({"words": "emma"}),
    ):
        assert env.call("find_copies", arguments).value == [
            {"barcode": "B-00001", "title": "Emma", "state": "on_shelf"}
        ]


def test_null_for_an_optional_argument_is_its_default(env: Library) -> None:
    assert env.call("find_copies", {"words": "e", "limit": None}) == env.call("find_copies", {"words": "e"})
    assert env.call("find_copies", {"words": None}).error.message == "words: expected text, got null"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("value", "lenient", "strict"),
    [
        ("3", 3, None),
        (3.0, 3, None),
        ("3.0", None, None),
        ("+3", 3, None),
        (3, 3, 3),
        ("٣", None, None),
        (3.5, None, None),
    ],
)
def test_one_policy_for_numbers(value: Any, lenient: int | None, strict: int | None) -> None:
    for policy, expected in (("lenient", lenient), ("strict", strict)):
        env = Library.new(policy=policy)
        outcome = env.call("find_copies", {"words": "", "limit": value})
        assert outcome.ok is (expected is not None)
        assert env.settings["policy"] == policy


@pytest.mark.parametrize(
    ("value", "outcome"),
    [("false", False), ("true", True), ("0", None), ("no", None), (0, None), (1, None), ("", None)],
)
def test_booleans_are_never_truthiness(value: Any, outcome: bool | None) -> None:
    env = Library.new()
    error = env.call("lottery", {"fail": value}).error
    if outcome is None:
        assert error is not None
        assert error.code == "invalid_argument"
    else:
        assert (error is not None) is outcome
    assert Library.new(policy="strict").call("lottery", {"fail": str(value)}).error is not None


def test_empty_text_for_a_list_says_what_to_do(env: Library) -> None:
    result = env.call("lottery", {"members": ""})
    assert result.error is not None
    assert result.error.message == "members: expected a list, got empty text; omit the field or send []"
    assert not env.diff()


@pytest.mark.parametrize("word", ["null", "None", "none", "undefined"])
def test_text_stays_text(env: Library, word: str) -> None:
    env.call("rename", {"member_id": "M-0001", "name": word})
    assert env.call("get_member", {"member_id": "M-0001"}).value["name"] == word


@pytest.mark.parametrize(
    ("amount", "ok"),
    [
        (0.5, True),
        (1, True),
        ("0.5", True),
        (0.505, False),
        (0, False),
        (-1, False),
        (1e300, False),
        (NAN, False),
        ("1e2", False),
        ("x", False),
    ],
)
def test_money_arguments(env: Library, amount: Any, ok: bool) -> None:
    assert env.call("pay_fine", {"member_id": "M-0001", "amount": amount}, actor="user").ok is ok


def test_outside_names_of_parameters(env: Library) -> None:
    assert env.call("rename", {"member_id": "M-0001", "name": "x", "by whom": "you"}).value == "you"
    assert env.call("rename", {"member_id": "M-0001", "name": "x"}).value == "me"
    assert not env.call("rename", {"member_id": "M-0001", "name": "x", "who": "you"}).ok


@pytest.mark.parametrize(
    ("kind", "code"),
    [("zero", "arithmetic"), ("key", "not_found"), ("steps", "limit"), ("grow", "limit"), ("bug", "internal")],
)
def test_whatever_a_body_raises_undoes_the_call(env: Library, kind: str, code: str) -> None:
    before = env.state
    result = env.call("break", {"kind": kind})
    assert result.error is not None
    assert result.error.code == code
    assert env.state == before
    assert env.diff() == []
    if code == "internal":
        cause = result.error.cause
        assert cause is not None
        assert cause.__notes__ == ["in break, specs/library.yaml:85"]
        with pytest.raises(ToolCallError):
            result.unwrap()


def test_interrupts_are_raised_after_undoing(env: Library) -> None:
    before = env.state
    with pytest.raises(KeyboardInterrupt):
        env.call("break", {"kind": "interrupt"})
    assert env.state == before


def test_steps_are_counted_for_each_call_anew(env: Library) -> None:
    for _ in range(3):
        assert env.call("break", {"kind": "steps"}).error.code == "limit"  # type: ignore[union-attr]
        assert env.call("find_copies", {"words": "e"}).ok


def test_a_call_without_effect_says_so(env: Library) -> None:
    result = env.call("rename", {"member_id": "M-0001", "name": "Ann Lee"})
    assert result.ok
    assert not result.changed
    assert env.diff() == []


def test_removed_records_are_not_referred_to(env: Library) -> None:
    env.call("check_out", {"member_id": "M-0001", "barcode": "B-00001"})
    result = env.call("remove_member", {"member_id": "M-0001"})
    assert result.error is not None
    assert result.error.code == "constraint"
    assert result.error.message == "Member M-0001 cannot be removed: Loan L-00001 refers to it"
    assert env.call("remove_member", {"member_id": "M-0002"}).changed
    assert list(env.state["members"]) == ["M-0001"]


def test_incremental_rules_see_all_records(env: Library) -> None:
    state = env.state
    state["copies"] = {f"B-{i:05d}": {"title": "T", "state": "on_shelf"} for i in range(7)}
    env = Library.new(state)
    for i in range(5):
        assert env.call("check_out", {"member_id": "M-0001", "barcode": f"B-{i:05d}"}).ok
    result = env.call("check_out", {"member_id": "M-0001", "barcode": "B-00005"})
    assert result.error is not None
    assert (result.error.code, result.error.rule, result.error.where) == ("rule", "loan_limit", "specs/library.yaml:41")
    assert env.state["copies"]["B-00005"]["state"] == "on_shelf"
    assert len(env.state["loans"]) == 5


def test_ids_are_never_reused_and_rolled_back(env: Library) -> None:
    assert env.call("join", {"name": "A"}).value["member_id"] == "M-0003"
    assert not env.call("join", {"name": "B", "card": {"by": "cash"}}).ok
    assert env.call("remove_member", {"member_id": "M-0003"}).ok
    assert env.call("join", {"name": "C"}).value["member_id"] == "M-0004"


def test_random_draws_are_seeded_and_rolled_back() -> None:
    one, two = Library.new(seed=5), Library.new(seed=5)
    for _ in range(4):
        two.call("lottery", {"fail": True})
        assert one.call("lottery") == two.call("lottery")
    assert one.state_hash() == two.state_hash()
    assert {Library.new(seed=i).call("lottery").value["balance"] for i in range(20)} != {1.51}


def test_results_and_arguments_are_the_caller_s(env: Library) -> None:
    card = {"by": "card", "last_four": "1234"}
    joined = env.call("join", {"name": "A", "card": card})
    card["last_four"] = "9999"
    joined.value["paid_by"][0]["last_four"] = "8888"
    assert env.call("get_member", {"member_id": "M-0003"}).value["paid_by"] == [{"by": "card", "last_four": "1234"}]
    state, diff = env.state, env.diff()
    state["members"].clear()
    diff[0]["value"]["name"] = "X"
    assert env.call("get_member", {"member_id": "M-0003"}).value["name"] == "A"
    assert env.diff()[0]["value"]["name"] == "A"
