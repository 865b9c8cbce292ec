"""Decides of a task whether it presupposes a stateful, domain-specific environment (the paper's section 3.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, model_validator

from envscaler.draft.asking import ask, messages, one_line
from envscaler.draft.themes import Sieved
from envscaler.llm import Llm, labelled
from envscaler.plugin.records import Task

__all__ = ["sieve"]

_NONE = re.compile(r"\W*(none|no|nothing|n/a)\b", re.IGNORECASE)


class _Verdict(BaseModel):
    """Whether the task presupposes a world."""

    model_config = ConfigDict(title="Verdict")

    records: str = Field("", description="whose records of what must be looked into or changed, or none")
    reason: str = Field(min_length=1, description="one short sentence")
    stateful: bool = Field(description="whether it presupposes a world")

    @model_validator(mode="after")
    def _agrees(self) -> _Verdict:
        if self.stateful and _NONE.match(self.records):
            raise ValueError(
                "there are no records that must be looked into or changed, so stateful is false; or name them"
            )
        return self


async def sieve(task: Task, llm: Llm, *, source: str = "", folders: Sequence[str] = (), sample: int = 0) -> Sieved:
    """The task with verdict and reason, by a model of the role `planner`; the call is filed under `discovery`.

    ``source`` read the task. Raises Unusable when the model gave nothing that can be used, LlmError.
    """
    with labelled("discovery"):
        verdict = await ask(llm, _Verdict, messages("filter", folders, task=task.text), sample=sample)
    return Sieved.of(task, source, verdict.stateful, one_line(verdict.reason))
