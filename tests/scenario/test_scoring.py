"""The reward: what each mode makes of goals and guards, and the faults in which others gave one for nothing."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.errors import SpecError, UsageError
from envscaler.runtime import Environment
from envscaler.scenario.model import Answer, Goal, Guard, Only, Scenario
from envscaler.scenario.scoring import MODES, Score, Scorer
from tests.scenario.hand import transfer, world
from tests.scenario.sample_depot import depot


def scenario(*goals: str, guards: tuple[Guard, ...] = (), answers: tuple[Answer, ...] = ()) -> Scenario:
    return Scenario("complete", depot().ref, "Do it.", tuple(map(Goal, goals)), guards, (), answers=answers, id="x-1")


def scored(of: Scenario, *calls: tuple[str, dict[str, Any]], mode: Any = "guarded", submitted: Any = None) -> Score:
    env = depot().start(of)
    for tool, arguments in calls:
        assert env.call(tool, arguments).ok
    return Scorer.of(depot(), of).score(env, submitted, mode)


COUNTED = ("final.bins[1].count == 6", "final.bins[2].count == 8", "final.device.wifi")
GUARD = Guard(only=Only({"bins": {"1": ("count",), "2": ("count",)}, "device": {"": ("wifi",)}}))
PUT = (("put", {"number": 1, "n": 1}), ("put", {"number": 2, "n": 1}))
SWITCH = ("switch", {"on": True})
STRAY = ("order", {"number": 2})


@pytest.mark.parametrize(
    ("calls", "guarded", "paper", "strict"),
    [
        ((), 0.0, 0.0, 0.0),
        (PUT[:1], 0.3333, 0.3333, 0.0),
        (PUT, 0.6667, 0.6667, 0.0),
        ((*PUT, SWITCH), 1.0, 1.0, 1.0),
        ((*PUT, SWITCH, STRAY), 0.0, 1.0, 0.0),
        ((STRAY,), 0.0, 0.0, 0.0),
    ],
)
def test_modes(calls: tuple[Any, ...], guarded: float, paper: float, strict: float) -> None:
    of = scenario(*COUNTED, guards=(GUARD,))
    assert [scored(of, *calls, mode=mode).reward for mode in ("guarded", "paper", "strict")] == [guarded, paper, strict]


def test_a_score_says_what_it_is_made_of() -> None:
    found = scored(scenario(*COUNTED, guards=(GUARD, Guard(expr='final.bins[12].label == "screws"'))), *PUT[:1], STRAY)
    assert found.goals == (True, False, False)
    assert found.guards == (False, True)
    assert found.to_json() == {
        "reward": 0.0,
        "mode": "guarded",
        "goals": [True, False, False],
        "guards": [False, True],
        "broken": ["orders: 1 record is new, none may be"],
        "errors": [],
    }


def test_a_guard_that_is_an_expression_holds_or_is_broken() -> None:
    of = scenario(COUNTED[0], guards=(Guard(expr="final.bins[2].count == initial.bins[2].count"),))
    assert scored(of, PUT[0]).reward == 1.0
    assert scored(of, *PUT).broken == ("no longer true: final.bins[2].count == initial.bins[2].count",)


def test_a_goal_that_cannot_be_told_is_an_error_and_not_met() -> None:
    found = scored(scenario(COUNTED[0], "share(final.bins[12].count) == 100"), PUT[0])
    assert found.goals == (True, False)
    assert found.reward == 0.5
    assert found.errors == ("goal 2: ZeroDivisionError: integer division or modulo by zero",)
    gone = scored(scenario('final.orders["O-001"].fee == 0'), ("cancel", {"order_id": "O-001"}))
    assert (gone.goals, gone.errors) == ((False,), ())


def test_problems_of_goals_and_guards_are_said_together() -> None:
    bad = scenario(
        "final.bin[1].count == 6",
        guards=(Guard(only=Only({"bins": {"1": ("cuont",)}})), Guard(expr="bins[1].count == 1")),
    )
    with pytest.raises(SpecError) as caught:
        Scorer.of(depot(), bad)
    assert sorted(d.code for d in caught.value.diagnostics) == [
        "scenario-unknown-field",
        "unknown-name",
        "unknown-name",
    ]
    assert {d.span.path for d in caught.value.diagnostics} == {"x-1"}


def test_no_goals_is_an_error() -> None:  # B7
    with pytest.raises(SpecError, match="scenario-no-goals"):
        Scorer.of(depot(), scenario(guards=(GUARD,)))


def test_slots_of_no_type_are_an_error() -> None:
    with pytest.raises(SpecError, match="unknown-type"):
        Scorer.of(depot(), scenario("answer.n == 1", answers=(Answer("n", "integr"),)))


def test_a_closed_world_alone_is_worth_nothing() -> None:  # B2
    of = scenario('final.orders["O-001"].fee == 5', guards=(Guard(only=Only({"orders": {"O-001": ("fee",)}})),))
    assert scored(of).reward == 0.0


def test_reads_cost_nothing() -> None:  # B4
    of = scenario(*COUNTED, guards=(GUARD,))
    looks = [("look", {"number": 1}), ("look", {"number": 2})]
    assert scored(of, *looks, *PUT, looks[0], SWITCH, *looks, mode="strict").reward == 1.0


def test_silence_is_no_refusal() -> None:  # B7
    of = scenario('refusal == "not_possible"', guards=(Guard(only=Only()),))
    assert scored(of).reward == 0.0
    assert scored(of, submitted={"refusal": "not_found"}).reward == 0.0
    assert scored(of, submitted={"refusal": "not_possible"}).reward == 1.0
    assert scored(of, STRAY, submitted={"refusal": "not_possible"}).reward == 0.0


@pytest.mark.parametrize("said", ["in 2010 we had 7", "10 or 12", "it is not 10", [10], {"value": 10}, True, None])
def test_an_answer_is_no_text_to_look_into(said: Any) -> None:  # B9, B13
    of = scenario("answer.count == 10", "final.bins[1].count == 6", answers=(Answer("count", "int"),))
    assert scored(of, PUT[0], submitted={"answer": {"count": said}}).reward == 0.5
    assert scored(of, PUT[0], submitted={"answer": {"count": 10}}).reward == 1.0
    assert scored(of, submitted={"answer": {"count": 10}}).reward == 0.5, "the state must be right, too"


def test_a_change_to_what_it_was_is_no_change() -> None:  # C3
    of = scenario(
        "final.bins[1].count != initial.bins[1].count", guards=(Guard(only=Only({"bins": {"1": ("count",)}})),)
    )
    assert scored(of, ("put", {"number": 1, "n": 0})).reward == 0.0


def test_no_such_mode() -> None:
    with pytest.raises(UsageError, match="no such mode: fair; there are guarded, paper, strict"):
        scored(scenario(*COUNTED), mode="fair")


def test_scoring_is_a_look() -> None:
    """An episode that was scored on its way ends as one that was not."""
    of = transfer()
    scorer = Scorer.of(world(), of)
    env = world().start(of)
    seen = [scorer.score(env).reward]
    for step in of.solution:
        env.call(step.tool, dict(step.arguments), step.actor)
        seen.append(scorer.score(env).reward)
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    other = world().start(of)
    for step in of.solution:
        other.call(step.tool, dict(step.arguments), step.actor)
    assert (other.state_hash(), scorer.score(other)) == (env.state_hash(), scorer.score(env))
    other.reset()
    assert scorer.score(other) == Scorer.of(world(), of).score(world().start(of))


def test_one_scorer_scores_any_number_of_episodes() -> None:
    of = scenario(*COUNTED, guards=(GUARD,))
    scorer = Scorer.of(depot(), of)
    ends: list[Environment] = []
    for calls in ((), PUT[:1], PUT, (*PUT, SWITCH), (*PUT, SWITCH, STRAY)):
        env = depot().start(of)
        for tool, arguments in calls:
            env.call(tool, arguments)
        ends.append(env)
    rewards = [0.0, 0.3333, 0.6667, 1.0, 0.0]
    assert [scorer.score(env).reward for env in ends] == rewards
    assert [scorer.score(env).reward for env in reversed(ends)] == rewards[::-1]
    assert [scorer.score(env.fork()).reward for env in ends] == rewards


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
SUBMITTED = st.none() | st.fixed_dictionaries(
    {}, optional={"answer": JSON | st.fixed_dictionaries({}, optional={"n": JSON, "who": JSON}), "refusal": JSON}
)


@settings(max_examples=80)
@given(SUBMITTED, st.sampled_from(sorted(MODES)), st.lists(st.sampled_from([*PUT, SWITCH, STRAY]), max_size=4))
def test_a_reward_is_a_number_from_0_to_1_whatever_was_submitted(submitted: Any, mode: Any, calls: list[Any]) -> None:
    answers = (Answer("n", "int"), Answer("who", {"list": "str"}))
    of = scenario(*COUNTED, "answer.n == 3", 'refusal == "not_found"', guards=(GUARD,), answers=answers)
    found = scored(of, *calls, mode=mode, submitted=submitted)
    assert math.isfinite(found.reward)
    assert 0 <= found.reward <= 1
    assert found.errors == ()
    assert found.reward in (0.0, *(round(n / 5, 4) for n in range(6)))
