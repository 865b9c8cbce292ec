"""The episode that is played: calls with what they changed, taken back and made again, and the recording of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from envscaler.errors import UsageError
from envscaler.play.changes import Change, changes
from envscaler.replay.recording import Case
from envscaler.replay.values import patched
from envscaler.runtime.diff import compare
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.runtime import Environment, Snapshot, ToolResult

__all__ = ["Actor", "Episode", "Step"]

Actor = Literal["agent", "user"]


@dataclass(frozen=True, slots=True)
class Step:
    """A call that was made. ``arguments`` as they were sent; ``changes`` are those of this call; ``before`` the moment
    before it. ``number`` counts from 1."""

    number: int
    actor: Actor
    tool: str
    arguments: Any
    result: ToolResult
    changes: tuple[Change, ...]
    before: Snapshot


class Episode:
    """An environment with the calls made so far (``steps``) and those taken back (``undone``, the next one last)."""

    def __init__(
        self,
        environment: type[Environment],
        state: Any = None,
        seed: int = 0,
        actor: Actor = "agent",
        clock: str | None = None,
    ) -> None:
        """``state``: a JSON mapping, a prepared base, or None for the spec's own. ``clock``: the time, None for the spec's.
        Raises StateError, UsageError for a clock that is none."""
        self.environment = environment
        self.actor: Actor = actor
        self._begin(environment.prepare() if state is None else state, seed, clock)

    def _begin(self, state: Any, seed: int, clock: str | None) -> None:
        self.env = self.environment.new(state, seed=seed, clock=clock)
        self.base = state
        self.seed = seed
        self.clock = clock
        self.steps: list[Step] = []
        self.undone: list[Step] = []
        self.saved = 0

    @property
    def unsaved(self) -> bool:
        """Whether there are calls that no recording holds."""
        return len(self.steps) != self.saved

    def actors(self) -> tuple[Actor, ...]:
        """Whose tools the spec has."""
        table = {tool.actor for tool in self.environment.tool_table}
        return tuple(actor for actor in ("agent", "user") if actor in table)

    # -- calls

    def call(self, tool: str, arguments: Any, actor: Actor | None = None) -> Step:
        """Make a call; what had been taken back is forgotten."""
        self.undone.clear()
        return self._call(tool, arguments, actor or self.actor)

    def _call(self, tool: str, arguments: Any, actor: Actor) -> Step:
        before = self.env.snapshot()
        result = self.env.call(tool, arguments, actor=actor)
        found = changes(self.environment.states, self.env.diff(before)) if result.changed else ()
        step = Step(len(self.steps) + 1, actor, tool, arguments, result, found, before)
        self.steps.append(step)
        self.saved = min(self.saved, step.number - 1)
        return step

    def undo(self, count: int = 1) -> list[Step]:
        """Take back the last calls, at most ``count``: state, keys and random draws are as before them."""
        taken: list[Step] = []
        while self.steps and len(taken) < count:
            taken.append(self.steps.pop())
        if taken:
            self.env.restore(taken[-1].before)
            self.undone += taken
            self.saved = min(self.saved, len(self.steps))
        return taken

    def redo(self, count: int = 1) -> list[Step]:
        """Make calls again that were taken back, at most ``count``."""
        made: list[Step] = []
        while self.undone and len(made) < count:
            step = self.undone.pop()
            made.append(self._call(step.tool, step.arguments, step.actor))
        return made

    def reset(self) -> list[Step]:
        """Take back all calls."""
        return self.undo(len(self.steps))

    def reseed(self, seed: int) -> list[Step]:
        """Back to the start with another seed; the calls are taken back, and `redo` makes them with that seed."""
        taken = self.reset()
        undone = self.undone
        self._begin(self.base, seed, self.clock)
        self.undone = undone
        return taken

    def begin(self, case: Case, seed: int) -> None:
        """Start over where a recorded case starts; ``seed`` is for one that records none. Raises StateError."""
        seed = seed if case.seed is None else case.seed
        self._begin(self.environment.prepare(case.initial), seed, case.clock)

    def changed(self) -> tuple[Change, ...]:
        """What is different from the start."""
        return changes(self.environment.states, self.env.diff())

    # -- kept

    def recording(self, name: str) -> dict[str, Any]:
        """The episode as a case of a recording: start, seed, calls with what they gave, final state."""
        initial = self.environment.new(self.base, seed=self.seed).state
        ops: list[dict[str, Any]] = []
        compare("", initial, self.env.state, ops)
        for op in ops:
            op.pop("before", None)
        return {
            "case_id": name,
            "random_seed": self.seed,
            **({} if self.clock is None else {"clock": self.clock}),
            "initial_state": initial,
            "calls": [_recorded(step) for step in self.steps],
            "final_state_diff": ops,
            "final_state_sha256": _sha256(patched(initial, ops)),
        }


def _sha256(state: Any) -> str:
    text = json.dumps(state, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _recorded(step: Step) -> dict[str, Any]:
    error = step.result.error
    return {
        "tool": step.tool,
        "arguments": _object(step.arguments),
        "result": step.result.value,
        "error": None if error is None else error.message,
        "error_kind": None if error is None else "unknown_tool" if error.code == "unknown_tool" else "raised",
        "requestor": "user" if step.actor == "user" else "assistant",
    }


def _object(arguments: Any) -> Any:
    """Arguments sent as JSON text as the object that the text says, where it says the same."""
    if not isinstance(arguments, str):
        return arguments
    from envscaler.runtime.reading import decode

    try:
        value = decode(arguments)
    except ValueError:
        return arguments
    return value if isinstance(value, dict) else arguments


def count(steps: Sequence[Any], word: str = "call") -> str:
    """``1 call``, ``3 calls``."""
    return counted(len(steps), word)


def whole(text: str, what: str, least: int | None = 1) -> int:
    """A whole number that was typed. Raises UsageError."""
    try:
        number = int(text)
    except ValueError:
        raise UsageError(f"{what} is a whole number, not {text}") from None
    if least is not None and number < least:
        raise UsageError(f"{what} is at least {least}")
    return number
