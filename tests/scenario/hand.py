"""Scenarios over the bank that were written by hand, with goals and guards as they follow from the solution's changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from envscaler.scenario.goals import derive
from envscaler.scenario.model import Answer, Fact, Goal, Reveal, Scenario, Source, Step, User
from envscaler.scenario.world import World
from tests.once import FOLDER, checked

TASK = Source("task")


@cache
def world(name: str = "bank") -> World:
    return World.of(checked(FOLDER / f"{name}.yaml"))


def found(step: int, path: str) -> Source:
    return Source("found", step=step, path=path)


def made(of: World, task: str, steps: Sequence[Step], *, goals: Sequence[Goal] = (), **more: Any) -> Scenario:
    """A scenario whose goals and guards follow from what its solution changes; ``goals`` come after those."""
    env = of.environment.new()
    changes: list[tuple[int, Sequence[Mapping[str, Any]]]] = []
    for index, step in enumerate(steps):
        before = env.snapshot()
        env.call(step.tool, dict(step.arguments), step.actor)
        ops = env.diff(before)
        if ops:
            changes.append((index, ops))
    derived = derive(env, changes)
    return Scenario(
        more.pop("kind", "complete"),
        of.ref,
        task,
        (*derived.goals, *goals),
        derived.guards,
        tuple(steps),
        id="by-hand",
        **more,
    )


def transfer() -> Scenario:
    task = (
        "Ingrid Solberg (ingrid@example.com) wants to put by money: move 340.55 from her current account to her savings "
        'account that holds 12500, and write "Put by" on it.'
    )
    steps = [
        Step("find_customers", {"words": "ingrid@example.com"}, {"words": TASK}),
        Step("customer_overview", {"customer_id": "C-1001"}, {"customer_id": found(0, "/0/customer_id")}),
        Step(
            "transfer",
            {"from_account": "A-2001", "to_account": "A-2002", "amount": 340.55, "text": "Put by"},
            {
                "from_account": found(1, "/accounts/0/account_id"),
                "to_account": found(1, "/accounts/1/account_id"),
                "amount": TASK,
                "text": TASK,
            },
        ),
    ]
    return made(world(), task, steps)


def two_wishes() -> Scenario:
    task = "1. Block the card K-3001, it was lost.\n2. Freeze the account A-2004 for suspected fraud."
    steps = [
        Step("block_card", {"card_id": "K-3001"}, {"card_id": TASK}),
        Step(
            "freeze_account",
            {"account_id": "A-2004", "reason": "suspected_fraud"},
            {"account_id": TASK, "reason": TASK},
        ),
    ]
    return made(world(), task, steps)


def new_account() -> Scenario:
    task = "Open a savings account for the customer C-1005 and pay 200 in cash into it."
    steps = [
        Step("open_account", {"customer_id": "C-1005", "kind": "savings"}, {"customer_id": TASK, "kind": TASK}),
        Step(
            "deposit_cash",
            {"account_id": "A-2011", "amount": 200},
            {"account_id": found(0, "/account_id"), "amount": TASK},
        ),
    ]
    return made(world(), task, steps)


def refusal() -> Scenario:
    steps = [
        Step(
            "withdraw_cash",
            {"account_id": "A-2005", "amount": 20},
            {"account_id": TASK, "amount": TASK},
            refused="only_open_accounts_pay",
        )
    ]
    goal = Goal('refusal == "only_open_accounts_pay"', "the wish is refused, as only open accounts pay")
    return made(
        world(), "Pay out 20 in cash from account A-2005.", steps, goals=[goal], kind="refusal",
        outcome="refusal", submitted={"refusal": "only_open_accounts_pay"},
    )  # fmt: skip


def answer() -> Scenario:
    steps = [Step("account_details", {"account_id": "A-2006"}, {"account_id": TASK})]
    goal = Goal('answer.available == 689.75 and answer.status == "open"', "what is available, and the status")
    return made(
        world(), "How much is available on account A-2006, and is it open, frozen or closed?", steps, goals=[goal],
        kind="answer", answers=(Answer("available", "money"), Answer("status", {"enum": ["open", "frozen", "closed"]})),
        submitted={"answer": {"available": 689.75, "status": "open"}},
    )  # fmt: skip


def asked() -> Scenario:
    steps = [
        Step(
            "set_card_limit",
            {"card_id": "K-3003", "daily_limit": 350},
            {"card_id": TASK, "daily_limit": Source("fact", "limit")},
        )
    ]
    user = User((Fact("limit", 350, "The card should pay up to 350 a day."),), stop_when="the limit is set")
    return made(world(), "Change what the card K-3003 pays a day.", steps, kind="missing_parameter", user=user)


def held_back() -> Scenario:
    steps = [Step("block_card", {"card_id": "K-3001"}, {"card_id": TASK})]
    reveal = (Reveal(("block_card",), text="Cards can be blocked now."),)
    return made(world(), "Block the card K-3001.", steps, kind="missing_tool", reveal=reveal)


ALL = (transfer, two_wishes, new_account, refusal, answer, asked, held_back)
