"""A breach made minimal: as few calls as show it, from the plainest start, with the simplest arguments that Hypothesis finds."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from envscaler.assess.events import Breach, Log, Moment, Played, Start, call, record, seen
from envscaler.assess.facts import Facts
from envscaler.assess.findings import Call, FuzzFinding, FuzzSettings
from envscaler.assess.fuzzer import Broken
from envscaler.assess.guard import Overrun, watch
from envscaler.diagnostics import Span
from envscaler.errors import EnvscalerError

__all__ = ["finding", "shown_again"]

_TRIES: Final = 600
_SLOW_TRIES: Final = 25
_DRAWS: Final = 60  # that Hypothesis makes for one argument


class _Case:
    """A breach that is shown again and again by fewer and simpler calls, as long as there are tries left."""

    def __init__(self, facts: Facts, broken: Broken, settings: FuzzSettings) -> None:
        self.facts, self.broken, self.settings = facts, broken, settings
        assert broken.start is not None
        self.start, self.calls, self.moment = broken.start, broken.calls, broken.moment
        self.breach = broken.breach
        self.slow = broken.property.name == "always-ends"
        self.tries = _SLOW_TRIES if self.slow else _TRIES
        self.seconds = min(1.0, settings.call_seconds) if self.slow else settings.call_seconds

    def holds(self, start: Start, calls: tuple[Call, ...], moment: int) -> bool:
        """Whether the same breach is shown; if so, this is what is shown from now on."""
        if self.tries <= 0:
            return False
        self.tries -= 1
        found = shown_again(self.facts, self.broken, start, calls, moment, self.seconds)
        if found is None or found.kind != self.broken.breach.kind:
            return False
        self.start, self.calls, self.moment, self.breach = start, calls, moment, found
        return True

    def shrink(self) -> None:
        """All of it, until nothing changes any more."""
        if not self.holds(self.start, self.calls, self.moment):
            return  # it does not come again; it is shown as it was
        self._start()
        for _ in range(3):
            before = (self.start, self.calls, self.moment)
            self._fewer()
            self._simpler()
            if before == (self.start, self.calls, self.moment) or self.slow:
                break

    def _start(self) -> None:
        plain = Start(self.facts, None, self.start.seed)
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

    def _moved(self, at: int, size: int) -> int:
        """Where the moment of the snapshot lies when calls are dropped."""
        return self.moment - max(0, min(self.moment, at + size) - at)

    def _simpler(self) -> None:
        for at in range(len(self.calls)):
            made = self.calls[at]
            if isinstance(made.arguments, dict):
                for name in list(made.arguments):
                    self._without(at, name)
                for name in list(self.calls[at].arguments):
                    self._value(at, name)

    def _with(self, at: int, arguments: Any) -> bool:
        made = self.calls[at]
        changed = Call(made.tool, arguments, made.actor)
        return changed != made and self.holds(self.start, (*self.calls[:at], changed, *self.calls[at + 1 :]), self.moment)

    def _without(self, at: int, name: str) -> None:
        tool = self.facts.by_name.get((self.calls[at].actor, self.calls[at].tool))
        if tool is None or name not in tool.params or not tool.params[name].required:
            self._with(at, {k: v for k, v in self.calls[at].arguments.items() if k != name})

    def _value(self, at: int, name: str) -> None:
        """The simplest value, as Hypothesis counts, with which the breach is shown."""
        from hypothesis import HealthCheck, Phase, find, settings
        from hypothesis import strategies as st
        from hypothesis.errors import NoSuchExample

        from envscaler.assess.strategies import steady

        arguments = dict(self.calls[at].arguments)
        value = arguments[name]
        simpler = _simpler_than(value, st)
        if simpler is None or self.tries <= 0 or self.slow:
            return
        try:
            with steady():
                find(
                    st.one_of(simpler, st.just(value)),
                    lambda tried: self._with(at, {**arguments, name: tried}) or _equal(tried, value),
                    settings=settings(
                        max_examples=_DRAWS, database=None, deadline=None, derandomize=False,
                        phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck),
                    ),
                    random=random.Random(0),  # noqa: S311
                )  # fmt: skip
        except NoSuchExample:
            return


def _equal(one: Any, two: Any) -> bool:
    return one.__class__ is two.__class__ and repr(one) == repr(two)


def _simpler_than(value: Any, st: Any) -> Any:
    """A strategy of values like this one, or None where there is nothing simpler."""
    if value.__class__ is int and value not in (0, 1):
        low, high = min(0, value), max(0, value)
        return st.integers(low, high)
    if value.__class__ is float and abs(value) < 1e12:
        cents = int(round(value * 100))
        return st.integers(0, abs(cents)).map(lambda n: n / 100 if n % 100 else n // 100)
    if value.__class__ is str and len(value) > 1:
        return st.text("a", max_size=min(len(value) - 1, 20))
    if value.__class__ is list and value:
        return st.lists(st.sampled_from(value), max_size=len(value) - 1)
    if value.__class__ is dict and value:
        return st.sets(st.sampled_from(sorted(value, key=str)), max_size=len(value) - 1).map(
            lambda kept: {k: v for k, v in value.items() if k in kept}
        )
    return None


def shown_again(
    facts: Facts, broken: Broken, start: Start, calls: tuple[Call, ...], moment: int, seconds: float
) -> Breach | None:
    """The breach of the property by these calls, of the last one where the property is one of calls; None when it holds."""
    prop = broken.property
    try:
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


def finding(facts: Facts, broken: Broken, settings: FuzzSettings) -> FuzzFinding:
    """The breach as it is reported, made minimal if the settings say so."""
    if broken.start is None:
        return _finding(facts, broken, broken.breach, None, ())
    case = _Case(facts, broken, settings)
    if settings.shrink:
        with watch():
            case.shrink()
    return _finding(facts, broken, case.breach, case.start, case.calls)


def _finding(
    facts: Facts, broken: Broken, breach: Breach, start: Start | None, calls: tuple[Call, ...]
) -> FuzzFinding:
    return FuzzFinding(
        broken.property.name,
        _one_line(breach.title),
        calls,
        _places(facts, breach, calls),
        breach.detail,
        None if start is None else start.state,
        0 if start is None else start.seed,
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


Check = Callable[..., Any]
