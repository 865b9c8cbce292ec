"""The shapes of what models reply: a call to make, a verdict on one, marks for a tool."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator

from envscaler.assess.dual.causes import CAUSES, NONE, OTHER
from envscaler.diagnostics import nearest, one_of

__all__ = ["CallReply", "MarksReply", "VerdictReply", "call_reply"]

_REASON = 300  # characters of a reason that are kept


def _all_wanted(schema: dict[str, Any]) -> None:
    """Ask for every key, since models leave out what they may; a reply without one is read all the same."""
    schema["required"] = list(schema["properties"])


class CallReply(BaseModel):
    """The next call."""

    model_config = ConfigDict(title="Call", json_schema_extra=_all_wanted)

    case: Literal["positive", "negative"]
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)

    @field_validator("arguments", mode="before")
    @classmethod
    def _decoded(cls, value: Any) -> Any:
        """Models send objects as JSON text, and nothing for no arguments."""
        if value is None:
            return {}
        if isinstance(value, str):
            try:
                return json.loads(value) if value.strip() else {}
            except ValueError:
                return value
        return value


def call_reply(tools: Iterable[str]) -> type[CallReply]:
    """The shape of a call of one of ``tools``; another name is a problem that says which may be chosen."""
    names = list(tools)

    def known(value: str) -> str:
        if value in names:
            return value
        near = nearest(value, names)
        raise ValueError(
            f"{value} is not among the tools to choose from{f'; did you mean {near}?' if near else f': {one_of(names)}'}"
        )

    made: type[CallReply] = create_model(
        "Call", __base__=CallReply, __validators__={"known": field_validator("tool")(known)}, __doc__=CallReply.__doc__
    )
    return made


class VerdictReply(BaseModel):
    """The verdict on the call."""

    model_config = ConfigDict(title="Verdict", json_schema_extra=_all_wanted)

    reason: str = Field(default="", description="a sentence or two")  # first, so that a model thinks before it judges
    verdict: Literal["pass", "warning", "fail"]
    cause: str = Field(default=NONE, description="none for a pass")

    @field_validator("verdict", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("cause", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        """A cause of the list; any other text is `other`, since the verdict is what counts."""
        if value is None:
            return NONE
        if not isinstance(value, str):
            return value
        word = value.strip().lower().replace(" ", "_").replace("-", "_")
        return word if word in CAUSES or word == NONE else nearest(word, CAUSES) or OTHER

    @field_validator("reason", mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return short(value) if isinstance(value, str) else value


class MarksReply(BaseModel):
    """The marks for the tool, each from 1 (worst) to 10 (best)."""

    model_config = ConfigDict(title="Marks", json_schema_extra=_all_wanted)

    reason: str = Field(default="", description="a sentence")
    alignment: int = Field(ge=1, le=10)
    correctness: int = Field(ge=1, le=10)

    @field_validator("reason", mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return short(value) if isinstance(value, str) else value


def short(text: str) -> str:
    """One line of a text, of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _REASON else line[: _REASON - 1] + "…"
