"""What it costs to make initial states of the bank: a small one, as scenarios want it, and one of 10,000 records."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.report import Figure
from envscaler.scenario.data import DataSettings, make_state, summary
from envscaler.scenario.world import World
from envscaler.spec.check import check_text

__all__ = ["run"]

SPEC = Path(__file__).resolve().parents[1] / "specs" / "bank.yaml"
LARGE = 10_000


def run() -> list[Figure]:
    """Processor seconds of one core; what is found out about the spec at first is told apart."""
    world = World.of(check_text(str(SPEC), SPEC.read_text(encoding="utf-8")))
    first = _spent(world, 60, 1)
    small = sum(_spent(world, 60, seed) for seed in range(2, 12)) / 10
    large = _spent(world, LARGE, 1)
    return [
        Figure("a state of 60 records", small * 1000, "ms", 150, False, f"the first one {first:.1f} s"),
        Figure("a state of 10,000 records", large, "s", 20, False, f"{LARGE / large:.0f} records a second"),
    ]


def _spent(world: World, size: int, seed: int) -> float:
    began = time.process_time()
    state = make_state(world, DataSettings(size=size), seed)
    spent = time.process_time() - began
    assert summary(world, state)["size"] >= 0.95 * size
    return spent
