"""The backends that ship, by name; none is imported before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from envscaler.diagnostics import nearest
from envscaler.errors import UsageError
from envscaler.llm.backend import Backend

__all__ = ["BACKENDS", "BuiltIn", "known_only"]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A backend that ships: ``make`` builds it from a role's settings."""

    name: str
    summary: str

    def make(self, settings: Mapping[str, Any]) -> Backend:
        """The backend. Raises UsageError for settings that it does not know."""
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

_KNOWN = ("model", "base_url", "key_env", "timeout", "concurrency")


def known_only(settings: Mapping[str, Any]) -> None:
    """Raise UsageError for a setting that the backends here do not know."""
    for name in settings:
        if name not in _KNOWN:
            near = nearest(name, _KNOWN)
            raise UsageError(f"there is no option {name}{f'; did you mean {near}?' if near else ''}")
