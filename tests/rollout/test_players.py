"""The agents and users that ship, in both settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envscaler.agents import Limits
from envscaler.errors import UsageError
from envscaler.llm.errors import ServerError
from envscaler.plugin.roles import Part
from envscaler.rollout.agents.model import native_agent, text_agent
from envscaler.rollout.agents.random import RandomAgent
from envscaler.rollout.agents.simple import DONE, HumanAgent, NoopAgent, ReferenceAgent, scripted_agent
from envscaler.rollout.stage import Stage
from envscaler.rollout.users.facts import FactsUser
from envscaler.rollout.users.model import MARKER, LlmUser
from envscaler.scenario.model import Scenario
from tests.rollout.troupe import Models, facts, moves, played, played_once, said

Bank = dict[str, Scenario]
TRANSFER = {"from_account": "A-2001", "to_account": "A-2002", "amount": 40}
USERS = pytest.mark.parametrize("user", [None, facts()], ids=["alone", "conversation"])


@USERS
def test_the_reference_earns_all_and_doing_nothing_earns_nothing(stage: Stage, bank: Bank, user: Any) -> None:
    for kind, one in bank.items():
        if kind == "shared" and user is None:
            continue
        assert played_once(stage, one, ReferenceAgent, user).reward == 1.0, kind
        assert played_once(stage, one, NoopAgent, user).reward == 0.0, kind


@USERS
def test_chance_earns_little(stage: Stage, bank: Bank, user: Any) -> None:
    rewards, calls = [], 0
    for seed in range(4):
        for one in bank.values():
            found = played_once(stage, one, RandomAgent, user, seed=seed)
            assert found.status in ("finished", "step_limit"), found.reason
            rewards.append(found.reward or 0.0)
            calls += sum(call["ok"] for step in found.steps for call in step.get("calls", ()))
    assert sum(rewards) / len(rewards) < 0.05
    assert calls > 10, "calls that fit"
    twice = [played_once(stage, bank["complete"], RandomAgent, user, seed=1).content_hash for _ in range(2)]
    assert twice[0] == twice[1]


def test_a_user_s_own_step(stage: Stage, bank: Bank) -> None:
    one = played_once(stage, bank["shared"], ReferenceAgent, facts())
    (call,) = one.steps[0]["user"]
    assert (call["tool"], call["ok"]) == ("pay_by_card", True)
    assert "/accounts/A-2001/balance" in {change["path"] for change in call["changes"]}
    assert said(one, "user")[1] == "I did that."


def test_a_file_of_moves(stage: Stage, bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "moves.json"
    file.write_text(json.dumps({bank["complete"].id: [[["transfer", TRANSFER]], "Moved."]}), encoding="utf-8")
    settings = {"agent_settings": {"file": str(file)}}
    assert played_once(stage, bank["complete"], scripted_agent, **settings).reward == 1.0
    assert said(played_once(stage, bank["answer"], scripted_agent, **settings), "assistant") == [DONE]
    with pytest.raises(UsageError, match=r"nowhere\.json"):
        played(stage, bank["complete"], scripted_agent, agent_settings={"file": "nowhere.json"})
    with pytest.raises(UsageError, match="did you mean file"):
        played(stage, bank["complete"], scripted_agent, agent_settings={"fiel": "x"})


def test_a_person(stage: Stage, bank: Bank) -> None:
    shown: list[str] = []
    typed = iter(["transfer amount=", "transfer from_account=A-2001 to_account=A-2002 amount=40", "Moved."])

    def ask(text: str) -> str:
        shown.append(text)
        return next(typed)

    def human(part: Part) -> HumanAgent:
        from dataclasses import replace

        return HumanAgent(replace(part, ask=ask))

    assert played_once(stage, bank["complete"], human).reward == 1.0
    assert bank["complete"].task in shown[0]
    assert "Tools: " in shown[0]
    assert len(shown) == 3
    assert '"success": true' in shown[2]


# -- models as agents


def test_a_model_that_calls_and_one_that_writes(stage: Stage, bank: Bank) -> None:
    call = {"id": "t1", "name": "transfer", "arguments": json.dumps(TRANSFER)}
    native = Models(agent=[{"message": {"content": "I move it.", "reasoning": "why", "tool_calls": [call]}}, "Done."])
    one = played_once(stage, bank["complete"], native_agent, models=native)
    assert one.reward == 1.0
    assert (one.messages[2].content, one.messages[2].reasoning) == ("I move it.", "why")
    assert [m.tool_call_id for m in one.messages if m.role == "tool"] == ["t1"]
    written = f'<think>why</think><tool_call>{{"name": "transfer", "arguments": {json.dumps(TRANSFER)}}}</tool_call>'
    other = played_once(stage, bank["complete"], text_agent, models=Models(agent=[written, "Done."]))
    assert other.reward == 1.0
    assert other.messages[2].reasoning == "why"
    request = native.backends["agent"].requests[0]
    assert request.max_tokens == 4096


def test_replies_of_every_bad_form_end_an_episode_as_the_agent_s_fault(stage: Stage, bank: Bank) -> None:
    bad = ["<tool_call>{bad", {"message": {"content": "x"}, "finish": "length"}, {"message": {"content": ""}}]
    for form in (native_agent, text_agent):
        one = played_once(stage, bank["complete"], form, models=Models(agent=bad))
        assert (one.status, one.reward, len(one.steps)) == ("agent_error", 0.0, 3), one.reason


def test_settings_of_models(stage: Stage, bank: Bank) -> None:
    models = Models(agent=["Done."])
    settings = {"temperature": 0.7, "max_tokens": 99, "reasoning": "kept"}
    played(stage, bank["complete"], native_agent, models=models, agent_settings=settings)
    (request,) = models.backends["agent"].requests
    assert (request.temperature, request.max_tokens) == (0.7, 99)
    for wrong in ({"reasoning": "sometimes"}, {"max_tokens": "many"}, {"max_tokens": 0}, {"temprature": 1}):
        with pytest.raises(UsageError):
            played(stage, bank["complete"], native_agent, models=models, agent_settings=wrong)


def test_calls_without_tags_count_where_they_are_wanted(stage: Stage, bank: Bank) -> None:
    bare = f'{{"name": "transfer", "arguments": {json.dumps(TRANSFER)}}}'
    for calls, reward in (("bare", 1.0), ("tagged", 0.0)):
        models = Models(agent=[bare, "Done."])
        (one,) = played(stage, bank["complete"], text_agent, models=models, agent_settings={"calls": calls})
        assert one.reward == reward
    with pytest.raises(UsageError, match="calls are tagged or bare, not 'any'"):
        played(stage, bank["complete"], text_agent, models=models, agent_settings={"calls": "any"})
    with pytest.raises(UsageError, match="calls"):
        played(stage, bank["complete"], native_agent, models=models, agent_settings={"calls": "bare"})


# -- users


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("What amount should I move?", "It is 40 euros."),
        ("And from which source account?", "It comes from A-2001."),
        ("Please give me more details.", "It comes from A-2001."),
        ("What is your IBAN?", "I don't know."),
        ("What is your shoe size?", "I don't know."),
        ("One moment.", "Please go on."),
        ("So the amount is done?", "It is 40 euros."),
    ],
)
def test_the_user_with_facts(stage: Stage, bank: Bank, text: str, answer: str) -> None:
    one = played_once(stage, bank["complete"], moves(text, DONE), facts())
    assert said(one, "user") == ["I'd like to move some money between my accounts.", answer]
    assert one.reason == "the user is content"


def test_the_user_with_facts_has_little_patience(stage: Stage, bank: Bank) -> None:
    one = played_once(stage, bank["complete"], moves(*["Hm."] * 9), facts(patience=3))
    assert (one.status, one.reason, len(one.steps)) == ("finished", "the user ran out of patience", 4)


def test_a_model_as_the_user(stage: Stage, bank: Bank) -> None:
    script = ["40 euros, please.", f"Thanks. {MARKER}"]
    models = Models(user=script)
    agent = moves("How much?", [("transfer", TRANSFER)], "Moved 40 euros.")
    one = played_once(stage, bank["complete"], agent, LlmUser, models=models)
    assert (one.status, one.reason, one.reward) == ("finished", "the user is content", 1.0)
    assert said(one, "user") == ["I'd like to move some money between my accounts.", "40 euros, please.", "Thanks."]
    first, second = models.backends["user"].requests
    prompt = first.messages[0].content
    assert bank["complete"].task in prompt
    assert all(fact.text in prompt for fact in bank["complete"].user.facts)
    assert MARKER in prompt
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "transfer" not in str([m.to_json() for m in second.messages[1:]]), "calls are not shown to the user"
    assert one.usage["user"]["attempts"] == 2


def test_a_model_as_the_user_calls_its_own_tools(stage: Stage, bank: Bank) -> None:
    pay = {
        "name": "pay_by_card",
        "arguments": json.dumps({"card_id": "K-3001", "amount": 18.9, "shop": "Corner Bakery"}),
    }
    models = Models(
        user=["Hello.", {"message": {"content": "", "tool_calls": [{"id": "u1", **pay}]}}, "I paid.", MARKER]
    )
    one = played_once(stage, bank["shared"], moves("Please pay now.", "Anything else?"), LlmUser, models=models)
    assert one.reward == 1.0
    assert [call["tool"] for call in one.steps[0]["user"]] == ["pay_by_card"]
    assert {tool.name for tool in models.backends["user"].requests[0].tools} == {"pay_by_card", "open_app"}


def test_a_user_whose_backend_dies_is_not_the_agent_s_fault(stage: Stage, bank: Bank) -> None:
    models = Models(user=lambda request: "Yes?" if len(request.messages) < 7 else ServerError("gone"))
    tried = played(stage, bank["complete"], moves(*["Hello?"] * 9), LlmUser, models=models, retries=2)
    assert [(one.status, one.reward, one.attempt, len(one.steps)) for one in tried] == [
        ("infra_error", None, n, 3) for n in (1, 2, 3)
    ]
    assert all("the user: gone" in one.reason for one in tried)
    assert all("reward" not in one.to_json() and not one.goals for one in tried)


def test_a_user_may_only_say_what_users_say(stage: Stage, bank: Bank) -> None:
    class Odd(FactsUser):
        async def answer(self, text: str) -> Any:
            return "yes"

    (one,) = played(stage, bank["complete"], moves("Hello?"), Odd, retries=0)
    assert one.status == "infra_error"
    assert "the user" in one.reason


def test_the_random_agent_ends_by_itself(stage: Stage, bank: Bank) -> None:
    one = played_once(stage, bank["complete"], RandomAgent, agent_settings={"calls": 2}, limits=Limits(steps=30))
    assert len(one.steps) <= 3
