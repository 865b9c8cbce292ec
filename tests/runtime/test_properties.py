"""Properties of episodes, held against a model that copies everything deeply."""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.runtime import canonical_json
from tests.lengths import few_and_many
from tests.runtime.sample_forms import Forms
from tests.runtime.sample_library import MAX_LOANS, Library

members = st.sampled_from(["M-0001", "M-0002", "M-0003", "M-0004", "nobody", "M\ud800"])
copies = st.sampled_from([f"B-0000{i}" for i in range(1, 5)])
amounts = st.sampled_from([0.25, 1, "0.5", 100, -1, 0.001, float("nan")])
library_calls = st.one_of(
    st.tuples(st.just("check_out"), st.fixed_dictionaries({"member_id": members, "barcode": copies})),
    st.tuples(st.just("join"), st.fixed_dictionaries({"name": st.text(max_size=3)})),
    st.tuples(st.just("remove_member"), st.fixed_dictionaries({"member_id": members})),
    st.tuples(st.just("rename"), st.fixed_dictionaries({"member_id": members, "name": st.text(max_size=2)})),
    st.tuples(st.just("pay_fine"), st.fixed_dictionaries({"member_id": members, "amount": amounts})),
    st.tuples(
        st.just("lottery"), st.fixed_dictionaries({"fail": st.booleans(), "members": st.lists(members, max_size=3)})
    ),
    st.tuples(st.just("break"), st.fixed_dictionaries({"kind": st.sampled_from(["zero", "key", "bug", "grow"])})),
    st.tuples(st.just("find_copies"), st.fixed_dictionaries({"words": st.sampled_from(["e", "", "x"])})),
)

nodes = st.sampled_from([None, *(f"N-{i}" for i in range(1, 10))])
names = st.sampled_from(["a.txt", "docs", "tmp", "x"])
numbers = st.sampled_from([1, 3, 7, 8, 9])
few = st.integers(1, 3)
node_records = st.fixed_dictionaries({"kind": st.sampled_from(["file", "directory"]), "parent": nodes, "name": names})
slot_records = st.fixed_dictionaries(
    {"row": few, "seat": st.one_of(st.none(), few), "item": st.one_of(st.none(), numbers)}
)
slot_index = st.integers(0, 6)
forms_calls = st.one_of(
    st.tuples(st.just("add"), st.fixed_dictionaries({"where": st.just("nodes"), "record": node_records})),
    st.tuples(st.just("add"), st.fixed_dictionaries({"where": st.just("slots"), "record": slot_records})),
    st.tuples(st.just("add"), st.fixed_dictionaries({"where": st.just("items"), "record": st.just({"sku": "q", "tags": {"b": "N-2"}, "extra": 1, "size": 1, "at": None, "zone": "UTC", "hour": "09:00:00"}), "key": st.one_of(st.none(), numbers)})),
    st.tuples(st.just("remove"), st.fixed_dictionaries({"where": st.just("nodes"), "keys": st.lists(nodes, max_size=2), "then": st.sampled_from(["", "fail"])})),
    st.tuples(st.just("remove"), st.fixed_dictionaries({"where": st.just("items"), "keys": st.lists(numbers, max_size=2, unique=True), "then": st.sampled_from(["", "fail"])})),
    st.tuples(st.just("slots"), st.fixed_dictionaries({"where": st.just("slots"), "keys": st.lists(slot_index, min_size=1, max_size=3, unique=True), "then": st.sampled_from(["", "fail", "again"])})),
    st.tuples(st.just("set"), st.fixed_dictionaries({"where": st.just("nodes"), "key": nodes, "field": st.just("parent"), "value": nodes})),
    st.tuples(st.just("set"), st.fixed_dictionaries({"where": st.just("items"), "key": numbers, "field": st.just("extra"), "value": st.sampled_from([1, True, None, [1]])})),
    st.tuples(st.just("set"), st.fixed_dictionaries({"where": st.just("items"), "key": numbers, "field": st.just("sku"), "value": st.sampled_from(["abc", "q", "BAD"])})),
    st.tuples(st.just("set"), st.fixed_dictionaries({"where": st.just("top"), "field": st.just("cursor"), "value": nodes})),
)  # fmt: skip


def make(env: Any, call: tuple[str, dict[str, Any]]) -> Any:
    name, arguments = call
    if name == "slots":
        keys = [slot["slot"] for slot in env.state["slots"]]
        arguments = {**arguments, "keys": [keys[i] for i in arguments["keys"] if i < len(keys)] or ["none"]}
        name = "remove"
    return env.call(name, arguments, actor="user" if name == "pay_fine" else "agent")


def everything(env: Any) -> str:
    """The state with all orders, and what the next ids and draws will be."""
    ahead = env.fork()
    after = (
        [make(ahead, c) for c in (("join", {"name": "z"}), ("lottery", {}))]
        if isinstance(env, Library)
        else [ahead.call("add", {"where": "slots", "record": {"row": 77, "seat": None, "item": None}})]
    )
    return json.dumps([env.state, [r.to_json() for r in after]])


def applied(ops: list[dict[str, Any]], state: Any, keys: dict[str, str]) -> Any:
    """The state after the operations; list forms are taken as maps by key first."""
    state = copy.deepcopy(state)
    for name, key in keys.items():
        state[name] = {r[key]: dict(r) for r in state[name]}
    for op in ops:
        *path, last = [p.replace("~1", "/").replace("~0", "~") for p in op["path"].split("/")[1:]]
        at = state
        for part in path:
            at = at[int(part)] if isinstance(at, list) else at[part]
        where: Any = int(last) if isinstance(at, list) else last
        if op["op"] == "remove":
            assert at[where] == op["before"]
            del at[where]
        elif op["op"] == "replace":
            assert at[where] == op["before"]
            at[where] = op["value"]
        elif isinstance(at, list):
            at.insert(where, op["value"])
        else:
            assert where not in at
            at[where] = op["value"]
    for name in keys:
        state[name] = list(state[name].values())
    return state


