"""States fitted to tools: each tool that writes can be used in one, and nothing that the spec forbids comes of it."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest

from envscaler.scenario.data import DataSettings, allowed, fitted, make_state
from envscaler.scenario.search import SearchSettings, plans
from envscaler.scenario.world import World
from tests.scenario.hand import world

QUICK = ("bank", "ports/posting_service")
REST = (
    "calendar", "court_registry", "hospital_ward", "laboratory", "permit_office", "warehouse", "ports/file_system",
    "ports/messages", "ports/retail", "ports/tau2_mock", "ports/ticket_desk", "ports/trading_bot", "ports/travel_agency",
    "ports/vehicle",
)  # fmt: skip


def is_found(of: World, tool: str, tries: int = 6) -> bool:
    for turn in range(tries):
        state = fitted(of, make_state(of, DataSettings(), turn), (tool,), turn)
        found = plans(of, of.base(state), SearchSettings(tools=(tool,)), random.Random(turn))
        if next(found, None) is not None:
            return True
    return False


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in REST)])
def test_every_tool_that_writes_is_found_in_a_state_fitted_to_it(name: str) -> None:
    of = world(name)
    assert [tool.name for tool in of.writes if not is_found(of, tool.name)] == []


def test_a_fitted_state_is_one_that_the_spec_allows_and_the_given_one_is_left_alone() -> None:
    of = world("bank")
    state = make_state(of, DataSettings(), 3)
    before = deepcopy(state)
    made = fitted(of, state, [tool.name for tool in of.writes])
    assert state == before
    assert allowed(of, made) == made
    assert any(one["frozen_for"] == "customer_request" for one in made["accounts"].values())


def test_a_state_is_fitted_in_the_same_way_each_time() -> None:
    of = world("bank")
    state = make_state(of, DataSettings(), 3)
    assert fitted(of, state, ("unfreeze_account",), 2) == fitted(of, state, ("unfreeze_account",), 2)


@pytest.mark.slow  # another spec is compiled
def test_a_record_in_a_mapping_of_anything_is_held_to_all_it_holds() -> None:
    of = world("ports/trading_bot")
    found = next(plans(of, of.base(), SearchSettings(tools=("place_order",)), random.Random(1)))
    order = next(goal.expr for goal in found.goals if "in final.desk.orders" in goal.expr)
    assert all(f'["{name}"]' in order for name in ("order_type", "symbol", "price", "amount"))
