"""Seconds of whole commands, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.report import Figure

__all__ = ["run"]

BANK = Path(__file__).resolve().parent.parent / "specs" / "bank.yaml"


def run() -> list[Figure]:
    """The least of five runs each."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            Figure("envscaler --help", _seconds("--help"), "s", 0.3, False),
            Figure("envscaler check specs/bank.yaml", _seconds("check", str(BANK)), "s", 1.0, False),
            Figure("envscaler compile specs/bank.yaml", _seconds("compile", str(BANK), "-o", folder), "s", 1.5, False),
        ]


def _seconds(*arguments: str) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "envscaler", *arguments], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)
