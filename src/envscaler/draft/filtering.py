"""Decides of a task whether it presupposes a stateful, domain-specific environment (the paper's section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from envscaler.draft.asking import ask, messages, one_line
from envscaler.draft.themes import Sieved
from envscaler.llm import Llm, labelled
from envscaler.plugin.records import Task

__all__ = ["sieve"]


class _Verdict(BaseModel):
    """Whether the task presupposes a world."""

    model_config = ConfigDict(title="Verdict")

    reason: str = Field(min_length=1, description="one short sentence")
    stateful: bool = Field(description="whether it presupposes a world")


async def sieve(task: Task, llm: Llm, *, source: str = "", folders: Sequence[str] = (), sample: int = 0) -> Sieved:
    """The task with verdict and reason, by a model of the role `planner`; the call is filed under `discovery`.

    ``source`` read the task. Raises Unusable when the model gave nothing that can be used, LlmError.
    """
    with labelled("discovery"):
        verdict = await ask(llm, _Verdict, messages("filter", folders, task=task.text), sample=sample)
    return Sieved.of(task, source, verdict.stateful, one_line(verdict.reason))
