"""Strategies for tests of one's own: what they make is accepted by the class it is made for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.assess.facts import Facts
from envscaler.assess.layout import keys_of, laid_out, records_of
from envscaler.assess.odd import edges
from envscaler.assess.schemas import fields_of_schema
from envscaler.assess.strategies import arguments, calls, samples, states, values
from envscaler.runtime import shapes as s
from tests.assess.shelf import checked, compiled
from tests.once import few, loaded

SHIPPED = few("bank", "file_system", "tau2_mock", "ticket_desk")


@pytest.mark.parametrize("path", SHIPPED)
def test_arguments_are_taken_by_every_tool(path: Path) -> None:
    """They are of the right types and within bounds: whatever else a tool refuses them for, it is not that."""
    environment = loaded(path)
    facts, env = Facts(environment), environment.new()
    keys = keys_of(facts.shapes, env.state)
    for tool in facts.tools:
        for given_ in samples(arguments(tool, keys, environment.clock), 8, 3):
            error = env.call(tool.name, given_, actor=tool.actor).error
            assert error is None or error.code != "invalid_argument", (tool.name, given_, error)
            env.reset()


@pytest.mark.parametrize("path", SHIPPED)
def test_states_are_allowed_and_differ(path: Path) -> None:
    environment = loaded(path)
    found = samples(states(Facts(environment)), 5, 1)
    for state in found:
        assert environment.new(state).state == environment.new(environment.new(state).state).state
    collections = [c for c in environment.states if isinstance(c, s.Collection) and c.tree is None]
    if collections and any(records_of(c, environment.new().state) for c in collections):
        assert len({repr(state) for state in found}) > 1


def test_samples_are_the_same_for_the_same_number() -> None:
    text = st.text() | st.integers().map(str) | st.floats().map(str)
    assert samples(text, 30, 1) == samples(text, 30, 1) != samples(text, 30, 2)


@settings(max_examples=30, deadline=None, database=None)
@given(script=calls(compiled(checked())))
def test_calls_can_be_drawn_in_a_test(script: list[Any]) -> None:
    env = compiled(checked()).new()
    for made in script:
        result = env.call(made.tool, made.arguments, actor=made.actor)
        assert result.error is None or result.error.code != "internal"


FIELDS: dict[str, s.Field] = {
    "money": s.Field("x", s.MONEY, gt=0, le=500),
    "int": s.Field("x", s.INT, ge=3, lt=9),
    "text": s.Field("x", s.STR, min_length=2, max_length=5),
    "pattern": s.Field("x", s.STR, pattern="^[A-Z]{2}[0-9]{3}$"),
    "list": s.Field("x", s.ListOf(s.INT), min_length=1, max_length=2),
    "date": s.Field("x", s.DATE),
    "number": s.Field("x", s.NUMBER, ge=0),
    "null": s.Field("x", s.Nullable(s.BOOL)),
}


@pytest.mark.parametrize("name", FIELDS)
def test_values_are_within_bounds(name: str) -> None:
    from envscaler.runtime.reading import BAD, reader
    from envscaler.runtime.writing import field_inspector

    field = FIELDS[name]
    read, inspect = reader(field.shape, "strict"), field_inspector(field)
    for value in samples(values(field, {}), 40, 0):
        problems: list[str] = []
        got = read(value, "x", problems)
        assert got is not BAD, (value, problems)
        if inspect is not None:
            inspect(got, "x", problems)
        assert problems == []


def test_edges_lie_at_the_bounds_and_just_past_them() -> None:
    assert {0.01, 0, 5, 5.01, 4.99} <= set(edges(FIELDS["money"]))
    assert {2, 3, 4, 8, 9, 10} <= set(edges(FIELDS["int"]))
    assert {"", "a", "aa", "aaaaa", "aaaaaa"} <= set(edges(FIELDS["text"]))
    assert None in edges(FIELDS["null"])


@pytest.mark.parametrize("path", SHIPPED)
def test_records_of_every_form_are_taken_out_and_put_back(path: Path) -> None:
    environment = loaded(path)
    state = environment.new().state
    for shape in environment.states:
        if isinstance(shape, s.Collection) and (shape.tree is None or shape.tree.nested is None):
            assert laid_out(shape, records_of(shape, state)) == state[shape.name]


def test_schemas_become_fields() -> None:
    fields = fields_of_schema({
        "properties": {
            "n": {"type": "integer", "minimum": 1, "maximum": 3},
            "t": {"type": ["string", "null"], "maxLength": 4},
            "e": {"enum": ["a", "b", None]},
            "l": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "boolean"}}}},
            "d": {"type": "string", "format": "date"},
            "o": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "any": {},
        },
        "required": ["n"],
    })  # fmt: skip
    assert (fields["n"].shape, fields["n"].ge, fields["n"].le, fields["n"].required) == (s.INT, 1, 3, True)
    assert isinstance(fields["t"].shape, s.Nullable)
    assert not fields["t"].required
    assert fields["t"].max_length == 4
    assert isinstance(fields["e"].shape, s.Nullable)
    assert isinstance(fields["l"].shape, s.ListOf)
    assert isinstance(fields["l"].shape.item, s.Struct)
    assert fields["d"].shape is s.DATE
    assert isinstance(fields["o"].shape, s.Nullable)
    assert fields["any"].shape is s.ANY
