"""Recordings of replies: written around any backend, and played back where the request's content is exactly the same."""

from __future__ import annotations

import difflib
import json
import os
from collections import Counter, defaultdict
from collections.abc import Mapping
from os.path import commonpath
from pathlib import Path
from typing import Any

from envscaler.errors import UsageError
from envscaler.llm.backend import Backend
from envscaler.llm.backends import known_only
from envscaler.llm.errors import RecordingError
from envscaler.llm.messages import Reply, Request
from envscaler.llm.replies import cleaned

__all__ = ["RecordingBackend", "ReplayBackend", "make"]

_SHOWN = 80  # characters of a request's last message in an error


def make(settings: Mapping[str, Any]) -> ReplayBackend:
    """The backend of a recording, whose path is the role's model."""
    known_only(settings)
    return ReplayBackend(Path(settings["model"]))


class ReplayBackend:
    """Plays a recording, which is read when the first reply is wanted.

    A request that was recorded several times gets its replies in order, then the last one again.
    """

    free = True

    def __init__(self, path: Path) -> None:
        self.name = "replay"
        self.model = str(path)
        self.identity = f"replay/{path}"
        self._replies: dict[str, list[Reply]] = defaultdict(list)
        self._asked: dict[str, str] = {}
        self._played: Counter[str] = Counter()
        self._path: Path | None = path

    def _read(self, path: Path) -> None:
        """Raises UsageError when the file is no recording."""
        for number, line in _lines(path):
            try:
                plain = json.loads(line)
                self._replies[plain["key"]].append(Reply.from_json(plain["reply"]))
                self._asked[plain["key"]] = _last(plain["request"])
            except (ValueError, KeyError, TypeError, AttributeError, UsageError) as error:
                raise UsageError(f"{path}:{number}: not a line of a recording: {error}") from None

    async def attempt(self, request: Request) -> Reply:
        if self._path is not None:
            self._read(self._path)
            self._path = None
        replies = self._replies.get(request.key)
        if replies is None:
            raise RecordingError(self._miss(request))
        turn = self._played[request.key]
        self._played[request.key] += 1
        return replies[min(turn, len(replies) - 1)]

    def _miss(self, request: Request) -> str:
        last = _last(request.content())
        near = difflib.get_close_matches(last, list(self._asked.values())[:500], n=1, cutoff=0.3)
        lines = [f"{self.model}: no recorded reply to request {request.key[:12]} ({_cut(last)!r})"]
        if near and near[0] != last:
            at = len(commonpath([near[0], last]))
            lines.append(f"the nearest recorded one goes on differently: {_cut(near[0][max(0, at - 20) :])!r}")
        elif near:
            lines.append("one with the same last message was recorded; earlier messages, tools or output shape differ")
        lines.append(f"recorded requests: {len(self._asked)}; record again if the prompts or the spec changed")
        return "\n".join(lines)

    async def aclose(self) -> None:
        """Nothing is held."""


class RecordingBackend:
    """Asks another backend and appends each exchange to a file, a line each; several processes may share the file."""

    def __init__(self, inner: Backend, path: Path) -> None:
        self.name, self.model, self.identity, self.free = inner.name, inner.model, inner.identity, inner.free
        self._inner = inner
        self._path = path

    async def attempt(self, request: Request) -> Reply:
        reply = cleaned(await self._inner.attempt(request))
        line = {"key": request.key, "model": self.model, "request": request.content(), "reply": reply.to_json()}
        _append(self._path, json.dumps(line) + "\n")
        return reply

    async def aclose(self) -> None:
        await self._inner.aclose()


def _append(path: Path, line: str) -> None:
    """Add a line in one write, which a file opened for appending keeps whole among other writers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        data = line.encode("ascii")
        while data:
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines of a recording by number; a last one without its end was cut off while it was written."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: no recording: {error}") from None
    return [(number, line) for number, line in enumerate(text.split("\n")[:-1], 1) if line.strip()]


def _last(content: Mapping[str, Any]) -> str:
    messages = content["messages"]
    return str(messages[-1]["content"]) if messages else ""


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
