"""One function over many things, in as many processes as are asked for; what comes back is in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from envscaler.errors import UsageError

__all__ = ["each"]

T = TypeVar("T")
R = TypeVar("R")


def each(function: Callable[[T], R], things: Sequence[T], jobs: int = 1) -> Iterator[R]:
    """``function`` of each thing, in order, each as soon as it and those before it are done.

    ``jobs``: how many processes; 0 means one for each core, 1 stays in this process. With more than one, ``function`` is
    a module's and takes and gives what can be pickled. Raises UsageError for a negative number; what ``function`` raises
    is raised here, and what has not begun then does not begin.
    """
    if jobs < 0:
        raise UsageError(f"--jobs is 0 (all cores) or more, not {jobs}")
    workers = min(jobs or os.cpu_count() or 1, len(things))
    if workers <= 1:
        yield from map(function, things)
        return
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(workers)
    try:
        yield from pool.map(function, things)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
