"""Says which environment a task, or a sentence about one, presupposes (the paper's section 3.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from envscaler.draft.asking import ask, messages
from envscaler.draft.themes import Origin, Text, Theme
from envscaler.llm import Llm, labelled
from envscaler.spec.names import is_name, proposal

__all__ = ["infer", "name_of"]

_LONGEST = 40  # characters of a name that is made
_SCORE = re.compile(r"\s*(\d+)(?:\.0*)?(?:\s*(?:/|out of|of)\s*10)?\s*\Z")


def _scored(value: Any) -> Any:
    """`8`, `8.0` and `8/10` are one score."""
    match = _SCORE.match(str(value)) if isinstance(value, (str, float)) else None
    return int(match[1]) if match else value


Score = Annotated[int, BeforeValidator(_scored), Field(ge=1, le=10)]


def _joined(value: Any) -> Any:
    """The text that a list of sentences or paragraphs is, as small models like to send one."""
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    return value


_Prose = Annotated[Text, BeforeValidator(_joined)]


class _Inferred(BaseModel):
    """The environment."""

    model_config = ConfigDict(title="Theme")

    title: Text = Field(max_length=120)
    name: str = ""
    summary: _Prose = Field(max_length=600)
    introduction: _Prose = Field(min_length=80, max_length=6000)
    usefulness: Score
    modelability: Score

    @model_validator(mode="after")
    def _named(self) -> _Inferred:
        self.name = name_of(self.name) or name_of(self.title)
        if not self.name:
            raise ValueError("name must be words of Latin letters with _ between")
        return self


def name_of(text: str) -> str:
    """The name of a spec that says the same, empty where there is none: `Café Orders (2nd)` gives `cafe_orders_2nd`."""
    name = proposal(text, "lower") or ""
    while len(name) > _LONGEST and "_" in name:
        name = name.rpartition("_")[0]
    return name[:_LONGEST] if is_name(name[:_LONGEST], "lower") else ""


async def infer(
    task: str, llm: Llm, *, origin: Origin | None = None, folders: Sequence[str] = (), sample: int = 0
) -> Theme:
    """The theme behind a task or a sentence, by a model of the role `planner`; the call is filed under `discovery`.

    Raises Unusable when the model gave nothing that can be used, LlmError.
    """
    with labelled("discovery"):
        found = await ask(llm, _Inferred, messages("infer", folders, task=task), sample=sample)
    return Theme(**found.model_dump(), task=task, origin=origin)
