"""Vectors of themes: which text stands for one, and an embedder asked in batches, retried, accounted for and remembered."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from envscaler.draft.themes import Theme
from envscaler.llm.errors import DeadlineError, ProtocolError
from envscaler.llm.labels import labelled
from envscaler.llm.messages import Message, Reply, Request, Usage
from envscaler.llm.settings import OPTIONS, RoleSettings, from_text

if TYPE_CHECKING:
    from envscaler.llm import Llm, Models
    from envscaler.plugin.manager import Plugins
    from envscaler.plugin.records import Embedder

__all__ = ["ROLE", "Embedding", "opened", "text_of"]

ROLE: Final = "embedder"
"""What the ledger calls it."""

_DEALT_WITH: Final = set(OPTIONS) - {"base_url", "key_env"}  # before a request reaches an embedder


def text_of(theme: Theme) -> str:
    """What a theme's vector is made of."""
    return f"{theme.title}. {theme.summary}\n{theme.introduction}"


class Embedding:
    """An embedder as a run asks it. ``identity`` says what made the vectors; ``near``: the cosine from which two texts are
    about the same, in its eyes. ``llm`` keeps the account of one that is paid for."""

    def __init__(self, embedder: Embedder, llm: Llm | None = None) -> None:
        self.identity = embedder.identity
        self.near = embedder.near
        self._embedder = embedder
        self._llm = llm

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, in order. Raises LlmError, PluginError, UsageError for what cannot be loaded."""
        size = self._embedder.batch
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        if self._llm is None:
            found = [await self._made(batch) for batch in batches]
        else:
            with labelled("discovery"):
                found = await _all([self._asked(self._llm, batch) for batch in batches])
        rows = [list(row) for batch in found for row in batch]
        if len({len(row) for row in rows}) > 1:
            raise ProtocolError(f"{self.identity}: the vectors of two batches differ in length")
        return rows

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._embedder.aclose()

    async def _made(self, batch: Sequence[str]) -> Sequence[Sequence[float]]:
        rows = (await self._embedder.embed(batch)).rows
        if len(rows) != len(batch):
            raise ProtocolError(f"{self.identity}: {len(batch)} texts gave {len(rows)} vectors")
        return rows

    async def _asked(self, llm: Llm, batch: Sequence[str]) -> Sequence[Sequence[float]]:
        answer = await llm.chat([Message("user", text) for text in batch])
        return _unpacked(answer.content)


async def _all(calls: Sequence[Any]) -> list[Any]:
    """What all calls give; the first that fails is raised, and the rest are cancelled."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


def opened(said: str, plugins: Plugins, models: Models) -> Embedding:
    """The embedder that a command line names: `words`, or as a model is named there, `openai/MODEL,base_url=…`.

    Raises UsageError at once for what could not be used later: an unknown name or option, a package that is missing.
    """
    head, comma, options = said.partition(",")
    name, slash, _ = head.strip().partition("/")
    settings = from_text(f"{name}/{name}{comma}{options}" if not slash else said, ROLE, f"the embedder {name}")
    given = {key: value for key, value in settings.for_backend().items() if key not in _DEALT_WITH}
    if not slash:
        del given["model"]
    embedder = plugins.embedder(name, given)
    if embedder.free:
        return Embedding(embedder)
    return Embedding(embedder, models.around(_Asked(embedder, settings), settings))


class _Asked:
    """An embedder in the place of a model's backend: texts come as messages, vectors go as the text of a reply."""

    free = False

    def __init__(self, embedder: Embedder, settings: RoleSettings) -> None:
        self.name = settings.backend
        self.model = settings.model_name
        self.identity = embedder.identity
        self._embedder = embedder

    async def attempt(self, request: Request) -> Reply:
        texts = [message.content for message in request.messages]
        try:
            async with asyncio.timeout(request.timeout):
                vectors = await self._embedder.embed(texts)
        except TimeoutError:
            raise DeadlineError(f"{self.identity}: no answer within {request.timeout:g} s") from None
        if len(vectors.rows) != len(texts):
            raise ProtocolError(f"{self.identity}: {len(texts)} texts gave {len(vectors.rows)} vectors")
        usage = Usage(vectors.tokens, None if vectors.tokens is None else 0)
        return Reply(Message("assistant", _packed(vectors.rows)), usage=usage, model=self.model)

    async def aclose(self) -> None:
        await self._embedder.aclose()


def _packed(rows: Sequence[Sequence[float]]) -> str:
    """Vectors as a text that the cache and a recording can hold, at the precision that embedding models have."""
    flat = array("f", [number for row in rows for number in row])
    if sys.byteorder == "big":
        flat.byteswap()
    return json.dumps({"length": len(rows[0]) if rows else 0, "float32": base64.b64encode(flat.tobytes()).decode()})


def _unpacked(text: str) -> list[Sequence[float]]:
    held = json.loads(text)
    flat = array("f", base64.b64decode(held["float32"]))
    if sys.byteorder == "big":
        flat.byteswap()
    length = held["length"]
    return [flat[start : start + length] for start in range(0, len(flat), length or 1)]
