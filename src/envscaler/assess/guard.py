"""A call that does not end is ended, where the process can be interrupted: in its main thread, on systems with timers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Overrun", "guarded", "watch"]


class Overrun(BaseException):
    """A call took longer than it may. No Exception, so that no class takes it for an error of its own."""


_watching = False


def _ring(number: int, frame: FrameType | None) -> None:
    raise Overrun


@contextmanager
def watch() -> Iterator[None]:
    """While this is open, `guarded` can end a call."""
    global _watching
    able = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if _watching or not able:
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    _watching = True
    try:
        yield
    finally:
        _watching = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def guarded(function: Callable[..., Any], seconds: float, *args: Any) -> Any:
    """``function(*args)``; Overrun is raised in it after so many seconds."""
    if not _watching:
        return function(*args)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return function(*args)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
