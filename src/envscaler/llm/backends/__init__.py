"""The backends that ship, by name; none is imported before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from envscaler.llm.backend import Backend

__all__ = ["BACKENDS", "BuiltIn"]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A backend that ships: ``make`` builds it from a role's settings."""

    name: str
    summary: str

    def make(self, settings: Mapping[str, Any]) -> Backend:
        """The backend. Raises UsageError for settings that it cannot work with, AccessError without its key."""
        made: Backend = import_module(f"{__name__}.{self.name}").make(settings)
        return made


BACKENDS: Mapping[str, BuiltIn] = {
    entry.name: entry
    for entry in (
        BuiltIn("anthropic", "Anthropic's models; the key stands in ANTHROPIC_API_KEY"),
        BuiltIn("openai", "OpenAI's models (key in OPENAI_API_KEY), or any compatible server by base_url"),
        BuiltIn("replay", "recorded replies from a file, matched on the request's content"),
        BuiltIn("scripted", "replies from a file, in order; for tests"),
    )
}
