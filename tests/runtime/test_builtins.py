"""What logic can call: growth, money, calendar, text, arithmetic."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.runtime import Failure
from envscaler.runtime import builtins as rt
from envscaler.runtime import shapes as s
from envscaler.runtime.keys import Maker
from envscaler.runtime.reading import BAD, reader
from envscaler.runtime.writing import writer


@pytest.mark.parametrize(
    "grow",
    [
        lambda: rt.repeat("ab", 10**12), lambda: rt.repeat(10**12, "ab"), lambda: rt.repeat([0], 10**7),
        lambda: rt.power(9, 9**9), lambda: rt.power(2, 53), lambda: rt.mul(2**52, 2), lambda: rt.integer(-(2**53)),
        lambda: rt.replace("a" * 10**4, "a", "b" * 10**4), lambda: rt.join("x" * 10**5, ["a"] * 20), lambda: rt.text("a" * 1_000_001),
        lambda: rt.items([0] * 1_000_001), lambda: rt.range_(10**9), lambda: rt.ljust("a", 10**9), lambda: rt.zfill("1", 10**9),
        lambda: rt.money(1e20), lambda: rt.money_mul(10**14, 1000), lambda: rt.extend([0], [0] * 10**6),
    ],
)  # fmt: skip
def test_growth_is_bounded(grow: Any) -> None:
    with pytest.raises(Failure) as caught:
        grow()
    assert caught.value.code == "limit"


def test_bounded_operations_do_what_python_does() -> None:
    assert rt.repeat("ab", 3) == rt.repeat(3, "ab") == "ababab"
    assert rt.power(2, -1) == 0.5
    assert rt.power(-3, 33) == (-3) ** 33
    assert rt.mul(2.5, 4) == 10.0
    assert rt.replace("banana", "a", "oo") == "boonoonoo"
    assert rt.join(", ", (x for x in "abc")) == "a, b, c"
    assert list(rt.range_(3, 0, -1)) == [3, 2, 1]
    assert rt.reversed_([1, 2]) == [2, 1]
    assert rt.count(x for x in "abc") == 3
    assert rt.first([5]) == 5
    assert rt.first([], 4) == 4
    with pytest.raises(Failure, match="Nothing matches"):
        rt.first([])
    for wrong in (float("inf"), float("nan")):
        with pytest.raises(Failure):
            rt.finite(wrong)
    with pytest.raises(Failure):
        rt.power(-8, 0.5)


@pytest.mark.parametrize(
    ("x", "digits", "rounded"),
    [(2.675, 2, 2.67), (1250, -2, 1200), (2**53 - 1, -(10**9), 0), (2.5, -(10**9), 0.0), (2.5, 10**9, 2.5)],
)
def test_rounding_to_any_number_of_digits_takes_no_time(x: float, digits: int, rounded: float) -> None:
    assert rt.round_to(x, digits) == rounded
    assert type(rt.round_to(x, digits)) is type(x)


def test_money_is_exact() -> None:
    assert sum([rt.money(0.10)] * 30) == rt.money(3.00)
    assert rt.money(2.675) == 268
    assert rt.money(-2.675) == -268
    assert rt.money("1.005") == 101
    assert rt.money_mul(1001, 0.5) == 501
    assert rt.money_mul(999, 1.15) == 1149
    assert rt.money_over(100, 3) == 33
    assert rt.money_ratio(150, 100) == 1.5
    assert [rt.money_text(x) for x in (0, 150, 10000, -5, 123456)] == ["0", "1.5", "100", "-0.05", "1234.56"]
    assert rt.split(100, 3) == [34, 33, 33]
    assert rt.split(-100, 3) == [-34, -33, -33]
    for wrong in (lambda: rt.split(1, 0), lambda: rt.money_over(1, 0)):
        with pytest.raises(Failure):
            wrong()


@given(st.integers(-(10**15), 10**15))
def test_money_goes_through_json_unchanged(minor: int) -> None:
    assert reader(s.MONEY, "state")(writer(s.MONEY)(minor), "", []) == minor


@given(st.integers(-(10**12), 10**12), st.floats(-1000, 1000, allow_nan=False))
def test_products_are_half_up_on_the_exact_value(amount: int, factor: float) -> None:
    exact = Decimal(amount) * Decimal(repr(factor))
    assert abs(Decimal(rt.money_mul(amount, factor)) - exact) <= Decimal("0.500001")


@given(st.integers(-(10**6), 10**6), st.integers(1, 50))
def test_splits_add_up(amount: int, parts: int) -> None:
    shares = rt.split(amount, parts)
    assert sum(shares) == amount
    assert max(shares) - min(shares) <= 1


def test_the_calendar() -> None:
    assert rt.date_shift("2030-03-04", rt.days(21)) == "2030-03-25"
    assert rt.date_shift("2030-03-01", -rt.days(1)) == "2030-02-28"
    assert rt.datetime_shift("2030-12-31T23:30:00Z", rt.hours(1)) == "2031-01-01T00:30:00Z"
    assert rt.datetime_shift("2030-12-31T23:30:00", rt.minutes(-30)) == "2030-12-31T23:00:00"
    assert rt.time_shift("23:30:00", rt.hours(1)) == "00:30:00"
    assert rt.date_diff("2030-03-04", "2030-02-28") == rt.days(4)
    assert rt.datetime_diff("2030-01-02T00:00:00Z", "2030-01-01T23:59:00Z") == 60
    assert rt.add_months("2030-01-31", 1) == "2030-02-28"
    assert rt.add_months("2028-01-31T10:00:00Z", 1) == "2028-02-29T10:00:00Z"
    assert rt.add_months("2030-03-31", -13) == "2029-02-28"
    assert rt.month_start("2030-03-04T09:00:00Z") == "2030-03-01"
    moment = "2030-03-04T09:05:06Z"
    parts = (rt.year, rt.month, rt.day, rt.weekday, rt.hour, rt.minute, rt.second)
    assert [f(moment) for f in parts] == [2030, 3, 4, 0, 9, 5, 6]
    assert (rt.hour("09:05:06"), rt.time_part(moment), rt.date_part(moment)) == (9, "09:05:06", "2030-03-04")
    assert rt.date("2030-03-04") == rt.date(moment) == rt.date(2030, 3, 4) == "2030-03-04"
    assert rt.instant("2030-03-04T10:05:06+01:00") == moment
    assert rt.instant("2030-03-04T10:05", zoned=False) == "2030-03-04T10:05:00"
    assert rt.instant("2030-03-04", "09:05:06") == moment
    assert rt.at_zone("2030-07-01T12:00:00Z", "America/New_York") == "2030-07-01T08:00:00"
    assert rt.instant_at("2030-07-01", "08:00:00", "America/New_York") == "2030-07-01T12:00:00Z"
    assert rt.instant_at("2030-07-01", "08:00:00", "America/New_York", False) == "2030-07-01T12:00:00"


def test_a_wall_clock_that_shows_a_time_twice_or_never() -> None:
    back, forward = "2030-10-27", "2030-03-31"
    assert rt.instant_at(back, "02:30:00", "Europe/Paris") == "2030-10-27T00:30:00Z"
    skipped = rt.instant_at(forward, "02:30:00", "Europe/Paris")
    assert skipped == "2030-03-31T01:30:00Z"
    assert rt.at_zone(skipped, "Europe/Paris") == "2030-03-31T03:30:00"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: rt.date("2030-02-30"), lambda: rt.date(2030, 13, 1), lambda: rt.date("now"), lambda: rt.instant("2030-01-01"),
        lambda: rt.instant("2030-01-01T00:00:00"), lambda: rt.at_zone("2030-01-01T00:00:00Z", "../etc"), lambda: rt.add_months("9999-12-01", 1),
        lambda: rt.instant_at("2030-01-01", "00:00:00", "Mars/North"), lambda: rt.instant_at("9999-12-31", "23:00:00", "America/New_York"),
        lambda: rt.date_shift("9999-12-31", rt.days(1)), lambda: rt.datetime_shift("0001-01-01T00:00:00Z", -1), lambda: rt.date_shift("2030-01-01", 10**15),
        lambda: rt.to_int("abc"), lambda: rt.to_int("9" * 5000), lambda: rt.to_float("nan"), lambda: rt.to_int(float("inf")),
    ],
)  # fmt: skip
def test_what_is_out_of_range_fails_the_call(wrong: Any) -> None:
    with pytest.raises(Failure):
        wrong()


@pytest.mark.parametrize(
    "text",
    [
        "1 + 2 * 3",
        "(1 + 2) * 3",
        "-3 ** 2",
        "2 ** -1",
        "2 ** 3 ** 2",
        "7 // 2",
        "7 / 2",
        "-7 % 3",
        "1.5e3 - .5",
        "--4",
        "+(5)",
        "10 / 4 / 5",
        "3 - 2 - 1",
        "1 / 3",
        "0.1 + 0.2",
        "2.",
        "00",
        "-2 ** 2 ** 2",
    ],
)
def test_arithmetic_is_python_s(text: str) -> None:
    value = rt.arith(text)
    assert value == eval(text)
    assert type(value) is type(eval(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "a",
        "__import__('os')",
        "(1",
        "1)",
        "1 2",
        "1 / 0",
        "9 ** 9 ** 9",
        "1e999",
        "10 ** 400",
        "(" * 500 + "1" + ")" * 500,
        "-" * 900 + "1",
        "1" * 2000,
        "012",
        "1;2",
        "(-8) ** 0.5",
        "2.0 ** 5000",
        "٣",
        "1 +\u00a0",
    ],
)
def test_what_is_no_arithmetic_fails_the_call(text: str) -> None:
    with pytest.raises(Failure) as caught:
        rt.arith(text)
    assert caught.value.code == "arithmetic"


@given(
    st.recursive(
        st.integers(0, 99).map(str),
        lambda x: st.tuples(x, st.sampled_from("+-*/"), x).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        max_leaves=8,
    )
)
def test_arithmetic_agrees_with_python(text: str) -> None:
    try:
        expected: Any = eval(text)
    except ZeroDivisionError:
        expected = None
    try:
        found: Any = rt.arith(text)
    except Failure:
        found = None
    assert found == expected or (expected is not None and found is None and abs(expected) >= 2**53)


def test_conversions() -> None:
    assert [rt.to_int(x) for x in ("12", 3.9, -3.9, True)] == [12, 3, -3, 1]
    assert rt.to_float("1.5") == 1.5
    assert [rt.show(x) for x in ("a", None, True, 1.0, [1, "é"])] == ["a", "null", "true", "1.0", '[1, "é"]']
    assert rt.byte_len("é") == 2
    assert rt.json_text({"a": [1, None]}) == '{"a":[1,null]}'
    assert rt.as_type(s.ListOf(s.INT), [1, 2]) == [1, 2]
    assert rt.is_type(s.INT, 3)
    assert not rt.is_type(s.INT, True)
    with pytest.raises(Failure):
        rt.as_type(s.INT, "3")
    nested = {"a": [{"b": 1}]}
    copied = rt.copy(nested)
    copied["a"][0]["b"] = 2
    assert nested == {"a": [{"b": 1}]}


@pytest.mark.parametrize(
    ("template", "number", "key"),
    [
        ("M-{n:04d}", 7, "M-0007"),
        ("M-{n:04d}", 12345, "M-12345"),
        ("{n}", 7, "7"),
        ("A{n:3d}%", 7, "A  7%"),
        ("x%s{n}y", 1, "x%s1y"),
    ],
)
def test_counter_keys(template: str, number: int, key: str) -> None:
    maker = Maker(template)
    assert maker.key(number) == key
    assert maker.number(key) == (number if " " not in key else 0)


def test_keys_that_do_not_match_count_nothing() -> None:
    maker = Maker("M-{n:04d}")
    assert [maker.number(k) for k in ("M-", "M-x", "N-0001", "M-٣", "M--1", "M-" + "9" * 40)] == [0] * 6
    assert Maker("{n}", as_int=True).key(3) == 3
    with pytest.raises(ValueError, match="template"):
        Maker("{m}")


@pytest.mark.parametrize(
    ("value", "held"), [(9876543210123456, True), (2**62, True), (2**53 + 1, False), (10**400, False)]
)
def test_a_float_takes_the_whole_numbers_that_it_holds_exactly(value: int, held: bool) -> None:
    found = reader(s.FLOAT, "state")(value, "", [])
    assert (found == value and isinstance(found, float)) if held else found is BAD
