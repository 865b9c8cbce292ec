"""Faults that users of such systems reported, each as a file: refused with its reason, or accepted where that is right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from envscaler.scenario.model import Scenario
from envscaler.scenario.proof import Proof, ProofSettings, prove
from envscaler.scenario.reading import read_scenarios
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.world import World
from envscaler.session.specs import checked_file, sound
from envscaler.spec.check import check_text

FOLDER = Path(__file__).parents[1] / "cases" / "scenarios" / "faults"

REFUSED = {
    "a1": ("step-refused", "rule flown_is_flown"),
    "a2_other": ("goal-false-after-solution", 'final.bookings["B-2"].status == "active"'),
    "a4": ("goal-false-after-solution", 'due == "2031-05-12"'),
    "a5": ("goal-false-after-solution", '"a b"'),
    "a7": ("step-refused", "rule in_stock"),
    "a8": ("state-invalid", "R-7"),
    "a10": ("user-without-stop", "stop_when"),
    "b1": ("goal-true-at-start", "goal 1"),
    "b6": ("clause-without-step", "O-2"),
    "b7_empty": ("no-goals", "no goals"),
    "b7_inaction": ("refusal-unchecked", "no goal asks for its reason"),
}
ACCEPTED = ("a2_one", "a10_stop", "b2", "b4", "b7_refusal", "b9", "b12", "b13")


@cache
def world(name: str) -> World:
    return World.of(sound(FOLDER / f"{name}.spec.yaml"))


def scenario(case: str) -> Scenario:
    (found,) = read_scenarios(FOLDER / f"{case}.yaml")
    assert isinstance(found, Scenario), found
    return found


def proof(case: str) -> Proof:
    read = scenario(case)
    return prove(world(read.spec.name), read, None, ProofSettings(elsewhere=False))


def score(case: str, calls: Sequence[tuple[str, dict[str, Any]]], submitted: dict[str, Any] | None = None) -> float:
    read = scenario(case)
    of = world(read.spec.name)
    env = of.start(read)
    for tool, arguments in calls:
        assert env.call(tool, arguments).ok
    return Scorer.of(of, read).score(env, submitted).reward


def test_every_file_is_expected() -> None:
    files = {path.stem for path in FOLDER.glob("*.yaml") if not path.stem.endswith(".spec")}
    assert files == {*REFUSED, *ACCEPTED}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    code, words = REFUSED[case]
    found = [reason for reason in proof(case).reasons if reason.code == code]
    assert found, proof(case).reasons
    assert any(words in reason.text for reason in found)


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case: str) -> None:
    assert proof(case).reasons == ()


def test_both_wishes_without_a_step_are_named() -> None:
    texts = [reason.text for reason in proof("b6").reasons if reason.code == "clause-without-step"]
    assert len(texts) == 2
    assert "O-3" in texts[1]


def test_a10_the_user_tells_the_fact() -> None:
    (fact,) = scenario("a10_stop").user.facts
    assert (fact.name, fact.value) == ("passengers", 1)


def test_a11_a_rate_in_prose_that_is_not_the_constant() -> None:
    found = [(d.code, d.severity) for d in checked_file(FOLDER / "card.spec.yaml").diagnostics]
    assert found == [("prose-number", "warning")]


def test_b2_no_change_at_all_is_no_solution() -> None:
    assert score("b2", []) == 0


def test_b4_more_reads_cost_nothing() -> None:
    read = ("show_order", {"order_id": "O-1"})
    assert score("b4", [read, read, ("ship", {"order_id": "O-1"}), read]) == 1


def test_b4_a_read_that_writes_is_an_error_of_the_spec() -> None:
    text = (FOLDER / "shop.spec.yaml").read_text(encoding="utf-8")
    wrong = text.replace("kind: write\n    description: Send", "kind: read\n    description: Send")
    assert "write-in-read" in [d.code for d in check_text("shop.yaml", wrong).diagnostics]


def test_b7_saying_nothing_is_no_refusal() -> None:
    assert score("b7_refusal", []) == 0
    assert score("b7_refusal", [], {"refusal": "in_stock"}) == 1
    assert score("b7_refusal", [], {"refusal": "not_possible"}) == 0


def test_b9_a_number_in_a_sentence_is_no_answer() -> None:
    assert score("b9", [], {"answer": {"count": 10}}) == 1
    for said in ("in 2010 we had 7", "10 or so", 2010, [10], None):
        assert score("b9", [], {"answer": {"count": said}}) == 0
    assert score("b9", []) == 0


def test_b9_the_right_answer_does_not_mask_a_wrong_state() -> None:
    assert score("b9", [("hand_over", {})], {"answer": {"count": 10}}) == 0


def test_b12_only_what_is_needed() -> None:
    assert score("b12", [("find_orders", {"item_id": "I-1"}), ("ship", {"order_id": "O-1"})]) == 1


def test_b13_a_slot_holds_a_member_and_no_sentence() -> None:
    assert score("b13", [], {"answer": {"status": "pending"}}) == 1
    for said in ("it is not done", "not pending", "shipped"):
        assert score("b13", [], {"answer": {"status": said}}) == 0
