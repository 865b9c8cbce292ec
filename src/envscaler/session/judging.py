"""What assessors and checkers are given: a spec as a subject, and the calls of an episode as events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from envscaler.plugin.records import CallEvent, Checker, EndEvent, Judgement, Subject
from envscaler.session.environments import load
from envscaler.session.files import StrPath
from envscaler.session.specs import sound

if TYPE_CHECKING:
    from envscaler.runtime import Environment, Snapshot, ToolResult

__all__ = ["Watched", "judge", "subject"]


def subject(spec: StrPath) -> Subject:
    """A spec as an assessor is given it. Raises SpecError when it has errors."""
    checked = sound(spec)
    return Subject(checked.path, checked.source, checked, load(spec))


class Watched:
    """An episode whose calls are told as events."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.steps = 0
        self._kinds = {(t.actor, t.name): t.kind for t in env.tool_table}

    def call(
        self, tool: str, arguments: Any = None, actor: Literal["agent", "user"] = "agent"
    ) -> tuple[ToolResult, CallEvent]:
        """Call a tool; its result, and the event to give to checkers."""
        env, before = self.env, self.env.snapshot()
        result = env.call(tool, arguments, actor)
        self.steps += 1
        after = env.snapshot()
        event = CallEvent(
            type(env), self.steps, actor, tool, self._kinds.get((actor, tool)), arguments, result.to_json(),
            tuple(env.diff(before)) if result.changed else (), lambda: self._state(after),
        )  # fmt: skip
        return result, event

    def end(self, answer: Any = None) -> EndEvent:
        """The event at the end of the episode."""
        env, final = self.env, self.env.snapshot()
        return EndEvent(
            type(env), self.steps, tuple(env.diff()), self._initial, lambda: self._state(final), answer
        )  # fmt: skip

    def _state(self, moment: Snapshot) -> Mapping[str, Any]:
        other = self.env.fork()
        other.restore(moment)
        return other.state

    def _initial(self) -> Mapping[str, Any]:
        other = self.env.fork()
        other.reset()
        return other.state


def judge(
    env: Environment, calls: Iterable[tuple[str, Any]], checkers: Mapping[str, Checker], answer: Any = None
) -> Iterator[tuple[CallEvent | EndEvent, str, Judgement]]:
    """Make the calls (tool, arguments) of the agent and ask each checker about each, and about the end.

    Gives the judgements as they are made, each with its event and the checker's name.
    """
    watched = Watched(env)
    for tool, arguments in calls:
        _, event = watched.call(tool, arguments)
        for name, checker in checkers.items():
            if (said := checker.on_call(event)) is not None:
                yield event, name, said
    end = watched.end(answer)
    for name, checker in checkers.items():
        if (said := checker.on_end(end)) is not None:
            yield end, name, said
