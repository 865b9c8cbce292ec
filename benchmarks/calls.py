"""Rates of tool calls against the hand-written class, at 200 accounts, a rule per record and a reference in force."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from benchmarks.by_hand import Ledger
from benchmarks.ledger import accounts, ledger_class
from benchmarks.report import Figure, paired

__all__ = ["run"]

SIZE = 200
CALLS: dict[str, tuple[str, dict[str, Any], int]] = {
    "balance": ("read", {"account_id": "A-00100"}, 20_000),
    "account_details": ("read", {"account_id": "A-00100"}, 20_000),
    "accounts_of": ("read", {"customer_id": "C-00050"}, 1_000),
    "total": ("read", {"kind": "current"}, 1_000),
    "deposit": ("write", {"account_id": "A-00100", "amount": 2.5}, 10_000),
    "transfer": ("write", {"source_id": "A-00100", "target_id": "A-00101", "amount": 0.01}, 10_000),
    "set_overdraft": ("write", {"account_id": "A-00100", "limit": 50.5}, 10_000),
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
        method, typed = getattr(hand, tool), getattr(env.tools, tool)
        for i, (way, action) in enumerate((("call", _call(env, tool, arguments)), ("tools", lambda: typed(**arguments)))):
            by_hand, ours, ratio = paired(lambda: method(**arguments), action, number)
            rate = f"{1 / by_hand:,.0f}/s by hand, {1 / ours:,.0f}/s"
            figures.append(Figure(f"{way} {tool} ({kind})", 1 / ratio, "x", AIMS[kind][i], True, rate))
    return figures


def _call(env: Any, tool: str, arguments: dict[str, Any]) -> Callable[[], object]:
    return lambda: env.call(tool, arguments)


def _agree(hand: Ledger, env: Any, tool: str, arguments: dict[str, Any]) -> None:
    """Both answer the same, or the comparison means nothing."""
    theirs, ours = getattr(hand, tool)(**arguments), env.call(tool, arguments).to_json()
    if theirs != ours:
        raise AssertionError(f"{tool}: by hand {theirs}, compiled {ours}")
