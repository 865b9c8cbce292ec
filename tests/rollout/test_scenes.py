"""What an agent can do in a scenario: its tools, `submit`, what is revealed, limits; and what it cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from envscaler.agents import Limits
from envscaler.rollout.agents.simple import DONE, NoopAgent, ReferenceAgent
from envscaler.rollout.scene import ScenarioEpisode
from envscaler.rollout.stage import Stage
from envscaler.scenario.model import Goal, Scenario
from envscaler.scenario.world import submit_name
from tests.rollout.troupe import facts, moves, played_once, results, said

Bank = dict[str, Scenario]
TRANSFER = ("transfer", {"from_account": "A-2001", "to_account": "A-2002", "amount": 40})


def test_the_whole_task_at_once(stage: Stage, bank: Bank) -> None:
    one = played_once(stage, bank["complete"], moves([TRANSFER], "Moved."))
    system, user = one.messages[:2]
    assert stage.world.environment.new().doc.strip() in system.content
    assert user.content == bank["complete"].task
    assert (one.status, one.reason, one.reward, one.goals, one.guards) == (
        "finished", "the agent answered", 1.0, (True, True), (True,),
    )  # fmt: skip
    (call,) = one.steps[0]["calls"]
    assert {c["path"] for c in call["changes"]} >= {"/accounts/A-2001/balance", "/accounts/A-2002/balance"}


def test_what_is_done_besides_costs_the_reward(stage: Stage, bank: Bank) -> None:
    more = ("block_card", {"card_id": "K-3001"})
    one = played_once(stage, bank["complete"], moves([TRANSFER, more], "Moved."))
    assert (one.reward, one.goals, one.guards) == (0.0, (True, True), (False,))
    assert "K-3001" in one.broken[0]
    assert played_once(stage, bank["complete"], moves([TRANSFER, more], "Moved."), mode="paper").reward == 1.0


# -- submit


def submit(**arguments: Any) -> list[tuple[str, dict[str, Any]]]:
    return [("submit", arguments)]


def test_submitting_an_answer(stage: Stage, bank: Bank) -> None:
    one = played_once(stage, bank["answer"], moves(submit(answer={"balance": "-310.25", "open": "true"})))
    assert (one.reward, one.status, one.reason) == (1.0, "finished", "the agent submitted answer")
    assert one.submitted == {"answer": {"balance": -310.25, "open": True}}
    assert played_once(stage, bank["answer"], moves(submit(answer={"balance": 1, "open": True}))).reward == 0.5
    assert played_once(stage, bank["answer"], moves("It is -310.25, and open.")).reward == 0.0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "answer: is missing"),
        ({"answer": {"balance": 1}}, "answer.open: is missing"),
        ({"answer": {"balance": "much", "open": True}}, "answer.balance: expected an amount"),
        ({"answer": {"balance": 1, "open": True}, "refusal": "not_found"}, "not both"),
        ({"refusal": "because"}, "refusal: expected one of "),
        ({"answr": {}}, "unknown field"),
        ([1], "must be a JSON object"),
    ],
)
def test_what_cannot_be_submitted_is_told_and_the_episode_goes_on(
    stage: Stage, bank: Bank, arguments: Any, problem: str
) -> None:
    right = submit(answer={"balance": -310.25, "open": True})
    one = played_once(stage, bank["answer"], moves([("submit", arguments)], right))
    assert problem in results(one)[0]
    assert one.reward == 1.0


def test_refusing_with_a_reason(stage: Stage, bank: Bank) -> None:
    assert played_once(stage, bank["refusal"], moves(submit(refusal="daily_limit"))).reward == 1.0
    assert played_once(stage, bank["refusal"], moves(submit(refusal="not_possible"))).reward == 0.0
    tool = next(t for t in ScenarioEpisode(stage, bank["complete"]).tools if t.name == "submit")
    reasons = tool.parameters["properties"]["refusal"]["enum"]
    assert set(reasons) == {*stage.world.rules, "not_found", "not_possible", "missing_information"}


def test_calls_after_submitting_are_refused(stage: Stage, bank: Bank) -> None:
    episode = ScenarioEpisode(stage, bank["complete"])
    one = played_once(stage, bank["complete"], moves([*submit(answer={}), TRANSFER]))
    assert "was not run" in results(one)[1]
    assert one.reward == 0.0
    episode.call("submit", "{}")
    assert episode.call(*TRANSFER[:1], json.dumps(TRANSFER[1])).code == "over"


def test_a_spec_with_a_tool_called_submit_keeps_it() -> None:
    assert submit_name({"transfer"}) == "submit"
    assert submit_name({"submit"}) == "submit_task"
    assert submit_name({"submit", "submit_task", "end_task"}) == "submit_2"


@pytest.mark.parametrize(
    "name", ["score", "verify", "__init__", "_state", "reset", "court_freeze", "pay_by_card", "final"]
)
def test_nothing_but_declared_tools_can_be_called(stage: Stage, bank: Bank, name: str) -> None:
    one = played_once(stage, bank["complete"], moves([(name, {"account_id": "A-2001"})], [TRANSFER], DONE))
    assert f"{name}" in results(one)[0]
    assert '"success": false' in results(one)[0]
    assert one.steps[0]["calls"][0]["code"] == "unknown_tool"
    assert one.reward == 1.0


# -- what is revealed


def test_a_tool_that_is_missing_at_first(stage: Stage, bank: Bank) -> None:
    one = played_once(stage, bank["missing_tool"], moves([TRANSFER], "I have no such tool.", [TRANSFER], DONE))
    assert [json.loads(text)["success"] for text in results(one)] == [False, True]
    assert said(one, "user")[1:] == ["You may use transfer now."]
    assert [step for step, _ in one.offers] == [1, 3]
    assert one.reward == 1.0
    episode = ScenarioEpisode(stage, bank["missing_tool"])
    assert "transfer" not in {tool.name for tool in episode.tools}


def test_submitting_too_early_reveals_it_as_well(stage: Stage, bank: Bank) -> None:
    one = played_once(stage, bank["missing_tool"], moves(submit(refusal="not_possible"), [TRANSFER], submit(answer={})))
    assert json.loads(results(one)[0]) == {"success": True, "data": "You may use transfer now."}
    assert (one.reward, one.submitted) == (1.0, {"answer": {}})


def test_in_a_conversation_it_appears_after_a_message(stage: Stage, bank: Bank) -> None:
    one = played_once(stage, bank["missing_tool"], moves("Which account does it go to?", [TRANSFER], DONE), facts())
    assert said(one, "user") == [
        "I'd like to move some money between my accounts.",
        "It comes from A-2001. It goes to A-2002.\n\nYou may use transfer now.",
    ]  # fmt: skip
    assert one.reward == 1.0


# -- limits


def test_what_was_reached_at_a_limit_is_scored(stage: Stage, bank: Bank) -> None:
    one = played_once(stage, bank["complete"], moves([TRANSFER], [TRANSFER]), limits=Limits(steps=1))
    assert (one.status, one.reward) == ("step_limit", 1.0)
    half = played_once(stage, bank["complete"], moves("<tool_call>", "<tool_call>", "<tool_call>"))
    assert (half.status, half.reward) == ("agent_error", 0.0)


def test_a_reply_that_was_not_kept_stands_in_its_step(stage: Stage, bank: Bank) -> None:
    cut = {"message": {"content": "I beg"}, "finish": "length"}
    one = played_once(stage, bank["complete"], moves(cut, "<tool_call>{bad", [TRANSFER], DONE))
    assert one.steps[0]["dropped"]["content"] == "I beg"
    assert one.steps[0]["finish"] == "length"
    assert "could not be read" in one.steps[1]["problems"][0]
    assert [one.messages[step["message"]].role for step in one.steps[1:]] == ["assistant"] * 3
    assert one.reward == 1.0


def test_a_deadline_is_set_aside(stage: Stage, bank: Bank) -> None:
    import asyncio

    class Slow(NoopAgent):
        async def reply(self, messages: Any, tools: Any) -> Any:
            await asyncio.sleep(5)

    one = played_once(stage, bank["complete"], Slow, limits=Limits(call_seconds=0.05))
    assert (one.status, one.aside, one.reward) == ("deadline", True, None)
    assert "reward" not in one.to_json()


def test_a_goal_that_cannot_be_told_is_no_failure_of_the_agent(stage: Stage, bank: Bank) -> None:
    wrong = replace(
        bank["complete"], goals=(Goal('final.accounts["A-2001"].balance / (final.till.cash - final.till.cash) > 1'),)
    )
    one = played_once(stage, wrong.named(), ReferenceAgent)
    assert (one.status, one.reward, one.aside) == ("checker_error", None, False)
    assert "division by zero" in one.errors[0]
