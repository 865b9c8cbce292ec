"""What nobody has reached yet: tools that never succeeded, refusals that never came, branches never taken."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from envscaler.assess.dual.source import Source
from envscaler.assess.reach import Coverage

__all__ = ["Goal", "Goals"]

_INSERTED = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing to reach by calling one of ``tools``. ``message``: for a refusal, its text with `{…}` in it."""

    tools: tuple[str, ...]
    text: str
    message: str = ""
    succeeds: bool = False


class Goals:
    """The goals that are left; calls that reach one take it away."""

    def __init__(self, goals: Iterable[Goal] = ()) -> None:
        self.left = list(goals)
        self.began = len(self.left)

    @classmethod
    def from_coverage(cls, source: Source, coverage: Coverage | None) -> Goals:
        """What fuzzing did not reach; none without a coverage."""
        if coverage is None:
            return cls()
        goals = [Goal((t.name,), f"{t.name} succeeds", succeeds=True) for t in coverage.tools if not t.ok]
        for need in coverage.requirements:
            tools = tuple(source.owners(need.owner))
            if not need.refused and tools:
                goals.append(Goal(tools, f"refused with {need.message!r}", message=need.message))
        for branch in coverage.branches:
            tools = tuple(source.owners(branch.owner))
            if not branch.reached and tools:
                line = source.line(branch.line)
                goals.append(Goal(tools, f"`{line}` is {'true' if branch.side == 'taken' else 'false'}"))
        return cls(goals)

    def of(self, tool: str, most: int = 4) -> list[Goal]:
        """The first goals that a call of ``tool`` can reach."""
        return [goal for goal in self.left if tool in goal.tools][:most]

    def note(self, tool: str, error: str | None) -> None:
        """A call of ``tool`` succeeded (None) or was refused with a text: take away what that reaches."""
        self.left = [goal for goal in self.left if not (tool in goal.tools and _reached(goal, error))]


def _reached(goal: Goal, error: str | None) -> bool:
    if error is None:
        return goal.succeeds
    return bool(goal.message) and _pattern(goal.message).fullmatch(error) is not None


def _pattern(message: str) -> re.Pattern[str]:
    """A refusal's text as a pattern; what is put in at run time may be anything."""
    return re.compile(".*".join(map(re.escape, _INSERTED.split(message))), re.DOTALL)
