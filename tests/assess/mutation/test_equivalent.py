"""What is proved to behave alike, and what is not taken for it."""

from __future__ import annotations

import pytest

from envscaler.assess.mutation.copies import is_idle_copy
from envscaler.assess.mutation.equivalent import normal_form
from envscaler.assess.mutation.mutants import apply
from envscaler.assess.mutation.operators import OPERATORS, Material
from envscaler.compiler import compile_spec
from envscaler.spec.check import check_text
from tests.assess.mutation.test_mutation import BANK, SHOP


def test_prose_and_places_are_no_difference() -> None:
    checked = check_text("shop.yaml", SHOP)
    told = check_text("shop.yaml", SHOP.replace("A shop.", "Another shop.\n\n"))
    assert normal_form(compile_spec(checked).text) == normal_form(compile_spec(told).text)


@pytest.mark.parametrize(
    ("one", "two"),
    [("x = not not y", "x = y"), ("if not a == b:\n    f()", "if a != b:\n    f()"), ("x = 2 + 3", "x = 5"),
     ("if False:\n    f()\ng()", "pass\ng()"), ("x = a == b", "x = b == a"),
     ("x = _rt.power(a - b, 2)", "x = _rt.power(b - a, 2)"),
     ('SHUT = "16:00:00"\nx = _rt.mul(_rt.hour(SHUT), 60) + _rt.minute(SHUT)', 'SHUT = "16:00:00"\nx = 960'),
     ('if k == "..":\n    f("no \'..\'")', 'if k == "..":\n    f(f"no \'{k}\'")')],
)  # fmt: skip
def test_what_is_proved_to_be_the_same(one: str, two: str) -> None:
    assert normal_form(one) == normal_form(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [("x = a < b", "x = b < a"), ("x = f() == g()", "x = g() == f()"), ("x = 1", "x = True"),
     ("x = _rt.power(a - b, 3)", "x = _rt.power(b - a, 3)"), ("x = _rt.power(f() - g(), 2)", "x = _rt.power(g() - f(), 2)"),
     ('S = "16:00:00"\nS = "1"\nx = _rt.hour(S)', 'S = "16:00:00"\nS = "1"\nx = 16'),
     ('if k != "a":\n    f("a")', 'if k != "a":\n    f(k)'), ('if k == 1:\n    f(1)', "if k == 1:\n    f(k)"),
     ('if k == "a":\n    k = g()\n    f("a")', 'if k == "a":\n    k = g()\n    f(k)'),
     ('if k == "a":\n    f(lambda k: k)', 'if k == "a":\n    f(lambda k: "a")')],
)  # fmt: skip
def test_what_is_not_the_same_stays_apart(one: str, two: str) -> None:
    assert normal_form(one) != normal_form(two)


