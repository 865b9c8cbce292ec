"""An agent acts in the bank: what it does wrong it is told, what fails around it is never held against it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from envscaler.agents import (
    EnvironmentEpisode,
    Limits,
    Loop,
    Observation,
    Policy,
    ScriptedPolicy,
    Step,
    Transcript,
    Turn,
    play,
)
from envscaler.errors import BudgetError, UsageError
from envscaler.llm import Message, Reply, Spent, ToolCall, Usage
from envscaler.llm.errors import (
    AccessError,
    ContextError,
    DeadlineError,
    EmptyReplyError,
    RefusedError,
    ServerError,
    TruncatedError,
)
from tests.soon import SOON

Make = Callable[..., EnvironmentEpisode]
TRANSFER = ("transfer", {"from_account": "A-2001", "to_account": "A-2002", "amount": 40})


def text_call(name: str, arguments: Any = None) -> str:
    body = {"name": name} | ({} if arguments is None else {"arguments": arguments})
    return f"<tool_call>\n{json.dumps(body)}\n</tool_call>"


def results(transcript: Transcript) -> list[dict[str, Any]]:
    """What the agent was shown of its calls, in order."""
    return [json.loads(m.content) for m in transcript.messages if m.role == "tool"]


def test_a_whole_episode(episode: Make) -> None:
    made = episode()
    transcript = play(
        made,
        ScriptedPolicy(
            ["<think>First look.</think>Let me see." + text_call("count_till"), [TRANSFER], "I moved 40 euros."]
        ),
    )
    assert (transcript.status, transcript.scored) == ("finished", True)
    assert [m.role for m in transcript.messages] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    first = transcript.messages[2]
    assert (first.content, first.reasoning) == ("Let me see.", "First look.")
    assert [c.name for c in first.tool_calls] == ["count_till"]
    look, move = (step.calls[0].observation for step in transcript.steps[:2])
    assert json.loads(look.text) == {"success": True, "data": made.env.call("count_till").value}
    assert look.changes == ()
    assert {c["path"] for c in move.changes} >= {"/accounts/A-2001/balance", "/accounts/A-2002/balance"}
    assert made.env.diff() == list(move.changes)
    assert transcript.steps[2].answer == Observation("", ends=True)


def test_a_transcript_is_json(episode: Make) -> None:
    transcript = play(episode(), ScriptedPolicy([[TRANSFER], text_call("no\ud800", {"x": "\ud800"}), "Done."]))
    plain = json.loads(json.dumps(transcript.to_json(), allow_nan=False))
    assert plain["status"] == "finished"
    assert plain["scored"] is True
    assert plain["limits"]["steps"] == 30
    assert [m["role"] for m in plain["messages"]] == [m.role for m in transcript.messages]
    assert plain["steps"][0]["calls"][0]["result"]["changes"]
    assert plain["steps"][1]["calls"][0]["result"]["code"] == "unknown_tool"


def test_each_step_has_its_own_changes(episode: Make) -> None:
    transcript = play(episode(), ScriptedPolicy([[TRANSFER, ("count_till", {}), TRANSFER], "Done."]))
    one, look, two = (record.observation for record in transcript.steps[0].calls)
    assert look.changes == ()
    balance = "/accounts/A-2001/balance"
    [first] = [c for c in one.changes if c["path"] == balance]
    [second] = [c for c in two.changes if c["path"] == balance]
    assert first["value"] == second["before"]


def test_parallel_calls_run_in_order_and_are_paired_by_id(episode: Make) -> None:
    asked = (
        ToolCall("tc-b", "account_details", '{"account_id": "A-2002"}'),
        ToolCall("tc-a", "transfer", json.dumps(TRANSFER[1])),
        ToolCall("tc-c", "account_details", '{"account_id": "A-2002"}'),
    )
    transcript = play(episode(), ScriptedPolicy([Message("assistant", tool_calls=asked), "Done."]))
    told = [m for m in transcript.messages if m.role == "tool"]
    assert (
        [m.tool_call_id for m in told] == ["tc-b", "tc-a", "tc-c"] == [c.id for c in transcript.messages[2].tool_calls]
    )
    before, _, after = results(transcript)
    assert before["data"] != after["data"]


def test_calls_without_ids_of_their_own_get_some(episode: Make) -> None:
    """Missing ones, two that are equal, and those of an earlier step."""
    look = ("count_till", "{}")
    moves = [
        Message("assistant", tool_calls=(ToolCall("", *look), ToolCall("x", *look), ToolCall("x", *look))),
        Message("assistant", tool_calls=(ToolCall("x", *look),)),
        text_call("count_till") + text_call("count_till"),
        text_call("count_till"),
        "Done.",
    ]
    transcript = play(episode(), ScriptedPolicy(moves))
    asked = [c.id for m in transcript.messages for c in m.tool_calls]
    assert len(set(asked)) == len(asked) == 7
    assert asked == [m.tool_call_id for m in transcript.messages if m.role == "tool"]
    assert "x" in asked


# -- what an agent does wrong is an observation, and the episode goes on

WRONG: dict[str, tuple[Any, str, str]] = {
    "D2: JSON in JSON, native": (
        Message("assistant", tool_calls=(ToolCall("1", "account_details", json.dumps('{"account_id": "A-2001"}')),)),
        "invalid_argument", "The arguments must be a JSON object, not text.",
    ),
    "D2: JSON in JSON in JSON, as text": (
        text_call("account_details", json.dumps('{"account_id": "A-2001"}')),
        "invalid_argument", "The arguments must be a JSON object, not text.",
    ),
    "arguments that are a list": (text_call("account_details", ["A-2001"]), "invalid_argument", "not a list"),
    "arguments that are no JSON": (
        Message("assistant", tool_calls=(ToolCall("1", "account_details", "{account_id: A-2001}"),)),
        "invalid_argument", "The arguments are not a JSON object",
    ),
    "an argument twice": (
        '<tool_call>{"name": "account_details", "arguments": {"account_id": "A-2001", "account_id": "A-2002"}}</tool_call>',
        "invalid_argument", "the key account_id is given twice",
    ),
    "a number that is none": (
        '<tool_call>{"name": "transfer", "arguments": {"amount": NaN}}</tool_call>', "invalid_argument", "NaN is not a JSON number",
    ),
    "no arguments where some are needed": (text_call("account_details"), "invalid_argument", "account_id"),
    "an unknown argument, Z4": (text_call("count_till", {"bogus": 1}), "invalid_argument", "unknown argument bogus"),
    "an unknown tool, C1": (text_call("verify", {}), "unknown_tool", "verify"),
    "a method of the environment, C1": (text_call("__init__", {}), "unknown_tool", "__init__"),
    "a rule": ([(*TRANSFER[:1], {**TRANSFER[1], "amount": 1_000_000})], "refused", ""),
}  # fmt: skip


@pytest.mark.parametrize(("move", "code", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_call_is_an_error_result_and_the_episode_goes_on(
    episode: Make, move: Any, code: str, message: str
) -> None:
    made = episode()
    transcript = play(made, ScriptedPolicy([move, text_call("count_till"), "Done."]))
    wrong, right = results(transcript)
    assert wrong["success"] is False
    assert message in wrong["error"]
    assert right["success"] is True
    assert transcript.status == "finished"
    assert transcript.steps[0].calls[0].observation.code == code
    assert made.env.diff() == []


@pytest.mark.parametrize("policy", ["lenient", "strict"])
def test_one_policy_for_text_and_native_calls(episode: Make, policy: str) -> None:
    """D1: what is said of "40" for a number does not hang on how the call came."""
    arguments = {**TRANSFER[1], "amount": "40"}
    native = Message("assistant", tool_calls=(ToolCall("1", "transfer", json.dumps(arguments)),))
    outcomes = []
    for move in (native, text_call("transfer", arguments), text_call("transfer", json.dumps(arguments))):
        made = episode(policy=policy)
        [result] = results(play(made, ScriptedPolicy([move, "Done."])))
        outcomes.append((result, made.env.diff()))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0][0]["success"] is (policy == "lenient")


def test_a_call_that_cannot_be_read_is_told(episode: Make) -> None:
    broken = "Now.\n<tool_call>{'name': 'count_till'}</tool_call>"
    policy = ScriptedPolicy([broken, text_call("count_till"), "Done."])
    transcript = play(episode(), policy)
    wrong, right = results(transcript)
    assert wrong["success"] is False
    assert "text stands in double quotes" in wrong["error"]
    assert right["success"] is True
    assert transcript.status == "finished"
    assert transcript.steps[0].problems
    assert transcript.steps[0].calls == []
    shown, told = policy.asked[1][-2:]
    assert shown.content == broken, "the agent sees what it wrote"
    assert (told.role, told.tool_call_id, told.is_error) == ("tool", "", True)


def test_good_calls_beside_a_bad_one_are_run(episode: Make) -> None:
    transcript = play(episode(), ScriptedPolicy([text_call("count_till") + "<tool_call>{</tool_call>", "Done."]))
    assert [r["success"] for r in results(transcript)] == [True, False]
    assert [m.tool_call_id != "" for m in transcript.messages if m.role == "tool"] == [True, False]


def test_a_call_in_thinking_is_not_run(episode: Make) -> None:
    """G6. The agent is told, should the reply hold nothing else."""
    made = episode()
    transcript = play(made, ScriptedPolicy([f"<think>{text_call(*TRANSFER)}</think>", "Done."]))
    assert made.env.diff() == []
    [told] = results(transcript)
    assert told["error"].endswith("A call inside <think> is not run; write it after </think>.")


def test_many_problems_are_told_shortly(episode: Make) -> None:
    transcript = play(episode(), ScriptedPolicy(["</tool_call>" * 500, "Done."]))
    [told] = results(transcript)
    assert told["error"].endswith("There are 497 more such problems.")


def test_an_agent_that_is_never_understood_comes_to_an_end(episode: Make) -> None:
    transcript = play(episode(), ScriptedPolicy(lambda _: "<tool_call>"), Limits(faults=4))
    assert (transcript.status, transcript.scored, len(transcript.steps)) == ("agent_error", True, 4)
    assert "4 replies in a row" in transcript.reason


def test_faults_in_a_row_are_what_counts(episode: Make) -> None:
    bad, good = "<tool_call>", text_call("count_till")
    transcript = play(episode(), ScriptedPolicy([bad, bad, good, bad, bad, good, "Done."]))
    assert transcript.status == "finished"


@pytest.mark.parametrize(
    "move",
    [
        Turn(Message("assistant", "I will " + text_call(*TRANSFER)), "length"),
        TruncatedError("cut off", reply=Reply(Message("assistant", text_call(*TRANSFER) + " and"), "length")),
    ],
    ids=["turn", "error"],
)
def test_a_reply_that_was_cut_off_is_not_run(episode: Make, move: Any) -> None:
    """G2: how it ended is looked at first; what was cut off is not sent again."""
    made = episode()
    policy = ScriptedPolicy([move, "Done."])
    transcript = play(made, policy)
    assert made.env.diff() == []
    assert transcript.status == "finished"
    [told] = results(transcript)
    assert told["error"].startswith("The reply was cut off")
    assert [m.role for m in policy.asked[1]] == ["system", "user", "tool"]
    assert transcript.steps[0].finish == "length"
    assert transcript.steps[0].message is not None


def test_an_empty_reply_is_told(episode: Make) -> None:
    transcript = play(episode(), ScriptedPolicy(["  ", EmptyReplyError("the reply is empty"), "Done."]))
    assert [r["error"] for r in results(transcript)] == ["The reply is empty: write a message or a call."] * 2
    assert transcript.status == "finished"


# -- limits


def test_steps(episode: Make) -> None:
    transcript = play(episode(), ScriptedPolicy(lambda _: text_call("count_till")), Limits(steps=5))
    assert (transcript.status, transcript.scored, len(transcript.steps)) == ("step_limit", True, 5)


def test_calls_in_a_reply(episode: Make) -> None:
    made = episode()
    transcript = play(
        made, ScriptedPolicy([[("count_till", {}), ("count_till", {}), TRANSFER], "Done."]), Limits(calls=2)
    )
    assert [r["success"] for r in results(transcript)] == [True, True, False]
    assert results(transcript)[2]["error"] == "A reply may hold 2 calls; this one was not run."
    assert made.env.diff() == []


def test_tokens(episode: Make) -> None:
    turn = Turn(Message("assistant", text_call("count_till")), spent=Spent(Usage(90, 10), attempts=2, cost=7))
    transcript = play(episode(), ScriptedPolicy(lambda _: turn), Limits(tokens=250))
    assert (transcript.status, len(transcript.steps)) == ("token_limit", 3)
    spent = transcript.spent
    assert (spent.usage.tokens_in, spent.usage.tokens_out, spent.attempts, spent.cost) == (270, 30, 6, 21)


def test_an_unknown_cost_stays_unknown(episode: Make) -> None:
    """F5: unknown is not 0."""
    turns = [Turn(Message("assistant", text_call("count_till")), spent=Spent(cost=cost)) for cost in (5, None)]
    assert play(episode(), ScriptedPolicy([*turns, "Done."])).spent.cost is None


@pytest.mark.parametrize("name", ["steps", "calls", "tokens", "call_seconds", "seconds", "faults"])
def test_limits_are_above_0(name: str) -> None:
    with pytest.raises(UsageError, match=f"the limit {name} is a number above 0"):
        replace(Limits(), **{name: 0})


# -- what fails around the agent is never scored


class Sleeper:
    """A policy that hangs, and may refuse to end."""

    name = "sleeper"

    def __init__(self, stubborn: bool = False) -> None:
        self.stubborn = stubborn
        self.cancelled = False

    async def reply(self, messages: Sequence[Message], tools: Sequence[Any]) -> Turn:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                self.cancelled = True
                if not self.stubborn:
                    raise


async def hang(_: str) -> str | None:
    await asyncio.sleep(3600)
    return ""


@pytest.mark.parametrize("stubborn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_hung_model_call_ends_by_its_deadline(episode: Make, stubborn: bool) -> None:
    """F5. One that does not even end when it is cancelled is left behind."""
    policy, began = Sleeper(stubborn), time.monotonic()
    transcript = play(episode(), policy, Limits(call_seconds=0.1))
    assert time.monotonic() - began < SOON
    assert (transcript.status, transcript.scored) == ("deadline", False)
    assert transcript.reason == "the agent did not answer within 0.1 s"
    assert policy.cancelled


def test_a_hung_user_ends_by_the_deadline(episode: Make) -> None:
    transcript = play(episode(hang), ScriptedPolicy(["Hello?"]), Limits(call_seconds=0.1))
    assert (transcript.status, transcript.scored) == ("deadline", False)
    assert transcript.reason == "the user did not answer within 0.1 s"


def test_the_deadline_of_the_episode(episode: Make) -> None:
    async def slow(_: str) -> str:
        await asyncio.sleep(0.05)
        return "Go on."

    transcript = play(episode(slow), ScriptedPolicy(lambda _: "Hello?"), Limits(seconds=0.3, steps=1000))
    assert (transcript.status, transcript.scored) == ("deadline", False)
    assert transcript.reason == "the episode took 0.3 s"
    assert len(transcript.steps) < 10


def test_a_user_that_fails_in_turn_3(episode: Make) -> None:
    """F4: status infra_error, no reward."""
    answers = iter(["One.", "Two."])

    async def user(_: str) -> str:
        for answer in answers:
            return answer
        raise ServerError("user: HTTP 500")

    transcript = play(episode(user), ScriptedPolicy(lambda _: "Hello?"))
    assert (transcript.status, transcript.scored, len(transcript.steps)) == ("infra_error", False, 3)
    assert transcript.reason == "the user: user: HTTP 500"


FAILURES: dict[str, tuple[BaseException, str, bool]] = {
    "no key": (AccessError("no key"), "infra_error", False),
    "the server": (ServerError("HTTP 500"), "infra_error", False),
    "a time-out of the backend": (DeadlineError("no complete answer within 5 s"), "deadline", False),
    "a bug": (KeyError("x"), "infra_error", False),
    "cancelled within": (asyncio.CancelledError(), "infra_error", False),
    "refused": (RefusedError("the model declined"), "agent_error", True),
    "context, G4": (ContextError("the context is too long"), "context_exceeded", True),
}


@pytest.mark.parametrize(("error", "status", "scored"), FAILURES.values(), ids=FAILURES.keys())
def test_failures_of_the_model(episode: Make, error: BaseException, status: str, scored: bool) -> None:
    policy = ScriptedPolicy([[TRANSFER], error])
    transcript = play(episode(), policy)
    assert (transcript.status, transcript.scored) == (status, scored)
    assert len(policy.asked) == 2
    assert len(transcript.steps[0].calls) == 1


def test_a_context_that_the_first_message_does_not_fit_into_says_nothing_of_the_agent(episode: Make) -> None:
    transcript = play(episode(), ScriptedPolicy([ContextError("the context is too long")]))
    assert (transcript.status, transcript.scored) == ("context_exceeded", False)


def test_a_policy_that_gives_nonsense(episode: Make) -> None:
    class Odd:
        name = "odd"

        async def reply(self, messages: Any, tools: Any) -> Any:
            return {"content": "hello"}

    transcript = play(episode(), Odd())
    assert (transcript.status, transcript.reason) == ("infra_error", "the agent gave an object of dict and not a turn")


@pytest.mark.parametrize("part", ["tools", "opening", "call", "say"])
def test_a_world_that_raises(episode: Make, part: str) -> None:
    class Broken(EnvironmentEpisode):
        def __getattribute__(self, name: str) -> Any:
            if name == part:
                raise RuntimeError("the world is gone")
            return super().__getattribute__(name)

    made = episode()
    transcript = play(Broken(made.env, made.task), ScriptedPolicy([[TRANSFER], "Done."]))
    assert (transcript.status, transcript.scored) == ("infra_error", False)
    assert transcript.reason.endswith("RuntimeError: the world is gone")
    asked = [c.id for m in transcript.messages for c in m.tool_calls]
    assert asked == [m.tool_call_id for m in transcript.messages if m.role == "tool"], "every call has its result"


def test_a_bug_in_the_world_is_not_the_agent_s(episode: Make) -> None:
    class Buggy(EnvironmentEpisode):
        def call(self, name: str, arguments: str) -> Observation:
            return replace(Observation.error("The tool failed.", "internal"), broken="The tool failed. KeyError('x')")

    made = episode()
    transcript = play(Buggy(made.env, made.task), ScriptedPolicy([[TRANSFER]]))
    assert (transcript.status, transcript.reason) == ("infra_error", "The tool failed. KeyError('x')")


def test_a_tool_that_ends_the_episode(episode: Make) -> None:
    class Submitting(EnvironmentEpisode):
        def call(self, name: str, arguments: str) -> Observation:
            if name == "submit":
                return Observation('{"success": true, "data": null}', ends=True)
            return super().call(name, arguments)

    made = episode()
    transcript = play(Submitting(made.env, made.task), ScriptedPolicy([[("submit", {}), TRANSFER]]))
    assert transcript.status == "finished"
    assert [r["success"] for r in results(transcript)] == [True, False]
    assert made.env.diff() == []


# -- users


def test_a_user_is_talked_to(episode: Make) -> None:
    heard: list[str] = []

    async def user(text: str) -> str | None:
        heard.append(text)
        return "From A-2001, please." if len(heard) == 1 else None

    policy = ScriptedPolicy(["From which account?", [TRANSFER], "Done."])
    transcript = play(episode(user), policy)
    assert heard == ["From which account?", "Done."]
    assert policy.asked[1][-1] == Message("user", "From A-2001, please.")
    assert transcript.status == "finished"


def test_text_beside_calls_is_not_for_the_user(episode: Make) -> None:
    heard: list[str] = []

    async def user(text: str) -> str | None:
        heard.append(text)
        return None

    play(episode(user), ScriptedPolicy(["I look." + text_call("count_till"), "Odd. <tool_call>", "Done."]))
    assert heard == ["Done."]


# -- ends from outside


def test_cancelling_from_another_thread(episode: Make) -> None:
    loop = Loop(episode(), Sleeper())
    threading.Timer(0.1, loop.cancel).start()
    began = time.monotonic()
    transcript = asyncio.run(loop.run())
    assert (transcript.status, transcript.scored) == ("cancelled", False)
    assert time.monotonic() - began < SOON


def test_a_task_that_is_cancelled(episode: Make) -> None:
    loop = Loop(episode(), Sleeper())

    async def run() -> None:
        task = asyncio.create_task(loop.run())
        await asyncio.sleep(0.05)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert loop.transcript.status == "cancelled"


def test_a_budget_ends_the_run_and_not_only_the_episode(episode: Make) -> None:
    loop = Loop(episode(), ScriptedPolicy([[TRANSFER], BudgetError("the limit of $1 is reached")]))
    with pytest.raises(BudgetError):
        asyncio.run(loop.run())
    assert (loop.transcript.status, loop.transcript.scored) == ("cancelled", False)
    assert len(loop.transcript.steps) == 2


def test_steps_are_heard_of(episode: Make) -> None:
    heard: list[Step] = []
    transcript = asyncio.run(Loop(episode(), ScriptedPolicy([[TRANSFER], "Done."]), listen=heard.append).run())
    assert heard == transcript.steps
    assert all(step.seconds >= 0 for step in heard)


def test_a_thousand_steps_are_cheap(episode: Make) -> None:
    """The loop itself costs little beside a model: a thousand steps in seconds."""
    began = time.process_time()
    policy: Policy = ScriptedPolicy(lambda _: [("count_till", {})])
    transcript = play(episode(), policy, Limits(steps=1000))
    assert len(transcript.steps) == 1000
    assert time.process_time() - began < 3


def test_episodes_side_by_side_are_apart(episode: Make) -> None:
    """F3: eight rollouts of one task in one process have eight traces, equal to those played alone."""
    moves = [[TRANSFER], text_call("count_till"), "Done."]

    async def together() -> list[Transcript]:
        return await asyncio.gather(*(Loop(episode(), ScriptedPolicy(list(moves))).run() for _ in range(8)))

    alone = play(episode(), ScriptedPolicy(list(moves)))
    for one in asyncio.run(together()):
        assert one.messages == alone.messages
        assert [s.calls for s in one.steps] == [s.calls for s in alone.steps]
