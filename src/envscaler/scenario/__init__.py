"""Scenarios: a state, a task and what decides it, made from a spec alone or with models, and proved before they are kept.

What a generator of a plugin needs is here; nothing is imported before it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envscaler.scenario.model import (
        Answer,
        Fact,
        Goal,
        Guard,
        Only,
        Reveal,
        Scenario,
        Source,
        SpecRef,
        Step,
        User,
    )
    from envscaler.scenario.world import ToolInfo, World

_MODULES = {
    "model": (
        "Answer", "Fact", "Goal", "Guard", "Only", "Reveal", "Scenario", "Source", "SpecRef", "Step", "User",
    ),
    "world": ("ToolInfo", "World"),
}  # fmt: skip
_PUBLIC = {name: f"envscaler.scenario.{module}" for module, names in _MODULES.items() for name in names}

__all__ = [
    "Answer", "Fact", "Goal", "Guard", "Only", "Reveal", "Scenario", "Source", "SpecRef", "Step", "ToolInfo", "User",
    "World",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
