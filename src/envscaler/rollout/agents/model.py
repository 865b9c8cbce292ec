"""Language models as agents: with calls of their own, or with calls that they write."""

from __future__ import annotations

from typing import Any, Final, Literal

from envscaler.agents import LlmPolicy
from envscaler.errors import UsageError
from envscaler.plugin.roles import Part
from envscaler.rollout.settings import read_settings

__all__ = ["DEFAULTS", "native_agent", "text_agent"]

DEFAULTS: Final[dict[str, Any]] = {"temperature": None, "max_tokens": 4096, "reasoning": "removed", "role": "agent"}
"""``max_tokens``: of one reply. ``reasoning``: `removed` or `kept` when the model is shown what it said before. ``role``: the
role whose model is asked."""

_OF_TEXT: Final[dict[str, Any]] = {**DEFAULTS, "calls": "tagged"}
"""``calls``: `tagged`, or `bare` where calls without tags are run, too."""


def native_agent(part: Part) -> LlmPolicy:
    """A model that has calls of its own."""
    return _agent(part, "llm", "native")


def text_agent(part: Part) -> LlmPolicy:
    """A model that writes its calls as text."""
    return _agent(part, "llm-text", "text")


def _agent(part: Part, who: str, form: Literal["native", "text"]) -> LlmPolicy:
    settings = read_settings(who, part.settings, DEFAULTS if form == "native" else _OF_TEXT)
    if settings.get("calls", "tagged") not in ("tagged", "bare"):
        raise UsageError(f"{who}: calls are tagged or bare, not {settings['calls']!r}")
    if settings["reasoning"] not in ("removed", "kept"):
        raise UsageError(f"{who}: reasoning is removed or kept, not {settings['reasoning']!r}")
    if part.models is None:
        raise UsageError(f"{who} asks a language model, and there is none in this run")
    return LlmPolicy(
        part.models().role(settings["role"]),
        form=form,
        max_tokens=settings["max_tokens"],
        temperature=settings["temperature"],
        reasoning=settings["reasoning"] == "kept",
        bare=settings.get("calls") == "bare",
        sample=part.sample,
    )
