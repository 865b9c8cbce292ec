"""SQLite files that several processes write to at once: connections that wait for their turn, transactions that are whole."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

__all__ = ["connected", "patiently", "transaction"]

T = TypeVar("T")

_PATIENCE: Final = 60.0  # seconds that a writer waits for another one


def connected(path: Path | str, *, uri: bool = False) -> sqlite3.Connection:
    """A connection for any thread, one at a time, that begins no transaction by itself."""
    return sqlite3.connect(path, uri=uri, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """All that is done within, or nothing of it."""
    patiently(lambda: connection.execute(begin))
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def patiently(act: Callable[[], T]) -> T:
    """What ``act`` gives, once no other process is in the way: some locks do not heed SQLite's own time-out."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if ("locked" not in str(error) and "busy" not in str(error)) or time.monotonic() > until:
                raise
            time.sleep(0.005)
