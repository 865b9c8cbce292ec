"""The fuzzer: episodes of chosen calls, every property looked at, what breaks one kept and made minimal."""

from __future__ import annotations

import builtins
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from envscaler.assess.choosing import Chooser
from envscaler.assess.events import Breach, Log, Moment, Played, Seen, Start, call, record, seen
from envscaler.assess.facts import Facts
from envscaler.assess.findings import Call, FuzzReport, FuzzSettings, Progress
from envscaler.assess.guard import Overrun, watch
from envscaler.assess.pools import Pool
from envscaler.assess.properties import Property, chosen
from envscaler.assess.reaching import Reaching
from envscaler.errors import EnvscalerError, UsageError

__all__ = ["Broken", "fuzz"]

_STATES: Final = 6  # generated states
_CORPUS: Final = 120
_AFTER: Final = 5  # calls of an episode that begins with one of an example
_CASES: Final = 3  # of one breach, of which the one that gets smallest is reported
_HARMLESS: Final = ("results-are-json", "results-as-declared", "after-each-settles")  # an episode goes on after these


@dataclass(frozen=True, slots=True)
class Broken:
    """A property that was seen not to hold: by the last of ``calls`` from ``start``, at level `class` by none."""

    property: Property
    breach: Breach
    start: Start | None = None
    calls: tuple[Call, ...] = ()
    moment: int = -1
    tool: str = ""

    @builtins.property
    def key(self) -> tuple[str, str, str]:
        return self.property.name, self.tool if self.property.by_tool else "", self.breach.kind


@dataclass(slots=True)
class _Live:
    """An episode that is being played."""

    played: Played
    calls: list[Call] = field(default_factory=list)
    broken: bool = False


def fuzz(environment: type[Any], checked: Any, settings: FuzzSettings) -> FuzzReport:
    """See `envscaler.assess.fuzz`."""
    for name, least in (("calls", 1), ("episode", 1), ("findings", 1)):
        if getattr(settings, name) < least:
            raise UsageError(f"{name} must be at least {least}")
    facts = Facts(environment, checked)
    with watch():
        return _Fuzzer(facts, settings).run()


