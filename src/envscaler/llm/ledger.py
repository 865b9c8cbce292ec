"""The account of a run: a row for every attempt, failed ones included, written before anything else happens with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envscaler.llm.messages import Usage
from envscaler.llm.store import Store

__all__ = ["CACHED", "CANCELLED", "FILE", "OK", "Attempt", "Ledger", "Totals"]

FILE = "ledger.sqlite"
OK = "ok"
CACHED = "cached"  # the outcome of a call that was answered from the cache: no attempt was made

CANCELLED = "cancelled"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS attempts (
    id INTEGER PRIMARY KEY,
    call TEXT NOT NULL,
    began REAL NOT NULL,
    seconds REAL NOT NULL,
    role TEXT NOT NULL,
    stage TEXT NOT NULL,
    unit TEXT NOT NULL,
    backend TEXT NOT NULL,
    model TEXT NOT NULL,
    outcome TEXT NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cached INTEGER NOT NULL,
    cache_writes INTEGER NOT NULL,
    cost INTEGER
)
"""
_COLUMNS = "call, began, seconds, role, stage, unit, backend, model, outcome, tokens_in, tokens_out, cached, cache_writes, cost"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt, or one answer from the cache.

    ``call`` joins the attempts of one call; ``began`` is Unix time, ``seconds`` how long it took. ``outcome`` is `ok`,
    `cached`, `cancelled` or the kind of an error. ``cost`` is in billionths of a US dollar, None where no price is
    known; tokens are None where the server did not say.
    """

    call: str
    began: float
    seconds: float
    role: str
    stage: str
    unit: str
    backend: str
    model: str
    outcome: str
    usage: Usage
    cost: int | None


@dataclass(slots=True)
class Totals:
    """Sums over attempts. ``unpriced`` counts those that used tokens of a model without a known price."""

    tokens: int = 0
    cost: int = 0
    unpriced: int = 0


class Ledger:
    """The file `ledger.sqlite` of a run folder; None as path keeps the account in memory. Raises UsageError for a file
    that is none."""

    def __init__(self, path: Path | None, *, only_read: bool = False) -> None:
        self.path = path
        self._store = Store(path, _SCHEMA, 1, only_read=only_read) if path is not None else None
        self._kept: list[Attempt] = []
        self._totals = Totals()
        self._seen = 0

    def add(self, attempt: Attempt) -> None:
        """Write an attempt down."""
        if self._store is None:
            self._kept.append(attempt)
            return
        self._store.write(f"INSERT INTO attempts ({_COLUMNS}) VALUES ({', '.join('?' * 14)})", _row(attempt))  # noqa: S608

    def totals(self) -> Totals:
        """Sums over all attempts so far, those of other processes included. Costs what was added since last time."""
        for attempt in self._since():
            usage = attempt.usage
            if attempt.outcome != CACHED:
                self._totals.tokens += (usage.tokens_in or 0) + (usage.tokens_out or 0)
                self._totals.cost += attempt.cost or 0
                self._totals.unpriced += attempt.cost is None
        return self._totals

    def _since(self) -> list[Attempt]:
        if self._store is None:
            new = self._kept[self._seen :]
            self._seen = len(self._kept)
            return new
        # Ids are given within the one writing transaction there can be, so none turns up later below the last seen.
        rows = self._store.rows(f"SELECT id, {_COLUMNS} FROM attempts WHERE id > ? ORDER BY id", (self._seen,))  # noqa: S608
        if rows:
            self._seen = rows[-1][0]
        return [_attempt(row[1:]) for row in rows]

    def attempts(self) -> Iterator[Attempt]:
        """All attempts in order."""
        if self._store is None:
            yield from self._kept
            return
        for row in self._store.rows(f"SELECT {_COLUMNS} FROM attempts ORDER BY id"):  # noqa: S608
            yield _attempt(row)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


def _row(a: Attempt) -> tuple[Any, ...]:
    u = a.usage
    return (
        a.call, a.began, a.seconds, a.role, a.stage, a.unit, a.backend, a.model, a.outcome,
        u.tokens_in, u.tokens_out, u.cached, u.cache_writes, a.cost,
    )  # fmt: skip


def _attempt(row: tuple[Any, ...]) -> Attempt:
    usage = Usage(*row[9:13])
    call, began, seconds, role, stage, unit, backend, model, outcome = row[:9]
    return Attempt(call, began, seconds, role, stage, unit, backend, model, outcome, usage, row[13])
