"""The journal of a run: units, who works on them, and what came of them, in one SQLite file that a kill leaves whole.

Outcomes are only ever added. That a unit is done once is the file's own rule: a second success is refused by an index.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

from envscaler.sqlite import connected, patiently, transaction
from envscaler.work import errors
from envscaler.work.canonical import loads
from envscaler.work.owners import Heartbeats, gone

__all__ = ["FILE", "VERSION", "Claim", "Journal", "Kept", "State", "Unit"]

FILE: Final = "work.sqlite"
VERSION: Final = 1
_APPLICATION: Final = 0x656E7673  # marks the file as ours

State = Literal["pending", "claimed", "done", "failed"]
T = TypeVar("T")

_SCHEMA: Final = """
CREATE TABLE owners (id TEXT PRIMARY KEY, beat INTEGER NOT NULL, began REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE units (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    inputs TEXT NOT NULL
);
CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, began REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE outcomes (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    state TEXT NOT NULL,
    value TEXT NOT NULL,
    seconds REAL NOT NULL,
    owner TEXT NOT NULL,
    at REAL NOT NULL
);
CREATE UNIQUE INDEX done_once ON outcomes (key) WHERE state = 'done';
CREATE INDEX outcomes_by_key ON outcomes (key)
"""
# A success stands for good; without one, what came last.
_LATEST: Final = (
    "SELECT state, value, seconds FROM outcomes WHERE key = ? ORDER BY state = 'done' DESC, number DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of work as the journal has it. ``attempts`` counts its outcomes, failures included."""

    key: str
    kind: str
    label: str
    state: State
    attempts: int
    inputs: Any


class Kept(NamedTuple):
    """What came of a unit: a result, or what `problems.described` says of an error. ``seconds`` is how long it took."""

    state: Literal["done", "failed"]
    value: Any
    seconds: float


class Claim(NamedTuple):
    """What became of a wish to work on units: ``key`` may be begun; those of ``known`` have an outcome already; those of
    ``held`` are somebody else's."""

    key: str | None
    known: list[str]
    held: list[str]


class Journal:
    """The file `work.sqlite` of a run folder. ``lease``: seconds without a heartbeat after which a claim lapses."""

    def __init__(self, folder: Path, lease: float) -> None:
        self.path = folder / FILE
        self.presences = folder / "working"
        self._lock = threading.RLock()
        self._beats = Heartbeats(lease)
        with self._failing_clearly():
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = connected(self.path)
            try:
                self._begin()
            except BaseException:
                self._connection.close()
                raise

    def _begin(self) -> None:
        # First only read, and in one moment: another program's file is left alone, another process may be making this one.
        with transaction(self._connection, "BEGIN"):
            self._refuse_others()
        patiently(lambda: self._connection.execute("PRAGMA journal_mode=WAL"))
        self._connection.execute("PRAGMA synchronous=NORMAL")
        with transaction(self._connection):
            self._refuse_others()
            if self._pragma("user_version") == VERSION:
                return
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA application_id={_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version={VERSION}")

    def _refuse_others(self) -> None:
        empty = not patiently(lambda: self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        version, application = self._pragma("user_version"), self._pragma("application_id")
        if empty and not version:
            return
        if application != _APPLICATION:
            raise errors.JournalDamagedError(f"{self.path}: no journal of a run; begin in a new folder")
        if version != VERSION:
            raise errors.JournalVersionError(
                f"{self.path}: a journal of version {version}, and this envscaler writes version {VERSION}; finish the run "
                "with the envscaler that began it, or begin in a new folder"
            )

    def _pragma(self, name: str) -> int:
        return int(patiently(lambda: self._connection.execute(f"PRAGMA {name}").fetchone()[0]))

    # -- owners

    def beat(self, owner: str) -> None:
        """Note that ``owner`` works on the run and is alive."""
        self._write(
            "INSERT INTO owners (id, beat, began) VALUES (?, 1, ?) ON CONFLICT (id) DO UPDATE SET beat = beat + 1",
            (owner, time.time()),
        )

    def leave(self, owner: str) -> None:
        """Give back what ``owner`` has claimed."""
        with self._transaction():
            self._remove(owner)

    def _remove(self, owner: str) -> None:
        self._connection.execute("DELETE FROM claims WHERE owner = ?", (owner,))
        self._connection.execute("DELETE FROM owners WHERE id = ?", (owner,))

    # -- units

    def add(self, units: Iterable[tuple[str, str, str, str]]) -> None:
        """Note units: (key, kind, label, inputs as text). Those that are there already stay as they are."""
        with self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO units (key, kind, label, inputs) VALUES (?, ?, ?, ?)", units
            )

    def kept(self, key: str) -> Kept | None:
        """What came of a unit, None while nothing has."""
        rows = self._rows(_LATEST, (key,))
        return Kept(rows[0][0], loads(rows[0][1]), rows[0][2]) if rows else None

    def attempts(self, kind: str) -> dict[str, int]:
        """The units of a kind that have an outcome: how many times they have failed, 0 for those that are done."""
        rows = self._rows(
            "SELECT key, max(state = 'done'), count(*) FROM outcomes JOIN units USING (key) WHERE kind = ? GROUP BY key",
            (kind,),
        )
        return {key: 0 if done else attempts for key, done, attempts in rows}

    def units(self, kind: str | None) -> Iterator[Unit]:
        """The units of a kind, or all, in the order in which they were added."""
        rows = self._rows(
            "SELECT key, kind, label, inputs, count(o.number), max(o.state = 'done'), "
            "EXISTS (SELECT 1 FROM claims c WHERE c.key = u.key) FROM units u LEFT JOIN outcomes o USING (key) "
            "WHERE ? IS NULL OR kind = ? GROUP BY u.number ORDER BY u.number",
            (kind, kind),
        )
        for key, kind_, label, inputs, attempts, done, claimed in rows:
            state: State = "done" if done else "claimed" if claimed else "failed" if attempts else "pending"
            yield Unit(key, kind_, label, state, attempts, loads(inputs))

    # -- claims and outcomes

    def claim(self, keys: Sequence[str], owner: str, again: Mapping[str, int]) -> Claim:
        """Take the first of ``keys`` that nobody works on and that has no outcome, or has failed as many times as ``again``
        says."""
        claim = Claim(None, [], [])
        with self._transaction():
            for key in keys:
                if self._settled(key, again.get(key, 0)):
                    claim.known.append(key)
                elif self._held(key):
                    claim.held.append(key)
                else:
                    self._connection.execute(
                        "INSERT OR REPLACE INTO claims (key, owner, began) VALUES (?, ?, ?)", (key, owner, time.time())
                    )
                    return claim._replace(key=key)
        return claim

    def _settled(self, key: str, failures: int) -> bool:
        done, attempts = self._connection.execute(
            "SELECT coalesce(max(state = 'done'), 0), count(*) FROM outcomes WHERE key = ?", (key,)
        ).fetchone()
        return bool(done) or attempts > failures

    def _held(self, key: str) -> bool:
        found = self._connection.execute(
            "SELECT owner, beat FROM claims LEFT JOIN owners ON owners.id = claims.owner WHERE key = ?", (key,)
        ).fetchone()
        if found is None:
            return False
        owner, beat = found
        if beat is None or gone(self.presences, owner) or self._beats.stopped(owner, beat):
            self._remove(owner)
            return False
        return True

    def finish(self, key: str, owner: str, state: Literal["done", "failed"], value: str, seconds: float) -> bool:
        """Write down what came of a unit, on the disk when this returns. False when another process has done it meanwhile:
        then its result stands. A failure of one whose claim has lapsed is not written down either."""
        with self._transaction(durable=True):
            known = self._connection.execute(_LATEST, (key,)).fetchone()
            mine = self._connection.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, owner)).rowcount
            if (known and known[0] == "done") or (state == "failed" and not mine):
                return False
            self._connection.execute("DELETE FROM claims WHERE key = ?", (key,))
            self._connection.execute(
                "INSERT INTO outcomes (key, state, value, seconds, owner, at) VALUES (?, ?, ?, ?, ?, ?)",
                (key, state, value, seconds, owner, time.time()),
            )
        return True

    def release(self, key: str, owner: str) -> None:
        """Give back a claim without an outcome."""
        self._write("DELETE FROM claims WHERE key = ? AND owner = ?", (key, owner))

    def close(self) -> None:
        """Let go of the file. Whatever was written before is kept, so this fails for nothing."""
        with self._lock:
            self._connection.close()

    # -- SQLite

    @contextmanager
    def _failing_clearly(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise errors.of(self.path, error) from None

    @contextmanager
    def _transaction(self, durable: bool = False) -> Iterator[None]:
        with self._failing_clearly(), self._lock:
            if durable:  # a claim may be lost with the power, an outcome may not
                self._connection.execute("PRAGMA synchronous=FULL")
            try:
                with transaction(self._connection):
                    yield
            finally:
                if durable:
                    self._connection.execute("PRAGMA synchronous=NORMAL")

    def _write(self, statement: str, values: Sequence[Any]) -> None:
        with self._transaction():
            self._connection.execute(statement, values)

    def _rows(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._failing_clearly(), self._lock:
            return self._connection.execute(query, values).fetchall()
