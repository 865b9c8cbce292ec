"""Repair: findings and diagnostics become small edits of the spec, and only what makes it better is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envscaler.lazy import public

if TYPE_CHECKING:
    from envscaler.assess.repair.loop import Repaired, RepairRound, RepairSettings, repair
    from envscaler.assess.repair.standing import Attack, Standing, fuzzed

__all__ = ["Attack", "RepairRound", "RepairSettings", "Repaired", "Standing", "fuzzed", "repair"]

_OFFERED = {
    "envscaler.assess.repair.loop": "RepairRound RepairSettings Repaired repair",
    "envscaler.assess.repair.standing": "Attack Standing fuzzed",
}
__getattr__, __dir__ = public(__name__, _OFFERED)
