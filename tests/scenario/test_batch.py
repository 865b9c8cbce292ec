"""What a batch wants and takes: shares, near-duplicates, kinds that run dry, tools that nothing uses yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from envscaler.errors import UsageError
from envscaler.scenario import Goal, Scenario, SpecRef, Step
from envscaler.scenario.alike import Texts
from envscaler.scenario.batch import Batch, Subject
from envscaler.scenario.chunk import Chunk, Kept, Order

WORDS = ["amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty", "knoll"]
Maker = Callable[[Order, str, int], Kept | None]


def text(number: int) -> str:
    """Texts of which any two differ in many words."""
    return " ".join(WORDS[number // 11**place % 11] + WORDS[(number + place) % 11] for place in range(6))


def kept(spec: str, kind: str, number: int, tools: Sequence[str] = ("t0",), said: str | None = None) -> Kept:
    scenario = Scenario(
        kind, SpecRef(spec, "h"), text(number) if said is None else said, (Goal("x"),), (),
        tuple(Step(tool, {}) for tool in tools), seed=number,
    ).named()  # fmt: skip
    return Kept(scenario, f"{spec}-{kind}-{number}", tuple(tools))


def play(batch: Batch, make: Maker) -> list[Order]:
    """Carry out all orders; ``make`` gives the scenario of a number, or None for one that is dropped."""
    numbers = Counter[str]()
    orders = []
    while found := batch.round():
        for order in found:
            orders.append(order)
            made, dropped = [], Counter[tuple[str, str]]()
            for kind, count in order.want.items():
                for _ in range(count):
                    numbers[order.spec] += 1
                    one = make(order, kind, numbers[order.spec])
                    if one is None:
                        dropped[kind, "too-few"] += 1
                    else:
                        made.append(one)
            batch.take(order, Chunk(tuple(made), dropped, dict(order.want)))
    return orders


def always(order: Order, kind: str, number: int) -> Kept:
    return kept(order.spec, kind, number, order.tools[:1] or ("t0",))


def test_specs_and_kinds_get_even_shares() -> None:
    batch = Batch([Subject(f"s{n}", ()) for n in range(3)], ["a", "b", "c", "d"], 100)
    orders = play(batch, always)
    shares = Counter((one.scenario.spec.name, one.scenario.kind) for one in batch.kept)
    assert len(batch.kept) == 100
    assert set(shares.values()) == {8, 9}
    assert max(sum(order.want.values()) for order in orders) <= 16
    assert len({(order.spec, order.index) for order in orders}) == len(orders)
    few = Batch([Subject(f"s{n}", ()) for n in range(3)], ["a", "b", "c", "d"], 3)
    play(few, always)
    assert {one.scenario.spec.name for one in few.kept} == {"s0", "s1", "s2"}
    assert len({one.scenario.kind for one in few.kept}) == 3


def test_what_a_kind_or_a_spec_does_not_yield_falls_to_the_others() -> None:
    def make(order: Order, kind: str, number: int) -> Kept | None:
        return None if order.spec == "dry" or (order.spec, kind) == ("s", "a") else always(order, kind, number)

    batch = Batch([Subject("s", ()), Subject("dry", ())], ["a", "b"], 40)
    play(batch, make)
    assert Counter(one.scenario.kind for one in batch.kept) == {"b": 40}
    assert batch.shortfalls() == {("s", "a"): "too-few", ("dry", "a"): "too-few", ("dry", "b"): "too-few"}


def test_it_ends_when_there_are_no_more() -> None:
    batch = Batch([Subject("s", ())], ["a", "b"], 40)
    orders = play(batch, lambda order, kind, number: always(order, kind, number) if number <= 10 else None)
    assert (len(batch.kept), batch.lacking) == (10, 30)
    assert len(orders) < 30
    assert batch.dropped["s", "a", "too-few"] > 0


def test_near_duplicates_are_dropped_within_a_spec() -> None:
    def make(order: Order, kind: str, number: int) -> Kept:
        return kept(order.spec, kind, number, said="Pay the rent, please." if number % 2 else None)

    batch = Batch([Subject("s", ()), Subject("t", ())], ["a"], 20)
    play(batch, make)
    assert Counter(one.scenario.task for one in batch.kept)["Pay the rent, please."] == 2
    assert batch.dropped["s", "a", "same-text"] > 3
    same = Batch([Subject("s", ())], ["a"], 20)
    play(same, lambda order, kind, number: kept("s", kind, number % 5))
    assert len(same.kept) == 5
    assert same.dropped["s", "a", "same-plan"] > 5


def test_tools_that_nothing_uses_are_asked_for_and_get_room() -> None:
    writes = tuple(f"t{n}" for n in range(5))
    batch = Batch([Subject("s", writes)], ["a", "b"], 20)
    orders = play(batch, always)
    assert batch.unused() == {}
    assert len(batch.kept) == 20
    assert {tool for one in batch.kept for tool in one.tools} == set(writes)
    assert next(order.tools for order in orders if order.tools) == ("t1", "t2", "t3", "t4")
    small = Batch([Subject("s", writes)], ["a"], 2)
    play(small, always)
    assert len(small.kept) == 2
    assert small.unused()["s"]


def test_a_tool_that_no_solution_uses_ends_nothing() -> None:
    batch = Batch([Subject("s", ("t0", "never"))], ["a"], 10)
    play(batch, lambda order, kind, number: None if order.tools else always(order, kind, number))
    assert batch.unused() == {"s": ("never",)}
    assert len(batch.kept) == 10


def test_what_fails_is_counted_and_given_up() -> None:
    batch = Batch([Subject("s", ())], ["a"], 5)
    while orders := batch.round():
        for order in orders:
            batch.fail(order, "failed")
    assert batch.dropped["s", "", "failed"] == 2
    with pytest.raises(UsageError, match="at least one"):
        Batch([Subject("s", ())], ["a"], 0)


def test_texts_that_are_nearly_alike() -> None:
    texts = Texts()
    long = "Please move 120.50 euros from my current account to my sister Ada Kern and then block the card ending in 4417. "
    assert texts.take(long * 1)
    assert not texts.take(long.upper().replace(",", ";"))
    assert texts.take(long.replace("120.50", "7.00").replace("4417", "9120"))
    many = " ".join(text(n) for n in range(12))
    assert texts.take(many)
    assert not texts.take(many.replace("amberbasin", "amberbasins", 1))
    assert texts.take("Hello.")
    assert not texts.take("hello")
    assert texts.take("")
