"""Says which environment a task, or a sentence about one, presupposes (the paper's section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

from envscaler.draft.themes import Origin, Theme
from envscaler.llm import Llm

__all__ = ["infer"]


async def infer(
    task: str, llm: Llm, *, origin: Origin | None = None, folders: Sequence[str] = (), sample: int = 0
) -> Theme:
    """The theme behind a task. Raises Unusable when the model gave nothing that can be used, LlmError."""
    raise NotImplementedError
