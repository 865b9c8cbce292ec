"""Scenarios: a state, a task and what decides it, made from a spec alone or with models, and proved before they are kept.

What a generator of a plugin needs is here; nothing is imported before it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envscaler.lazy import public

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

__all__ = [
    "Answer", "Fact", "Goal", "Guard", "Only", "Reveal", "Scenario", "Source", "SpecRef", "Step", "ToolInfo", "User",
    "World",
]  # fmt: skip

_OFFERED = {
    "envscaler.scenario.model": "Answer Fact Goal Guard Only Reveal Scenario Source SpecRef Step User",
    "envscaler.scenario.world": "ToolInfo World",
}
__getattr__, __dir__ = public(__name__, _OFFERED)
