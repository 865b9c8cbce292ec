"""What checkers are told of a call, and of an episode."""

from __future__ import annotations

from typing import Any

import envscaler
from envscaler.plugin import CallEvent, EndEvent, Judgement
from envscaler.session.judging import Watched, judge, subject

TRANSFER = {"from_account": "A-2001", "to_account": "A-2002", "amount": 10}


def balance(state: Any, account: str) -> Any:
    return state["accounts"][account]["balance"]


def test_a_call_as_an_event() -> None:
    env = envscaler.load("bank").new()
    watched = Watched(env)
    result, event = watched.call("transfer", TRANSFER)
    assert result.ok
    assert (event.environment, event.step, event.actor, event.tool, event.kind) == (
        type(env),
        1,
        "agent",
        "transfer",
        "write",
    )
    assert (event.arguments, event.ok, event.result) == (TRANSFER, True, result.to_json())
    assert {"/accounts/A-2001/balance", "/accounts/A-2002/balance"} <= {op["path"] for op in event.changes}


def test_changes_and_state_are_those_of_the_call() -> None:
    watched = Watched(envscaler.load("bank").new())
    _, first = watched.call("transfer", TRANSFER)
    _, second = watched.call("transfer", TRANSFER)
    before = {op["path"]: op["before"] for op in second.changes if op["op"] == "replace"}
    after = {op["path"]: op["value"] for op in first.changes if op["op"] == "replace"}
    for path in ("/accounts/A-2001/balance", "/accounts/A-2002/balance"):
        assert before[path] == after[path]
    assert balance(first.state(), "A-2001") == after["/accounts/A-2001/balance"]
    assert balance(second.state(), "A-2001") == balance(watched.env.state, "A-2001")
    assert balance(first.state(), "A-2001") != balance(second.state(), "A-2001")
    end = watched.end({"done": True})
    assert balance(end.initial(), "A-2001") == before["/accounts/A-2001/balance"] + 10
    assert (balance(end.final(), "A-2001"), end.steps, end.answer) == (
        balance(second.state(), "A-2001"),
        2,
        {"done": True},
    )
    assert list(end.changes) == watched.env.diff()


def test_calls_that_fail() -> None:
    watched = Watched(envscaler.load("bank").new())
    _, event = watched.call("no_such_tool", "{")
    assert (event.kind, event.ok, event.changes, event.arguments) == (None, False, (), "{")
    _, event = watched.call("open_app", {})
    assert (event.kind, event.ok) == (None, False)  # the user's tool, called by the agent
    _, event = watched.call("open_app", {}, "user")
    assert event.kind is not None


def test_judgements_come_with_their_event() -> None:
    class Last:
        def on_call(self, event: CallEvent) -> Judgement | None:
            return Judgement("warn", "failed") if not event.ok else None

        def on_end(self, event: EndEvent) -> Judgement | None:
            return Judgement("pass") if event.answer == 7 else None

    said = list(
        judge(envscaler.load("bank").new(), [("transfer", TRANSFER), ("nothing", {})], {"last": Last()}, answer=7)
    )
    assert [(name, j.status) for _, name, j in said] == [("last", "warn"), ("last", "pass")]
    assert isinstance(said[0][0], CallEvent)
    assert said[0][0].step == 2
    assert isinstance(said[1][0], EndEvent)


def test_a_subject() -> None:
    bank = subject("bank")
    assert bank.environment is envscaler.load("bank")
    assert bank.checked.spec is not None
    assert bank.path.endswith("bank.yaml")
    assert bank.source.startswith("#")
