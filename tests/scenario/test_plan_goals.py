"""Goals and guards that follow from a plan: false before, true after, one for each write that anything depends on."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import pytest

from envscaler.scenario.goals import Derived, Loose, derive
from envscaler.scenario.model import Scenario, Step
from envscaler.scenario.plan import Plan
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.search import SearchSettings, plans
from envscaler.scenario.world import World
from tests.scenario.hand import world
from tests.scenario.test_search import found, specs


def scenario(of: World, plan: Plan) -> Scenario:
    steps = tuple(Step(c.tool, c.arguments, c.sources, c.refused, c.actor) for c in plan.calls)
    return Scenario("complete", of.ref, "…", plan.goals, plan.guards, steps)


def after(name: str, *calls: tuple[str, Mapping[str, Any]], loose: Loose | None = None) -> Derived:
    """What follows from calls on the spec's own state."""
    env = world(name).environment.new()
    changes: list[tuple[int, Sequence[Mapping[str, Any]]]] = []
    for n, (tool, arguments) in enumerate(calls):
        before = env.snapshot()
        env.call(tool, dict(arguments)).unwrap()
        changes.append((n, env.diff(before)))
    return derive(env, changes, loose)


# -- of plans


@specs()
def test_goals_are_false_at_the_start_and_true_at_the_end_and_the_guard_holds(name: str) -> None:
    of = world(name)
    for plan in found(name):
        scorer, env = Scorer.of(of, scenario(of, plan)), of.environment.new()
        start = scorer.score(env)
        assert not any(start.goals), plan.goals
        assert not start.errors
        for call in plan.calls:
            env.call(call.tool, dict(call.arguments), call.actor)
        end = scorer.score(env)
        assert end.reward == 1.0, (end, plan.goals)


@specs()
def test_without_any_of_its_writes_a_plan_fails_its_goals(name: str) -> None:
    of = world(name)
    for plan in found(name):
        scorer, env = Scorer.of(of, scenario(of, plan)), of.environment.new()
        for out in plan.writes:
            env.reset()
            for n, call in enumerate(plan.calls):
                if n != out:
                    env.call(call.tool, dict(call.arguments), call.actor)
            assert scorer.score(env).reward < 1.0


@specs()
def test_goals_say_which_writes_bring_them_about(name: str) -> None:
    for plan in found(name):
        assert {n for goal in plan.goals for n in goal.steps} <= set(plan.writes)
        assert all(goal.steps and goal.text for goal in plan.goals)


def test_a_text_that_is_left_open_is_in_no_goal() -> None:
    of = world()
    wanted = SearchSettings((1,), free=1.0, tools=("transfer",))
    for plan in islice(plans(of, of.base(), wanted, random.Random(2)), 6):
        call = plan.calls[-1]
        if "text" in call.arguments:
            assert call.sources["text"].kind == "free"
            assert all(call.arguments["text"] not in goal.expr for goal in plan.goals)


# -- by form


def test_a_changed_field_is_one_goal_with_its_value() -> None:
    made = after("bank", ("freeze_account", {"account_id": "A-2001", "reason": "suspected_fraud"}))
    assert [goal.expr for goal in made.goals] == [
        'final.accounts["A-2001"].status == "frozen"',
        'final.accounts["A-2001"].frozen_for == "suspected_fraud"',
    ]
    assert made.guards[0].only is not None
    assert made.guards[0].only.fields == {"accounts": {"A-2001": ("status", "frozen_for")}}


def test_a_removed_record_is_a_goal_and_allowed_by_the_guard() -> None:
    made = after("bank", ("cancel_standing_order", {"order_id": "S-0001"}))
    assert [goal.expr for goal in made.goals] == ['"S-0001" not in final.standing_orders']
    assert made.guards[0].only is not None
    assert made.guards[0].only.removed == {"standing_orders": ("S-0001",)}


def test_new_records_that_are_alike_are_counted_together() -> None:
    pay = ("deposit_cash", {"account_id": "A-2001", "amount": 20})
    goals = [goal for goal in after("bank", pay, pay).goals if "postings" in goal.expr]
    assert len(goals) == 1
    assert goals[0].expr.endswith("== 2")
    assert goals[0].steps == (0, 1)


def test_a_reference_to_a_new_record_is_told_by_what_that_is_and_not_by_its_key() -> None:
    made = after(
        "bank",
        ("open_account", {"customer_id": "C-1003", "kind": "savings"}),
        (
            "add_payee",
            {"customer_id": "C-1005", "name": "Nest egg", "to": {"bank": "northgate", "account_id": "A-2011"}},
        ),
    )
    assert not any("A-2011" in goal.expr for goal in made.goals)
    assert any("r.to.account_id not in initial.accounts" in goal.expr for goal in made.goals)


def test_what_is_left_open_is_in_no_goal() -> None:
    call = ("transfer", {"from_account": "A-2001", "to_account": "A-2002", "amount": 5, "text": "whatever"})
    closed, opened = after("bank", call), after("bank", call, loose=Loose(texts=frozenset({"whatever"})))
    assert any('"whatever"' in goal.expr for goal in closed.goals)
    assert not any('"whatever"' in goal.expr for goal in opened.goals)
    assert len(opened.goals) == len(closed.goals)


@pytest.mark.parametrize(
    ("name", "calls", "expected"),
    [
        pytest.param(
            "ports/file_system",
            [("mkdir", {"dir_name": "new"})],
            'count(k for k, r in final.root.items() if k not in initial.root and r.name == "new" and '
            'r.parent is not None and r.parent == "E1" and r.type == "directory") == 1',
            id="a node of a tree",
        ),
        pytest.param(
            "ports/file_system",
            [("cd", {"folder": "letters"})],
            'sorted(final.shell.cwd) == ["letters", "nora"]',
            id="a list of a single record",
        ),
        pytest.param(
            "bank",
            [("update_contact", {"customer_id": "C-1002", "changes": {"city": "Bonn"}})],
            'final.customers["C-1002"].contact.city == "Bonn"',
            id="a part of a struct",
        ),
        pytest.param(
            "ports/ticket_desk",
            [("create_ticket", {"title": "A", "priority": 2})],
            "final.desk.ticket_counter == ",
            id="a counter",
        ),
    ],
)  # fmt: skip
def test_goals_by_the_form_of_what_changed(name: str, calls: list[tuple[str, Any]], expected: str) -> None:
    assert any(goal.expr.startswith(expected) for goal in after(name, *calls).goals), after(name, *calls).goals
