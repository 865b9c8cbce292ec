"""Calls made in changed states: recorded ones, and those of setup functions, which the fuzzer does not call."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.assess.facts import ToolFacts
from envscaler.assess.layout import keys_of
from envscaler.assess.mutation.probes import Place, Probes, in_turn, inside
from envscaler.assess.mutation.tapes import Step, Tape
from envscaler.assess.strategies import arguments, samples
from envscaler.runtime import Environment

__all__ = ["events", "tapes_in"]

_STARTS: Final = 1000  # accepted states in which calls are tried
_CALLS: Final = 16  # in each of them
_EVENTS: Final = 40  # calls of each setup function
_ONE_TOOL: Final = 80  # recorded calls of a tool to choose from


def events(environment: type[Environment], seed: int) -> list[Step]:
    """Calls of the setup functions of a class, with arguments as they take them."""
    keys = keys_of(environment.states, environment.new().state)
    made = []
    for setup in environment.setup_table:
        fields = {p.json: p for p in setup.params.values()}
        fitting = arguments(ToolFacts(setup.name, "agent", setup.kind, fields), keys, environment.clock)
        made += [Step(setup.name, given, "setup") for given in samples(fitting, _EVENTS, seed)]
    return made


def tapes_in(given: Probes, recorded: Sequence[Tape], events: Sequence[Step]) -> list[Tape]:
    """Tapes that begin in accepted states, with recorded calls to try there, such as name the changed record first, and in
    the initial state with ``events``, of which some are tried everywhere."""
    tapes = sorted(recorded, key=lambda tape: tape.state is not None)  # what was called in the initial state, first
    stock = _Stock([step for tape in tapes for step in tape.steps] + list(events))
    accepted = [probe for probe in given.tried if probe.problem is None]
    found = [Tape(None, 0, variants=list(events))]
    for probe in accepted[:_STARTS]:
        state = given.state(probe)
        steps = stock.about(state, probe.place)
        found.append(Tape(state, 0, variants=[Step(s.tool, s.arguments, s.actor) for s in steps]))
    return found


class _Stock:
    """Recorded calls, with the words and numbers that each names."""

    def __init__(self, recorded: Sequence[Step]) -> None:
        chosen: dict[str, dict[str, tuple[Step, frozenset[str]]]] = {}
        for step in recorded:
            if step.outcome is not None and step.outcome[1] == "unknown_tool":
                continue
            mine = chosen.setdefault(step.tool, {})
            if len(mine) < _ONE_TOOL and isinstance(step.arguments, Mapping):
                name = json.dumps(step.arguments, sort_keys=True, default=str)
                mine.setdefault(name, (step, frozenset(_leaves(step.arguments))))
        self._tools = {tool: list(steps.values()) for tool, steps in chosen.items()}

    def about(self, state: Mapping[str, Any], place: Place) -> list[Step]:
        """Some calls of each tool, in turn: those that name the changed record come first, then those that name what it
        refers to, then those that came to something. What is no record may matter to any tool, so each has two."""
        key = str(place[1]) if len(place) > 1 else ""
        beside = frozenset(_leaves(inside(state, place[:2]))) - {key, "", "0", "1"}

        def rank(found: tuple[Step, frozenset[str]]) -> tuple[bool, int, bool]:
            step, named = found
            return key != "" and key in named, len(beside & named), step.outcome is not None and step.outcome[0] == "ok"

        ranked = [sorted(steps, key=rank, reverse=True) for steps in self._tools.values() if steps]
        ranked.sort(key=lambda steps: rank(steps[0]), reverse=True)
        most = max(_CALLS, 2 * len(ranked)) if len(place) < 3 else _CALLS
        return [step for step, _ in itertools.islice(in_turn([iter(steps) for steps in ranked]), most)]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield str(value)
