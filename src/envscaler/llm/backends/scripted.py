"""Replies given beforehand, for tests: in order, or made by a function of the request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from envscaler.errors import LlmError, UsageError
from envscaler.llm.backends import known_only
from envscaler.llm.errors import RecordingError
from envscaler.llm.messages import Message, Reply, Request

__all__ = ["Script", "ScriptedBackend", "make"]

Step = str | Reply | LlmError | Mapping[str, Any]
Script = Iterable[Step] | Callable[[Request], Step]


class ScriptedBackend:
    """Plays a script: texts, replies (or their JSON) and errors to raise, or a function from request to one of them.

    ``requests`` holds what was asked, in order. A list that has come to its end is a RecordingError.
    """

    free = True

    def __init__(self, script: Script, *, model: str = "script", identity: str = "") -> None:
        self.name = "scripted"
        self.model = model
        self.identity = identity or f"scripted/{model}"
        self.requests: list[Request] = []
        self._next = script if callable(script) else _in_order(iter(script), self.identity)

    async def attempt(self, request: Request) -> Reply:
        self.requests.append(request)
        step = self._next(request)
        if isinstance(step, LlmError):
            raise step
        if isinstance(step, Reply):
            return step
        return Reply(Message("assistant", step)) if isinstance(step, str) else Reply.from_json(step)

    async def aclose(self) -> None:
        """Nothing is held."""


def _in_order(steps: Any, subject: str) -> Callable[[Request], Step]:
    def step(request: Request) -> Step:
        for one in steps:
            found: Step = one
            return found
        raise RecordingError(f"{subject}: the script has no further reply")

    return step


def make(settings: Mapping[str, Any]) -> ScriptedBackend:
    """The backend of a file with a JSON array of texts and replies, read when the first reply is wanted."""
    known_only(settings)
    path = Path(settings["model"])

    def lazily() -> Iterator[Any]:
        yield from _read(path)

    return ScriptedBackend(lazily(), model=str(path))


def _read(path: Path) -> list[Any]:
    try:
        script = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: no script: {error}") from None
    if not isinstance(script, list):
        raise UsageError(f"{path}: a script is a JSON array of texts and replies")
    return script
