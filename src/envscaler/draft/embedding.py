"""Vectors of themes: which text stands for one, and an embedder asked in batches, retried, accounted for and remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envscaler.draft.themes import Theme

if TYPE_CHECKING:
    from envscaler.llm import Models
    from envscaler.plugin.manager import Plugins

__all__ = ["Embedding", "opened", "text_of"]


def text_of(theme: Theme) -> str:
    """What a theme's vector is made of."""
    return f"{theme.title}. {theme.summary}\n{theme.introduction}"


class Embedding:
    """An embedder as a run asks it. ``identity`` says what made the vectors; ``near``: the cosine from which two texts are
    about the same, in its eyes."""

    identity: str
    near: float

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, in order. Raises LlmError, PluginError, UsageError for a package that is missing."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Let go of connections."""


def opened(said: str, plugins: Plugins, models: Models) -> Embedding:
    """The embedder that a command line names: `words`, or as a model is named there, `openai/MODEL,base_url=…`.

    Raises UsageError at once for what could not be used later: an unknown name or option, a package that is missing.
    """
    raise NotImplementedError
