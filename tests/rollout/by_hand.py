"""Scenarios of the bank, written by hand: one of each kind that a rollout treats in a way of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envscaler.scenario.model import (
    Answer,
    Fact,
    Goal,
    Guard,
    Only,
    Reveal,
    Scenario,
    SpecRef,
    Step,
    User,
)

MOVED = Only(
    fields={"accounts": {"A-2001": ("balance",), "A-2002": ("balance",)}, "till": {"": ("running_low",)}},
    added={"postings": 2},
)


def scenarios(spec: SpecRef) -> dict[str, Scenario]:
    """By kind, each with its id."""
    made = (transfer(spec), question(spec), forbidden(spec), missing_tool(spec), users_step(spec))
    return {one.kind: one.named() for one in made}


def transfer(spec: SpecRef) -> Scenario:
    """Something to change, all of it told or known to the user."""
    return Scenario(
        kind="complete",
        spec=spec,
        task="Move 40 euros from my account A-2001 to my account A-2002.",
        goals=(
            Goal('final.accounts["A-2001"].balance == initial.accounts["A-2001"].balance - money(40)'),
            Goal('final.accounts["A-2002"].balance == initial.accounts["A-2002"].balance + money(40)'),
        ),
        guards=(Guard(only=MOVED),),
        solution=(
            Step("account_details", {"account_id": "A-2001"}),
            Step("transfer", {"from_account": "A-2001", "to_account": "A-2002", "amount": 40}),
        ),
        user=User(
            facts=(
                Fact("source_account", "A-2001", "It comes from A-2001."),
                Fact("target_account", "A-2002", "It goes to A-2002."),
                Fact("amount", 40, "It is 40 euros."),
            ),
            unknown=("iban",),
            stop_when="the money has been moved",
            opening="I'd like to move some money between my accounts.",
        ),
    )


def question(spec: SpecRef) -> Scenario:
    """Something to find out."""
    return Scenario(
        kind="answer",
        spec=spec,
        task="What is the balance of account A-2006, and is it open?",
        goals=(Goal('answer.balance == final.accounts["A-2006"].balance'), Goal("answer.open == True")),
        guards=(Guard(only=Only()),),
        solution=(Step("account_details", {"account_id": "A-2006"}),),
        answers=(Answer("balance", "money", "In euros."), Answer("open", "bool")),
        submitted={"answer": {"balance": -310.25, "open": True}},
    )


def forbidden(spec: SpecRef) -> Scenario:
    """Something that a rule forbids."""
    return Scenario(
        kind="refusal",
        spec=spec,
        task="Pay 9000 euros from A-2001 to A-2002 today.",
        goals=(Goal('refusal == "daily_limit"'),),
        guards=(Guard(only=Only()),),
        solution=(),
        outcome="refusal",
        submitted={"refusal": "daily_limit"},
    )


def missing_tool(spec: SpecRef) -> Scenario:
    """Something that needs a tool which is not on offer at first."""
    from dataclasses import replace

    return replace(
        transfer(spec), kind="missing_tool", reveal=(Reveal(("transfer",), after=1, text="You may use transfer now."),)
    )


def users_step(spec: SpecRef) -> Scenario:
    """Something that the user has to do with a tool of its own."""
    return Scenario(
        kind="shared",
        spec=spec,
        task="Help me to pay 18.90 at the Corner Bakery with my card K-3001, which I do myself.",
        goals=(Goal('final.accounts["A-2001"].balance == initial.accounts["A-2001"].balance - money(18.9)'),),
        guards=(),
        solution=(Step("pay_by_card", {"card_id": "K-3001", "amount": 18.9, "shop": "Corner Bakery"}, actor="user"),),
    )


def rows(found: Mapping[str, Scenario]) -> list[dict[str, Any]]:
    """The scenarios as a file has them."""
    return [one.to_json() for one in found.values()]
