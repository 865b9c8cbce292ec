"""What must hold of every shipped environment under random calls of all its tools."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import envscaler
from envscaler.session.files import spec_files

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted(spec_files([ROOT / "specs"])[0])
CLASSES = {path.stem: envscaler.load(path) for path in SPECS}

Call = tuple[str, str, dict[str, Any]]  # actor, tool, arguments


def by_name(state: Any) -> dict[str, list[Any]]:
    """What stands in a state under each field name, to pick arguments from; record keys under "" and their collection."""
    found: dict[str, list[Any]] = {"": []}
    stack: list[tuple[str, Any]] = [("", state)]
    while stack:
        name, node = stack.pop()
        if isinstance(node, dict):
            found.setdefault(name, []).extend(node)
            found[""].extend(node)
            stack += node.items()
        elif isinstance(node, list):
            stack += [(name, item) for item in node]
        else:
            found.setdefault(name, []).append(node)
    return found


class Arguments:
    """Arguments for the tools of one environment: mostly ones that mean something in its state, some that do not fit."""

    def __init__(self, name: str) -> None:
        self.env = CLASSES[name].new()
        self.known = by_name(self.env.state)
        self.keys = {s.record.key.name: s.name for s in CLASSES[name].states if s.record.key is not None}

    def calls(self) -> st.SearchStrategy[list[Call]]:
        one = [
            st.tuples(st.just(tool.actor), st.just(tool.name), self.arguments(tool))
            for tool in type(self.env).tool_table
        ]
        return st.lists(st.one_of(*one), min_size=1, max_size=15)

    def arguments(self, tool: Any) -> st.SearchStrategy[dict[str, Any]]:
        schema = (self.env.tools if tool.actor == "agent" else self.env.user_tools).schemas[tool.name]
        required = set(schema.get("required", ()))
        fitting = {k: self.fitting(k, tool.params.get(k), v) for k, v in schema.get("properties", {}).items()}
        needed = {k: v for k, v in fitting.items() if k in required}
        fits = st.fixed_dictionaries(needed, optional={k: v for k, v in fitting.items() if k not in required})
        odd = st.sampled_from([None, "", "x", 0, -1, 10**17, 0.001, True, [], {}, "\ud800"])
        if not fitting:
            return fits
        spoilt = st.builds(lambda good, k, bad: {**good, k: bad}, fits, st.sampled_from(sorted(fitting)), odd)
        return st.integers(0, 7).flatmap(lambda n: spoilt if n == 0 else fits)

    def fitting(self, name: str, param: Any, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        collection = getattr(getattr(param, "shape", None), "collection", None) or self.keys.get(name)
        if collection in self.known:
            return st.sampled_from(self.known[collection])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        kinds = schema.get("type", "string")
        kind = kinds if isinstance(kinds, str) else kinds[0]
        if kind == "array":
            return st.lists(
                self.fitting(name.removeprefix("new_").removesuffix("s"), None, schema.get("items", {})),
                min_size=1,
                max_size=2,
            )
        if kind == "object":
            return st.fixed_dictionaries({k: self.fitting(k, None, v) for k, v in schema.get("properties", {}).items()})
        if kind in ("number", "integer"):
            return st.integers(1, 60) if kind == "integer" else st.integers(1, 20_000).map(lambda n: n / 100)
        if kind == "boolean":
            return st.booleans()
        alike = [
            v
            for k, found in self.known.items()
            if k and (k == name or name.endswith(f"_{k}") or k.endswith(f"_{name}"))
            for v in found
        ]
        texts = [v for v in alike if isinstance(v, str)] or [v for v in self.known[""] if isinstance(v, str)] or ["x"]
        made = {"date": ["2031-05-20", "2000-02-29"], "email": ["new@example.com"]}.get(schema.get("format", name), [])
        text = st.sampled_from(texts + made)
        return text if "type" in schema else st.one_of(text, st.integers(-60, 60))


def calls(name: str) -> st.SearchStrategy[list[Call]]:
    return Arguments(name).calls()


def played(env: Any, script: list[Call]) -> str:
    """The bytes of an episode."""
    told = [env.call(tool, arguments, actor=actor).to_json() for actor, tool, arguments in script]
    return json.dumps([told, env.state, env.diff()])


@pytest.mark.parametrize("name", CLASSES)
def test_calls_are_transactions_and_rules_hold(name: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(calls(name))
    def holds(script: list[Call]) -> None:
        env = CLASSES[name].new()
        for actor, tool, arguments in script:
            before, kept = env.snapshot(), json.dumps(env.state)
            result = env.call(tool, arguments, actor=actor)
            assert result.error is None or result.error.code != "internal", (tool, arguments, result)
            json.dumps(result.to_json()).encode()
            if not result.changed:
                assert json.dumps(env.state) == kept
            else:
                assert json.dumps(env.state) != kept
                env.prepare(env.state)  # types, references, uniqueness, rules
            fork = env.fork()
            assert fork.state == env.state
            fork.restore(before)
            assert json.dumps(fork.state) == kept
        again = CLASSES[name].new()
        assert played(again, script) == played(CLASSES[name].new(), script)
        assert again.state == env.state
        again.reset()
        assert again.state == CLASSES[name].new().state
        assert again.diff() == []

    holds()


@pytest.mark.parametrize("name", CLASSES)
def test_read_tools_change_nothing(name: str) -> None:
    reads = {t.name for t in CLASSES[name].tool_table if t.kind == "read"}

    @settings(max_examples=25, deadline=None)
    @given(calls(name))
    def holds(script: list[Call]) -> None:
        env = CLASSES[name].new()
        for actor, tool, arguments in script:
            result = env.call(tool, arguments, actor=actor)
            assert not (tool in reads and result.changed)

    holds()


@pytest.mark.parametrize("name", CLASSES)
def test_episodes_on_threads_equal_those_in_a_row(name: str) -> None:
    @settings(max_examples=3, deadline=None)
    @given(st.lists(calls(name), min_size=4, max_size=4))
    def holds(scripts: list[list[Call]]) -> None:
        episodes = [(seed, scripts[seed % len(scripts)]) for seed in range(64)]

        def run(episode: tuple[int, list[Call]]) -> str:
            return played(CLASSES[name].new(seed=episode[0]), episode[1])

        with ThreadPoolExecutor(16) as threads:
            assert list(threads.map(run, episodes)) == [run(e) for e in episodes]

    holds()
