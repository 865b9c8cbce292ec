"""Plans: calls found by searching forward from a state, with what each changed and where each argument comes from.

The search (`scenario.search`) makes them, the wording (`scenario.wording`) and the kinds (`scenario.kinds`) turn them into
scenarios, the proof (`scenario.proof`) tries those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from envscaler.scenario.model import Goal, Guard, Source

__all__ = ["Plan", "PlannedCall"]


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that was made while searching. ``result`` is its JSON (`{"success": …}`); ``changes`` are its operations as
    `Environment.diff` gives them. ``sources``: by parameter; a `task` source here means "to be told": the wording decides
    whether the task or a fact of the user tells it. ``refused``: see `model.Step`. ``purpose``: for a read, the parameter of
    a later call that it finds, as `(index, parameter)`."""

    tool: str
    arguments: Mapping[str, Any]
    kind: Literal["read", "write"]
    result: Mapping[str, Any]
    changes: tuple[Mapping[str, Any], ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    refused: str = ""
    purpose: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Calls in order, what they change together, and what follows: one goal for each changed fact, and the closed world.

    ``about``: for each write (by index) the records that it is about, as `(collection, key)`, with how a person would tell
    them apart: `described` maps `(collection, key)` to the JSON fields that identify it among all records.
    """

    calls: tuple[PlannedCall, ...]
    changes: tuple[Mapping[str, Any], ...]
    goals: tuple[Goal, ...]
    guards: tuple[Guard, ...]
    about: Mapping[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    described: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    tags: Mapping[str, Any] = field(default_factory=dict)

    @property
    def writes(self) -> tuple[int, ...]:
        """The indices of the calls that change something."""
        return tuple(n for n, call in enumerate(self.calls) if call.changes)
