"""Functions that tests run as units, here because processes find them by name."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

from envscaler.errors import BudgetError


def square(number: int) -> int:
    return number * number


async def later_square(number: int) -> int:
    await asyncio.sleep(0.001 * (number % 3))
    return number * number


def picky(number: int) -> int:
    if number % 3 == 0:
        raise ValueError(f"no {number}")
    return number


def sleepy(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


async def dozy(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds


def noted(given: dict[str, Any]) -> int:
    """Leaves a line for every time it is called."""
    with Path(given["log"]).open("a") as log:
        log.write(f"{given['number']}\n")
    time.sleep(0.002)
    return int(given["number"])


def deadly(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def broke(number: int) -> int:
    if number == 3:
        raise BudgetError("the limit is reached")
    return number


def unpicklable(number: int) -> Any:
    return (lambda: number) if number == 1 else number
