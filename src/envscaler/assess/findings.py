"""What the fuzzer is told and what it gives: settings, calls, findings with their places, a report."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from envscaler.assess.reach import Coverage
from envscaler.diagnostics import Severity, Span

__all__ = ["Actor", "Call", "FuzzFinding", "FuzzReport", "FuzzSettings", "Progress"]

Actor = Literal["agent", "user"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an episode: ``arguments`` as they are sent, JSON text and wrong types included."""

    tool: str
    arguments: Any = None
    actor: Actor = "agent"

    @property
    def line(self) -> str:
        """The call as `envscaler play` takes it."""
        from envscaler.play.lines import write_call

        arguments = self.arguments
        if isinstance(arguments, bytes):
            arguments = arguments.decode("utf-8", "backslashreplace")
        try:
            return write_call(self.tool, arguments)
        except (TypeError, ValueError, RecursionError):
            return f"# {self.tool!a} with arguments that no line can hold: {ascii(arguments)[:200]}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an assessment is: calls made of those planned, findings so far, the tools reached of all."""

    calls: int
    planned: int
    findings: int
    reached: int
    tools: int


@dataclass(frozen=True, slots=True)
class FuzzSettings:
    """``seed`` decides everything. ``calls``: how many fuzzed calls are made at most; ``seconds`` ends earlier by the clock,
    and then the report depends on the machine (None: never).

    ``episode``: most calls of one episode. ``findings``: stop after so many. ``properties``: names from PROPERTIES, None for
    all. ``shrink``: make findings minimal. ``states``: also begin episodes in generated states. ``coverage``: measure the
    branches that are reached. ``call_seconds``: a call that takes longer is said not to end. ``progress`` is told now and
    then how far it is.
    """

    seed: int = 0
    calls: int = 6000
    seconds: float | None = None
    episode: int = 30
    findings: int = 20
    properties: tuple[str, ...] | None = None
    shrink: bool = True
    states: bool = True
    coverage: bool = True
    call_seconds: float = 5.0
    progress: Callable[[Progress], None] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FuzzFinding:
    """A property that does not hold, and the fewest and simplest calls found that show it.

    ``state`` is what the episode begins with, None for the spec's own initial state; ``seed`` is the episode's, and ``clock``
    its time, None for the spec's. ``where``: the places of the spec (or of a hand-written class) that are involved, the most
    telling first. ``tool`` is the tool of the last call, "" where no call is needed. Equal findings have one ``key``:
    property, tool, and what is wrong.
    """

    property: str
    title: str
    calls: tuple[Call, ...] = ()
    where: tuple[Span, ...] = ()
    detail: str = ""
    state: Mapping[str, Any] | None = None
    seed: int = 0
    clock: str | None = None
    tool: str = ""
    kind: str = ""
    severity: Severity = "error"

    @builtins.property
    def key(self) -> tuple[str, str, str]:
        """What makes it another finding than others."""
        return self.property, self.tool, self.kind

    @builtins.property
    def script(self) -> str:
        """The calls as lines to paste into `envscaler play` (with `--seed`, `--state` and `--clock` where they are given)."""
        rows: list[str] = []
        actor: Actor = "agent"
        for call in self.calls:
            if call.actor != actor:
                actor = call.actor
                rows.append(f":as {actor}")
            rows.append(call.line)
        return "\n".join(rows)

    @builtins.property
    def test(self) -> str:
        """The calls as statements of a test, on a class called ``Environment``."""
        state = "" if self.state is None else f"state={_python(self.state)}, "
        clock = "" if self.clock is None else f", clock={self.clock!r}"
        rows = [f"env = Environment.new({state}seed={self.seed}{clock})"]
        for call in self.calls:
            actor = "" if call.actor == "agent" else f", actor={call.actor!r}"
            rows.append(f"result = env.call({call.tool!r}, {_python(call.arguments)}{actor})")
        return "\n".join(rows)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; arguments that JSON cannot hold stand as their Python text."""
        return {
            "property": self.property, "title": self.title, "tool": self.tool, "severity": self.severity,
            "detail": self.detail, "seed": self.seed, "clock": self.clock, "state": self.state,
            "calls": [{"actor": c.actor, "tool": c.tool, "arguments": _jsonable(c.arguments)} for c in self.calls],
            "play": self.script, "test": self.test, "where": [f"{s.path}:{s.line}" for s in self.where],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class FuzzReport:
    """What was found and what was reached. ``states``: generated states offered and accepted; ``complete``: the budget of
    calls was spent, or as many findings as were allowed."""

    findings: tuple[FuzzFinding, ...]
    coverage: Coverage
    calls: int
    episodes: int
    states: tuple[int, int] = (0, 0)
    complete: bool = True

    @property
    def sound(self) -> bool:
        """No finding is an error."""
        return not any(f.severity == "error" for f in self.findings)


def _python(value: Any) -> str:
    return repr(value)


def _jsonable(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return {"python": repr(value)[:2000]}
    return value
