"""Fuzzed calls a minute on one core, beside bare calls of the same tools; and a whole assessment of the bank."""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks.report import Figure
from envscaler.assess import FuzzSettings, fuzz
from envscaler.resources import folder
from envscaler.session.environments import load
from envscaler.session.specs import sound

__all__ = ["run"]

CALLS = 4000
ROUNDS = 3


def run() -> list[Figure]:
    """The rate with everything looked at, and without the measuring of branches; the seconds of `envscaler assess`."""
    bank = folder("specs") / "bank.yaml"
    environment, checked = load(bank), sound(bank)
    fuzz(environment, checked, FuzzSettings(calls=100))  # what is made once
    bare = _bare(environment, checked)
    figures = []
    for name, properties in (("everything", None), ("no property", ("initial-state-is-allowed",))):
        seconds = min(_seconds(environment, checked, properties, seed) for seed in range(ROUNDS))
        rate = CALLS / seconds * 60
        more = f"{bare * 60:,.0f}/min bare, {bare * 60 / rate:.0f} times as many"
        figures.append(Figure(f"fuzzed calls, {name}", rate / 1000, "k/min", 20, True, more))
    return [*figures, Figure("envscaler assess specs/bank.yaml", _command(str(bank)), "s", 60, False)]


def _seconds(environment: type, checked: object, properties: tuple[str, ...] | None, seed: int) -> float:
    begin = time.process_time()
    report = fuzz(environment, checked, FuzzSettings(seed=seed, calls=CALLS, properties=properties))  # type: ignore[arg-type]
    if not report.sound or report.calls != CALLS:
        raise AssertionError("the bank is not sound, and there is nothing to measure")
    return time.process_time() - begin


def _bare(environment: type, checked: object) -> float:
    """Calls a second of what the examples of the spec call, over and over."""
    calls = [(t.name, dict(e.call), t.actor) for t in checked.spec.tools.values() for e in t.examples]  # type: ignore[attr-defined]
    env = environment.new()  # type: ignore[attr-defined]
    best = 0.0
    for _ in range(20):
        begin = time.perf_counter()
        for tool, arguments, actor in calls:
            env.call(tool, arguments, actor=actor)
        best = max(best, len(calls) / (time.perf_counter() - begin))
        env.reset()
    return best


def _command(bank: str) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "envscaler", "assess", bank], check=True, capture_output=True)
    return time.perf_counter() - begin
