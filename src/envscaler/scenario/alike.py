"""Near-duplicates: scenarios that do the same to the same records, and tasks that say nearly the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.canonical import digest
from envscaler.scenario.model import Scenario, Step
from envscaler.scenario.world import World

__all__ = ["Texts", "plan_key", "said"]

_WORD: Final = re.compile(r"\w+(?:[.,:-]\w+)*")
_SHINGLE: Final = 3  # words
_NEAR: Final = 0.9  # the share of shingles that two texts have in common


def plan_key(world: World, scenario: Scenario) -> str:
    """Equal for two scenarios of one state whose solutions make the same calls on the same records.

    What is written decides, and where nothing is, what is read. Of a call the arguments that name records count, and all of
    them where none does.
    """
    writes = [step for step in scenario.solution if step.refused or _writes(world, step)]
    steps = [[step.tool, step.refused, _about(world, step)] for step in writes or scenario.solution]
    return digest([scenario.kind, scenario.state, steps, scenario.submitted if not writes else None])


def _writes(world: World, step: Step) -> bool:
    tool = world.tools.get(step.tool)
    return tool is None or tool.kind == "write"


def _about(world: World, step: Step) -> Mapping[str, Any]:
    tool = world.tools.get(step.tool)
    params = tool.params if tool is not None else {}
    records = {k: v for k, v in step.arguments.items() if k in params and _names_records(params[k].shape)}
    return records or dict(step.arguments)


def _names_records(shape: Any) -> bool:
    match shape:
        case s.Ref():
            return True
        case s.Nullable(of=inner) | s.ListOf(item=inner):
            return _names_records(inner)
    return False


def said(scenario: Scenario) -> str:
    """All that the agent may be told: the task, and what the user knows."""
    return "\n".join([scenario.task, *(fact.text for fact in scenario.user.facts)])


class Texts:
    """Texts that were taken, each unlike all others: two are alike when they have nine in ten runs of three words in common."""

    def __init__(self) -> None:
        self._taken: list[frozenset[str]] = []
        self._by_rare: dict[str, list[int]] = {}

    def take(self, text: str) -> bool:
        """Whether ``text`` is unlike all that were taken; it then is one of them.

        Two sets that are so alike share one of the first few of their members in any fixed order, so that only those are
        looked up.
        """
        shingles = _shingles(text)
        first = sorted(shingles)[: len(shingles) - int(_NEAR * len(shingles)) + 1]
        near = {place for shingle in first for place in self._by_rare.get(shingle, ())}
        if any(_alike(shingles, self._taken[place]) for place in near):
            return False
        for shingle in first:
            self._by_rare.setdefault(shingle, []).append(len(self._taken))
        self._taken.append(shingles)
        return True


def _shingles(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    runs = range(max(1, len(words) - _SHINGLE + 1))
    return frozenset(" ".join(words[n : n + _SHINGLE]) for n in runs)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return common >= _NEAR * (len(one) + len(other) - common)
