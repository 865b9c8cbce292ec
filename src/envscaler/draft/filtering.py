"""Decides of a task whether it presupposes a stateful, domain-specific environment (the paper's section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

from envscaler.draft.themes import Sieved
from envscaler.llm import Llm
from envscaler.plugin.records import Task

__all__ = ["sieve"]


async def sieve(task: Task, llm: Llm, *, source: str = "", folders: Sequence[str] = (), sample: int = 0) -> Sieved:
    """The task with verdict and reason. Raises Unusable when the model gave nothing that can be used, LlmError."""
    raise NotImplementedError
