"""Rates of tool calls against the hand-written class, at 200 accounts, a rule per record and a reference in force."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from benchmarks.by_hand import Ledger
from benchmarks.ledger import accounts, ledger_class
from benchmarks.report import Figure, paired

__all__ = ["run"]

SIZE = 200
# tool: its kind, the arguments of two calls, and how often a round makes both
CALLS: dict[str, tuple[str, list[dict[str, Any]], int]] = {
    "balance": ("read", [{"account_id": "A-00100"}, {"account_id": "A-00007"}], 50),
    "account_details": ("read", [{"account_id": "A-00100"}, {"account_id": "A-00007"}], 50),
    "accounts_of": ("read", [{"customer_id": "C-00050"}, {"customer_id": "C-00007"}], 5),
    "total": ("read", [{"kind": "current"}, {"kind": "savings"}], 5),
    "deposit": ("write", [{"account_id": "A-00100", "amount": 2.5}, {"account_id": "A-00007", "amount": 12.25}], 50),
    "transfer": (
        "write",
        [
            {"source_id": "A-00100", "target_id": "A-00007", "amount": 17.75},
            {"source_id": "A-00007", "target_id": "A-00100", "amount": 17.75},
        ],
        50,
    ),
    "set_overdraft": (
        "write",
        [{"account_id": "A-00100", "limit": 50.5}, {"account_id": "A-00100", "limit": 75.25}],
        50,
    ),
}
AIMS = {"read": (0.6, 0.7), "write": (0.4, 0.5)}


def run() -> list[Figure]:
    """Ratios of rates, `call` and `env.tools.X`, for each tool."""
    state = accounts(SIZE)
    base = ledger_class().prepare(state)
    figures = []
    for tool, (kind, arguments, number) in CALLS.items():
        hand, env = Ledger(copy.deepcopy(state)), ledger_class().new(base)
        _agree(hand, env, tool, arguments)
        begin_again = functools.partial(_begin_again, hand, env)
        ways = {"call": _called(env, tool, arguments), "tools": _keywords(getattr(env.tools, tool), arguments)}
        for i, (way, action) in enumerate(ways.items()):
            by_hand, ours, ratio = paired(
                _keywords(getattr(hand, tool), arguments), action, number, between=begin_again
            )
            rate = f"{len(arguments) / by_hand:,.0f}/s by hand, {len(arguments) / ours:,.0f}/s"
            figures.append(Figure(f"{way} {tool} ({kind})", 1 / ratio, "x", AIMS[kind][i], True, rate))
    return figures


def _begin_again(hand: Ledger, env: Any) -> None:
    """Without what was booked: or each round would have larger dicts than the one before."""
    env.reset()
    hand.postings.clear()


def _called(env: Any, tool: str, arguments: list[dict[str, Any]]) -> Callable[[], object]:
    first, second = arguments

    def action() -> None:
        env.call(tool, first)
        env.call(tool, second)

    return action


def _keywords(method: Callable[..., object], arguments: list[dict[str, Any]]) -> Callable[[], object]:
    first, second = arguments

    def action() -> None:
        method(**first)
        method(**second)

    return action


def _agree(hand: Ledger, env: Any, tool: str, arguments: list[dict[str, Any]]) -> None:
    """Both answer the same, or the comparison means nothing."""
    for given in arguments:
        theirs, ours = getattr(hand, tool)(**given), env.call(tool, given).to_json()
        if theirs != ours:
            raise AssertionError(f"{tool}: by hand {theirs}, compiled {ours}")
