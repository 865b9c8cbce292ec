"""The properties that a sound environment has, as plain functions in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from envscaler.assess.events import Breach, Played, Seen
from envscaler.assess.properties import calls, classes, episodes, forced, references
from envscaler.diagnostics import nearest
from envscaler.errors import UsageError

__all__ = ["PROPERTIES", "Breach", "Played", "Property", "Seen", "chosen"]

Level = Literal["call", "episode", "class"]


@dataclass(frozen=True, slots=True)
class Property:
    """``run`` takes a `Seen`, a `Played` or a `Facts`, by ``level``; it gives a Breach or None, at level `class` all of them.
    ``spec``: it needs the spec. ``checker``: it is also offered as a checker of that name, since it looks at nothing that a
    `CallEvent` has not. ``by_tool``: breaches by different tools are different findings."""

    name: str
    level: Level
    run: Callable[[Any], Any]
    spec: bool = False
    checker: bool = False
    by_tool: bool = True

    @property
    def about(self) -> str:
        """What it says, in a sentence."""
        return " ".join((self.run.__doc__ or "").split())


def _property(
    level: Level, run: Callable[[Any], Any], *, spec: bool = False, checker: bool = False, by_tool: bool = True
) -> Property:
    return Property(run.__name__.replace("_", "-"), level, run, spec, checker, by_tool)


PROPERTIES: Final[Mapping[str, Property]] = {
    p.name: p
    for p in (
        _property("class", classes.initial_state_is_allowed),
        _property("class", classes.examples_hold, spec=True),
        _property("class", classes.constants_as_told, spec=True),
        _property("class", references.references_are_declared, spec=True),
        _property("call", calls.never_raises),
        _property("call", calls.always_ends),
        _property("call", calls.failed_call_changes_nothing, checker=True),
        _property("call", calls.reads_write_nothing, checker=True),
        _property("call", calls.tells_what_changed),
        _property("call", calls.state_is_allowed, checker=True, by_tool=False),
        _property("call", calls.moves_as_declared, by_tool=False),
        _property("call", calls.after_each_settles, by_tool=False),
        _property("call", calls.results_are_json, checker=True),
        _property("call", calls.results_as_declared, spec=True),
        _property("episode", forced.failure_is_undone),
        _property("episode", episodes.replay_equals_live),
        _property("episode", episodes.no_unseeded_randomness),
        _property("episode", episodes.no_wall_clock),
        _property("episode", episodes.reset_begins_again),
        _property("episode", episodes.snapshot_restores),
        _property("episode", episodes.fork_is_independent),
        _property("episode", episodes.base_stays),
        _property("episode", episodes.state_survives_json),
        _property("episode", episodes.results_are_copies),
        _property("episode", episodes.reads_see_the_state),
    )
}
"""All properties by name, in the order in which they are looked at."""


def chosen(names: Iterable[str] | None, *, spec: bool = True) -> Sequence[Property]:
    """The properties of those names, all for None; without ``spec`` those that need none. Raises UsageError."""
    if names is None:
        return [p for p in PROPERTIES.values() if spec or not p.spec]
    wanted = dict.fromkeys(names)
    for name in wanted:
        if name not in PROPERTIES:
            near = nearest(name, PROPERTIES)
            raise UsageError(f"no property is called {name!r}" + (f"; did you mean {near}?" if near else ""))
    return [p for p in PROPERTIES.values() if p.name in wanted and (spec or not p.spec)]
