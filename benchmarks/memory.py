"""Resident memory of 1,000 live forks of 30 writes each over 20,000 accounts, and what reading the final state copies."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path
from typing import Any

from benchmarks.ledger import accounts, ledger_class
from benchmarks.report import Figure

__all__ = ["resident", "run"]

FORKS, WRITES, SIZE = 1_000, 30, 20_000


def run() -> list[Figure]:
    """Megabytes added by the forks; kilobytes allocated by scoring-style reads."""
    env = ledger_class().new(ledger_class().prepare(accounts(SIZE)))
    first = _played(env.fork())
    gc.collect()
    before = resident()
    forks = [_played(env.fork()) for _ in range(FORKS)]
    gc.collect()
    added = (resident() - before) / 1024
    assert len(forks) == FORKS
    return [
        Figure(f"{FORKS} forks of {WRITES} writes", added, "MB", 60, False, f"over {SIZE:,} accounts"),
        Figure(
            "reading the final state", _scoring(first), "kB", 16, False, "peak allocated by a sum over all accounts"
        ),
    ]


def _played(env: Any) -> Any:
    for i in range(WRITES):
        result = env.call("deposit", {"account_id": f"A-{1 + i * 37:05d}", "amount": 0.01})
        assert result.ok, result
    return env


def _scoring(env: Any) -> float:
    view = env.view()
    tracemalloc.start()
    sum(1 for account in view["accounts"].values() if account["status"] == "open")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1024


def resident() -> float:
    """Resident kilobytes of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return float(line.split()[1])
    raise RuntimeError("VmRSS is not told on this system")
