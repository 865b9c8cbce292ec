"""Scenarios written by models: kept when author, solver and checker agree, each of whom sees only its own."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from envscaler.llm import Message, Models, Reply, Request, ToolCall, Usage
from envscaler.llm.backends.scripted import ScriptedBackend
from envscaler.scenario.llm.asking import Unusable
from envscaler.scenario.llm.authoring import AuthorSettings, author
from envscaler.scenario.llm.rewording import reword
from envscaler.scenario.model import Scenario
from envscaler.scenario.proof import ProofSettings, prove
from tests.assess.models import replied, scripted
from tests.scenario.hand import transfer, world

TASK = (
    "My name is Ingrid Solberg, my e-mail is ingrid@example.com. Please move 340.55 from my current account to my savings "
    'account that holds 12500, and write "Put by" on it.'
)
POINTS = [
    {"text": "the savings have grown", "expr": 'final.accounts["A-2002"].balance == 12840.55'},
    {
        "text": "it says what it is for",
        "expr": 'count(k for k, p in final.postings.items() if k not in initial.postings and p.text == "Put by") == 2',
    },
]


def calls(*made: tuple[str, dict[str, Any]]) -> Reply:
    import json

    tools = tuple(ToolCall(f"c{n}", tool, json.dumps(arguments)) for n, (tool, arguments) in enumerate(made))
    return Reply(Message("assistant", tool_calls=tools), "tool_calls", Usage(50, 5))


def says(text: str) -> Reply:
    return Reply(Message("assistant", text), "stop", Usage(50, 5))


SOLVING = (
    calls(("find_customers", {"words": "ingrid@example.com"}), ("count_till", {})),
    calls(("customer_overview", {"customer_id": "C-1001"}), ("list_cards", {"account_id": "A-9999"})),
    calls(("transfer", {"from_account": "A-2001", "to_account": "A-2002", "amount": 340.55, "text": "Put by"})),
    says("It is done."),
)


@contextmanager
def three(
    tasks: Sequence[Any] = ({"task": TASK},), solving: Sequence[Any] = SOLVING, points: Sequence[Any] = (POINTS,)
) -> Iterator[tuple[Models, dict[str, ScriptedBackend]]]:
    with scripted(
        more={"backoff": 0.01},
        planner=[replied("Task", task) for task in tasks],
        agent=list(solving),
        coder=[replied("Points", {"points": one}) for one in points],
    ) as found:
        yield found


def written(models: Models, **settings: Any) -> Scenario:
    return models.run(author(world(), None, models, AuthorSettings(tries=1, **settings))).named()


def text_of(request: Request) -> str:
    return "\n".join(message.content for message in request.messages)


def test_what_three_models_agree_on_is_proved() -> None:
    with three() as (models, _):
        made = written(models)
    assert [step.tool for step in made.solution] == ["find_customers", "customer_overview", "transfer"]
    assert made.solution[2].sources["from_account"].kind == "found"
    assert made.solution[0].to_json()["arguments"] == {"words": "ingrid@example.com"}
    proof = prove(world(), made, settings=ProofSettings(elsewhere=False))
    assert proof.ok, proof.reasons


def test_goals_as_the_checker_wrote_them() -> None:
    with three() as (models, _):
        made = written(models, goals="written")
    assert [goal.text for goal in made.goals] == ["the savings have grown", "it says what it is for"]
    assert prove(world(), made, settings=ProofSettings(elsewhere=False)).ok


def test_none_sees_the_text_of_another() -> None:
    with three([{"task": TASK, "facts": [{"name": "Colour", "value": "blue", "text": "My card is blue."}]}]) as (
        models,
        backends,
    ):
        written(models)
    checker = text_of(backends["coder"].requests[0])
    solver = text_of(backends["agent"].requests[0])
    assert TASK in checker
    assert TASK in solver
    assert "My card is blue." in solver
    assert "It is done." not in checker
    assert "12840.55" not in solver
    assert "find_customers" not in checker


def test_what_the_checker_gets_wrong_comes_back_to_it() -> None:
    wrong = [
        {"expr": 'final.accounts["A-2002"].balanse == 1'},
        {"expr": 'final.accounts["A-2002"].status == "open"'},
        {"expr": "final.accounts["},
    ]
    with three(points=[wrong, POINTS]) as (models, backends):
        written(models)
    told = backends["coder"].requests[1].messages[-1].content
    assert "did you mean 'balance'" in told
    assert "it is true already" in told
    assert told.count("`final.accounts") == 3


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"points": [[{"expr": 'final.accounts["A-2002"].balance == 99'}]]}, "checks-disagree", "after the solution"),
        ({"points": [[{"expr": "final.nowhere"}]] * 3}, "checks-unusable", "nowhere"),
        ({"solving": [says("I cannot do that.")]}, "solver-changed-nothing", "I cannot do that"),
        ({"solving": [says("")] * 30}, "solver-unfinished", "agent_error"),
        ({"tasks": ["not JSON"] * 3}, "llm-invalid-reply", "Task"),
        ({"tasks": [{"task": "Move some money from one account of mine to the other."}]}, "argument-untold", "words is"),
    ],
)  # fmt: skip
def test_what_does_not_agree_is_dropped_with_its_reason(given: dict[str, Any], code: str, words: str) -> None:
    with three(**given) as (models, _), pytest.raises(Unusable, match=words) as found:
        written(models)
    assert found.value.code == code


def test_the_author_is_told_why_its_task_was_not_kept() -> None:
    vague = {"task": "Move some money from one account of mine to the other."}
    with three([vague, {"task": TASK}], [*SOLVING, *SOLVING], [POINTS, POINTS]) as (models, backends):
        made = models.run(author(world(), None, models))
    assert made.task == TASK
    assert "neither told nor found" in text_of(backends["planner"].requests[1])


def test_a_solver_may_do_more_than_is_needed() -> None:
    there_and_back = calls(
        ("freeze_account", {"account_id": "A-2001", "reason": "customer_request"}),
        ("unfreeze_account", {"account_id": "A-2001"}),
    )
    with three(solving=[SOLVING[0], there_and_back, *SOLVING[1:]]) as (models, _):
        made = written(models)
    assert [step.tool for step in made.solution] == ["find_customers", "customer_overview", "transfer"]


def test_tokens_are_filed_by_stage() -> None:
    with three() as (models, _):
        written(models)
        stages = {attempt.stage for attempt in models.ledger.attempts()}
    assert stages == {"task", "solution", "checks"}


def test_other_words_for_a_proved_task() -> None:
    scenario = transfer()
    short = "Put money by for Ingrid, please: ingrid@example.com"
    good = (
        "Hi, Ingrid Solberg (ingrid@example.com) here. Could you move 340.55 to my savings, the one with 12500 on it, "
        'from my current account? Mark it "Put by".'
    )
    with scripted(planner=[replied("Text", {"text": short}), replied("Text", {"text": good})]) as (models, backends):
        made = models.run(reword(world(), scenario, models.role("planner"), random.Random(1)))
    assert made.task == good
    assert "amount: 340.55" in backends["planner"].requests[1].messages[-1].content
    assert prove(world(), made, settings=ProofSettings(elsewhere=False)).ok
    assert made.id != replace(scenario.named()).id


def test_words_that_leave_out_a_value_are_not_kept() -> None:
    with (
        scripted(planner=[replied("Text", {"text": "Put money by for Ingrid."})] * 3) as (models, _),
        pytest.raises(Unusable, match="does not say") as found,
    ):
        models.run(reword(world(), transfer(), models.role("planner"), random.Random(1)))
    assert found.value.code == "reworded-untold"
