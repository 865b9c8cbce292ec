"""The prompts of assessment, laid out by templates that a user's folder may replace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.agents.excerpt import excerpt, shown
from envscaler.assess.dual.causes import CAUSES
from envscaler.assess.dual.goals import Goals
from envscaler.assess.dual.history import History
from envscaler.assess.dual.source import Source
from envscaler.llm import Message
from envscaler.play.lines import write_call
from envscaler.plugin.records import CallEvent
from envscaler.runtime import Environment

__all__ = ["Observed", "Prompts"]

_RESULT = 1500  # characters
_CHANGES = 3000
_COLLECTIONS = 4


@dataclass(frozen=True, slots=True)
class Observed:
    """A call that was made, as models are shown it."""

    call: str
    result: str
    changes: str

    @classmethod
    def of(cls, event: CallEvent) -> Observed:
        """Arguments, result and difference; a difference that is long is cut between its operations."""
        return cls(write_call(event.tool, event.arguments), shown(event.result, _RESULT), _changes(event))


def _changes(event: CallEvent) -> str:
    if not event.changes:
        return "none"
    lines: list[str] = []
    left = _CHANGES
    for number, change in enumerate(event.changes):
        line = shown(change, _RESULT)
        left -= len(line)
        if left < 0 and lines:
            lines.append(f"… and {len(event.changes) - number} more changes")
            break
        lines.append(line)
    return "".join(f"\n{line}" for line in lines)


class Prompts:
    """Makes the messages. ``folders`` of templates stand before the shipped ones."""

    def __init__(self, source: Source, folders: Sequence[str] = ()) -> None:
        self.source = source
        self._folders = tuple(folders)
        spec = source.spec
        self._tester = self._text("tester.system", title=spec.title, signatures=[*map(source.signature, spec.tools)])
        self._checker = self._text("checker.system", causes=CAUSES)
        self._judge = self._text("judge.system", title=spec.title)

    def tester(
        self, env: Environment, offered: Sequence[str], history: History, goals: Goals, turn: int
    ) -> list[Message]:
        """What the testing agent is asked in a round."""
        states = dict.fromkeys(c for tool in offered for c in self.source.collections(tool))
        reached = [f"{tool}: {goal.text}" for tool in offered for goal in goals.of(tool, 2)]
        text = self._text(
            "tester",
            cards=[self.source.card(tool) for tool in offered],
            goals=reached,
            state=excerpt(env, list(states)[:_COLLECTIONS], turn) or "nothing that these tools name",
            counts=history.counts(),
            last=list(history.last),
            wanted=history.wanted,
        )
        return [Message("system", self._tester), Message("user", text)]

    def checker(self, event: CallEvent) -> list[Message]:
        """What the checking agent is asked about a call: source, arguments, result and difference, and nothing else."""
        seen = Observed.of(event)
        text = self._text(
            "checker",
            source=self.source.of_tool(event.tool),
            call=seen.call,
            result=seen.result,
            changes=seen.changes,
            refused=not event.ok,
        )
        return [Message("system", self._checker), Message("user", text)]

    def judge(self, tool: str, calls: Sequence[Observed]) -> list[Message]:
        """What a judge is asked about a tool."""
        text = self._text("judge", source=self.source.of_tool(tool), calls=calls)
        return [Message("system", self._judge), Message("user", text)]

    def _text(self, name: str, **values: Any) -> str:
        from envscaler.compiler.templates import render

        return render(f"prompts/assess/{name}.j2", self._folders, **values).strip()
