"""What properties look at: a call with the states around it, and an episode with ways to have it again."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envscaler.assess.facts import Facts, ToolFacts
from envscaler.assess.findings import Call
from envscaler.assess.guard import Overrun, guarded
from envscaler.plugin.records import CallEvent
from envscaler.runtime.diff import compare
from envscaler.runtime.values import same

__all__ = ["Breach", "Log", "Moment", "Played", "Seen", "Start", "begun", "call", "fresh", "play", "seen", "told"]

_DEEP = 60


@dataclass(frozen=True, slots=True)
class Breach:
    """A property does not hold. ``kind`` tells it from other breaches of the property by the same tool; ``lines`` are the
    spec's, the most telling first."""

    title: str
    detail: str = ""
    lines: tuple[int, ...] = ()
    kind: str = ""


class Start:
    """Where episodes begin: a state in JSON form (None: the initial one), prepared once, a seed, and a clock (None: the
    class's)."""

    def __init__(
        self, facts: Facts, state: Mapping[str, Any] | None = None, seed: int = 0, clock: str | None = None
    ) -> None:
        self.facts = facts
        self.state = state
        self.seed = seed
        self.clock = clock
        self.base = facts.environment.prepare(state) if facts.compiled else None

    def new(self) -> Any:
        """An episode that begins here."""
        return self.over(fresh(self.state) if self.base is None else self.base)

    def over(self, state: Any) -> Any:
        """An episode that begins with this seed and clock over a state in JSON form, or a prepared base."""
        return begun(self.facts.environment, state, self.seed, self.clock)

    def renewed(self) -> Start:
        """The same over a base of its own, which nobody has written to."""
        return Start(self.facts, self.state, self.seed, self.clock)

    def seeded(self, seed: int) -> Start:
        """The same with another seed."""
        other = copy.copy(self)
        other.seed = seed
        return other

    def clocked(self, clock: str | None) -> Start:
        """The same at another time."""
        other = copy.copy(self)
        other.clock = clock
        return other


def begun(environment: type[Any], state: Any, seed: int, clock: str | None = None) -> Any:
    """An episode of a class, which need not know of clocks where none is given."""
    return environment.new(state, seed=seed) if clock is None else environment.new(state, seed=seed, clock=clock)


def fresh(value: Any, depth: int = _DEEP) -> Any:
    """A copy of JSON-like data, so that who keeps a part of it keeps no part of ours; what lies too deep is not copied."""
    if depth and value.__class__ is dict:
        return {key: fresh(item, depth - 1) for key, item in value.items()}
    if depth and value.__class__ is list:
        return [fresh(item, depth - 1) for item in value]
    return value


def call(env: Any, made: Call, seconds: float = 5.0) -> tuple[Any, BaseException | None]:
    """The result of a call, or what it raised."""
    arguments = fresh(made.arguments)
    try:
        if made.actor == "agent":
            return guarded(env.call, seconds, made.tool, arguments), None
        return guarded(env.call, seconds, made.tool, arguments, made.actor), None
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        return None, problem


def told(result: Any, raised: BaseException | None = None) -> dict[str, Any]:
    """The outcome as JSON."""
    if raised is not None:
        words = "does not end" if isinstance(raised, Overrun) else f"{type(raised).__name__}: {raised}"
        return {"success": False, "error": f"raised {words}"}
    try:
        found: dict[str, Any] = result.to_json()
    except AttributeError:
        ok = bool(getattr(result, "ok", False))
        found = {"success": ok, "data": result.value} if ok else {"success": False, "error": str(result.error)}
    return found


@dataclass(frozen=True, slots=True)
class Seen(CallEvent):
    """A call as the fuzzer sees it. ``outcome`` is what `call` gave, ``raised`` what it raised; ``before`` and ``after`` are
    the states, and ``changes`` is how they differ, whatever the environment says; ``env`` is the episode after the call."""

    facts: Facts = field(kw_only=True)
    call: Call = field(kw_only=True)
    outcome: Any = field(kw_only=True)
    raised: BaseException | None = field(kw_only=True)
    before: Any = field(kw_only=True)
    after: Any = field(kw_only=True)
    env: Any = field(kw_only=True)

    @property
    def tool_facts(self) -> ToolFacts | None:
        """The tool that was called; None when there is none."""
        return self.facts.by_name.get((self.call.actor, self.call.tool))

    @property
    def error(self) -> Any:
        """The error of a failed call, or None."""
        return getattr(self.outcome, "error", None)


