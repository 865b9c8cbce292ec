"""What happens around a body: hooks after changes, moves, rules of singles, wide writes."""

from __future__ import annotations

from typing import Any

from envscaler.runtime import Failure, Rule, Tool
from envscaler.runtime import shapes as s
from tests.runtime.sample_library import Library, LibraryState


def count_members(_state: LibraryState) -> None:
    _state.desk.edit()["notes"] = [f"{len(_state.members)} members"]
    if len(_state.members) > 3:
        raise Failure("refused", "too many")


def tool_everyone(_state: LibraryState, balance: Any = 0) -> Any:
    for member in _state.members.edit_values():
        member["balance"] = balance
    for key, copy in _state.copies.edit_items():
        if key == "B-00003" and balance == 7:
            copy["state"] = "on_shelf"


def rule_brief(_state: LibraryState, it: Any) -> bool:
    return len(it["notes"]) < 3


def check_desk(_state: LibraryState, key: Any, old: Any, new: Any) -> None:
    _state._mark("brief", None)


class Hooked(Library):
    __slots__ = ()

    after_each = (count_members,)
    rules = (*Library.rules, Rule("brief", "Notes are few.", run=rule_brief, each="desk"))
    checks = {**Library.checks, "desk": check_desk}
    tool_table = (
        *Library.tool_table,
        Tool("everyone", tool_everyone, params=s.params(s.Field("balance", s.INT, default=0))),
    )


def test_hooks_run_after_changes_only() -> None:
    env = Hooked.new()
    assert env.call("find_copies", {"words": "e"}).ok
    assert env.call("rename", {"member_id": "M-0001", "name": "Ann Lee"}).ok
    assert env.state["desk"]["notes"] == []
    assert env.call("join", {"name": "C"}).ok
    assert env.state["desk"]["notes"] == ["3 members"]


def test_a_failing_hook_undoes_the_call() -> None:
    env = Hooked.new()
    env.call("join", {"name": "C"})
    before = env.state
    result = env.call("join", {"name": "D"})
    assert result.error is not None
    assert result.error.message == "too many"
    assert env.state == before


def test_moves_are_checked_and_wide_writes_kept_small() -> None:
    env = Hooked.new()
    assert env.call("everyone", {"balance": 150}).changed
    assert [op["path"] for op in env.diff()] == ["/members/M-0002/balance", "/desk/notes/0"]
    result = env.call("everyone", {"balance": 7})
    assert result.error is not None
    assert (result.error.code, result.error.rule) == ("rule", "lost_is_final")
    assert not env.call("everyone", {"balance": -1}).ok
    assert [op["path"] for op in env.diff()] == ["/members/M-0002/balance", "/desk/notes/0"]


def test_a_rule_about_a_single() -> None:
    env = Library.new()
    hooked = Hooked.new({"desk": {"notes": ["a", "b"]}, "members": {"M-1": {"name": "A", "status": "active"}}})
    assert hooked.call("lottery", {"members": ["M-1"]}).ok  # the hook rewrites the notes before the rule is asked
    for _ in range(3):
        env.call("lottery")
    assert len(env.state["desk"]["notes"]) == 3
