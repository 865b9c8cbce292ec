"""Accepted replies by the content of their request, on disk; of those who ask the same at once, one makes the call."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from envscaler.llm.messages import Reply, Request, digest
from envscaler.llm.store import Store

__all__ = ["FILE", "Cache", "cache_key"]

FILE = "replies.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, written REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID
"""
_LEASE = 30.0  # seconds that a claim holds without being renewed
_RENEWED = 10.0
_FIRST_LOOK, _LAST_LOOK = 0.02, 0.5  # seconds between looks at a claim of somebody else


def cache_key(request: Request, identity: str) -> str:
    """What a reply depends on: the model and its address, the request, and how it is asked."""
    return digest({"identity": identity, "request": request.key, "settings": request.settings()})


class Cache:
    """The file with the replies. ``lease`` is how long, in seconds, a claim of a process that hangs is waited for."""

    def __init__(self, path: Path, lease: float = _LEASE) -> None:
        self.path = path
        self._store = Store(path, _SCHEMA, 1)
        self._lease = lease

    async def get(
        self,
        key: str,
        make: Callable[[], Awaitable[Reply]],
        usable: Callable[[Reply], bool] = lambda _: True,
    ) -> tuple[Reply, bool]:
        """The reply kept under ``key`` if ``usable``, and True; else what ``make`` gives, which is then kept, and False.

        Whoever asks for the same meanwhile, in this process or another one, waits for it. When ``make`` fails, its
        error is raised here, nothing is kept, and the next one who waits tries.
        """
        owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        pause = _FIRST_LOOK
        while True:
            found = self._read(key)
            if found is not None and usable(found):
                return found, True
            if self._claim(key, owner, stale=found):
                break
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LAST_LOOK)
        renewal = asyncio.create_task(self._renew(key, owner))
        try:
            reply = await make()
            self._keep(key, reply)
            return reply, False
        finally:
            renewal.cancel()
            self._store.write("DELETE FROM claims WHERE key = ? AND owner = ?", (key, owner))
            with suppress(asyncio.CancelledError):
                await renewal

    def _read(self, key: str) -> Reply | None:
        rows = self._store.rows("SELECT reply FROM replies WHERE key = ?", (key,))
        return Reply.from_json(json.loads(rows[0][0])) if rows else None

    def _claim(self, key: str, owner: str, stale: Reply | None) -> bool:
        """Take the right to make the call, unless somebody holds it or the reply has come meanwhile."""
        with self._store.writing():
            written = self._read(key)
            if written is not None and written != stale:
                return False
            held = self._store.rows("SELECT owner, until FROM claims WHERE key = ?", (key,))
            if held and held[0][1] > time.time() and _alive(held[0][0]):
                return False
            self._store.write(
                "INSERT OR REPLACE INTO claims (key, owner, until) VALUES (?, ?, ?)",
                (key, owner, time.time() + self._lease),
            )
        return True

    async def _renew(self, key: str, owner: str) -> None:
        while True:
            await asyncio.sleep(min(_RENEWED, self._lease / 3))
            self._store.write(
                "UPDATE claims SET until = ? WHERE key = ? AND owner = ?", (time.time() + self._lease, key, owner)
            )

    def _keep(self, key: str, reply: Reply) -> None:
        self._store.write(
            "INSERT OR REPLACE INTO replies (key, reply, written) VALUES (?, ?, ?)",
            (key, json.dumps(reply.to_json()), time.time()),
        )

    def close(self) -> None:
        self._store.close()


def _alive(owner: str) -> bool:
    """Whether the process of a claim may still run; one of another machine may."""
    host, pid, _ = owner.split(":")
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