def seen(
    facts: Facts, env: Any, made: Call, step: int, outcome: Any, raised: BaseException | None, before: Any, after: Any
) -> Seen:
    """The event of a call that was made."""
    tool = facts.by_name.get((made.actor, made.tool))
    return Seen(
        facts.environment, step, made.actor, made.tool, None if tool is None else tool.kind, made.arguments,
        told(outcome, raised), () if before == after else differences(before, after), lambda: after,
        facts=facts, call=made, outcome=outcome, raised=raised, before=before, after=after, env=env,
    )  # fmt: skip


def differences(before: Any, after: Any) -> tuple[Mapping[str, Any], ...]:
    """How two states differ; nothing when they are equal by value."""
    if same(before, after):
        return ()
    ops: list[dict[str, Any]] = []
    compare("", before, after, ops)
    return tuple(ops)


# -- episodes


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment within an episode: after ``step`` calls, the snapshot and fork taken then, and the state."""

    step: int
    snapshot: Any
    fork: Any
    state: Any


@dataclass(slots=True)
class Log:
    """What came out of some calls: what each told, and the state at the end."""

    told: list[Any]
    final: Any

    def differs(self, other: Log) -> int | None:
        """The first call that told otherwise; the number of calls when only the end differs; None when nothing does."""
        for step, (one, two) in enumerate(zip(self.told, other.told, strict=True)):
            if one != two:
                return step
        return None if self.final == other.final else len(self.told)


@dataclass(slots=True)
class Played:
    """An episode that was played: ``texts`` are the results as JSON text when they were given, ``outcomes`` the same objects
    now; ``env`` is the episode at its end."""

    facts: Facts
    start: Start
    calls: Sequence[Call]
    outcomes: list[Any]
    texts: list[str | None]
    log: Log
    env: Any
    initial: Any
    moment: Moment | None = None
    seconds: float = 5.0
    ways: list[Log] = field(default_factory=list)
    _again: list[Log] = field(default_factory=list)
    _asked: frozenset[str] = frozenset()

    def asked(self) -> frozenset[str]:
        """What the calls asked the machine for: `clock`, `numbers`."""
        self.again()
        return self._asked

    def again(self) -> Log:
        """The same calls from the same start, made once more, at another time and with other random numbers."""
        if not self._again:
            with self.facts.elsewhere.at(7, 7):
                self._again.append(replayed(self.start.new(), self.calls, self.seconds))
            self._asked = self.facts.elsewhere.asked
        return self._again[0]


def replayed(env: Any, calls: Sequence[Call], seconds: float = 5.0) -> Log:
    """What the calls tell on an episode."""
    log = []
    for made in calls:
        outcome, raised = call(env, made, seconds)
        log.append(entry(outcome, raised))
        if isinstance(raised, Overrun):
            break
    return Log(log + [None] * (len(calls) - len(log)), env.state)


def entry(outcome: Any, raised: BaseException | None) -> Any:
    """What is compared of an outcome, apart from later changes to it."""
    error = getattr(outcome, "error", None)
    result = fresh(told(outcome, raised))
    return result, getattr(error, "code", None), getattr(error, "rule", None), bool(getattr(outcome, "changed", False))


def play(start: Start, calls: Sequence[Call], moment: int = -1, seconds: float = 5.0) -> Played:
    """Play the calls. ``moment``: the step after which a snapshot and a fork are taken; negative: none."""
    env = start.new()
    played = Played(start.facts, start, [], [], [], Log([], None), env, env.state, seconds=seconds)
    for made in calls:
        record(played, made, *call(env, made, seconds))
        if len(played.log.told) == moment:
            played.moment = Moment(moment, env.snapshot(), env.fork(), env.state)
    played.calls = tuple(calls)
    played.log.final = env.state
    return played


def record(played: Played, made: Call, outcome: Any, raised: BaseException | None) -> None:
    """Keep what a call told."""
    played.outcomes.append(outcome)
    played.log.told.append(entry(outcome, raised))
    try:
        played.texts.append(json.dumps(played.log.told[-1][0]))
    except (TypeError, ValueError, RecursionError):
        played.texts.append(None)
