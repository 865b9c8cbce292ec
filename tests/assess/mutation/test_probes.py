"""Changed states, and calls made in them: what tells a mutant from the original where the recorded calls do not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.assess.mutation.bounds import bounds_of
from envscaler.assess.mutation.compared import compared
from envscaler.assess.mutation.near import is_time, times_near
from envscaler.assess.mutation.probes import Probes, difference_of_states, probes
from envscaler.assess.mutation.tapes import Tape, difference_of_variants, recorder, settle, settle_variants
from envscaler.assess.mutation.visits import events, tapes_in
from envscaler.compiler import compile_spec, load_class
from envscaler.replay.examples import verify
from envscaler.runtime import Environment
from envscaler.spec.check import check_text
from envscaler.spec.checked import Checked

PIER = """\
envscaler: 1
name: pier
description: Boats at a pier.
constants: {MOST: 2}
states:
  boats:
    record: Boat
    key: {name: boat_id, make: "B-{n}"}
    fields:
      berth: {type: str, min_length: 1}
      length: {type: int, ge: 1, le: 90}
      moored: {type: time, default: "08:00:00"}
      status: {enum: [moored, hauled, sold], default: moored}
      flag: {type: bool, absent: true, description: Whether it flies one.}
rules:
  boat_life:
    text: A boat that is hauled out may be moored again or sold; what is sold is gone.
    field: boats.status
    moves: {moored: [hauled], hauled: [moored, sold], sold: []}
  few_at_a_berth:
    text: At a berth lie at most {MOST} boats.
    each: boats
    holds: |
      count(b for b in boats.values() if b.berth == it.berth and b.status == "moored") <= MOST
  by_day:
    text: Boats are moored from six.
    each: boats
    holds: |
      it.moored >= time("06:00:00")
tools:
  fee:
    kind: read
    description: What a boat pays a night.
    params: {boat_id: {ref: boats, as: boat}}
    do: |
      n = boat.length
      return {"fee": 40 if n > 33 else 20, "flag": "flag" in boat and boat.flag}
    examples:
      - {call: {boat_id: B-1}, returns: {fee: 20, flag: false}}
setup:
  storm:
    description: A boat is hauled out, and sold where that was so already.
    params: {boat_id: {ref: boats, as: boat}}
    do: |
      boat.status = "sold" if boat.status == "hauled" else "hauled"
initial_state:
  boats:
    B-1: {berth: north, length: 12}
    B-2: {berth: south, length: 7, status: hauled}
"""


def _checked(text: str = PIER) -> Checked:
    found = check_text("pier.yaml", text)
    assert not [d for d in found.diagnostics if d.severity == "error"], found.diagnostics
    return found


def _class(text: str = PIER) -> type[Environment]:
    return load_class(compile_spec(_checked(text)))


@pytest.fixture(scope="module")
def pier() -> type[Environment]:
    return _class()


@pytest.fixture(scope="module")
def states(pier: type[Environment]) -> Probes:
    spec = _checked().spec
    assert spec is not None
    return probes(pier, (), bounds_of(spec))


@pytest.fixture(scope="module")
def inside(pier: type[Environment], states: Probes) -> list[Tape]:
    spec, shown = _checked().spec, list[Tape]()
    assert spec is not None
    verify(spec, recorder(pier, shown))
    tapes = tapes_in(states, settle(pier, shown), events(pier, 0))
    settle_variants(pier, tapes)
    return tapes


def test_a_class_does_not_differ_from_itself(pier: type[Environment], states: Probes, inside: list[Tape]) -> None:
    again = _class()
    assert difference_of_states(again, states) == ""
    assert difference_of_variants(again, inside) == ""
    assert {probe.problem is None for probe in states.tried} == {True, False}


@pytest.mark.parametrize(
    ("sound", "faulty", "told"),
    [
        ("ge: 1, le: 90", "ge: 1, le: 91", "now allowed"),
        ("ge: 1, le: 90", "ge: 2, le: 90", "now refused"),
        ("min_length: 1", "min_length: 2", "now refused"),
        ("{MOST: 2}", "{MOST: 3}", "now allowed"),
        ('== "moored") <=', '== "hauled") <=', "few_at_a_berth"),
        ('it.moored >= time("06:00:00")', 'it.moored > time("06:00:00")', "now refused"),
        ("Boats are moored from six.", "Boats come after six.", "now refused"),
    ],
)
def test_a_state_tells_a_declaration_or_a_rule_that_moved(states: Probes, sound: str, faulty: str, told: str) -> None:
    assert PIER.count(sound) == 1
    assert told in difference_of_states(_class(PIER.replace(sound, faulty)), states)


@pytest.mark.parametrize(
    ("sound", "faulty"),
    [
        ("n > 33", "n >= 33"),
        ("n > 33", "n > 34"),
        ("40 if", "41 if"),
        ('"flag" in boat and boat.flag', '"flag" in boat and not boat.flag'),
        ("hauled: [moored, sold]", "hauled: [moored]"),
        ("moored: [hauled]", "moored: []"),
    ],
)
def test_a_call_in_a_changed_state_tells_logic_or_a_move(inside: list[Tape], sound: str, faulty: str) -> None:
    assert PIER.count(sound) == 1
    assert difference_of_variants(_class(PIER.replace(sound, faulty)), inside)


def test_numbers_that_the_logic_compares_are_known_by_the_names_outside() -> None:
    text = PIER.replace("length: {type: int,", "length: {type: int, json: feet,").replace("length: 12", "feet: 12")
    spec = _checked(text.replace("length: 7", "feet: 7")).spec
    assert spec is not None
    assert set(compared(spec)["feet"]) == {32, 33, 34}
    assert {0, 1, 2, 89, 90, 91, 32, 33, 34} <= set(bounds_of(spec).fields["feet"])


@pytest.mark.parametrize("text", ["2030-02-28", "2030-02-28T23:59:00Z", "2030-02-28T00:00:00", "00:00", "23:59:30"])
def test_what_is_near_a_time_is_written_like_it(text: str) -> None:
    near = list(times_near(text))
    assert near
    for other in near:
        assert is_time(other)
        assert other != text
        assert re.sub(r"\d", "0", other) == re.sub(r"\d", "0", text)


@given(st.text(max_size=12))
def test_what_is_no_time_has_nothing_near_it(text: str) -> None:
    assert is_time(text) or list(times_near(text)) == []
