"""Calls as bytes, for executors whose calls are made in other processes: what is sent there, and how it ended."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from envscaler.errors import UsageError
from envscaler.work.errors import WorkError
from envscaler.work.executors import Ended, called
from envscaler.work.problems import Problem

__all__ = ["answered", "packed", "unpacked"]


def packed(value: Any) -> bytes:
    """A value or a function for the other side. Raises UsageError for what cannot be pickled."""
    try:
        return pickle.dumps(value)
    except Exception as error:
        raise UsageError(f"what is run in processes must be a module's and be picklable: {error}") from None


def answered(function: Callable[[Any], Any], value: bytes, ends: tuple[type[BaseException], ...]) -> bytes:
    """Call ``function`` with a packed value; how that ended, as bytes that can be read on the other side."""
    ended = called(lambda: function(pickle.loads(value)), ends)  # noqa: S301 - from who asked for the work
    try:
        data = pickle.dumps(ended)
        pickle.loads(data)  # noqa: S301 - exceptions exist that can be written and not read
    except Exception as error:
        if ended.raised is not None:
            return pickle.dumps(Ended(raised=WorkError(str(Problem.of(ended.raised)))))
        return pickle.dumps(Ended(problem=Problem("TypeError", f"the result cannot be pickled: {error}")))
    return data


def unpacked(answer: bytes) -> Ended:
    """What `answered` gave."""
    ended: Ended = pickle.loads(answer)  # noqa: S301 - from a process of our own
    return ended
