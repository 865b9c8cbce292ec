"""The ledger of the benchmarks: its compiled class, and states of any size."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from envscaler import load

__all__ = ["accounts", "ledger_class"]


@functools.cache
def ledger_class() -> Any:
    """The class compiled from ledger.yaml."""
    return load(Path(__file__).with_name("ledger.yaml"))


def accounts(number: int) -> dict[str, dict[str, dict[str, Any]]]:
    """A state with that many accounts, two to a customer."""
    customers = {
        f"C-{i:05d}": {"name": f"Customer {i}", "email": f"c{i}@example.com"} for i in range(max(number // 2, 1))
    }
    return {
        "customers": customers,
        "accounts": {
            f"A-{i + 1:05d}": {
                "customer_id": f"C-{i // 2 % len(customers):05d}",
                "kind": "current" if i % 2 else "savings",
                "status": "open",
                "balance": 1_000_000.0,
                "overdraft_limit": 100.0,
                "opened": "2030-01-01",
            }
            for i in range(number)
        },
        "postings": {},
    }
