"""A plan over the bank made by hand, and what is true of every text that a generator writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from envscaler.scenario.model import Goal, Guard, Only, Scenario, Source
from envscaler.scenario.plan import Plan, PlannedCall
from envscaler.scenario.search import Question, Refused

TOLD = Source("task")
QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
ZONE = re.compile(r"\b[A-Z][a-z]+/\w+")


def found(step: int, path: str) -> Source:
    return Source("found", step=step, path=path)


INGRID, CURRENT, SAVINGS = ("customers", "C-1001"), ("accounts", "A-2001"), ("accounts", "A-2002")
_READS = (
    PlannedCall("find_customers", {"words": "Ingrid Solberg"}, "read", {}, (), {"words": TOLD}),
    PlannedCall("customer_overview", {"customer_id": "C-1001"}, "read", {}, (), {"customer_id": found(0, "/0/customer_id")}),
)  # fmt: skip
_DESCRIBED: Mapping[tuple[str, str], Mapping[str, Any]] = {
    INGRID: {"name": "Ingrid Solberg"}, CURRENT: {"kind": "current"}, SAVINGS: {"balance": 12500.0},
}  # fmt: skip
_WITHIN = {CURRENT: INGRID, SAVINGS: INGRID}


def bank_plan() -> Plan:
    """A transfer between two accounts that are found, a payment to a payee told by its key, money for a new account."""
    calls = (
        *_READS,
        PlannedCall(
            "transfer",
            {"from_account": "A-2001", "to_account": "A-2002", "amount": 340.5, "text": "Put by"},
            "write",
            {},
            ({"op": "replace", "path": "/accounts/A-2001/balance", "value": 1500.05},),
            {
                "from_account": found(1, "/accounts/0/account_id"),
                "to_account": found(1, "/accounts/1/account_id"),
                "amount": TOLD,
                "text": TOLD,
            },
        ),
        PlannedCall(
            "pay_payee",
            {"account_id": "A-2006", "payee_id": "Y-0003", "amount": 650, "text": "Rent June", "express": False},
            "write",
            {},
            ({"op": "replace", "path": "/accounts/A-2006/balance", "value": 0},),
            dict.fromkeys(("account_id", "payee_id", "amount", "text", "express"), TOLD),
        ),
        PlannedCall(
            "open_account",
            {"customer_id": "C-1005", "kind": "savings"},
            "write",
            {},
            ({"op": "add", "path": "/accounts/A-2011", "value": {}},),
            dict.fromkeys(("customer_id", "kind"), TOLD),
        ),
        PlannedCall(
            "deposit_cash",
            {"account_id": "A-2011", "amount": 75},
            "write",
            {},
            ({"op": "replace", "path": "/accounts/A-2011/balance", "value": 75},),
            {"account_id": found(4, "/account_id"), "amount": TOLD},
        ),
    )
    goals, guards = (Goal('final.accounts["A-2002"].balance == 12840.50'),), (Guard(only=Only()),)
    about = {2: (CURRENT, SAVINGS), 3: (("accounts", "A-2006"), ("payees", "Y-0003"))}
    return Plan(calls, (), goals, guards, about, _DESCRIBED, _WITHIN)


def bank_refusal() -> Refused:
    """An overdraft for a savings account."""
    call = PlannedCall(
        "set_overdraft",
        {"account_id": "A-2002", "limit": 250},
        "write",
        {},
        (),
        {"account_id": found(1, "/accounts/1/account_id"), "limit": TOLD},
        "overdraft_for_current",
    )
    goal = Goal('refusal == "overdraft_for_current"')
    described = {INGRID: _DESCRIBED[INGRID], SAVINGS: _DESCRIBED[SAVINGS]}
    plan = Plan((*_READS, call), (), (goal,), (Guard(only=Only()),), {2: (SAVINGS,)}, described, {SAVINGS: INGRID})
    return Refused(plan, "overdraft_for_current", "Savings accounts have no overdraft.")


def bank_question() -> Question:
    """What is available on the current account."""
    call = PlannedCall(
        "account_details", {"account_id": "A-2001"}, "read", {}, (), {"account_id": found(1, "/accounts/0/account_id")}
    )
    described = {INGRID: _DESCRIBED[INGRID], CURRENT: _DESCRIBED[CURRENT]}
    plan = Plan((*_READS, call), (), (), (), {}, described, {CURRENT: INGRID})
    return Question("/available", "value", "available", 2840.55, "money", plan=plan)


def faults(text: str) -> list[str]:
    """What is wrong with a text, its quoted parts and time zones aside: marks of a program, stray spaces, an end that is none."""
    plain = ZONE.sub("a zone", QUOTED.sub('"…"', text))
    wrong = {
        "a bracket": r"[{}\[\]]",
        "None, True or False": r"\b(?:None|True|False|null)\b",
        "an underscore": r"\w_\w",
        "two spaces": r"(?<=\S)  ",
        "a space before a mark": r" [.,;?!]",
        "an article twice": r"\b(?:a|an|the) (?:a|an|the)\b",
        "two marks": r"[.,;:][,;:]|\.\.(?!\.)",
        "three blank lines": r"\n\n\n",
    }
    found = [name for name, pattern in wrong.items() if re.search(pattern, plain)]
    return found + ([] if re.search(r"[.!?][\"”]?\Z", text) else ["no end"])


def texts(scenario: Scenario) -> list[str]:
    """All that a person says in a scenario."""
    user = scenario.user
    return [scenario.task, *(fact.text for fact in user.facts), *filter(None, (user.opening, user.stop_when))]
