"""States drafted by a model: wrong ones go back with the places, what stays wrong is left out, and the state is allowed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from envscaler.errors import LlmError
from envscaler.llm.errors import AccessError
from envscaler.scenario.data.drafting import Drafted, DraftSettings, draft_state
from envscaler.scenario.llm.asking import Unusable
from tests.assess.models import replied, scripted
from tests.scenario.hand import world


def initial() -> dict[str, Any]:
    return copy.deepcopy(world().environment.new().state)


def broken() -> dict[str, Any]:
    state = initial()
    state["accounts"]["A-2001"]["balance"] = 1  # the books do not balance
    state["cards"]["K-3001"]["account_id"] = "A-9999"
    state["customers"]["C-1005"]["born"] = "yesterday"
    return state


def drafted(*replies: Any, **settings: Any) -> tuple[Drafted, list[Any], list[Any]]:
    script = [replied("State", {"state": reply}) if isinstance(reply, dict) else reply for reply in replies]
    with scripted(planner=script) as (models, backends):
        made = models.run(draft_state(world(), models.role("planner"), DraftSettings(**settings)))
        rows = list(models.ledger.attempts())
    return made, backends["planner"].requests, rows


def text_of(request: Any) -> str:
    return "\n".join(message.content for message in request.messages)


def test_a_good_state_is_taken_at_once() -> None:
    made, requests, rows = drafted(initial(), size=45, theme="a small town")
    assert made.state == initial()
    assert (made.problems, made.repaired, made.dropped) == ((0,), 0, {})
    asked = text_of(requests[0])
    assert "books_balance" in asked
    assert "a small town" in asked
    assert "about 45 records" in asked
    assert "tools:" not in asked
    assert {row.stage for row in rows} == {"data"}


def test_what_is_wrong_goes_back_with_its_place() -> None:
    fixes = {
        "customers": {"C-1005": initial()["customers"]["C-1005"]},
        "cards": {"K-3001": None},
        "accounts": {"A-2001": initial()["accounts"]["A-2001"]},
    }
    made, requests, _ = drafted(broken(), fixes)
    assert "customers.C-1005.born" in text_of(requests[1])
    assert made.problems[-1] == 0
    assert made.repaired == 2
    assert "K-3001" not in made.state["cards"]
    world().environment.prepare(made.state)


def test_what_stays_wrong_is_left_out() -> None:
    made, requests, _ = drafted(broken(), broken(), broken(), tries=3)
    assert len(requests) == 3
    assert "K-3001" not in made.state["cards"]
    assert "C-1005" not in made.state["customers"]
    assert "C-1004" in made.state["customers"]
    assert made.dropped["accounts"] >= 2
    world().environment.prepare(made.state)


def test_a_model_that_misbehaves() -> None:
    mad = {
        "customers": {"C-1": {"name": 7}, "C-2": "x", **initial()["customers"]},
        "accounts": ["what"],
        "postings": None,
        "ghosts": {"a": 1},
        "till": [],
        "cards": {"K-1": {"account_id": {"a": []}, "last_four": "1", "daily_limit": -1}},
    }
    made, _, _ = drafted(mad, {"customers": [], "accounts": 3}, {"customers": initial()["customers"]}, tries=3)
    assert made.state["customers"].keys() == initial()["customers"].keys()
    assert made.state["accounts"] == {}
    assert made.state["till"] == initial()["till"]
    world().environment.prepare(made.state)


def test_nothing_that_can_be_used() -> None:
    with pytest.raises(Unusable, match="nothing of the state could be kept"):
        drafted({}, {}, tries=2)


def test_a_reply_without_the_shape_costs_a_try() -> None:
    made, _, _ = drafted(broken(), *["no JSON"] * 4, initial(), tries=3)
    assert made.problems[0] == made.problems[1] > 0
    assert made.problems[2] == 0


def test_a_model_that_cannot_be_asked() -> None:
    with pytest.raises(LlmError):
        drafted(*[AccessError("no")])
