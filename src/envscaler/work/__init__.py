"""Units of work that are done once: journaled, resumed by default, shared between processes."""

from __future__ import annotations

from envscaler.work.canonical import digest
from envscaler.work.carrying import answered, packed, unpacked
from envscaler.work.errors import (
    DiskFullError,
    JournalDamagedError,
    JournalError,
    JournalReadOnlyError,
    JournalVersionError,
    WorkError,
)
from envscaler.work.events import Counts, Event, Listener
from envscaler.work.executors import Async, Closing, Done, Ended, Executor, InProcess, Processes, Started, Threads
from envscaler.work.journal import Kept, Unit
from envscaler.work.problems import Problem
from envscaler.work.run import Outcome, Run

__all__ = [
    "Async", "Closing", "Counts", "DiskFullError", "Done", "Ended", "Event", "Executor", "InProcess", "JournalDamagedError",
    "JournalError", "JournalReadOnlyError", "JournalVersionError", "Kept", "Listener", "Outcome", "Problem", "Processes",
    "Run", "Started", "Threads", "Unit", "WorkError", "answered", "digest", "packed", "unpacked",
]  # fmt: skip
