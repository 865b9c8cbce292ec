"""The second proof itself: it agrees with the first on what is right, and finds what was made wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from envscaler.scenario.model import Scenario
from tests.scenario import hand
from tests.scenario.independent import Second, Verdict, says


def second(plain: dict[str, Any]) -> Verdict:
    return Second(hand.world().environment, plain, plain.get("state")).prove()


def plain(make: Callable[[], Scenario]) -> dict[str, Any]:
    return json.loads(json.dumps(make().to_json()))  # type: ignore[no-any-return]


@pytest.mark.parametrize("make", hand.ALL, ids=lambda make: make.__name__)
def test_it_agrees(make: Callable[[], Scenario]) -> None:
    verdict = second(plain(make))
    assert verdict.ok, verdict
    assert verdict.near >= 3
    assert verdict.ways >= 2


def _goal_of_the_start(one: dict[str, Any]) -> None:
    one["goals"].append({"expr": "final.till.cash == 4200"})


def _no_guards(one: dict[str, Any]) -> None:
    one["guards"] = []


def _step_gone(one: dict[str, Any]) -> None:
    del one["solution"][-1]


def _recipient_gone(one: dict[str, Any]) -> None:
    one["task"] = one["task"].replace("340.55", "some")


def _other_spec(one: dict[str, Any]) -> None:
    one["spec"]["hash"] = "sha256:0"


def _bad_state(one: dict[str, Any]) -> None:
    one["state"] = {"accounts": {"A-1": {}}}


@pytest.mark.parametrize(
    "spoil", [_goal_of_the_start, _no_guards, _step_gone, _recipient_gone, _other_spec, _bad_state]
)
def test_it_finds(spoil: Callable[[dict[str, Any]], None]) -> None:
    one = plain(hand.transfer)
    spoil(one)
    assert not second(one).ok


def test_how_a_text_says_a_value() -> None:
    assert says("Pay 1,250.50 euros on 12 May 2031 at 9:30.", 1250.5)
    assert says("Pay 1,250.50 euros on 12 May 2031 at 9:30.", "2031-05-12")
    assert says("It is for suspected fraud.", "suspected_fraud")
    assert not says("Pay 1,250.50 euros.", 1250)
    assert not says("Pay it on 13 May 2031.", "2031-05-12")
