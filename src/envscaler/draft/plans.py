"""What an environment is planned to be, before a line of its spec is written: states, rules, tools, as plain JSON."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from envscaler.draft.themes import Theme

__all__ = ["Plan", "PlannedField", "PlannedRule", "PlannedState", "PlannedTool", "Size"]


def _plain(schema: dict[str, Any]) -> None:
    """What a model is shown of a record: names and types; the prompt says what they mean."""
    schema.pop("description", None)
    for of in schema["properties"].values():
        of.pop("title", None)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_plain)


class Size(_Record):
    """How large an environment is to be: the medians of the paper's environments. ``reading``: the share of tools that
    change nothing."""

    collections: int = Field(default=4, ge=1, le=20)
    fields: int = Field(default=21, ge=1, le=200)
    rules: int = Field(default=5, ge=0, le=50)
    tools: int = Field(default=18, ge=1, le=100)
    reading: float = Field(default=0.55, ge=0.0, le=1.0)


class PlannedField(_Record):
    """``type`` in words or in the language's, as the planner puts it."""

    name: str
    type: str = "str"
    description: str = ""


class PlannedState(_Record):
    """A collection of records, or a ``single`` one. The key counts among its fields."""

    name: str
    record: str
    single: bool = False
    description: str = ""
    fields: tuple[PlannedField, ...] = ()


class PlannedRule(_Record):
    """``enforced``: code keeps it; else it is told to the agent only. ``states``: those that it is about."""

    name: str
    text: str
    enforced: bool = True
    states: tuple[str, ...] = ()


class PlannedTool(_Record):
    """``params``: what each parameter means, by name. ``states``: those that it reads or changes. ``errors``: when it fails."""

    name: str
    kind: Literal["read", "write"]
    description: str = ""
    params: dict[str, str] = {}
    states: tuple[str, ...] = ()
    effects: str = ""
    errors: tuple[str, ...] = ()


class Plan(_Record):
    """``problems``: what the plan still lacks, measured against itself and the size that was asked for."""

    theme: Theme
    states: tuple[PlannedState, ...] = ()
    rules: tuple[PlannedRule, ...] = ()
    tools: tuple[PlannedTool, ...] = ()
    problems: tuple[str, ...] = ()
