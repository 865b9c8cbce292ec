"""A breach made minimal: as few calls as show it, from the plainest start, the simplest arguments that Hypothesis finds."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any, Final

from envscaler.assess.events import Breach, Log, Moment, Played, Start, call, record, seen
from envscaler.assess.facts import Facts
from envscaler.assess.findings import Call, FuzzFinding, FuzzSettings
from envscaler.assess.fuzzer import Broken
from envscaler.assess.guard import Overrun, watch
from envscaler.assess.layout import keys_of
from envscaler.diagnostics import Span
from envscaler.errors import EnvscalerError
from envscaler.runtime import shapes as s

__all__ = ["findings", "shown_again"]

_TRIES: Final = 600
_SLOW_TRIES: Final = 24
_DRAWS: Final = 60  # that Hypothesis makes for one argument


class _Case:
    """A breach that is shown again and again by fewer and simpler calls, as long as there are tries left."""

    def __init__(self, facts: Facts, broken: Broken, settings: FuzzSettings) -> None:
        self.facts, self.broken, self.settings = facts, broken, settings
        assert broken.start is not None
        self.start, self.calls, self.moment = broken.start, broken.calls, broken.moment
        self.breach = broken.breach
        self.keys: dict[str, list[Any]] | None = None
        self.again = False
        self.slow = broken.property.name == "always-ends"
        self.tries = _SLOW_TRIES if self.slow else _TRIES
        self.seconds = min(1.0, settings.call_seconds) if self.slow else settings.call_seconds

    def holds(self, start: Start, calls: tuple[Call, ...], moment: int) -> bool:
        """Whether the same breach is shown; if so, this is what is shown from now on."""
        found = self.look(start, calls, moment)
        if found is None:
            return False
        self.start, self.calls, self.moment, self.breach = start, calls, moment, found
        return True

    def look(self, start: Start, calls: tuple[Call, ...], moment: int) -> Breach | None:
        """The same breach as these calls show it; None when they do not, or when no tries are left."""
        if self.tries <= 0:
            return None
        self.tries -= 1
        found = shown_again(self.facts, self.broken, start, calls, moment, self.seconds)
        return None if found is None or found.kind != self.broken.breach.kind else found

    def shrink(self) -> None:
        """All of it, until nothing changes any more."""
        self.again = self.holds(self.start, self.calls, self.moment)
        if not self.again:
            return  # it does not come again; it is shown as it was
        for _ in range(3):
            before = (self.start, self.calls, self.moment)
            self._plainer()
            self._fewer()
            self._joined()
            self._simpler()
            if before == (self.start, self.calls, self.moment):
                break

    def _plainer(self) -> None:
        """From the initial state, at its time, with seed 0, if that shows it too."""
        if self.start.clock is not None:
            self.holds(self.start.clocked(None), self.calls, self.moment)
        plain = Start(self.facts, None, self.start.seed, self.start.clock)
        if self.start.state is not None:
            self.holds(plain, self.calls, self.moment)
        if self.start.seed:
            self.holds(self.start.seeded(0), self.calls, self.moment)

    def _fewer(self) -> None:
        """Drop runs of calls, then single ones, from the front."""
        size = max(1, len(self.calls) // 2)
        while size:
            at = 0
            while at < len(self.calls):
                left = self.calls[:at] + self.calls[at + size :]
                moments = dict.fromkeys((self._moved(at, size), len(left) // 2)) if self.moment >= 0 else {-1: None}
                if not left or not any(self.holds(self.start, left, m) for m in moments):
                    at += size
            size //= 2

    def _joined(self) -> None:
        """One call in the place of two that differ in numbers only, with their sums."""
        at = 0
        while at < len(self.calls):
            later = range(at + 1, len(self.calls)) if self.moment < 0 else ()
            if not any(self._join(at, other) for other in later):
                at += 1

    def _join(self, at: int, other: int) -> bool:
        one, two = self.calls[at], self.calls[other]
        arguments = _sums(one.arguments, two.arguments) if (one.tool, one.actor) == (two.tool, two.actor) else None
        if arguments is None:
            return False
        left = [c for i, c in enumerate(self.calls) if i not in (at, other)]
        left.insert(other - 1, Call(one.tool, arguments, one.actor))
        return self.holds(self.start, tuple(left), self.moment)

    def _moved(self, at: int, size: int) -> int:
        """Where the moment of the snapshot lies when calls are dropped."""
        return self.moment - max(0, min(self.moment, at + size) - at)

    def _simpler(self) -> None:
        for at in range(len(self.calls)):
            self._unwrapped(at)
            made = self.calls[at]
            if isinstance(made.arguments, dict):
                for name in list(made.arguments):
                    self._without(at, name)
                for name in list(self.calls[at].arguments):
                    self._value(at, name)

    def _unwrapped(self, at: int) -> None:
        """Arguments that were sent as JSON text, as an object."""
        text = self.calls[at].arguments
        if isinstance(text, str):
            try:
                self._with(at, json.loads(text))
            except (ValueError, RecursionError):
                return

    def _with(self, at: int, arguments: Any) -> bool:
        calls = self._changed(at, arguments)
        return calls != self.calls and self.holds(self.start, calls, self.moment)

    def _changed(self, at: int, arguments: Any) -> tuple[Call, ...]:
        made = self.calls[at]
        return (*self.calls[:at], Call(made.tool, arguments, made.actor), *self.calls[at + 1 :])

    def _without(self, at: int, name: str) -> None:
        tool = self.facts.by_name.get((self.calls[at].actor, self.calls[at].tool))
        if tool is None or name not in tool.params or not tool.params[name].required:
            self._with(at, {k: v for k, v in self.calls[at].arguments.items() if k != name})

    def _first_key(self, at: int, name: str) -> Any:
        """For a reference the first record that there is at the start; None for anything else."""
        tool = self.facts.by_name.get((self.calls[at].actor, self.calls[at].tool))
        shape = tool.params[name].shape if tool is not None and name in tool.params else None
        if not isinstance(shape, s.Ref):
            return None
        if self.keys is None:
            self.keys = keys_of(self.facts.shapes, self.start.new().state)
        return next(iter(self.keys.get(shape.collection, ())), None)

    def _value(self, at: int, name: str) -> None:
        """The simplest value, as Hypothesis counts, with which the breach is shown."""
        from hypothesis import HealthCheck, Phase, find, settings
        from hypothesis import strategies as st
        from hypothesis.errors import NoSuchExample

        from envscaler.assess.strategies import steady

        arguments = dict(self.calls[at].arguments)
        value = arguments[name]
        first = self._first_key(at, name)
        if first is not None and first != value and self._with(at, {**arguments, name: first}):
            return
        for plain in _plainest(value):
            if self._with(at, {**arguments, name: plain}):
                value = plain
                break
        simpler = _simpler_than(value, st)
        if first == value or simpler is None or self.tries <= 0 or self.slow:
            return
        tried: dict[str, bool] = {repr(value): True}

        def shows(other: Any) -> bool:
            key = repr(other)
            if key not in tried:
                calls = self._changed(at, {**arguments, name: other})
                tried[key] = self.look(self.start, calls, self.moment) is not None
            return tried[key]

        try:
            with steady():
                found = find(
                    simpler,
                    shows,
                    settings=settings(
                        max_examples=_DRAWS, database=None, deadline=None, derandomize=False,
                        phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck),
                    ),
                    random=random.Random(0),  # noqa: S311
                )  # fmt: skip
        except NoSuchExample:
            return
        self._with(at, {**arguments, name: found})


def _sums(one: Any, two: Any) -> dict[str, Any] | None:
    """Arguments with the sums of their numbers; None where they differ otherwise, or in nothing that is a number."""
    if one.__class__ is not dict or two.__class__ is not dict or one.keys() != two.keys():
        return None
    made, numbers = dict(one), 0
    for name, value in one.items():
        if value.__class__ in (int, float) and two[name].__class__ in (int, float):
            made[name], numbers = value + two[name], numbers + 1
        elif value != two[name]:
            return None
    return made if numbers else None


def _plainest(value: Any) -> list[Any]:
    """What is tried first, in place of a value of this kind."""
    if value.__class__ is list:
        return [v for v in ([], value[:1], value[-1:]) if len(v) < len(value)]
    if value.__class__ is str:
        return [v for v in ("", "a") if len(v) < len(value)]
    if value.__class__ in (int, float):
        return [v for v in (0, 1) if abs(v) < abs(value)]
    return [None] if value.__class__ is not bool and value is not None else []


def _simpler_than(value: Any, st: Any) -> Any:
    """A strategy of values like this one, or None where there is nothing simpler."""
    if value.__class__ is int and value not in (0, 1):
        low, high = min(0, value), max(0, value)
        return st.integers(low, high)
    if value.__class__ is float and abs(value) < 1e12:
        cents = round(value * 100)
        return st.integers(0, abs(cents)).map(lambda n: n / 100 if n % 100 else n // 100)
    if value.__class__ is str and len(value) > 1:
        return st.text("a", max_size=min(len(value) - 1, 20))
    if value.__class__ is list and value:
        fewer = st.lists(st.sampled_from(range(len(value))), max_size=len(value) - 1, unique=True).map(
            lambda kept: [value[i] for i in sorted(kept)]
        )
        parts = [_or_simpler(item, st) for item in value[:6]]
        return fewer if len(value) > 6 else st.one_of(fewer, st.tuples(*parts).map(list))
    if value.__class__ is dict and value and len(value) <= 12:
        names = sorted(value, key=str)
        fewer = st.lists(st.sampled_from(range(len(names))), max_size=len(names) - 1, unique=True).map(
            lambda kept: {names[i]: value[names[i]] for i in sorted(kept)}
        )
        return st.one_of(fewer, st.fixed_dictionaries({name: _or_simpler(item, st) for name, item in value.items()}))
    return None


def _or_simpler(value: Any, st: Any) -> Any:
    simpler = _simpler_than(value, st)
    return st.just(value) if simpler is None else st.one_of(simpler, st.just(value))


def shown_again(
    facts: Facts, broken: Broken, start: Start, calls: tuple[Call, ...], moment: int, seconds: float
) -> Breach | None:
    """The breach of the property by these calls, of the last one where the property is one of calls; None when it holds."""
    prop = broken.property
    try:
        start = start.renewed()
        env = start.new()
        played = Played(facts, start, calls, [], [], Log([], None), env, env.state, seconds=seconds)
        before = played.initial
        for step, made in enumerate(calls):
            if prop.level == "episode" and step == moment:
                played.moment = Moment(step, env.snapshot(), env.fork(), env.state)
            outcome, raised = call(env, made, seconds)
            record(played, made, outcome, raised)
            last = step == len(calls) - 1
            if prop.level == "call":
                if last:
                    if made.tool != broken.tool:
                        return None
                    event = seen(facts, env, made, step + 1, outcome, raised, before, env.state)
                    found: Breach | None = prop.run(event)
                    return found
                if step == len(calls) - 2:
                    before = env.state
            if isinstance(raised, Overrun):
                return None
        if prop.level == "episode" and moment == len(calls):
            played.moment = Moment(moment, env.snapshot(), env.fork(), env.state)
        played.log.final = env.state
        found = prop.run(played)
    except EnvscalerError:
        return None
    except Exception as error:
        name = type(error).__name__
        return Breach(f"{name} is raised", str(error)[:300], kind=name) if prop.level == "episode" else None
    return found


def findings(facts: Facts, broken: Sequence[Sequence[Broken]], settings: FuzzSettings) -> tuple[FuzzFinding, ...]:
    """The breaches as they are reported, made minimal if the settings say so; of each there are one or more cases.

    A breach that does not come again when its calls are made anew is reported only where no other is: it is mostly the
    same fault seen by chance, as when something is carried from one episode to the next.
    """
    made = [_shrunk(facts, cases, settings) for cases in broken]
    certain = [found for found, again in made if again]
    return tuple(certain or [found for found, _ in made])


def _shrunk(facts: Facts, cases: Sequence[Broken], settings: FuzzSettings) -> tuple[FuzzFinding, bool]:
    """The case that needs the fewest calls; others are only tried where one call does not do."""
    first = cases[0]
    if first.start is None:
        return _finding(facts, first, first.breach, None, ()), True
    best: _Case | None = None
    for one in cases if settings.shrink else cases[:1]:
        case = _Case(facts, one, settings)
        if settings.shrink:
            with watch():
                case.shrink()
        if best is None or (case.again, -len(case.calls)) > (best.again, -len(best.calls)):
            best = case
        if (best.again and len(best.calls) <= 1 and best.start.state is None) or case.slow:
            break
    assert best is not None
    return _finding(facts, best.broken, best.breach, best.start, best.calls), best.again or not settings.shrink


def _finding(facts: Facts, broken: Broken, breach: Breach, start: Start | None, calls: tuple[Call, ...]) -> FuzzFinding:
    return FuzzFinding(
        broken.property.name,
        _one_line(breach.title),
        calls,
        _places(facts, breach, calls),
        breach.detail,
        None if start is None else start.state,
        0 if start is None else start.seed,
        None if start is None else start.clock,
        broken.tool or (calls[-1].tool if calls else ""),
        breach.kind,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split()) or "a property does not hold"


def _places(facts: Facts, breach: Breach, calls: tuple[Call, ...]) -> tuple[Span, ...]:
    lines = dict.fromkeys(breach.lines)
    for made in reversed(calls):
        tool = facts.by_name.get((made.actor, made.tool))
        if tool is not None:
            lines[tool.line] = None
    return tuple(span for line in lines if (span := facts.span(line)) is not None)