class _Fuzzer:
    def __init__(self, facts: Facts, settings: FuzzSettings) -> None:
        self.facts, self.settings = facts, settings
        self.rng = random.Random(f"envscaler {settings.seed}")  # noqa: S311
        properties = chosen(settings.properties, spec=facts.spec is not None)
        self.by_level = {level: [p for p in properties if p.level == level] for level in ("class", "call", "episode")}
        self.found: dict[tuple[str, str, str], list[Broken]] = {}
        self.calls = self.episodes = 0
        self.offered = (0, 0)
        self.examples: list[tuple[Start, Call]] = []
        self.corpus: list[tuple[Start, tuple[Call, ...]]] = []
        self.hung: dict[tuple[str, str], int] = {}
        self.began = time.perf_counter()

    def run(self) -> FuzzReport:
        for prop in self.by_level["class"]:
            for breach in prop.run(self.facts):
                self._keep(Broken(prop, breach))
        from envscaler.assess.minimal import findings

        complete = True
        try:
            self.reaching = Reaching(self.facts, branches=self.settings.coverage)
            starts = self._starts()
        except Exception:
            if not self.found:
                raise
            return FuzzReport(findings(self.facts, self._distinct(), self.settings), _nothing(), 0, 0)
        self.pools = {id(start.state): Pool.of(self.facts, start.new().state) for start in starts}
        self.chooser = Chooser(self.facts, self.rng)
        while self.calls < self.settings.calls and len(self.found) < self.settings.findings:
            if self.settings.seconds is not None and time.perf_counter() - self.began > self.settings.seconds:
                complete = False
                break
            self._episode(starts)
        found = findings(self.facts, self._distinct(), self.settings)
        self._tell()
        return FuzzReport(found, self.reaching.coverage(), self.calls, self.episodes, self.offered, complete)

    # -- where episodes begin

    def _starts(self) -> list[Start]:
        starts = [Start(self.facts)]
        if self.facts.spec is None:
            return starts
        for state, at, example in self._examples():
            start = starts[0]
            if state is not None:
                try:
                    start = Start(self.facts, state)
                except EnvscalerError:
                    continue
            if at is not None:
                start = start.clocked(at)
            if start is not starts[0]:
                starts.append(start)
            self.examples.append((start, example))
        if not self.settings.states:
            return starts
        from envscaler.assess import strategies

        if self.facts.shapes:
            made = strategies.samples(strategies.states(self.facts), _STATES, self.settings.seed)
            self.offered = (_STATES, len(made))
            starts += [Start(self.facts, state) for state in made]
        return starts

    def _examples(self) -> Iterator[tuple[Mapping[str, Any] | None, str | None, Call]]:
        """The calls of the spec's examples, each with the state that it begins in, None for the initial one, and the time,
        None for that of the spec."""
        from envscaler.replay.examples import given_state

        spec = self.facts.spec
        assert spec is not None
        for tool in spec.tools.values():
            for example in tool.examples:
                state = given_state(spec, example.given) if example.given else None
                yield state, example.at, Call(tool.name, dict(example.call), tool.actor)

    # -- an episode

    def _episode(self, starts: list[Start]) -> None:
        rng, settings = self.rng, self.settings
        prefix: tuple[Call, ...] = ()
        planned: list[Call] = []
        if self.examples:
            start, made = self.examples.pop(0)
            planned.append(made)
        elif self.corpus and rng.random() < 0.45:
            start, prefix = self.corpus[
                min(rng.randrange(len(self.corpus)) for _ in range(2)) if rng.random() < 0.5 else -1
            ]
        else:
            start = starts[0] if rng.random() < 0.6 or len(starts) == 1 else rng.choice(starts[1:])
            start = start.seeded(rng.randrange(4)) if rng.random() < 0.3 else start
        self._weigh()
        self.chooser.begin(self.pools[id(start.state)])
        start = start.renewed()
        env = start.new()
        live = _Live(
            Played(self.facts, start, (), [], [], Log([], None), env, env.state, seconds=settings.call_seconds)
        )
        self.before = live.played.initial
        most = min(_AFTER if planned else settings.episode, settings.calls - self.calls)
        middle = rng.randrange(most + len(prefix))
        if middle == 0:
            self._take(live, 0)
        for made in prefix[: settings.episode]:
            if live.broken:
                break
            self._step(live, made, quiet=True)
            if len(live.calls) == middle:
                self._take(live, middle)
        self.before = env.state
        for _ in range(most):
            if live.broken:
                break
            self.calls += 1
            self._step(live, planned.pop() if planned else self.chooser.call())
            if len(live.calls) == middle:
                self._take(live, middle)
        self.episodes += 1
        live.played.calls = tuple(live.calls)
        live.played.log.final = env.state
        self._end(live)
        if self.episodes % 8 == 0:
            self._tell()

    def _take(self, live: _Live, step: int) -> None:
        env = live.played.env
        live.played.moment = Moment(step, env.snapshot(), env.fork(), env.state)

    def _weigh(self) -> None:
        missing = self.reaching.missing()
        weights: dict[tuple[str, str], float] = {}
        for key, tool in self.facts.by_name.items():
            tried = sum(
                counts.get(key, 0) for counts in (self.reaching.ok, self.reaching.refused, self.reaching.invalid)
            )
            weight = 1.0 + 0.5 * (tool.kind != "read") + 6.0 * missing[key] / (1.0 + tried / 60)
            weights[key] = 0.0 if key in self.hung else weight
        if not any(weights.values()):
            weights = dict.fromkeys(weights, 1.0)
        self.chooser.weigh(weights)

    def _step(self, live: _Live, made: Call, quiet: bool = False) -> None:
        """Make a call. ``quiet``: it was looked at in an episode before."""
        env, news = live.played.env, self.reaching.total
        tracer = self.reaching.tracer
        if tracer is not None and not quiet:
            outcome, raised = tracer.run(call, env, made, self.settings.call_seconds)
        else:
            outcome, raised = call(env, made, self.settings.call_seconds)
        live.calls.append(made)
        record(live.played, made, outcome, raised)
        self.chooser.learn(getattr(outcome, "value", None))
        if isinstance(raised, Overrun):
            key = (made.actor, made.tool)
            self.hung[key] = self.hung.get(key, 0) + 1
        if quiet:
            live.broken = raised is not None
            return
        after = env.state
        event = seen(self.facts, env, made, len(live.calls), outcome, raised, self.before, after)
        self.before = after
        self.reaching.see(event)
        self._look(live, event)
        if self.reaching.total > news and not live.broken:
            self.corpus.append((live.played.start, tuple(live.calls)))
            if len(self.corpus) > _CORPUS:
                del self.corpus[: _CORPUS // 4]

    def _look(self, live: _Live, event: Seen) -> None:
        for prop in self.by_level["call"]:
            breach = prop.run(event)
            if breach is not None:
                live.broken = live.broken or prop.name not in _HARMLESS
                self._keep(Broken(prop, breach, live.played.start, tuple(live.calls), tool=event.tool))
        live.broken = live.broken or event.raised is not None

    def _end(self, live: _Live) -> None:
        for prop in self.by_level["episode"]:
            if live.broken and prop.name != "base-stays":
                continue  # what a broken call left behind breaks much else
            try:
                breach = prop.run(live.played)
            except EnvscalerError:
                raise
            except Exception as error:
                breach = Breach(f"{type(error).__name__} is raised", str(error)[:300], kind=type(error).__name__)
            if breach is not None:
                moment = live.played.moment.step if live.played.moment is not None else -1
                self._keep(Broken(prop, breach, live.played.start, tuple(live.calls), moment))

    def _keep(self, broken: Broken) -> None:
        """Keep the shortest few cases of a breach."""
        cases = self.found.setdefault(broken.key, [])
        if len(cases) < _CASES or len(broken.calls) < len(cases[-1].calls):
            cases.append(broken)
            cases.sort(key=lambda case: len(case.calls))
            del cases[_CASES:]

    def _distinct(self) -> list[list[Broken]]:
        order = {name: i for i, name in enumerate(p.name for p in chosen(None))}
        return [self.found[key] for key in sorted(self.found, key=lambda key: (order[key[0]], *key[1:]))]

    def _tell(self) -> None:
        if self.settings.progress is not None:
            reached, tools = len(self.reaching.ok), len(self.facts.tools)
            self.settings.progress(Progress(self.calls, self.settings.calls, len(self.found), reached, tools))


def _nothing() -> Any:
    from envscaler.assess.reach import Coverage

    return Coverage()
