"""The proof: what is right passes every gate, and a fault in each gate's subject is found with its code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.scenario.essence import Ending, essence
from envscaler.scenario.model import Fact, Goal, Guard, Only, Reveal, Scenario, Source, SpecRef, Step, User
from envscaler.scenario.proof import CODES, GATES, Elsewhere, ProofSettings, prove, replay_elsewhere, settle
from envscaler.scenario.proof import gates as gates_module
from envscaler.scenario.proof.others import near_values
from envscaler.scenario.scoring import Score, Scorer
from envscaler.scenario.states import StateStore
from tests.scenario import hand
from tests.scenario.hand import found, world

HERE = ProofSettings(elsewhere=False)


def codes(scenario: Scenario) -> set[str]:
    return {reason.code for reason in prove(world(), scenario, None, HERE).reasons}


@pytest.mark.parametrize("make", hand.ALL, ids=lambda make: make.__name__)
def test_what_is_right_passes_every_gate(make: Callable[[], Scenario]) -> None:
    proof = prove(world(), make(), None, HERE)
    assert proof.reasons == ()
    assert [gate.name for gate in proof.gates] == [
        name for name in sorted(GATES, key=_place(proof)) if name != "elsewhere"
    ]
    plain = proof.to_json()
    assert plain["ok"] is True
    assert json.loads(json.dumps(plain)) == plain
    assert plain == prove(world(), make(), None, HERE).to_json()


def _place(proof: Any) -> Callable[[str], int]:
    order = [gate.name for gate in proof.gates]
    return lambda name: order.index(name) if name in order else len(order)


def test_three_near_misses_of_each_kind_or_all_that_there_are() -> None:
    for make in hand.ALL:
        near = prove(world(), make(), None, HERE).gate("near")
        assert near is not None
        for kind, misses in near.tried["tried"].items():
            assert len(misses["misses"]) == 3 or misses["spent"], (make.__name__, kind)
            assert all(miss["fails"] or miss["breaks"] for miss in misses["misses"])


def test_near_misses_are_real_calls_whose_ends_differ() -> None:
    scenario = hand.transfer()
    near = prove(world(), scenario, None, HERE).gate("near")
    assert near is not None
    solution = world().start(scenario)
    for step in scenario.solution:
        solution.call(step.tool, dict(step.arguments))
    for miss in near.tried["tried"]["wrong-record"]["misses"]:
        env = world().start(scenario)
        for n, step in enumerate(scenario.solution):
            put = miss["put"] if n == miss["step"] else {}
            assert env.call(step.tool, {**step.arguments, **put}).ok
        assert essence(world(), env.diff()) != essence(world(), solution.diff())


def test_ends_are_compared_without_made_keys_and_incidental_fields() -> None:
    one, other = world().environment.new(), world().environment.new()
    for customer in ("C-1004", "C-1005"):
        one.call("open_account", {"customer_id": customer, "kind": "savings"})
    for customer in ("C-1005", "C-1004"):
        other.call("open_account", {"customer_id": customer, "kind": "savings"})
    assert one.diff() != other.diff()
    ending = Ending(world(), one, one.snapshot())
    assert essence(world(), one.diff()) == essence(world(), other.diff())
    assert ending.like(other)
    other.call("open_account", {"customer_id": "C-1003", "kind": "savings"})
    assert essence(world(), one.diff()) != essence(world(), other.diff())
    assert not ending.like(other)


def test_ends_are_told_apart_by_records_as_by_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[tuple[bool | None, bool]] = set()

    def like(self: Ending, env: Environment) -> bool:
        by_texts = self._essence == essence(self.world, env.diff())
        seen.add((self._by_records(env._state), by_texts))
        return by_texts

    monkeypatch.setattr(Ending, "like", like)
    for make in hand.ALL:
        assert prove(world(), make(), None, HERE).ok
    assert {(True, True), (False, False)} < seen
    assert not {(True, False), (False, True)} & seen


# -- what the issue asks for by name


def test_a_step_left_out() -> None:
    scenario = hand.transfer()
    assert "goal-false-after-solution" in codes(replace(scenario, solution=scenario.solution[:-1]))


def test_the_recipient_out_of_the_text() -> None:
    scenario = hand.transfer()
    assert codes(replace(scenario, task=scenario.task.replace(" that holds 12500", ""))) == {"argument-ambiguous"}
    blocked = hand.held_back()
    assert codes(replace(blocked, task="Block the card.")) == {"argument-untold"}


def test_a_solved_state_and_one_deleted_row() -> None:
    scenario = hand.transfer()
    env, scorer = world().start(scenario), Scorer.of(world(), scenario)
    for step in scenario.solution:
        env.call(step.tool, dict(step.arguments))
    assert scorer.score(env).reward == 1
    assert env.call("cancel_standing_order", {"order_id": "S-0001"}).changed
    assert scorer.score(env, mode="guarded").reward == 0
    assert scorer.score(env, mode="paper").reward == 1


# -- a fault in each gate's subject


def _with_goal(scenario: Scenario, expr: str) -> Scenario:
    return replace(scenario, goals=(*scenario.goals, Goal(expr)))


def _with_step(scenario: Scenario, at: int, **changed: Any) -> Scenario:
    steps = list(scenario.solution)
    steps[at] = replace(steps[at], **changed)
    return replace(scenario, solution=tuple(steps))


def _accounts_by_key() -> Scenario:
    steps = [
        Step("open_account", {"customer_id": "C-1004", "kind": "savings"}),
        Step("open_account", {"customer_id": "C-1005", "kind": "savings"}),
    ]
    made = hand.made(world(), "Open savings accounts for C-1004 and C-1005.", steps)
    return replace(made, goals=(Goal('final.accounts["A-2011"].customer_id == "C-1004"'),))


FAULTS: Mapping[str, Callable[[], Scenario]] = {
    "spec-changed": lambda: replace(hand.transfer(), spec=SpecRef("bank", "sha256:0")),
    "state-invalid": lambda: replace(hand.transfer(), state={"accounts": {"A-1": {"kind": "current"}}}),
    "setup-fails": lambda: replace(hand.transfer(), setup=(Step("no_such_setup", {}),)),
    "no-goals": lambda: replace(hand.transfer(), goals=()),
    "goal-invalid": lambda: _with_goal(hand.transfer(), "final.acounts == 1"),
    "answer-mistyped": lambda: replace(hand.answer(), submitted={"answer": {"available": 689.75}}),
    "refusal-unchecked": lambda: replace(hand.refusal(), goals=(Goal("final.till.cash == 1"),)),
    "refusal-unknown": lambda: replace(hand.refusal(), submitted={"refusal": "no_such_rule"}),
    "user-without-stop": lambda: replace(hand.asked(), user=replace(hand.asked().user, stop_when="")),
    "fact-untold": lambda: replace(hand.asked(), user=replace(hand.asked().user, unknown=("limit",))),
    "reveal-not-needed": lambda: replace(hand.held_back(), reveal=(Reveal(("replace_card",)),)),
    "goal-true-at-start": lambda: _with_goal(hand.transfer(), "final.till.cash == 4200"),
    "guard-false-at-start": lambda: replace(hand.transfer(), guards=(Guard(expr="final.till.cash == 1"),)),
    "goal-error": lambda: _with_goal(hand.transfer(), "1 / (len(final.customers) - 5) > 0"),
    "step-refused": lambda: _with_step(hand.transfer(), 2, arguments={**hand.transfer().solution[2].arguments, "amount": 9e4}),
    "step-not-refused": lambda: _with_step(hand.transfer(), 2, refused="daily_limit"),
    "goal-false-after-solution": lambda: _with_goal(hand.transfer(), "final.till.cash == 1"),
    "guard-broken-by-solution": lambda: replace(hand.transfer(), guards=(Guard(only=Only()),)),
    "idle-scores": lambda: _with_goal(hand.transfer(), "final.till.cash == 4200"),
    "write-not-needed": lambda: replace(
        hand.held_back(), solution=(Step("set_card_limit", {"card_id": "K-3001", "daily_limit": 500}), *hand.held_back().solution)
    ),
    "near-miss-accepted": lambda: replace(hand.transfer(), guards=()),
    "other-way-refused": _accounts_by_key,
    "free-value-locked": lambda: _with_step(
        hand.transfer(), 2, sources={**hand.transfer().solution[2].sources, "text": Source("free")}
    ),
    "argument-untold": lambda: replace(hand.asked(), user=User((Fact("limit", 350, "A bit more."),), stop_when="it is set")),
    "argument-not-found": lambda: _with_step(hand.transfer(), 1, sources={"customer_id": found(0, "/1/customer_id")}),
    "argument-ambiguous": lambda: replace(hand.transfer(), task=hand.transfer().task.replace("12500", "something")),
    "literal-untold": lambda: _with_goal(hand.transfer(), 'final.accounts["A-2001"].balance < 1700'),
    "clause-without-step": lambda: replace(hand.two_wishes(), task=hand.two_wishes().task + "\n3. Close the account A-2009."),
}  # fmt: skip


@pytest.mark.parametrize("code", FAULTS)
def test_a_fault_is_found(code: str) -> None:
    assert code in codes(FAULTS[code]())


def test_every_code_has_a_fault_or_a_test_below() -> None:
    below = {"guard-not-counted", "reward-not-one", "too-few-near-misses", "goal-never-fails", "replay-differs"}
    assert set(FAULTS) | below == set(CODES)


def test_a_scorer_that_forgets_guards_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    score = Scorer.score

    def paper(self: Scorer, env: Environment, submitted: Any = None, mode: Any = "guarded", **more: Any) -> Score:
        found = score(self, env, submitted, "paper")
        return replace(found, mode=mode)

    monkeypatch.setattr(Scorer, "score", paper)
    assert "guard-not-counted" in codes(hand.transfer())


def test_a_scorer_that_gives_too_little_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    score = Scorer.score
    monkeypatch.setattr(Scorer, "score", lambda self, env, s=None, **more: replace(score(self, env, s), reward=0.5))
    assert "reward-not-one" in codes(hand.transfer())


def test_a_goal_that_nothing_fails_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    score = Scorer.score

    def always(self: Scorer, env: Environment, submitted: Any = None, **more: Any) -> Score:
        found = score(self, env, submitted)
        return replace(found, goals=(env.diff() != [] or found.goals[0], *found.goals[1:]))

    scenario = hand.two_wishes()
    monkeypatch.setattr(Scorer, "score", always)
    monkeypatch.setattr(gates_module, "near_misses", lambda *_: {})
    found = codes(scenario)
    assert "goal-never-fails" in found
    assert "too-few-near-misses" in found


# -- elsewhere, and repairs


def test_another_process_comes_to_the_same() -> None:
    states = StateStore()
    name = states.put(world().environment.new().state)
    scenarios = [make() for make in hand.ALL]
    scenarios += [replace(one, state=name) for one in scenarios]
    proved = [(one, prove(world(), one, states, HERE).to_json()) for one in scenarios]
    wrong = json.loads(json.dumps(proved[0][1]))
    wrong["gates"]["solution"]["digest"] = "0" * 16
    with Elsewhere() as other:
        told = replay_elsewhere(world(), [*proved, (scenarios[0], wrong)], states, other)
        assert all(proof["ok"] and proof["gates"]["elsewhere"]["ok"] for proof in told[:-1])
        assert not told[-1]["ok"]
        assert told[-1]["gates"]["elsewhere"]["reasons"][0]["code"] == "replay-differs"
        again = replay_elsewhere(world(), proved[:1], states, other)
        assert again == told[:1]


def test_a_goal_that_holds_already_is_left_out() -> None:
    scenario = hand.transfer()
    settled = settle(world(), _with_goal(scenario, "final.till.cash == 4200"), None, HERE)
    assert settled.proof.ok
    assert settled.scenario.goals == scenario.goals
    assert settled.scenario.proof is not None
    assert "goal-true-at-start" in settled.repairs


def test_a_free_value_that_is_locked_is_unlocked() -> None:
    settled = settle(world(), FAULTS["free-value-locked"](), None, HERE)
    assert "free-value-locked" in settled.repairs


def test_what_is_wrong_otherwise_is_not_repaired() -> None:
    settled = settle(world(), FAULTS["argument-untold"](), None, HERE)
    assert not settled.proof.ok
    assert settled.scenario.proof is None


def test_the_first_failure_can_end_a_proof() -> None:
    proof = prove(
        world(), replace(hand.transfer(), guards=(Guard(expr="final.till.cash == 1"),)), None, replace(HERE, first=True)
    )
    assert [gate.ok for gate in proof.gates] == [True, True, True, False]


def test_numbers_near_a_large_one_are_such_as_a_scenario_can_hold() -> None:
    near = list(near_values(s.INT, 4111222233334444))
    assert near
    assert all(abs(one) < s.MAX for one in near)
