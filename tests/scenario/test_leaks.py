"""Texts that give answers away are found, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from envscaler.scenario.data import leaks, summary
from tests.scenario.hand import world as bank


def with_text(text: str) -> dict[str, Any]:
    state = bank().environment.new().state
    state["postings"]["P-000002"]["text"] = text
    return state


def test_the_shipped_state_gives_nothing_away() -> None:
    assert leaks(bank(), bank().environment.new().state, {"balance": 1840.55, "customer": "Wei Zhang"}) == []


@pytest.mark.parametrize(
    ("text", "gives"),
    [
        ("Rent, see A-2007", "accounts.A-2007"),
        ("Goes to A-2007.", "accounts.A-2007"),
        ("Rent as in P-000011 before", "postings.P-000011"),
    ],
)
def test_the_key_of_another_record(text: str, gives: str) -> None:
    [found] = leaks(bank(), with_text(text))
    assert (found.path, found.gives, found.text) == ("postings.P-000002.text", gives, text)
    assert str(found) == f"postings.P-000002.text: the text gives {gives} away"


@pytest.mark.parametrize("text", ["A-2007", "own P-000002 key", "Rent for A-20071", "BA-2007 form", "Rent May"])
def test_no_key(text: str) -> None:
    assert leaks(bank(), with_text(text)) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Balance was 1840.55 then", 1840.55),
        ("Paid 1,250 in all", 1250),
        ("Paid 1,250.00 in all", 1250),
        ("due on 2031-06-01, as said", "2031-06-01"),
        ("ask wei zhang about it", "Wei Zhang"),
    ],
)
def test_a_value_that_a_task_asks_for(text: str, value: Any) -> None:
    [found] = leaks(bank(), with_text(text), {"answer": value})
    assert (found.path, found.gives) == ("postings.P-000002.text", "answer")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Paid 11,250 in all", 1250),
        ("Paid 1250.50 in all", 1250),
        ("in 2010 we had 7", 10),
        ("true story", True),
        ("Rent May", "Rent May"),
        ("Rent", None),
    ],
)
def test_no_value(text: str, value: Any) -> None:
    assert leaks(bank(), with_text(text), {"answer": value}) == []


def test_figures_of_a_state() -> None:
    found = summary(bank(), bank().environment.new().state)
    assert found["size"] == 45
    assert found["records"]["accounts"] == 10
    assert found["mixes"]["accounts.status"] == {"closed": 1, "frozen": 1, "open": 8}
    assert found["ranges"]["accounts.balance"] == [-310.25, 25630.0]
