"""The generators: what is true of every scenario of a kind, over several specs."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import pytest

from envscaler.scenario.kinds import GENERATORS
from envscaler.scenario.model import Scenario
from envscaler.scenario.wording import told_in
from envscaler.scenario.world import World
from tests.scenario.hand import world
from tests.scenario.tasks import faults, texts

SLOW = ("calendar", "court_registry", "hospital_ward", "laboratory", "permit_office", "warehouse")
SPECS = ("bank", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW))


def made(kind: str, spec: str = "bank", many: int = 4, seed: int = 1, tools: tuple[str, ...] = ()) -> list[Scenario]:
    of: World = world(spec)
    generator = GENERATORS[kind][1]()
    return list(islice(generator.generate(of, of.environment.new().state, seed, tools), many))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("kind", GENERATORS)
def test_texts_tell_all_in_plain_english(kind: str, spec: str) -> None:
    found = made(kind, spec)
    assert found or (kind, spec) == ("distractors", "warehouse")
    for one in found:
        assert one.kind == kind
        assert one.spec == world(spec).ref
        assert told_in(world(spec), one) == []
        wrong = {text: faults(_without_keys(one, text)) for text in texts(one)}
        assert {text: found for text, found in wrong.items() if found} == {}
        assert one.user.stop_when
        assert not {fact.name for fact in one.user.facts} & set(one.user.unknown)
        assert one.tags["style"]


def _without_keys(one: Scenario, text: str) -> str:
    """The text without keys that have an underscore."""
    parts = [part for part in one.state.values() if isinstance(part, dict)] if isinstance(one.state, dict) else []
    for key in (key for part in parts for key in part if "_" in key):
        text = text.replace(key, "one")
    return text


@pytest.mark.parametrize("kind", GENERATORS)
def test_same_seed_same_scenarios(kind: str) -> None:
    first, again, other = (made(kind, seed=seed) for seed in (5, 5, 6))
    assert [one.to_json() for one in first] == [one.to_json() for one in again]
    assert [one.task for one in first] != [one.task for one in other]


def test_a_missing_parameter_is_told_by_facts_alone() -> None:
    for one in made("missing_parameter", many=8):
        facts = {fact.name: fact for fact in one.user.facts}
        withheld = [
            (step.arguments[name], source.name)
            for step in one.solution
            for name, source in step.sources.items()
            if source.kind == "fact"
        ]
        assert len(withheld) >= one.tags["withheld"] >= 1
        assert all(facts[name].value == value for value, name in withheld)
        assert one.user.opening
        assert one.user.opening != one.task


def test_a_missing_tool_is_one_that_the_solution_writes_with() -> None:
    for one in made("missing_tool"):
        (reveal,) = one.reveal
        assert set(reveal.tools) <= {step.tool for step in one.solution}
        assert all(world().tools[tool].kind == "write" for tool in reveal.tools)
        assert reveal.tools[0] in reveal.text


def test_long_context_is_long_and_names_nothing_that_is_asked_for() -> None:
    short = made("complete")
    for one in made("long_context"):
        assert len(one.task) > 2 * sum(len(o.task) for o in short) / len(short)
        assert one.tags["words"] == len(one.task.split())
        assert isinstance(one.state, dict)
        assert sum(len(one.state[name]) for name in world().collections) == one.tags["records"] >= 150


def test_long_context_plays_in_a_given_state_that_is_large() -> None:
    large = made("long_context", many=1)[0].state
    assert isinstance(large, dict)
    (one,) = islice(GENERATORS["long_context"][1]().generate(world(), large, 2, ()), 1)
    assert one.state is None


def test_a_refusal_asks_for_a_reason_that_is_known() -> None:
    for one in made("refusal"):
        reason = (one.submitted or {})["refusal"]
        assert one.outcome == "refusal"
        assert reason in world().reasons
        assert [goal.expr for goal in one.goals] == [f'refusal == "{reason}"']
        assert one.solution[-1].refused or reason == "not_found"


def test_what_is_not_there_is_told_and_looked_for() -> None:
    state = world().environment.new().state
    found = [one for one in made("refusal", many=16) if one.tags["reason"] == "not_found"]
    assert 1 < len(found) < 10
    for one in found:
        assert one.submitted == {"refusal": "not_found"}
        assert all(world().tools[step.tool].kind == "read" for step in one.solution)
        env = world().environment.new()
        *_, last = [env.call(step.tool, dict(step.arguments)) for step in one.solution]
        (told,) = one.solution[-1].arguments.values()
        assert told in one.task
        assert told not in str(state)
        assert last.value == []


def test_an_answer_fills_its_slot() -> None:
    for one in made("answer", many=8):
        (slot,) = one.answers
        value: Any = (one.submitted or {})["answer"][slot.name]
        assert f"answer.{slot.name} ==" in one.goals[-1].expr
        assert value is not None
        assert str(value) not in one.task


def test_an_answer_may_come_after_a_change() -> None:
    found = made("answer", many=3, tools=("transfer", "deposit_cash"))
    assert found
    for one in found:
        env = world().environment.new()
        *_, last = [env.call(step.tool, dict(step.arguments)) for step in one.solution]
        (value,) = (one.submitted or {})["answer"].values()
        assert world().tools[one.solution[-1].tool].kind == "read"
        assert value in last.value.values()
        assert env.diff()
        assert len(one.goals) > 1


def test_a_question_after_a_change_does_not_take_what_was_for_what_is() -> None:
    past = 0
    for one in made("answer", many=12, tools=("deposit_cash", "withdraw_cash")):
        wish, _, asked = one.task.partition("fter all that, ")
        account = re.search(r"account \(balance (\S+) euros\)", wish)
        if account and account[1] in asked:
            assert f"(balance {account[1]} euros before all that)" in asked
            past += 1
    assert past


def test_distractors_share_a_name() -> None:
    for one in made("distractors", many=6):
        assert isinstance(one.state, dict)
        names = [record["name"] for record in one.state[one.tags["alike"]].values()]
        assert any(names.count(name) > 1 and name in one.task for name in names)


def test_kinds_end_where_a_world_has_nothing_for_them() -> None:
    of = world("ports/mathematics")
    state = of.environment.new().state
    for kind, (_, factory) in GENERATORS.items():
        if kind != "answer":
            assert list(factory().generate(of, state, 1, ())) == []


def test_tools_that_are_wanted_are_used() -> None:
    for kind in ("complete", "missing_tool", "refusal"):
        for one in made(kind, tools=("freeze_account",)):
            assert "freeze_account" in {step.tool for step in one.solution}
