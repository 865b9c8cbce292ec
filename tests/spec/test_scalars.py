"""Text as values of declared types."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envscaler.spec.scalars import NotA, any_value, datetime_text, parse_scalar
from envscaler.spec.types import BOOL, DATE, DATETIME, FLOAT, INT, MONEY, NUMBER, STR, TIME, ZONE, Scalar


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (STR, "08540", "08540"), (STR, "no", "no"), (INT, "-12", -12), (INT, "0", 0), (FLOAT, "1e3", 1000.0), (FLOAT, "7", 7.0),
        (NUMBER, "4986", 4986), (NUMBER, "4986.0", 4986.0), (BOOL, "true", True), (MONEY, "0.25", 25), (MONEY, "-3", -300),
        (MONEY, "2.5", 250), (MONEY, "2.500", 250), (DATE, "2028-02-29", "2028-02-29"), (TIME, "09:00", "09:00:00"),
        (DATETIME, "2030-03-04T09:00:00+01:00", "2030-03-04T08:00:00Z"), (DATETIME, "2030-03-04 09:00Z", "2030-03-04T09:00:00Z"),
        (ZONE, "UTC", "UTC"),
    ],
)  # fmt: skip
def test_values(kind: Scalar, text: str, value: Any) -> None:
    found = parse_scalar(text, kind, zoned=True)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (INT, "08540", "leading '0'"), (INT, "+5", "leading '+'"), (INT, "1.0", "whole number"), (INT, "0x10", "whole number"),
        (INT, "1_000", "whole number"), (INT, "9007199254740992", "2**53"), (INT, "9" * 5000, "whole number"), (INT, "٣", "whole number"),
        (FLOAT, "nan", "NaN"), (FLOAT, ".inf", "infinity"), (FLOAT, "1e999", "too large"), (NUMBER, "Infinity", "infinity"),
        (BOOL, "yes", "write true"), (BOOL, "False", "write false"), (BOOL, "0", "true or false"),
        (MONEY, "2.675", "two decimals"), (MONEY, "1e3", "amount"), (MONEY, "1" * 19, "10**13"),
        (DATE, "2030-02-29", "no such day"), (DATE, "4.3.2030", "date such as"), (TIME, "25:00", "no such time"),
        (DATETIME, "2030-03-04T09:00:00", "a zone at the end"), (DATETIME, "2030-03-04", "datetime such as"),
        (DATETIME, "0001-01-01T00:00:00+01:00", "out of range"), (DATETIME, "2030-03-04T09:00:00+99:00", "no offset"),
        (ZONE, "Mars/Phobos", "time zone"), (ZONE, "../../etc/passwd", "time zone"),
    ],
)  # fmt: skip
def test_what_is_no_value_says_why(kind: Scalar, text: str, reason: str) -> None:
    with pytest.raises(NotA) as error:
        parse_scalar(text, kind, zoned=True)
    assert reason in str(error.value)


def test_one_clock_form() -> None:
    assert datetime_text("2030-03-04T09:00:00", zoned=False) == "2030-03-04T09:00:00"
    with pytest.raises(NotA, match="no zone"):
        datetime_text("2030-03-04T09:00:00Z", zoned=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("no", "no"),
        ("08540", "08540"),
        ("12", 12),
        ("1.50", 1.5),
        ("2030-03-25", "2030-03-25"),
    ],
)
def test_text_without_a_declared_type(text: str, value: Any) -> None:
    assert any_value(text, plain=True) == value
    assert any_value(text, plain=False) == text


@given(st.integers(-(10**15) + 1, 10**15 - 1))
def test_money_is_exact(minor: int) -> None:
    sign, rest = ("-" if minor < 0 else ""), abs(minor)
    assert parse_scalar(f"{sign}{rest // 100}.{rest % 100:02d}", MONEY, zoned=True) == minor


@given(st.text(), st.sampled_from([INT, FLOAT, NUMBER, BOOL, MONEY, DATE, TIME, DATETIME]))
def test_any_text_is_a_value_or_a_reason(text: str, kind: Scalar) -> None:
    try:
        parse_scalar(text, kind, zoned=True)
    except NotA:
        return
