"""Tools that keep by themselves what they write do exactly what the transaction around calls does for them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from benchmarks.ledger import accounts
from hypothesis import HealthCheck, event, note
from hypothesis import strategies as st

from envscaler.compiler import compile_spec, load_class
from envscaler.runtime import shapes as s
from envscaler.runtime.view import CollectionView
from envscaler.spec.check import check_text
from tests.lengths import few_and_many

ROOT = Path(__file__).resolve().parents[2]
SPECS = {
    "ledger": ROOT / "benchmarks" / "ledger.yaml",
    "bank": ROOT / "specs" / "bank.yaml",
    "retail": ROOT / "specs" / "ports" / "retail.yaml",
    "library": ROOT / "tests" / "golden" / "library.yaml",
}


def both(path: str, text: str) -> tuple[Any, Any, set[str]]:
    """The class with and without such tools, and the names of these tools."""
    checked = check_text(path, text)
    assert checked.ok, [d.headline() for d in checked.diagnostics]
    direct, plain = compile_spec(checked), compile_spec(checked, _keeping=False)
    assert "# All of it holds" not in plain.text
    found = {part.partition("(")[0] for part in direct.text.split("\ndef tool_")[1:] if "# All of it holds" in part}
    return load_class(direct), load_class(plain), found


def agree(one: Any, other: Any) -> None:
    assert one.diff() == other.diff()
    assert one.state == other.state
    assert one.state_hash() == other.state_hash()
    for name in one.view():
        part = one.view()[name]
        if isinstance(part, CollectionView):
            assert list(part) == list(part._of.current())


def value_for(shape: Any, state: dict[str, Any], rng: random.Random) -> Any:
    """Something to give for a parameter: mostly right."""
    match shape:
        case s.Nullable():
            return None if rng.random() < 0.3 else value_for(shape.of, state, rng)
        case s.ListOf():
            return [value_for(shape.item, state, rng) for _ in range(rng.randint(0, 3))]
        case s.Ref():
            part = state[shape.collection]
            keys = list(part) if isinstance(part, dict) else []
            return rng.choice(keys) if keys and rng.random() < 0.95 else "nobody"
        case s.Enum():
            return rng.choice(shape.values)
        case _ if shape in (s.INT, s.DURATION):
            return rng.choice([0, 1, 2, 5, 31, -1])
        case _ if shape in (s.MONEY, s.FLOAT, s.NUMBER):
            return rng.choice([0, 0.01, 1, 2.5, 50.5, 99.99, 1000, 10_000_000, -3, 9e11, 1.005])
        case _ if shape is s.BOOL:
            return rng.random() < 0.5
        case _ if shape is s.DATE:
            return rng.choice(["2031-05-12", "2031-06-01", "2030-01-01"])
    keys = [key for part in state.values() if isinstance(part, dict) for key in part]
    return rng.choice([*keys, "a text", "", "no longer needed"]) if keys else "a text"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in ("bank", "retail") else []) for name in SPECS]
)
def test_random_calls_give_the_same(name: str) -> None:
    path = SPECS[name]
    direct, plain, tools = both(str(path), path.read_text(encoding="utf-8"))
    if name == "ledger":
        assert {"deposit", "transfer", "set_overdraft", "open_account"} <= tools
    start = accounts(6) if name == "ledger" else None
    for seed in range(6):
        rng = random.Random(seed)
        one, other = direct.new(start), plain.new(start)
        saved = one.snapshot(), other.snapshot()
        for _ in range(60):
            tool = rng.choice(direct.tool_table)
            state = one.state
            given = {f.json: value_for(f.shape, state, rng) for f in tool.params.values() if rng.random() < 0.97}
            a, b = one.call(tool.name, given, actor=tool.actor), other.call(tool.name, given, actor=tool.actor)
            assert a == b, (tool.name, given)
            agree(one, other)
            if rng.random() < 0.1:
                saved = one.snapshot(), other.snapshot()
            elif rng.random() < 0.05:
                one.restore(saved[0]), other.restore(saved[1])
                agree(one, other)
            elif rng.random() < 0.1:
                one, other = one.fork(), other.fork()
        one.reset(), other.reset()
        agree(one, other)
        assert one.diff() == []


SHELF = """\
envscaler: 1
name: shelf
description: Things on shelves.
types:
  Box: {fields: {width: int, marks: {list: str, default: []}}}
states:
  items:
    record: Item
    key: {name: item_id, make: "I-{n}"}
    fields:
      title: {type: str, unique: true}
      size: {type: int, ge: 0, le: 20, default: 1}
      cost: {type: money, default: 0}
      tags: {list: str, default: []}
      box: {type: Box, default: {width: 1}}
      extra: {type: any, default: null}
      note: {type: str, absent: true}
      friend: {ref: items, null: true, default: null}
  people:
    record: Person
    key: {name: person_id, make: "P-{n:03d}"}
    fields: {name: {type: str, max_length: 9}, total: {type: int, ge: 0, default: 0}, best: {ref: items, null: true, default: null}}
rules:
  fits:
    text: No thing is wider than its box allows.
    each: items
    holds: |
      it.size <= it.box.width + 10
  grows:
    text: Totals are even.
    each: people
    holds: |
      it.total % 2 == 0
helpers:
  twice:
    params: {n: int}
    do: |
      return n * 2
