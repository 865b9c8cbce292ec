"""What the search promises of plans, refusals and questions: they replay, their arguments are told or found, no write is idle."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import pytest

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s
from envscaler.scenario.plan import Plan, PlannedCall
from envscaler.scenario.pointers import lookup
from envscaler.scenario.search import SearchSettings, plans, questions, refusals
from envscaler.scenario.search.arguments import Arguments
from envscaler.scenario.search.ground import Ground, leaves
from envscaler.scenario.search.pointing import single_out
from envscaler.scenario.world import World
from envscaler.spec import types as t
from tests.scenario.hand import world

QUICK = ("bank", "ports/file_system", "ports/ticket_desk")
REST = (
    "calendar", "court_registry", "hospital_ward", "laboratory", "permit_office", "warehouse", "ports/messages",
    "ports/posting_service", "ports/retail", "ports/tau2_mock", "ports/trading_bot", "ports/travel_agency",
    "ports/vehicle",
)  # fmt: skip
ALL = (*QUICK, *REST)
FEW, SOME = 12, 25


@cache
def found(name: str, many: int = FEW) -> tuple[Plan, ...]:
    of = world(name)
    return tuple(islice(plans(of, of.base(), SearchSettings(), random.Random(name)), many))


def specs(names: tuple[str, ...] = ALL) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in names]
    )


def played(of: World, calls: tuple[PlannedCall, ...], without: int = -1) -> tuple[Environment, list[Any]]:
    env = of.environment.new()
    results = [env.call(c.tool, deepcopy(c.arguments), c.actor) for n, c in enumerate(calls) if n != without]
    return env, results


def part(arguments: Mapping[str, Any], name: str) -> Any:
    whole, _, below = name.partition("/")
    return lookup(arguments[whole], f"/{below}") if below else arguments[whole]


# -- plans


@specs()
def test_a_plan_replayed_on_a_fresh_episode_gives_the_same_results(name: str) -> None:
    for plan in found(name):
        _, results = played(world(name), plan.calls)
        assert [r.to_json() for r in results] == [c.result for c in plan.calls]
        assert all(r.ok for r in results)
        assert [c.kind == "write" for c in plan.calls] == [bool(c.changes) for c in plan.calls]


@specs()
def test_every_argument_has_a_source_and_what_is_found_stands_where_it_is_said_to(name: str) -> None:
    for plan in found(name):
        values = [call.result["data"] for call in plan.calls]
        for n, call in enumerate(plan.calls):
            assert set(call.arguments) == {key.partition("/")[0] for key in call.sources}
            for path, source in call.sources.items():
                if source.kind == "found":
                    assert source.step < n
                    assert lookup(values[source.step], source.path) == part(call.arguments, path)


@specs()
def test_a_record_that_is_told_by_its_key_or_by_reads_is_described(name: str) -> None:
    of = world(name)
    env = of.environment.new()
    for plan in found(name):
        for records in plan.about.values():
            for collection, key in records:
                known = env.record(collection, int(key) if key.isdigit() and not env.record(collection, key) else key)
                if known is not None:
                    assert (collection, key) in plan.described
        for at, fields in plan.described.items():
            assert fields or at in plan.within


@specs()
def test_without_any_of_its_writes_a_plan_ends_elsewhere(name: str) -> None:
    for plan in found(name):
        wanted = played(world(name), plan.calls)[0].state
        for index in plan.writes:
            assert played(world(name), plan.calls, index)[0].state != wanted


@specs()
def test_every_read_feeds_a_later_call(name: str) -> None:
    for plan in found(name):
        for n, call in enumerate(plan.calls):
            if call.kind == "read":
                assert call.purpose
                assert all(plan.calls[later].sources[path].step == n for later, path in call.purpose)


def test_the_same_draws_give_the_same_plans_whatever_was_searched_before() -> None:
    of = world()
    one = list(islice(plans(of, of.base(), SearchSettings(), random.Random(5)), 6))
    list(islice(plans(of, of.base(), SearchSettings(), random.Random(6)), 3))
    assert list(islice(plans(of, of.base(), SearchSettings(), random.Random(5)), 6)) == one
    fresh = World(of.checked, of.environment)
    assert list(islice(plans(fresh, fresh.base(), SearchSettings(), random.Random(5)), 6)) == one


def test_tools_that_were_used_often_are_used_less() -> None:
    of = world()
    counts = {tool.name: 50 for tool in of.writes if tool.name != "block_card"}
    one = list(islice(plans(of, of.base(), SearchSettings((1,), counts=counts), random.Random(1)), 3))
    assert "block_card" in one[0].tags["tools"]


def test_plans_of_one_tool_end_where_it_finds_nothing() -> None:
    of = world()
    closing = plans(of, of.base(), SearchSettings((1,), tools=("cancel_standing_order",)), random.Random(1))
    assert all("cancel_standing_order" in plan.tags["tools"] for plan in islice(closing, 3))


def test_a_card_is_found_by_its_owner_and_its_last_digits() -> None:
    of = world()
    wanted = SearchSettings((1,), quoted=0, tools=("set_card_limit",))
    for plan in islice(plans(of, of.base(), wanted, random.Random(3)), 4):
        assert plan.calls[-1].tool == "set_card_limit"
        assert [call.tool for call in plan.calls if call.purpose][-1] == "list_cards"
        assert plan.calls[-1].sources["card_id"].kind == "found"
        (card,) = plan.about[len(plan.calls) - 1]
        owner = plan.within[card]
        assert owner[0] == "customers"
        assert set(plan.described[owner]) == {"name"}
        assert set(plan.described[card]) <= {"last_four", "status"}


# -- a value in a result


def hits(result: Any, of: t.Type, wanted: Any) -> Any:
    return single_out(result, of, wanted, lambda name, value: 0 if value.__class__ is str else None)


def test_a_value_is_singled_out_by_the_fields_that_no_other_entry_has() -> None:
    rows = [{"id": "a", "name": "Ann", "kind": "x"}, {"id": "b", "name": "Ann", "kind": "y"}]
    of = t.ListOf(t.Obj((("id", t.STR), ("name", t.STR), ("kind", t.STR))))
    assert hits(rows, of, "b").path == "/1/id"
    assert hits(rows, of, "b").told == {"kind": "y"}
    assert hits([rows[0], {**rows[0], "id": "c"}], of, "c") is None
    assert hits(["a", "b"], t.ListOf(t.STR), "b") is None
    assert hits(["b"], t.ListOf(t.STR), "b").path == "/0"


def test_the_name_of_a_member_is_a_place_too() -> None:
    hit = hits({"F1": {"kind": "fridge"}, "F2": {"kind": "freezer"}}, t.DictOf(t.Obj((("kind", t.STR),))), "F2")
    assert (hit.path, hit.told) == ("/F2#", {"kind": "freezer"})
    assert lookup({"F2": {"kind": "freezer"}}, hit.path) == "F2"


# -- refusals and questions


@specs(("bank", "ports/ticket_desk", "hospital_ward", "warehouse"))
def test_a_refused_wish_is_refused_with_its_rule_and_changes_nothing(name: str) -> None:
    of = world(name)
    taken = list(islice(refusals(of, of.base(), SearchSettings(), random.Random(name)), FEW))
    assert taken
    for one in taken:
        env, results = played(of, one.plan.calls)
        assert not env.diff()
        assert all(r.ok for r in results[:-1])
        assert results[-1].error is not None
        assert results[-1].error.message == one.message
        assert one.reason in of.reasons
        assert one.plan.calls[-1].refused == (results[-1].error.rule or one.message)
        assert results[-1].error.rule in (one.reason, None)


@specs(("bank", "ports/ticket_desk", "ports/mathematics", "hospital_ward", "warehouse"))
def test_a_question_is_answered_by_its_last_read(name: str) -> None:
    of = world(name)
    taken = list(islice(questions(of, of.base(), SearchSettings(), random.Random(name)), FEW))
    assert taken
    for one in taken:
        env, results = played(of, one.plan.calls)
        assert not env.diff()
        shown = lookup(results[-1].value, one.path)
        assert (len(shown) if one.way == "count" else shown) == one.value


# -- what arguments are made of


@specs()
def test_texts_of_arguments_are_no_pieces_of_messages_and_no_names_of_rules(name: str) -> None:
    of = world(name)
    said = {refusal.message for tool in of.tools.values() for refusal in tool.refusals}
    pieces = {piece.strip() for message in said for piece in re.split(r"\{[^}]*\}", message) if len(piece) > 4}
    for plan in found(name):
        for call in (plan.calls[n] for n in plan.writes):
            texts = {value for _, value in leaves(dict(call.arguments)) if isinstance(value, str)}
            assert not texts & (set(of.rules) | said | pieces), (call.tool, call.arguments)


@pytest.mark.parametrize(
    ("param", "takes"),
    [
        (s.Field("email", s.STR), r"[^@ ]+@[^@ ]+\.[a-z]+"),
        (s.Field("new_phone", s.STR), r"\+[\d ]+\d"),
        (s.Field("zip", s.STR), r"\d{5}"),
        (s.Field("ward", s.STR, like="city"), r"[A-Z][A-Za-z .'-]+"),
        (s.Field("plate", s.STR, pattern="^[A-Z]{2}-[0-9]{3}$"), r"[A-Z]{2}-[0-9]{3}"),
        (s.Field("remark", s.STR), r"[A-Z][a-z ,A-Z]+\."),
    ],
)
def test_an_invented_text_is_like_what_its_parameter_is_called(param: s.Field, takes: str) -> None:
    of = world("ports/file_system")
    arguments = Arguments(Ground(of, of.base()), random.Random(param.name))
    (tool,) = (tool for tool in of.writes if tool.name == "mkdir")
    tool = replace(tool, params={param.json: param}, examples=())
    given = [arguments.of(tool, None, {})[param.json] for _ in range(30)]
    assert [one for one in given if not re.fullmatch(takes, one)] == []
