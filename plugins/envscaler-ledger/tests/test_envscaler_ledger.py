"""The conformance suite, the shipped bank, and banks that lose money."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import envscaler_ledger
import pytest
from envscaler_ledger import Ledger
from envscaler_ledger.checker import moved

import envscaler
from envscaler import UsageError
from envscaler.testing import CheckerConformance, judge

pytest_plugins = ["envscaler.testing.fixtures"]

FLOWS = {"flows": {"deposit": "amount", "withdraw": "-amount"}}
SPEC = """\
envscaler: 1
name: purse
title: Purses
description: Money in purses.
states:
  purses:
    record: Purse
    key: {name: purse_id, make: "P-{n:03d}"}
    fields: {balance: {type: money, default: 0}}
tools:
  transfer:
    kind: write
    description: Move money from one purse to another.
    params: {source: {ref: purses, as: giver}, target: {ref: purses, as: taker}, amount: {type: money, gt: 0}}
    do: |
      giver.balance -= amount
      taker.balance += amount
  deposit:
    kind: write
    description: Put money into a purse.
    params: {purse: {ref: purses, as: taker}, amount: {type: money, gt: 0}}
    do: |
      taker.balance += amount
  withdraw:
    kind: write
    description: Take money out of a purse.
    params: {purse: {ref: purses, as: giver}, amount: {type: money, gt: 0}}
    do: |
      require(giver.balance >= amount, "There is less in it.")
      giver.balance -= amount
  burn_purse:
    kind: write
    description: Take a purse away, with what is in it.
    params: {purse: {ref: purses}}
    do: |
      purses.remove(purse)
initial_state:
  purses: {P-001: {balance: 20.00}, P-002: {balance: 5.00}}
"""

Run = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Judgements of the calls on a spec, as (status, reason)."""

    def judged(text: str, *calls: tuple[str, Any], **settings: Any) -> list[tuple[str, str]]:
        path = tmp_path / "purse.yaml"
        path.write_text(text, encoding="utf-8")
        checkers = {"ledger": Ledger(settings)}
        return [(said.status, said.reason) for _, _, said in judge(envscaler.load(path).new(), calls, checkers)]

    return judged


class TestConformance(CheckerConformance):
    make = staticmethod(Ledger)


class TestConformanceWithFlows(CheckerConformance):
    make = staticmethod(Ledger)
    settings = {"flows": {"deposit_cash": "amount", "withdraw_cash": "-amount"}}  # noqa: RUF012


def test_a_transfer_that_adds_up(run: Run) -> None:
    give = ("transfer", {"source": "P-001", "target": "P-002", "amount": 7.5})
    assert run(SPEC, give) == [("pass", ""), ("pass", "")]


def test_a_transfer_that_loses_a_cent(run: Run) -> None:
    broken = SPEC.replace("taker.balance += amount\n  deposit", "taker.balance += amount - 0.01\n  deposit")
    give = ("transfer", {"source": "P-001", "target": "P-002", "amount": "7.50"})
    assert run(broken, give)[0] == (
        "fail",
        "transfer changed the sum of all balances by -0.01: /purses/P-001/balance -7.5, /purses/P-002/balance +7.49",
    )


def test_a_purse_that_pays_itself(run: Run) -> None:
    assert run(SPEC, ("transfer", {"source": "P-001", "target": "P-001", "amount": 1}))[0] == ("pass", "")


def test_what_comes_in_and_goes_out(run: Run) -> None:
    put, take = ("deposit", {"purse": "P-001", "amount": 0.1}), ("withdraw", '{"purse": "P-001", "amount": "0.2"}')
    assert run(SPEC, put, take, **FLOWS) == [("pass", "")] * 3
    broken = SPEC.replace(
        "      giver.balance -= amount\n  burn_purse", "      giver.balance -= amount + 1.50\n  burn_purse"
    )
    assert run(broken, take, **FLOWS)[0] == (
        "fail",
        "withdraw should change the sum of all balances by -0.2, not -1.7: /purses/P-001/balance -1.7",
    )


def test_a_call_that_fails_moves_nothing(run: Run) -> None:
    assert run(SPEC, ("withdraw", {"purse": "P-001", "amount": 99}), ("no_such_tool", None), **FLOWS) == []


def test_tools_without_a_rule_are_not_judged_but_booked(run: Run) -> None:
    assert run(SPEC, ("burn_purse", {"purse": "P-001"})) == [("pass", "")]
    assert run(SPEC, ("burn_purse", {"purse": "P-001"}), transfers=["burn_*"])[0] == (
        "fail",
        "burn_purse changed the sum of all balances by -20.0: /purses/P-001/balance -20.0",
    )


def test_a_change_that_no_call_made() -> None:
    def never() -> dict[str, Any]:
        raise AssertionError("the state is not needed")

    from envscaler.plugin import EndEvent

    change = {"op": "replace", "path": "/purses/P-001/balance", "before": 1, "value": 3}
    said = Ledger({}).on_end(EndEvent(envscaler.Environment, 0, (change,), never, never))
    assert said is not None
    assert (said.status, said.reason) == ("fail", "the calls changed the sum of all balances by +0, but it is +2")


def test_the_shipped_bank_keeps_its_money() -> None:
    calls = [
        ("transfer", {"from_account": "A-2001", "to_account": "A-2002", "amount": 340.55}),
        ("deposit_cash", {"account_id": "A-2001", "amount": 50}),
        ("transfer", {"from_account": "A-2001", "to_account": "A-2001", "amount": 1}),
    ]
    settings = {"flows": {"deposit_cash": "amount"}}
    judgements = list(judge(envscaler.load("bank").new(), calls, {"ledger": Ledger(settings)}))
    assert [said.status for _, _, said in judgements] == ["pass", "pass", "pass"]


def test_records_that_come_and_go_bring_their_balance() -> None:
    changes = [
        {"op": "remove", "path": "/purses/A", "before": {"balance": 2.5, "of": {"balance": 9}}},
        {"op": "add", "path": "/purses/B", "value": {"balance": "2.50"}},
        {"op": "replace", "path": "/purses/C/balance", "before": None, "value": 1},
        {"op": "replace", "path": "/purses/D/balance", "before": 1, "value": 1.0},
        {"op": "replace", "path": "/purses/E/open", "before": True, "value": False},
    ]
    assert {path: str(by) for path, by in moved(changes, ["/purses/*/balance"]).items()} == {
        "/purses/A/balance": "-2.5", "/purses/B/balance": "2.50", "/purses/C/balance": "1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [{"balance": []}, {"balances": "/a"}, {"flows": ["deposit"]}, {"flows": {"deposit": 1}}]
)
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Ledger(wrong)


def test_envscaler_finds_it(envscaler_plugins: Callable[..., Any]) -> None:
    assert envscaler_plugins(envscaler_ledger).checker("ledger", FLOWS)
