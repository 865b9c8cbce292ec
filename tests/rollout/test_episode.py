"""The episode for those who bring the actions: every form of action, the reward at the end, nothing after it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from envscaler.agents import Limits
from envscaler.errors import UsageError
from envscaler.llm.messages import Message, ToolCall
from envscaler.plugin.roles import Said
from envscaler.rollout.episode import Episode
from envscaler.rollout.stage import Stage
from envscaler.rollout.users.facts import FactsUser
from envscaler.scenario.model import Goal, Scenario
from tests.rollout.troupe import moves, played_once

Bank = dict[str, Scenario]
ARGUMENTS = {"from_account": "A-2001", "to_account": "A-2002", "amount": 40}
TRANSFER = {"name": "transfer", "arguments": ARGUMENTS}
WRITTEN = f"<tool_call>{json.dumps(TRANSFER)}</tool_call>"


@pytest.fixture
def episode(stage: Stage) -> Episode:
    return Episode(stage)


@pytest.mark.parametrize(
    "action",
    [
        TRANSFER,
        {"name": "transfer", "arguments": json.dumps(ARGUMENTS)},
        [TRANSFER],
        ToolCall("t1", "transfer", json.dumps(ARGUMENTS)),
        (ToolCall("t1", "transfer", json.dumps(ARGUMENTS)),),
        WRITTEN,
        f"<think>So.</think>I move it. {WRITTEN}",
        Message("assistant", "I move it.", tool_calls=(ToolCall("t1", "transfer", json.dumps(ARGUMENTS)),)),
        {"content": "", "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "transfer", "arguments": ARGUMENTS}}]},
    ],
)  # fmt: skip
def test_every_form_of_action(episode: Episode, bank: Bank, action: Any) -> None:
    seen = episode.reset(bank["complete"])
    assert [m.role for m in seen.messages] == ["system", "user"]
    assert {tool.name for tool in seen.tools} >= {"transfer", "submit"}
    seen, reward, done, info = episode.step(action)
    assert (reward, done, info["status"]) == (0.0, False, "running")
    assert [m.role for m in seen.messages] == ["tool"]
    assert json.loads(seen.text)["success"] is True
    assert info["calls"][0]["result"]["changes"]
    seen, reward, done, info = episode.step("I moved 40 euros.")
    assert (seen.messages, reward, done) == ((), 1.0, True)
    assert (info["status"], info["goals"], info["guards"]) == ("finished", [True, True], [True])


def test_parallel_calls_and_unreadable_ones(episode: Episode, bank: Bank) -> None:
    episode.reset(bank["complete"])
    seen, _, _, info = episode.step([{"name": "count_till"}, TRANSFER, {"name": "nothing"}])
    assert [json.loads(m.content)["success"] for m in seen.messages] == [True, True, False]
    assert [call["id"] for call in info["calls"]] == [m.tool_call_id for m in seen.messages]
    seen, _, done, info = episode.step("<tool_call>{bad")
    assert not done
    assert info["problems"]
    assert json.loads(seen.text)["success"] is False


def test_an_action_does_what_a_reply_does_in_a_rollout(stage: Stage, episode: Episode, bank: Bank) -> None:
    script = ["<tool_call>{bad", WRITTEN, "Done."]
    episode.reset(bank["complete"])
    for action in script:
        episode.step(action)
    mine, theirs = episode.trajectory("x"), played_once(stage, bank["complete"], moves(*script))
    assert mine.messages == theirs.messages
    assert mine.steps == theirs.steps
    assert (mine.status, mine.reward, mine.offers) == (theirs.status, theirs.reward, theirs.offers)


def test_after_the_end_there_is_no_step(episode: Episode, bank: Bank) -> None:
    with pytest.raises(UsageError, match="begins with reset"):
        episode.step("Hello.")
    episode.reset(bank["refusal"])
    _, reward, done, info = episode.step({"name": "submit", "arguments": {"refusal": "daily_limit"}})
    assert (reward, done, info["reason"]) == (1.0, True, "the agent submitted refusal")
    for _ in range(2):
        with pytest.raises(UsageError, match="the episode is over"):
            episode.step("Hello.")
    assert episode.reset(bank["complete"]).messages
    assert not episode.done


@pytest.mark.parametrize("action", [b"bytes", 5, [], ["text"], {"name": 5}, [{"arguments": {}}]])
def test_what_is_no_action_is_refused_and_costs_nothing(episode: Episode, bank: Bank, action: Any) -> None:
    episode.reset(bank["complete"])
    with pytest.raises(UsageError):
        episode.step(action)
    episode.step(TRANSFER)
    assert episode.step("Done.")[1] == 1.0


def test_limits_are_inside(stage: Stage, bank: Bank) -> None:
    episode = Episode(stage, limits=Limits(steps=1))
    episode.reset(bank["complete"])
    _, reward, done, info = episode.step(TRANSFER)
    assert (reward, done, info["status"]) == (1.0, True, "step_limit")


def test_with_a_user(stage: Stage, bank: Bank) -> None:
    episode = Episode(stage, user=FactsUser)
    seen = episode.reset(bank["complete"])
    assert seen.messages[1].content == "I'd like to move some money between my accounts."
    seen, reward, done, _ = episode.step("What amount?")
    assert (seen.text, reward, done) == ("It is 40 euros.", 0.0, False)
    episode.step(TRANSFER)
    assert episode.step("All done.")[1:3] == (1.0, True)


def test_a_broken_user_gives_no_reward(stage: Stage, bank: Bank) -> None:
    class Broken(FactsUser):
        async def answer(self, text: str) -> Said:
            raise OSError("the line is dead")

    episode = Episode(stage, user=Broken)
    episode.reset(bank["complete"])
    _, reward, done, info = episode.step("Hello?")
    assert (reward, done, info["status"]) == (None, True, "infra_error")


def test_a_goal_that_cannot_be_told_gives_no_reward(episode: Episode, bank: Bank) -> None:
    wrong = replace(bank["complete"], goals=(Goal("final.till.cash / (final.till.cash - final.till.cash) > 1"),))
    episode.reset(wrong.named())
    _, reward, done, info = episode.step("Done.")
    assert (reward, done) == (None, True)
    assert info["errors"]


def test_within_an_event_loop(stage: Stage, bank: Bank) -> None:
    async def many() -> list[float | None]:
        async def one() -> float | None:
            episode = Episode(stage, user=FactsUser)
            await episode.areset(bank["complete"])
            await episode.astep(TRANSFER)
            return (await episode.astep("All done."))[1]

        return await asyncio.gather(*(one() for _ in range(8)))

    assert asyncio.run(many()) == [1.0] * 8
