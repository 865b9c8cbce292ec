"""What is asked of the search: how long plans are, how often what happens in them, what was used often already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["SearchSettings"]


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """``writes``: how likely plans of 1, 2, … writes are looked for. ``dependent``: the share of further writes that are
    about what an earlier one touched. ``quoted``: the share of records that people name by their key. ``free``: the share of
    free texts that the task leaves open. ``counts``: by tool, how often it was used already; rarely used ones come first.
    ``tools``: the only ones that plans begin with, empty for all. ``user_steps``: whether the user's own tools may be used
    on the way. ``tries``: calls that are tried for one write before another is looked for."""

    writes: tuple[float, ...] = (0.35, 0.3, 0.2, 0.1, 0.05)
    dependent: float = 0.6
    quoted: float = 0.1
    free: float = 0.1
    counts: Mapping[str, int] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    user_steps: bool = True
    tries: int = 60
