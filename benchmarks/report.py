"""Figures and how they are measured and shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Figure", "paired", "seconds", "show"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value beside its aim; ``more`` is said behind it."""

    name: str
    value: float
    unit: str
    aim: float
    at_least: bool
    more: str = ""

    @property
    def met(self) -> bool:
        return self.value >= self.aim if self.at_least else self.value <= self.aim


def show(title: str, figures: Sequence[Figure]) -> None:
    """Print a table of figures."""
    print(f"\n{title}")
    width = max(len(f.name) for f in figures)
    for f in figures:
        sign = ">=" if f.at_least else "<="
        print(
            f"  {f.name:{width}}  {f.value:8.2f} {f.unit:3}  aim {sign} {f.aim:<6g} {'ok  ' if f.met else 'MISS'}  {f.more}"
        )


def seconds(action: Callable[[], object], number: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds for one of ``number`` runs in a row."""
    start = clock()
    for _ in range(number):
        action()
    return (clock() - start) / number


def paired(
    one: Callable[[], object],
    other: Callable[[], object],
    number: int,
    rounds: int = 300,
    between: Callable[[], object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float, float]:
    """The least seconds of each, and their ratio other/one, over many short rounds in turn.

    The least is what the code takes when nothing else runs; with rounds in turn, drift of the machine hits both alike.
    ``between`` is called after each round and not measured. ``clock`` may be that of the processor, for what writes files.
    """
    least = [float("inf"), float("inf")]
    for _ in range(rounds):
        for i, action in enumerate((one, other)):
            least[i] = min(least[i], seconds(action, number, clock))
        if between is not None:
            between()
    return least[0], least[1], least[1] / least[0]