def failed_calls_change_nothing_and_rules_hold(calls: list[Any], seed: int) -> None:
    env = Library.new(seed=seed)
    for call in calls:
        before = everything(env)
        state = env.state
        result = make(env, call)
        json.dumps(result.to_json(), ensure_ascii=False).encode()
        if not result.ok:
            assert everything(env) == before
        assert result.changed is (env.state != state)
        now = env.state
        for member in now["members"]:
            assert sum(x["member_id"] == member and x["returned"] is None for x in now["loans"].values()) <= MAX_LOANS
        assert Library.new(now).state == now
        assert applied(env.diff(), Library.new().state, {}) == now


test_failed_calls_change_nothing_and_rules_hold, test_failed_calls_change_nothing_and_rules_hold_at_length = (
    few_and_many(
        failed_calls_change_nothing_and_rules_hold,
        st.lists(library_calls, max_size=25),
        st.integers(0, 3),
        few=25,
        many=80,
    )
)


def all_forms_stay_valid_and_diffs_are_complete(calls: list[Any]) -> None:
    env = Forms.new()
    flat = Forms.new()
    for call in calls:
        before, state = everything(env), env.state
        result = make(env, call)
        if not result.ok:
            assert everything(env) == before
            assert canonical_json(env.state) == canonical_json(state)
        elif canonical_json(env.state) != canonical_json(state):
            assert result.changed
        ops = [op for op in env.diff() if not op["path"].startswith("/nodes/")]
        start, now = flat.state, env.state
        start.pop("nodes")
        now.pop("nodes")
        assert applied(ops, start, {"slots": "slot"}) == now
        for name in ("nodes", "items", "slots"):
            part = getattr(env._state, name)
            assert len(part) == len(part.current()) == len(list(part))
    env.reset()
    assert env.state == Forms.initial_state
    assert everything(env) == everything(flat)


test_all_forms_stay_valid_and_diffs_are_complete, test_all_forms_stay_valid_and_diffs_are_complete_at_length = (
    few_and_many(all_forms_stay_valid_and_diffs_are_complete, st.lists(forms_calls, max_size=25), few=30, many=120)
)


@settings(max_examples=80, deadline=None)
@given(st.lists(forms_calls, max_size=25))
def test_lookups_by_value_are_scans_made_quick(calls: list[Any]) -> None:
    env = Forms.new()
    for i, call in enumerate(calls):
        if i % 3 == 0:
            env = env.fork()
        make(env, call)
        part = env._state.nodes  # type: ignore[attr-defined]
        for key in (None, "N-1", "N-2", "N-6"):
            assert part.by(("parent",), key) == [r for r in part.current().values() if r["parent"] == key]
            assert part.by(("parent", "name"), (key, "docs")) == [
                r for r in part.current().values() if (r["parent"], r["name"]) == (key, "docs")
            ]


steps = st.one_of(
    st.tuples(st.just("call"), library_calls),
    st.tuples(st.sampled_from(["snapshot", "fork", "reset", "swap"]), st.none()),
    st.tuples(st.just("restore"), st.integers(0, 5)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=40))
def test_ways_back_and_forth_agree_with_replaying(plan: list[Any]) -> None:
    """The model of an episode is the list of its calls; a state is right if a fresh episode comes to it by them."""

    def replayed(calls: list[Any]) -> str:
        env = Library.new(seed=3)
        for call in calls:
            make(env, call)
        return everything(env)

    env, done = Library.new(seed=3), list[Any]()
    other, other_done = env.fork(), list[Any]()
    saved: list[tuple[Any, list[Any]]] = []
    for what, detail in plan:
        if what == "call":
            make(env, detail)
            done.append(detail)
        elif what == "snapshot":
            saved.append((env.snapshot(), list(done)))
        elif what == "restore" and saved:
            snapshot, calls = saved[detail % len(saved)]
            env.restore(snapshot)
            done = list(calls)
        elif what == "fork":
            other, other_done = env.fork(), list(done)
        elif what == "swap":
            env, done, other, other_done = other, other_done, env, done
        elif what == "reset":
            env.reset()
            done = []
    assert everything(env) == replayed(done)
    assert everything(other) == replayed(other_done)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), library_calls), max_size=40))
def test_interleaving_environments_changes_nothing(calls: list[Any]) -> None:
    base = Library.prepare()
    together = [Library.new(base, seed=i) for i in range(3)]
    results: list[list[Any]] = [[], [], []]
    for i, call in calls:
        results[i].append(make(together[i], call).to_json())
    for i in range(3):
        alone = Library.new(seed=i)
        assert [make(alone, call).to_json() for j, call in calls if j == i] == results[i]
        assert everything(alone) == everything(together[i])


def test_64_episodes_on_16_threads_equal_64_in_a_row() -> None:
    base = Library.prepare()

    def episode(seed: int) -> str:
        env = Library.new(base, seed=seed)
        said = []
        for i in range(60):
            said.append(env.call("lottery", {"fail": i % 7 == 0}).to_json())
            said.append(env.call("join", {"name": f"n{seed}"}).to_json())
            said.append(env.call("check_out", {"member_id": f"M-{i % 9:04d}", "barcode": f"B-0000{i % 4}"}).to_json())
            if i % 20 == 19:
                env = env.fork()
        return json.dumps([said, env.state, env.diff()])

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(episode, range(64))) == [episode(seed) for seed in range(64)]
    assert Library.new(base).state == Library.new().state
