"""What it costs to score an episode: 14 goals and a guard over a bank with 200 accounts, beside a check written by hand."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from benchmarks.report import Figure, paired, seconds
from envscaler.diagnostics import Span
from envscaler.runtime import Environment
from envscaler.scenario.expressions import Expressions, place_of
from envscaler.scenario.model import Goal, Guard, Only, Scenario
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.world import World
from envscaler.spec.check import check_text
from envscaler.spec.report import Report

__all__ = ["run"]

ACCOUNTS = 200
SPEC = Path(__file__).resolve().parents[1] / "specs" / "bank.yaml"
MOVED = [(f"A-{3000 + n}", f"A-{3100 + n}", 10.5 + n) for n in range(4)]
CARDS = ("K-4001", "K-4002")


def run() -> list[Figure]:
    """Evaluations a second, with the check by hand beside them, and what a new goal costs to compile."""
    world = World.of(check_text(str(SPEC), SPEC.read_text(encoding="utf-8")))
    scenario, env = _scenario(world), _played(world)
    first = world.environment.new(_state()).state
    scorer = Scorer.of(world, scenario)
    assert scorer.score(env).reward == 1.0
    assert by_hand(first, copy.deepcopy(env.state)) == 1.0
    wrong = env.fork()
    wrong.call("block_card", {"card_id": "K-4003"})
    assert (scorer.score(wrong).reward, by_hand(first, wrong.state)) == (0.0, 0.0)
    one, other, _ = paired(lambda: scorer.score(env), lambda: by_hand(first, copy.deepcopy(env.state)), 5, 60)
    return [
        Figure(
            "evaluations a second, 14 goals and a guard", 1 / one, "/s", 10_000, True,
            f"{one * 1e6:.0f} µs; by hand on a copied state {1 / other:.0f}/s, {other * 1e6:.0f} µs",
        ),
        *_compiling(world),
    ]  # fmt: skip


def _compiling(world: World) -> list[Figure]:
    """Goals of a form that is new, and goals that differ from earlier ones in their literals, as those of a batch do."""
    expressions = Expressions(world)
    where = Span("goals", 1, 1, 1, 1)
    slots = expressions.slots((), where, Report())
    numbers = iter(range(1000))

    def batch() -> None:
        nonlocal expressions
        for goal in _goals(next(numbers)):
            assert expressions.compile(place_of(goal, where), slots)[0] is not None

    def first() -> None:
        nonlocal expressions
        expressions = Expressions(world)
        batch()

    forms, new = 5, min(seconds(first, 1) for _ in range(5))
    known = min(seconds(batch, 1) for _ in range(15)) / 14
    return [
        Figure("compiling a goal of a new form", new * 1e3 / forms, "ms", 10, False),
        Figure("compiling one that differs in literals", known * 1e3, "ms", 0.2, False),
    ]


def _state() -> dict[str, Any]:
    """100 customers with a current and a savings account each, all with one posting, and a card for each current one."""
    customers, accounts, postings, cards = {}, {}, {}, {}
    for n in range(ACCOUNTS):
        key, owner = f"A-{3000 + n}", f"C-{2000 + n % 100}"
        customers[owner] = {
            "name": f"Customer {n % 100}", "email": f"c{n % 100}@example.com", "born": "1984-11-02", "since": "2019-03-18",
            "contact": {"phone": f"+47 22 55{n % 100:04d}", "street": f"Road {n}", "postcode": f"{n:04d}", "city": "Oslo"},
        }  # fmt: skip
        kind = "current" if n < 100 else "savings"
        accounts[key] = {"customer_id": owner, "kind": kind, "balance": 1000 + n, "opened": "2019-03-18"}
        postings[f"P-{n + 1:06d}"] = {
            "account_id": key, "kind": "cash", "amount": 1000 + n, "text": "Cash deposit", "booked": "2031-01-02T06:00:00Z",
        }  # fmt: skip
        if kind == "current":
            cards[f"K-{4000 + n}"] = {"account_id": key, "last_four": f"{n:04d}", "daily_limit": 100}
    return {"customers": customers, "accounts": accounts, "postings": postings, "cards": cards, "till": {"cash": 4200}}


def _played(world: World) -> Environment:
    env = world.environment.new(_state())
    for source, target, amount in MOVED:
        assert env.call("transfer", {"from_account": source, "to_account": target, "amount": amount}).ok
    for card in CARDS:
        assert env.call("block_card", {"card_id": card}).ok
    return env


def _goals(more: int = 0) -> list[str]:
    """Two balances for each transfer, what is booked for it, and the cards. ``more`` changes the literals."""
    goals = []
    for n, (source, target, amount) in enumerate(MOVED):
        moved = amount + more
        goals.append(f'final.accounts["{source}"].balance == {1000 + n - moved}')
        goals.append(f'final.accounts["{target}"].balance == {1100 + n + moved}')
        booked = f'p.account_id == "{source}" and p.kind == "transfer" and p.amount == {-moved}'
        goals.append(f"count(k for k, p in final.postings.items() if k not in initial.postings and {booked}) == 1")
    return goals + [f'final.cards["K-{4001 + n + more}"].status == "blocked"' for n in range(len(CARDS))]


def _scenario(world: World) -> Scenario:
    changed = {key: ("balance",) for source, target, _ in MOVED for key in (source, target)}
    only = Only({"accounts": changed, "cards": dict.fromkeys(CARDS, ("status",))}, {"postings": 8})
    goals = tuple(map(Goal, _goals()))
    return Scenario("complete", world.ref, "Move and block.", goals, (Guard(only=only),), (), state=_state())


def by_hand(first: dict[str, Any], last: dict[str, Any]) -> float:
    """The same 14 goals and the guard on plain dicts, as a check function of a benchmark has them."""
    met = 0
    accounts, postings, before = last["accounts"], last["postings"], first["postings"]
    for n, (source, target, amount) in enumerate(MOVED):
        met += round(accounts[source]["balance"] - (1000 + n - amount), 2) == 0
        met += round(accounts[target]["balance"] - (1100 + n + amount), 2) == 0
        found = [
            p for k, p in postings.items()
            if k not in before and p["account_id"] == source and p["kind"] == "transfer" and p["amount"] == -amount
        ]  # fmt: skip
        met += len(found) == 1
    met += sum(last["cards"][card]["status"] == "blocked" for card in CARDS)
    moved = {key for source, target, _ in MOVED for key in (source, target)}
    for name, allowed, fields in (("accounts", moved, ("balance",)), ("cards", set(CARDS), ("status",))):
        for key, record in last[name].items():
            old = first[name].get(key, {})
            for field, value in old.items():
                if record[field] != value and not (key in allowed and field in fields):
                    return 0.0
    same = all(first[name].keys() == last[name].keys() for name in ("accounts", "cards", "customers"))
    kept = (
        all(last["customers"][key] == one for key, one in first["customers"].items()) and first["till"] == last["till"]
    )
    booked = len(postings) <= len(before) + 8 and all(postings[k] == one for k, one in before.items())
    return met / 14 if same and kept and booked else 0.0