tools:
  count_friends:
    kind: read
    description: Looks things up by value, so that there are lookup tables.
    params: {key: str}
    do: |
      return [[i.item_id for i in items.values() if i.friend == key], [p.name for p in people.values() if p.best == key]]
  act:
    kind: write
    description: Act.
    params:
      k: {ref: items, as: a}
      m: {ref: items, as: b}
      p: {ref: people, as: who}
      n: int
      t: str
    do: |
@BODY@
initial_state:
  items:
    I-1: {title: pen, size: 3, tags: [a]}
    I-2: {title: cup, size: 7, tags: [a, b], box: {width: 4, marks: [x]}, friend: I-1}
    I-3: {title: hat, size: 1, friend: I-3, extra: {x: 1}, note: old}
  people:
    P-001: {name: Ann, total: 4, best: I-1}
    P-007: {name: Bo}
"""
WRITES = (
    "a.size += n", "b.size = a.size", "b.size -= n", "a.size = n", "a.title = t", "b.title = a.title + t", "a.tags.append(b.title)",
    "b.tags = a.tags", "a.box = b.box", "b.box.width += n", "a.box.marks.append(t)", "a.friend = m", "b.friend = t", "a.extra = n", "b.extra = 1.0",
    "b.extra = {\"x\": a.tags}", "a.note = t", "del b.note", "who.total += n", "who.total = twice(n)", "who.name = t", "who.best = k",
    "a.size += 1\na.size -= 1", "a.cost += 1.25", "b.cost = a.cost * 2", "if n > 1:\n    a.size += b.size", "if a.size > 3:\n    who.total += 2\nelse:\n    b.tags.clear()",
    "require(a.size < 9, f\"{a.size} is large\")", "require(b.size != n, \"same\")", "x = a.size + b.size\na.size = x", "a.tags.sort()", "if n > 4:\n    fail(t)",
    "c = b if n > 1 else a\nc.size += 1", "c = a\nc.size += 2", "c = a.box\nc.width += 1", "pair = [a, b]\na.title = pair[1].title", "e = {\"one\": a.box}\nb.box = e[\"one\"]", "last = a.tags.pop()\nb.tags.append(last)",
)  # fmt: skip
ADDS = (
    "q = people.add(name=t, total=n)", "q = people.add(name=a.title, best=m)\nq.total = n + 2", "people.add(name=t)", "people.add(name=\"Cy\", best=t)",
)  # fmt: skip
RESULTS = (
    "return a",
    'return {"s": a.size, "b": b, "w": who.name}',
    'return {"tags": a.tags, "cost": b.cost, "who": who}',
    "",
    "return k",
)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.sampled_from(WRITES), min_size=1, max_size=4))
    for add in draw(st.lists(st.sampled_from(ADDS), max_size=2, unique_by=lambda x: x.partition("=")[0])):
        lines.insert(draw(st.integers(0, len(lines))), add)
    return "\n".join([*lines, draw(st.sampled_from(RESULTS))])


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["I-1", "I-2", "I-3", "I-9"]), st.sampled_from(["I-1", "I-2", "I-3"]), st.sampled_from(["P-001", "P-007"]),
        st.sampled_from([0, 1, 2, 3, 5, -2]), st.sampled_from(["pen", "new", "I-2", "a very long text"]),
    ), min_size=1, max_size=5,
)  # fmt: skip


def random_bodies_do_the_same(body: str, calls: list[tuple[str, str, str, int, str]]) -> None:
    text = SHELF.replace("@BODY@", "\n".join("      " + line for line in body.splitlines()))
    direct, plain, tools = both("shelf.yaml", text)
    event("direct" if tools else "plain")
    note(body)
    one, other = direct.new(), plain.new()
    base = one.state
    for k, m, p, n, t in calls:
        given_ = {"k": k, "m": m, "p": p, "n": n, "t": t}
        a, b = one.call("act", given_), other.call("act", given_)
        assert a == b
        assert a.error is None or a.error.code != "internal", a
        agree(one, other)
        assert one.call("count_friends", {"key": k}) == other.call("count_friends", {"key": k})
    assert direct.new().state == base  # the base was never written


test_random_bodies_do_the_same, test_random_bodies_do_the_same_at_length = few_and_many(
    random_bodies_do_the_same, bodies(), CALLS, few=12, many=60, suppress_health_check=list(HealthCheck)
)


def test_a_call_by_name_and_a_method_do_the_same() -> None:
    direct, _, _ = both("ledger.yaml", SPECS["ledger"].read_text(encoding="utf-8"))
    one, other = direct.new(accounts(4)), direct.new(accounts(4))
    given_ = {"account_id": "A-00001", "amount": 2.5}
    assert one.call("deposit", given_) == other.tools.deposit(**given_)
    assert one.call("deposit", {**given_, "amount": "2.50"}).ok  # the long way round: a text for an amount
    assert not one.call("deposit", {"account_id": "A-00001"}).ok
    other.tools.deposit(**given_)
    agree(one, other)
    assert not one.call("set_overdraft", {"account_id": "A-00001", "limit": 100}).changed


def test_text_that_is_not_unicode_is_not_found() -> None:
    direct, _, _ = both("ledger.yaml", SPECS["ledger"].read_text(encoding="utf-8"))
    env = direct.new(accounts(4))
    for tool in ("balance", "account_details"):
        error = env.call(tool, {"account_id": "A-\ud800"}).error
        assert error is not None
        assert error.code in ("refused", "not_found")
        assert error.message.encode() == b"There is no account A-\\ud800."
