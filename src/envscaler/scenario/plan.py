"""Plans: calls found by searching forward from a state, with what each changed and where each argument comes from.

The search (`scenario.search`) makes them, the wording (`scenario.wording`) and the kinds (`scenario.kinds`) turn them into
scenarios, the proof (`scenario.proof`) tries those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from envscaler.scenario.model import Actor, Goal, Guard, Source

__all__ = ["Plan", "PlannedCall"]


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that was made while searching. ``result`` is its JSON (`{"success": …}`); ``changes`` are its operations as
    `Environment.diff` gives them. ``sources``: by parameter; a `task` source here means "to be told": the wording decides
    whether the task or a fact of the user tells it. A part of a parameter has a source of its own under the parameter's
    name and the JSON pointer below it (`to/account_id`, `required/0`), which then counts instead of the parameter's. The
    `path` of a `found` source points into the call's ``data``; one that ends with `#` means the name of the member that it
    points to. ``refused``, ``actor``: see `model.Step`. ``purpose``: for a read, the parameters of later calls that it
    finds, as `(index, parameter)`."""

    tool: str
    arguments: Mapping[str, Any]
    kind: Literal["read", "write"]
    result: Mapping[str, Any]
    changes: tuple[Mapping[str, Any], ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    refused: str = ""
    purpose: tuple[tuple[int, str], ...] = ()
    actor: Actor = "agent"


@dataclass(frozen=True, slots=True)
class Plan:
    """Calls in order, what they change together, and what follows: one goal for each changed fact, and the closed world.

    ``about``: for each write (by index) the records that it is about, as `(collection, key)`, with how a person would tell
    them apart: `described` maps `(collection, key)` to the fields, by the names in the results that show them, that
    identify it: among all records, or among those of the record that ``within`` names for it (the cards of a customer).
    Every value of ``described`` must be told; a record that is there under its key's name is one that is told by its key.
    """

    calls: tuple[PlannedCall, ...]
    changes: tuple[Mapping[str, Any], ...]
    goals: tuple[Goal, ...]
    guards: tuple[Guard, ...]
    about: Mapping[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    described: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    within: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    tags: Mapping[str, Any] = field(default_factory=dict)

    @property
    def writes(self) -> tuple[int, ...]:
        """The indices of the calls that change something."""
        return tuple(n for n, call in enumerate(self.calls) if call.changes)
