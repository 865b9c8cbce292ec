"""Initial states made from a spec alone: always allowed, of the sizes and mixes asked for, the same for the same seed."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envscaler.errors import StateError, UsageError
from envscaler.scenario.data import DataSettings, allowed, make_state
from envscaler.scenario.data.patterns import drawn
from envscaler.scenario.data.records import Records
from envscaler.scenario.world import World
from envscaler.spec.check import check_text
from tests.scenario import hand

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "specs").glob("*.yaml")) + sorted((ROOT / "specs" / "ports").glob("*.yaml"))
SHIPPED = [p for p in SPECS if p.name != "recordings.yaml"]
RULED = ["bank", "calendar", "court_registry", "hospital_ward", "laboratory", "permit_office", "warehouse"]


def world(name: str) -> World:
    path = next(p for p in SHIPPED if p.stem == name)
    return hand.world(path.relative_to(ROOT / "specs").with_suffix("").as_posix())


def of_text(text: str) -> World:
    return World.of(check_text("small.yaml", text))


def count(of: World, state: dict[str, Any]) -> int:
    return Records.taken(of.states, state).count


def names(value: Any) -> Counter[str]:
    return Counter(record["name"] for record in value.values())


QUICK = ("bank", "file_system", "ticket_desk")


@pytest.mark.parametrize("way", ["fresh", "mutated"])
@pytest.mark.parametrize(
    "name", [pytest.param(p.stem, marks=() if p.stem in QUICK else pytest.mark.slow) for p in SHIPPED]
)
def test_every_shipped_spec_has_states_of_any_size(name: str, way: Any) -> None:
    of = world(name)
    for size in (5, 50):
        state = make_state(of, DataSettings(way=way, size=size), seed=3)
        of.environment.prepare(state)
        if of.collections:
            assert abs(count(of, state) - size) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", RULED)
def test_many_states_are_all_allowed(name: str) -> None:
    of = world(name)
    seen = set()
    for seed in range(12):
        way: Any = ("fresh", "mutated")[seed % 2]
        state = make_state(of, DataSettings(way=way, size=20 + 15 * seed, edges=0.2, acts=seed % 3), seed)
        of.environment.prepare(state)
        seen.add(str(state))
    assert len(seen) == 12


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["fresh", "mutated"]),
    st.integers(0, 90),
    st.dictionaries(st.sampled_from(["customers", "accounts", "cards"]), st.integers(0, 12), max_size=2),
    st.floats(0, 0.5),
    st.integers(),
)
def test_whatever_is_asked_for_the_state_is_allowed(
    way: Any, size: int, sizes: dict[str, int], edges: float, seed: int
) -> None:
    chosen = DataSettings(way=way, size=size, sizes=sizes, edges=edges)
    state = make_state(world("bank"), chosen, seed)
    world("bank").environment.prepare(state)
    assert make_state(world("bank"), chosen, seed) == state


@pytest.mark.parametrize("name", ["bank", pytest.param("court_registry", marks=pytest.mark.slow)])
def test_the_same_seed_gives_the_same_state_and_another_one_another(name: str) -> None:
    first = make_state(world(name), DataSettings(size=40), 7)
    assert make_state(world(name), DataSettings(size=40), 7) == first
    assert make_state(world(name), DataSettings(size=40), 8) != first


def test_a_fresh_state_has_nobody_of_the_old_one() -> None:
    of = world("bank")
    before, after = of.environment.new().state, make_state(of, DataSettings(edges=0), 1)
    assert not names(before["customers"]).keys() & names(after["customers"]).keys()
    assert not before["accounts"].keys() & after["accounts"].keys()
    assert count(of, after) == count(of, before)


def test_addresses_follow_names_and_amounts_differ() -> None:
    state = make_state(world("bank"), DataSettings(size=200, edges=0), 2)
    for customer in state["customers"].values():
        first = customer["name"].split()[0].lower()
        assert "".join(c for c in first if c.isalpha()) in customer["email"].replace(".", "")
        assert customer["contact"]["phone"].startswith("+")
    assert len({p["amount"] for p in state["postings"].values()}) > len(state["postings"]) / 4


def test_a_mutated_state_keeps_most_of_what_there_is() -> None:
    of = world("bank")
    before, after = of.environment.new().state, make_state(of, DataSettings(way="mutated"), 1)
    assert after != before
    assert len(before["customers"].keys() & after["customers"].keys()) >= 3
    assert make_state(of, DataSettings(way="mutated", change=0, edges=0), 1) == before


def test_a_persons_state_is_mutated_by_the_same_means() -> None:
    of = world("bank")
    own = make_state(of, DataSettings(size=120), 5)
    after = make_state(of, DataSettings(way="mutated", size=100), 1, own)
    of.environment.prepare(after)
    assert after["customers"].keys() & own["customers"].keys()
    assert not after["customers"].keys() & of.environment.new().state["customers"].keys()


def test_sizes_of_collections() -> None:
    state = make_state(world("bank"), DataSettings(sizes={"customers": 9, "cards": 3}), 1)
    assert (len(state["customers"]), len(state["cards"])) == (9, 3)
    assert len(make_state(world("bank"), DataSettings(sizes={"standing_orders": 0}), 1)["standing_orders"]) == 0


@pytest.mark.slow  # another spec is compiled
def test_collections_with_nothing_to_copy_are_invented() -> None:
    state = make_state(world("calendar"), DataSettings(sizes={"notes": 4}), 1)
    assert len(state["notes"]) == 4


def test_shares_of_an_enum() -> None:
    state = make_state(
        world("bank"), DataSettings(size=150, shares={"accounts.status": {"frozen": 0.5, "closed": 0.0}}, edges=0), 1
    )
    found = Counter(a["status"] for a in state["accounts"].values())
    total = len(state["accounts"])
    assert abs(found["frozen"] / total - 0.5) < 0.1
    assert found["closed"] <= 3  # where a customer has as many open accounts as the rules let them
    assert all((a["status"] == "frozen") == (a["frozen_for"] is not None) for a in state["accounts"].values())


def test_odd_values_on_purpose() -> None:
    made = [make_state(world("bank"), DataSettings(size=80, edges=0.4), seed) for seed in range(3)]
    people = [c for state in made for c in state["customers"].values()]
    assert any(not c["name"].isascii() for c in people)
    assert any(n > 1 for state in made for n in names(state["customers"]).values())
    assert any(a["balance"] == 0 and a["status"] != "closed" for state in made for a in state["accounts"].values())


def test_work_is_done_with_the_tools_of_the_environment() -> None:
    of = world("ticket_desk")
    state = make_state(of, DataSettings(acts=8), 1)
    assert state != of.environment.new().state
    assert of.environment.new(state).state == state


def test_other_countries() -> None:
    state = make_state(world("bank"), DataSettings(locale="ja_JP", edges=0), 1)
    assert all(not c["name"].isascii() for c in state["customers"].values())


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        (DataSettings(sizes={"custmers": 1}), "did you mean customers"),
        (DataSettings(sizes={"customers": -1}), "expected 0 or more"),
        (DataSettings(shares={"accounts.state": {"open": 1}}), "did you mean status"),
        (DataSettings(shares={"accounts.status": {"opn": 1}}), "did you mean open"),
        (DataSettings(shares={"accounts.status": {"open": 2}}), "between 0 and 1"),
        (DataSettings(shares={"accounts.status": {"open": 0.8, "frozen": 0.8}}), "more than 1"),
        (DataSettings(shares={"accounts.balance": {"0": 1}}), "neither an enum nor true or false"),
        (DataSettings(edges=2), "between 0 and 1"),
        (DataSettings(locale="xx_YY"), "locale"),
    ],
)
def test_settings_without_a_place(settings_: DataSettings, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        make_state(world("bank"), settings_, 1)
    assert "\n" not in str(caught.value)


def test_a_state_that_is_not_allowed_is_told_in_one_go() -> None:
    state = world("bank").environment.new().state
    state["accounts"]["A-2001"]["customer_id"] = "C-1"
    state["accounts"]["A-2002"]["balance"] = 1
    with pytest.raises(StateError) as caught:
        allowed(world("bank"), state, "mine.json")
    assert caught.value.problems[0].startswith("mine.json: 1 problem")


def test_without_faker_only_hints_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from envscaler.scenario.data import fakes

    monkeypatch.setitem(sys.modules, "faker", None)
    monkeypatch.setattr(fakes._LOCAL, "fakers", {}, raising=False)
    with pytest.raises(UsageError, match=r"pip install 'envscaler\[data\]'"):
        make_state(world("bank"), DataSettings(), 1)
    assert count(world("retail"), make_state(world("retail"), DataSettings(size=20), 1)) == 20
    assert fakes.installed() is None


EMPTY = """\
envscaler: 1
name: shop
version: 0.1.0
title: A shop
description: A shop.
clock: 2030-03-04T09:00:00Z
states:
  customers:
    record: Customer
    key: {name: customer_id, make: "C-{n:03d}"}
    fields:
      code: {type: str, pattern: '^[A-Z]{2}-[0-9]{3}$', unique: true}
      since: date
      score: {type: int, ge: 1, le: 5}
      note: str?
  orders:
    record: Order
    key: {name: order_id, make: "{hex:6}"}
    unique: [[customer_id, number]]
    fields:
      customer_id: {ref: customers}
      number: {type: int, ge: 1, le: 9}
      lines: {list: {dict: str}, min_length: 1}
      total: {type: money, gt: 0}
rules:
  few_orders:
    text: A customer has at most three orders.
    each: customers
    holds: |
      count(o for o in orders.values() if o.customer_id == it.customer_id) <= 3
tools:
  list_orders:
    kind: read
    description: The orders of a customer.
    params: {customer_id: {ref: customers}}
    do: |
      return [o for o in orders.values() if o.customer_id == customer_id]
"""


def test_a_spec_without_a_state_of_its_own() -> None:
    of = of_text(EMPTY)
    state = make_state(of, DataSettings(size=40), 1)
    assert len(state["customers"]) == 20
    assert 15 <= len(state["orders"]) <= 20


@pytest.mark.parametrize(
    "pattern", [r"^[A-Z]{2}-[0-9]{3}$", r"\d+(\.\d{2})?", r"a|bc*", r"[^@ ]+@x\.org", r"\+[0-9 ]{7,18}"]
)
def test_texts_for_patterns(pattern: str) -> None:
    import random
    import re

    for seed in range(40):
        assert re.fullmatch(pattern, drawn(pattern, random.Random(seed)))
