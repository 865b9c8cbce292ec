"""The embedders that ship: words counted offline, an endpoint of OpenAI's form, a sentence model on this machine."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final

from envscaler.errors import UsageError
from envscaler.plugin.entries import EmbedderEntry
from envscaler.plugin.records import Vectors
from envscaler.plugin.settings import refuse_unknown

__all__ = ["EMBEDDERS", "OpenAIEmbedder", "Sentence", "Words"]

_LONGEST: Final = 3600.0  # seconds; whoever asks sets a limit of its own
# Said of nearly every environment, so that they tell none from another.
_EVERYWHERE: Final = (
    "system systems record records hold holds held keep keeps kept tool tools look looks looked change changes changed change "
    "rule rules list lists listed add added update updated new may can must one two every each any only own"
)


class Words:
    """Counts words, pairs of words and pieces of words; what is alike in wording is near, whatever is meant."""

    identity = "words/1"
    near = 0.55
    batch = 4096
    free = True

    def __init__(self, settings: Mapping[str, Any]) -> None:
        refuse_unknown("words", settings, ())
        if find_spec("sklearn") is None:
            raise UsageError("words needs scikit-learn: pip install 'envscaler[draft]'")
        self._counters: list[tuple[float, Any]] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector of a few thousand numbers for each text."""
        return Vectors(self._counted(list(texts)) if texts else ())

    async def aclose(self) -> None:
        """Nothing is held."""

    def _counted(self, texts: list[str]) -> list[Sequence[float]]:
        import numpy as np

        parts = []
        for weight, counter in self._made():
            counts = np.log1p(counter.transform(texts).toarray())  # what is said ten times is not ten times as much
            length = np.sqrt((counts * counts).sum(axis=1, keepdims=True))
            parts.append(counts / np.where(length > 0, length, 1) * weight**0.5)
        return [array("f", row) for row in np.hstack(parts)]

    def _made(self) -> list[tuple[float, Any]]:
        if not self._counters:
            from sklearn.feature_extraction.text import (  # type: ignore[import-untyped]
                ENGLISH_STOP_WORDS,
                HashingVectorizer,
            )

            common: dict[str, Any] = {"alternate_sign": False, "norm": None}
            stop = sorted({*ENGLISH_STOP_WORDS, *_EVERYWHERE.split()})
            self._counters = [
                (0.7, HashingVectorizer(n_features=2048, ngram_range=(1, 2), stop_words=stop, **common)),
                (0.3, HashingVectorizer(n_features=1024, analyzer="char_wb", ngram_range=(3, 5), **common)),
            ]
        return self._counters


class OpenAIEmbedder:
    """A model behind `/v1/embeddings`, at OpenAI or at any server that speaks it."""

    near = 0.9
    batch = 64
    free = False

    def __init__(self, settings: Mapping[str, Any]) -> None:
        from envscaler.llm.backends.openai import Server

        refuse_unknown("openai", settings, ("model", "base_url", "key_env"))
        if not settings.get("model"):
            raise UsageError(
                "openai needs a model: openai/text-embedding-3-small, or openai/NAME,base_url=… for a server"
            )
        self._server = Server(settings)
        self.identity = self._server.identity

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors that the server gives; one attempt. Raises a CallError."""
        if not texts:
            return Vectors(())
        call = self._server.client.embeddings.create(
            model=self._server.model, input=list(texts), encoding_format="float", timeout=_LONGEST
        )
        return await self._server.answered(call, _LONGEST, lambda found, _: _vectors(found, len(texts)))

    async def aclose(self) -> None:
        """Let go of the connections."""
        await self._server.aclose()


def _vectors(answer: Any, count: int) -> Vectors:
    """The vectors of an answer in the order of the texts. Raises ValueError and its like for what is none."""
    from envscaler.llm.replies import count as counted

    found = sorted(answer.data, key=lambda one: one.index)
    if [one.index for one in found] != list(range(count)):
        raise ValueError(f"{count} texts were sent, and vectors came back for {len(found)}")
    rows = [array("f", one.embedding) for one in found]
    return Vectors(rows, counted(getattr(answer.usage, "prompt_tokens", None)))


class Sentence:
    """A model of sentence-transformers: a folder on this machine, or a name that the library knows to find."""

    near = 0.85
    batch = 256
    free = True

    def __init__(self, settings: Mapping[str, Any]) -> None:
        refuse_unknown("sentence", settings, ("model", "device"))
        if not settings.get("model"):
            raise UsageError(
                "sentence needs a model: sentence/FOLDER, or sentence/NAME as sentence-transformers knows it"
            )
        if find_spec("sentence_transformers") is None:
            raise UsageError("sentence needs sentence-transformers: pip install 'envscaler[sentence]'")
        self._name, self._device = settings["model"], settings.get("device")
        self.identity = f"sentence/{self._name}"
        self._model: Any = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The model's vectors, made in a thread. Raises UsageError for a model that cannot be loaded."""
        return Vectors(await asyncio.to_thread(self._encoded, list(texts)) if texts else ())

    async def aclose(self) -> None:
        """Let go of the model."""
        self._model = None

    def _encoded(self, texts: list[str]) -> list[Sequence[float]]:
        if self._model is None:
            self._model = self._loaded()
        rows = self._model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        return [array("f", row) for row in rows]

    def _loaded(self) -> Any:
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found, unused-ignore]

        try:
            return SentenceTransformer(self._name, device=self._device)
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError(f"sentence/{self._name} cannot be loaded: {' '.join(str(error).split())[:300]}") from None


EMBEDDERS: tuple[EmbedderEntry, ...] = (
    EmbedderEntry("words", "Words and pieces of words, counted: offline, and without a model", Words),
    EmbedderEntry("openai", "An embedding model at OpenAI or any compatible server", OpenAIEmbedder),
    EmbedderEntry("sentence", "A model of sentence-transformers on this machine", Sentence),
)
