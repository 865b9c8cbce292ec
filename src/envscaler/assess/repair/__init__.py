"""Repair: findings and diagnostics become small edits of the spec, and only what makes it better is kept."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envscaler.assess.repair.loop import Repaired, RepairRound, RepairSettings, repair
    from envscaler.assess.repair.standing import Attack, Standing, fuzzed

__all__ = ["Attack", "RepairRound", "RepairSettings", "Repaired", "Standing", "fuzzed", "repair"]

_MODULES = {"Attack": "standing", "Standing": "standing", "fuzzed": "standing"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'loop')}"), name)