_OWNED = [
    (
        '_state.car.edit()["a"] = 1\n    _state.car.edit()["b"] = 2',
        '_state.car.edit()["a"] = 1\n    _state.car.value["b"] = 2',
    ),
    ("x = _state.cars.edit(k)\n    y = _state.cars.at(k)", "x = _state.cars.edit(k)\n    y = _state.cars.edit(k)"),
    (
        'if k:\n        _state.car.edit()["a"] = 1\n    else:\n        _state.car.edit()["a"] = 2\n    _state.car.edit()["b"] = 1',
        'if k:\n        _state.car.edit()["a"] = 1\n    else:\n        _state.car.edit()["a"] = 2\n    _state.car.value["b"] = 1',
    ),
    (
        'n = helper_book(_state)\n    _state.cars.edit(n)["a"] = 1',
        'n = helper_book(_state)\n    _state.cars.at(n)["a"] = 1',
    ),
    (
        "x = _state.cars.edit(k)\n    helper_drop(_state)\n    y = _state.cars.edit(k)",
        "x = _state.cars.edit(k)\n    helper_drop(_state)\n    y = _state.cars.at(k)",
    ),
    (
        'x = _state.cars.add({"car_id": None})\n    y = _state.cars.edit(x["car_id"])',
        'x = _state.cars.add({"car_id": None})\n    y = _state.cars.at(x["car_id"])',
    ),
]
_NOT_OWNED = [
    ('_state.car.edit()["a"] = 1', '_state.car.value["a"] = 1'),
    ('_state.car.edit()["a"] = _state.car.edit()["b"]', '_state.car.value["a"] = _state.car.value["b"]'),
    (
        'if k:\n        _state.car.edit()["a"] = 1\n    _state.car.edit()["b"] = 1',
        'if k:\n        _state.car.edit()["a"] = 1\n    _state.car.value["b"] = 1',
    ),
    ("x = _state.cars.edit(k)\n    y = _state.cars.edit(m)", "x = _state.cars.edit(k)\n    y = _state.cars.at(m)"),
    (
        "x = _state.cars.edit(k)\n    k = 2\n    y = _state.cars.edit(k)",
        "x = _state.cars.edit(k)\n    k = 2\n    y = _state.cars.at(k)",
    ),
    (
        "for k in m:\n        x = _state.cars.edit(k)\n    y = _state.cars.edit(k)",
        "for k in m:\n        x = _state.cars.edit(k)\n    y = _state.cars.at(k)",
    ),
    (
        "x = k and _state.cars.edit(k)\n    y = _state.cars.edit(k)",
        "x = k and _state.cars.edit(k)\n    y = _state.cars.at(k)",
    ),
    (
        "x = _state.cars.edit(k)\n    helper_lose(_state)\n    y = _state.cars.edit(k)",
        "x = _state.cars.edit(k)\n    helper_lose(_state)\n    y = _state.cars.at(k)",
    ),
    (
        'n = helper_drop(_state)\n    _state.cars.edit(n)["a"] = 1',
        'n = helper_drop(_state)\n    _state.cars.at(n)["a"] = 1',
    ),
]
_AROUND = """\
def helper_book(_state):
    made = _state.cars.add({{"car_id": None, "a": 0}})
    return made["car_id"]


def helper_drop(_state):
    made = _state.cars.add({{"car_id": None, "a": 0}})
    return made["a"]


def helper_lose(_state):
    helper_deep(_state)


def helper_deep(_state):
    _state.cars.remove(1)


def tool_use(_state, k, m):
    {}
"""


@pytest.mark.parametrize(("one", "two"), _OWNED)
def test_a_record_that_is_ready_to_be_written_is_the_same_however_it_is_asked_for(one: str, two: str) -> None:
    assert normal_form(_AROUND.format(one)) == normal_form(_AROUND.format(two))


@pytest.mark.parametrize(("one", "two"), _NOT_OWNED)
def test_a_record_that_may_not_be_ready_is_not_taken_for_one(one: str, two: str) -> None:
    assert normal_form(_AROUND.format(one)) != normal_form(_AROUND.format(two))


_THROUGH = """\
def helper_paint(_state, car_id, colour):
    {}


def helper_use(_state, k):
    helper_paint(_state, k, "red")


def tool_one(_state, k):
    x = _state.cars.edit_or_none(k)
    helper_use(_state, k)


def tool_two(_state, n, k):
    {}
"""
_ASKED = ("_state.cars.edit(car_id)['colour'] = colour", "_state.cars.at(car_id)['colour'] = colour")


@pytest.mark.parametrize(
    ("caller", "same"),
    [
        ("x = _state.cars.edit(k)\n    helper_paint(_state, k, n)", True),
        ("x = _state.cars.add({'car_id': None})\n    helper_paint(_state, x['car_id'], n)", True),
        ("x = _state.cars.edit(k)\n    return helper_paint(_state, k, n)", True),
        ("helper_paint(_state, k, n)", False),
        ("x = _state.cars.edit(k)\n    helper_paint(_state, n, n)", False),
        ("x = _state.vans.edit(k)\n    helper_paint(_state, k, n)", False),
        ("x = _state.cars.edit(k)\n    k = n\n    helper_paint(_state, k, n)", False),
        ("x = _state.cars.edit(k)\n    while k:\n        helper_paint(_state, k, n)", False),
        ("x = _state.cars.edit(k)\n    y = [helper_paint(_state, k, n) for k in n]", False),
        ("x = _state.cars.edit(k)\n    helper_paint(_state, k, n)\n\n\nafter_each = (helper_paint,)", False),
    ],
)
def test_a_helper_finds_a_record_ready_where_all_its_callers_made_it_so(caller: str, same: bool) -> None:
    one, two = (normal_form(_THROUGH.format(body, caller)) for body in _ASKED)
    assert (one == two) is same


def test_a_copy_of_which_only_unwritten_fields_are_read_is_proved_equal() -> None:
    found = check_text(str(BANK), BANK.read_text(encoding="utf-8"))
    text = compile_spec(found).text
    sites = OPERATORS["stale-view"].sites(Material(found))
    assert [s.owner for s in sites if is_idle_copy(apply(text, s.edits), s.owner, found)] == ["tool refund_fee"]
