"""The executors that ship: this process, and processes beside it. Naming one of them starts nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from envscaler.errors import UsageError
from envscaler.plugin.entries import ExecutorEntry

if TYPE_CHECKING:
    from envscaler.work import Executor

__all__ = ["EXECUTORS"]

_TASKS = 16  # of an event loop that may choose


def _loop(settings: Mapping[str, Any]) -> Executor:
    from envscaler.work import Async

    return _made("async", Async, settings, _TASKS)


def _processes(settings: Mapping[str, Any]) -> Executor:
    from envscaler.work import Processes

    return _made("processes", Processes, settings, os.cpu_count() or 1)


def _made(name: str, make: Callable[[int], Executor], settings: Mapping[str, Any], most: int) -> Executor:
    unknown = sorted(set(settings) - {"width"})
    if unknown:
        raise UsageError(f"the executor {name} has no setting {', '.join(unknown)}")
    return make(settings.get("width") or most)


EXECUTORS: tuple[ExecutorEntry, ...] = (
    ExecutorEntry("async", "In this process, many at once in an event loop", _loop, takes="coroutines"),
    ExecutorEntry("processes", "In processes beside this one", _processes),
)
