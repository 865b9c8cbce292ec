"""What a step, reset, diff and fork cost at 20,000 accounts compared with 200."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.ledger import accounts, ledger_class
from benchmarks.report import Figure, paired

__all__ = ["run"]

SMALL, LARGE = 200, 20_000


def run() -> list[Figure]:
    """Cost at 20,000 accounts over cost at 200, for what must not depend on the size."""
    prepared = [ledger_class().prepare(accounts(n)) for n in (SMALL, LARGE)]
    small, large = (ledger_class().new(base) for base in prepared)
    bases = {id(small): prepared[0], id(large): prepared[1]}
    actions: dict[str, Callable[[Any], Callable[[], object]]] = {
        "keyed write": lambda env: lambda: env.call("deposit", {"account_id": "A-00100", "amount": 0.01}),
        "opening an account, then reset": lambda env: lambda: _open_and_reset(env),
        "10 writes, then reset": lambda env: lambda: _write_and(env, env.reset),
        "diff after 10 writes": lambda env: _written(env).diff,
        "fork after 10 writes": lambda env: _written(env).fork,
        "snapshot and restore": lambda env: lambda: env.restore(env.snapshot()),
        "a new episode": lambda env: lambda: type(env).new(bases[id(env)]),
    }
    figures = []
    for name, action in actions.items():
        one, other, ratio = paired(action(small), action(large), 20)
        figures.append(Figure(name, ratio, "x", 1.5, False, f"{one * 1e6:.1f} µs, {other * 1e6:.1f} µs"))
        small.reset(), large.reset()
    return figures


def _open_and_reset(env: Any) -> None:
    env.call("open_account", {"customer_id": "C-00001", "kind": "current"})
    env.reset()


def _write_and(env: Any, then: Callable[[], object]) -> None:
    _written(env)
    then()


def _written(env: Any) -> Any:
    for i in range(10):
        env.call("deposit", {"account_id": f"A-{100 + i:05d}", "amount": 0.01})
    return env
