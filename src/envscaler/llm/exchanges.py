"""Replies that came whole, kept for the unit of work that asked: one that was killed goes on without asking anything twice.

The cache of `llm/cache.py` keeps what was accepted in the end, for everybody. Here the replies that were sent back to the
model are kept too, for a unit that goes on has to come by the same way; and it can be told what a unit took, however often it
was ended.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from envscaler.llm.messages import Reply
from envscaler.llm.store import Store

__all__ = ["FILE", "Exchange", "Exchanges", "Sitting", "sitting"]

FILE = "exchanges.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS exchanges (
    key TEXT NOT NULL, number INTEGER NOT NULL, reply TEXT NOT NULL, PRIMARY KEY (key, number)
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One reply: who gave it to which role, its tokens, its price in billionths of a US dollar (None: not known)."""

    role: str
    model: str
    tokens_in: int
    tokens_out: int
    cached: int
    cost: int | None


class Exchanges:
    """The file of a run's folder that all its units share, whichever process they are in."""

    def __init__(self, path: Path) -> None:
        self._store = Store(path, _SCHEMA, 1)

    def find(self, key: str, number: int) -> Reply | None:
        """The reply to a request, asked for the ``number``-th time in a unit, from 0."""
        rows = self._store.rows("SELECT reply FROM exchanges WHERE key = ? AND number = ?", (key, number))
        return Reply.from_json(json.loads(rows[0][0])) if rows else None

    def keep(self, key: str, number: int, reply: Reply) -> None:
        """Write a reply down; one that is there stays."""
        self._store.write(
            "INSERT OR IGNORE INTO exchanges VALUES (?, ?, ?)", (key, number, json.dumps(reply.to_json()))
        )

    def replies(self) -> Iterator[Reply]:
        """All replies, in no order."""
        for (text,) in self._store.rows("SELECT reply FROM exchanges"):
            yield Reply.from_json(json.loads(text))

    def close(self) -> None:
        self._store.close()

    @contextmanager
    def unit(self) -> Iterator[Sitting]:
        """One unit of work: what is asked within the block, and in tasks and `Models.run` begun in it, is remembered."""
        made = Sitting(self)
        token = _current.set(made)
        try:
            yield made
        finally:
            _current.reset(token)


@dataclass(slots=True)
class Sitting:
    """A unit of work at its questions: ``made`` are its replies so far, whenever they were given."""

    exchanges: Exchanges
    made: list[Exchange] = field(default_factory=list)
    _asked: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def recall(self, key: str) -> Reply | None:
        """What was answered before to the request that the unit asks now."""
        with self._lock:
            reply = self.exchanges.find(key, self._asked[key])
            if reply is not None:
                self._asked[key] += 1
        return reply

    def keep(self, key: str, reply: Reply) -> None:
        """Remember a new reply."""
        with self._lock:
            self.exchanges.keep(key, self._asked[key], reply)
            self._asked[key] += 1

    def count(self, role: str, model: str, reply: Reply, cost: int | None) -> None:
        """Take note of what a reply took, remembered or not."""
        used = reply.usage
        self.made.append(Exchange(role, model, used.tokens_in or 0, used.tokens_out or 0, used.cached, cost))


_current: ContextVar[Sitting | None] = ContextVar("envscaler_sitting", default=None)


def sitting() -> Sitting | None:
    """The unit of work within which this is called, if it is to be remembered."""
    return _current.get()
