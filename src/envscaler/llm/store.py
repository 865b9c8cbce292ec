"""One SQLite file that threads and processes write to at once, and that a kill at any moment leaves readable."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from envscaler.errors import LlmError, UsageError
from envscaler.sqlite import connected, patiently, transaction

__all__ = ["Store"]


class Store:
    """A file in write-ahead mode. What a finished statement wrote survives the process, whatever ends it.

    A power cut may take the last moments, never the file: `synchronous` is NORMAL.
    """

    def __init__(self, path: Path, schema: str, version: int, *, only_read: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            if only_read:
                self._connection = _readable(path)
                self._same(version)
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = connected(path)
            patiently(lambda: self._connection.execute("PRAGMA journal_mode=WAL"))
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._begin(schema, version)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{path}: {error}") from None

    def _begin(self, schema: str, version: int) -> None:
        with self.writing():
            self._same(0, version)
            for statement in schema.split(";"):
                if statement.strip():
                    self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version={version}")

    def _same(self, *versions: int) -> None:
        found = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if found not in versions:
            raise UsageError(f"{self.path} is of version {found}, this envscaler writes version {versions[-1]}")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction that writes; no other process writes meanwhile."""
        with self._lock, transaction(self._connection):
            yield

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one statement that writes; the id of the row it added. Raises LlmError when the disk refuses."""
        with self._lock:
            try:
                return patiently(lambda: self._connection.execute(statement, values)).lastrowid or 0
            except sqlite3.Error as error:
                raise LlmError(f"{self.path}: {error}") from None

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def _readable(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing; in a folder that cannot be written to, the file is read as it lies there."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = connected(address, uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()
    except sqlite3.OperationalError:
        connection.close()
        connection = connected(f"{address}&immutable=1", uri=True)
    return connection
