"""Cases run against an environment class: what each call gave, what the state became, what differs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from envscaler.errors import StateError
from envscaler.replay.known import Known
from envscaler.replay.recording import LONG_CONTEXT, Call, Case
from envscaler.replay.values import Hasher, Mismatch, at, mismatches, patched, short
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.runtime import Environment, ToolResult
    from envscaler.runtime.shapes import StateShape

__all__ = ["Difference", "Report", "replay"]

# Kinds of recorded failures whose text is an accident of the original program: refusing the call is enough.
_REFUSE_ONLY = frozenset({"validation", "crash"})
_EXCEPTION = re.compile(r"^[A-Za-z_][\w.]*: ")


@dataclass(frozen=True, slots=True)
class Difference:
    """What a case gave otherwise than recorded: at ``call`` (from 1), at the `start`, or in its final `state`.

    ``expected`` and ``got`` are one-line texts; ``mismatches`` are the places where two values differ.
    ``known`` is the reason given in the file of known differences, or None.
    """

    path: str
    line: int
    case: str
    call: int | Literal["start", "state"]
    of: int
    tool: str | None
    expected: str
    got: str
    mismatches: tuple[Mismatch, ...] = ()
    known: str | None = None

    @property
    def refused(self) -> bool:
        """Whether the initial state was refused, so that nothing could be called."""
        return self.call == "start" and not self.mismatches

    @property
    def where(self) -> str:
        """``cases.jsonl:7: retail_1, call 3 of 5: get_order`` or the like."""
        if isinstance(self.call, int):
            place = f"call {self.call} of {self.of}: {self.tool}"
        else:
            place = "the initial state" if self.call == "start" else "the final state"
        return f"{self.path}:{self.line}: {self.case}, {place}"


@dataclass(slots=True)
class Report:
    """What a replay found; counts are of cases, calls and final states, `known` ones are neither right nor wrong.

    ``states``: how many final states were compared. ``unused``: known differences that did not show although their case
    was replayed.
    """

    cases_right: int = 0
    cases_wrong: int = 0
    cases_known: int = 0
    calls_right: int = 0
    calls_wrong: int = 0
    calls_known: int = 0
    states: int = 0
    states_wrong: int = 0
    states_known: int = 0
    differences: list[Difference] = field(default_factory=list)
    unused: list[Known] = field(default_factory=list)

    @property
    def cases(self) -> int:
        """How many cases were replayed."""
        return self.cases_right + self.cases_wrong + self.cases_known

    @property
    def ok(self) -> bool:
        """Whether nothing differs but what is known to."""
        return not (self.cases_wrong or self.calls_wrong)

    def add(self, case: Case, found: Sequence[Difference]) -> None:
        """Count a case in which these differences were found."""
        calls = len(case.calls)
        wrong = [d for d in found if d.known is None]
        self.cases_wrong += bool(wrong)
        self.cases_known += bool(found and not wrong)
        self.cases_right += not found
        if any(d.refused for d in found):  # nothing could be called
            calls_wrong, calls_known = (calls, 0) if wrong else (0, calls)
        else:
            calls_wrong = sum(isinstance(d.call, int) for d in wrong)
            calls_known = sum(isinstance(d.call, int) for d in found) - calls_wrong
        if case.has_final:
            states = [d.known is None for d in found if not isinstance(d.call, int)]
            self.states += 1
            self.states_wrong += any(states)
            self.states_known += bool(states) and not any(states)
        self.calls_wrong += calls_wrong
        self.calls_known += calls_known
        self.calls_right += calls - calls_wrong - calls_known
        self.differences += found

    def join(self, other: Report) -> None:
        """Add what another recording's replay on the same spec found."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.differences += other.differences
        self.unused += other.unused

    @property
    def summary(self) -> str:
        """The last line: ``470 cases: 469 right, 1 wrong; 1121 calls: 1120 right, 1 wrong``."""
        cases = _count("case", self.cases_right, self.cases_wrong, self.cases_known)
        return f"{cases}; {_count('call', self.calls_right, self.calls_wrong, self.calls_known)}"


_COUNTS = tuple(f.name for f in fields(Report) if f.type == "int")


def _count(word: str, right: int, wrong: int, known: int) -> str:
    total = right + wrong + known
    text = f"{counted(total, word)}: {right} right, {wrong} wrong"
    return f"{text}, {known} known to differ" if known else text


def replay(
    environment: type[Environment],
    cases: Iterable[Case],
    known: Sequence[Known] = (),
    seed: int = 0,
    tell: Callable[[Difference], None] | None = None,
) -> Report:
    """Run every case on ``environment`` from its own initial state.

    ``seed`` is for cases that record none; ``tell`` hears each difference as it is found.
    """
    report, bases = Report(), _Bases(environment)
    entries = {(k.case, k.call): k for k in known}
    met: set[Known] = set()
    seen: set[str] = set()
    has_form = any(shape.form == "flat" and LONG_CONTEXT in _names(shape) for shape in environment.states)
    for case in cases:
        seen.add(case.id)
        if case.long_context and has_form:
            case = case.in_long_form()
        found = []
        for difference in _Run(case, bases, seed).differences():
            entry = entries.get((case.id, "state" if difference.call == "start" else difference.call))
            if entry is not None:
                met.add(entry)
                difference = replace(difference, known=entry.reason)
            found.append(difference)
            if tell is not None:
                tell(difference)
        report.add(case, found)
    report.unused = [k for k in known if k.case in seen and k not in met]
    return report


class _Base:
    """A distinct initial state, prepared once: what the environment made of it, and how that differs from the record."""

    def __init__(self, environment: type[Environment], initial: Any) -> None:
        self.initial = initial
        self.prepared = environment.prepare(initial)
        taken = environment.new(self.prepared).state
        self.differs = tuple(mismatches(initial, taken))
        # When equal by value, the recorded form stands for both, so that comparing afterwards sees only what changed.
        self.start = taken if self.differs else initial
        self._keyed = all(_is_keyed(shape) for shape in environment.states)

    def after(self, env: Environment) -> Any:
        """The state of an episode that began here; where paths of a diff lead through its JSON, at the cost of the diff."""
        return patched(self.start, env.diff()) if self._keyed else env.state


def _names(shape: StateShape) -> set[str]:
    return {field.json for field in shape.record.fields}


def _is_keyed(shape: StateShape) -> bool:
    """Whether records stand in the JSON under their keys, as they do in a diff."""
    form, tree = shape.form, getattr(shape, "tree", None)
    return form != "list" and (tree is None or tree.nested is None)


class _Bases:
    """The prepared initial states; as many are kept as the cases of one recording are likely to share."""

    def __init__(self, environment: type[Environment], limit: int = 8) -> None:
        self.environment = environment
        self._limit = limit
        self._kept: dict[int, _Base] = {}
        self._hashers: dict[int, tuple[Any, Hasher]] = {}

    def get(self, initial: Any) -> _Base:
        """The base for ``initial``, told apart by identity; raises StateError."""
        base = self._kept.get(id(initial))
        if base is None:
            base = _Base(self.environment, initial)
            if len(self._kept) >= self._limit:
                del self._kept[next(iter(self._kept))]
            self._kept[id(initial)] = base
        return base

    def digest(self, case: Case) -> str:
        """sha256 of the recorded final state of all APIs."""
        held = self._hashers.get(id(case.initial))
        if held is None:
            if len(self._hashers) >= self._limit:
                del self._hashers[next(iter(self._hashers))]
            held = self._hashers[id(case.initial)] = (case.initial, Hasher(case.initial))
        return held[1](case.whole)


class _Run:
    """One case on one environment."""

    def __init__(self, case: Case, bases: _Bases, seed: int) -> None:
        self.case = case
        self._bases = bases
        self._seed = seed if case.seed is None else case.seed

    def differences(self) -> Iterator[Difference]:
        case = self.case
        try:
            base = self._bases.get(case.initial)
        except StateError as error:
            problems = "; ".join(error.problems[:3]) + ("; …" if len(error.problems) > 3 else "")
            yield self._of("start", "a state that the spec allows", f"refused: {problems}")
            return
        if base.differs:
            yield self._of("start", "the recorded state", "another one", base.differs)
        env = self._bases.environment.new(base.prepared, seed=self._seed, clock=self.case.clock)
        for call in case.calls:
            result = env.call(call.tool, call.arguments, actor=call.actor)
            difference = self._compare(call, result)
            if difference is not None:
                yield difference
        if case.has_final:
            yield from self._final(base, base.after(env))

    def _of(
        self,
        call: int | Literal["start", "state"],
        expected: str,
        got: str,
        places: Sequence[Mismatch] = (),
        tool: str | None = None,
    ) -> Difference:
        case = self.case
        return Difference(case.path, case.line, case.id, call, len(case.calls), tool, expected, got, tuple(places))

    # -- a call

    def _compare(self, call: Call, result: ToolResult) -> Difference | None:
        must_fail = call.kind == "unknown_tool" or call.kind in _REFUSE_ONLY
        if (must_fail and result.ok) or (call.kind is None and not result.ok):
            return self._call(call, _recorded(call), _outcome(result))
        if call.kind in _REFUSE_ONLY or (must_fail and call.result is None):
            return None
        if call.result is None and call.error is not None:
            return None if _says(result, call.error) else self._call(call, _recorded(call), _outcome(result))
        places = _against(call.result, result.output)
        if not places or _says(result, call.result):
            return None
        return self._call(call, _recorded(call), _outcome(result), places)

    def _call(self, call: Call, expected: str, got: str, places: Sequence[Mismatch] = ()) -> Difference:
        return self._of(call.number, expected, got, places, call.tool)

    # -- the state at the end

    def _final(self, base: _Base, got: Any) -> Iterator[Difference]:
        case = self.case
        places = mismatches(case.final, got)
        if places:
            by = self._written_by(base, [p.path for p in places])
            yield self._of("state", "the recorded state", f"another one{by}", places)
        elif case.digest is not None and self._bases.digest(case) != case.digest:
            yield self._of(
                "state", f"a state with the hash {case.digest}", "another hash: the recording contradicts itself"
            )

    def _written_by(self, base: _Base, paths: list[str]) -> str:
        """Which calls last changed the places that differ; the case is run again to see."""
        env = self._bases.environment.new(base.prepared, seed=self._seed, clock=self.case.clock)
        before = {path: at(base.start, path) for path in paths}
        writers: dict[str, int] = {}
        for call in self.case.calls:
            if env.call(call.tool, call.arguments, actor=call.actor).changed:
                state = base.after(env)
                for path in paths:
                    value = at(state, path)
                    if mismatches(before[path], value, 1):
                        before[path], writers[path] = value, call.number
        numbers = sorted(set(writers.values()))
        return f"; last written by call {', '.join(map(str, numbers))}" if numbers else ""


def _against(recorded: Any, value: Any) -> list[Mismatch]:
    """Where ``value`` is not what was recorded; recorded text is also read as JSON when ``value`` is no text."""
    if isinstance(recorded, str) and not isinstance(value, str):
        try:
            recorded = json.loads(recorded)
        except (ValueError, RecursionError):
            return [Mismatch("", recorded, value)]
    return mismatches(recorded, value)


def _says(result: ToolResult, recorded: Any) -> bool:
    """Whether a refusal has the recorded text, in the declared error shape, plainly, or after an exception's name."""
    if result.ok or not isinstance(recorded, str) or result.error is None:
        return False
    texts = {recorded, _EXCEPTION.sub("", recorded, count=1)}
    return result.error.message in texts or (isinstance(result.output, str) and result.output in texts)


def _recorded(call: Call) -> str:
    if call.kind is None:
        return short(call.result)
    return f"{call.kind} {short(call.result if call.error is None else call.error)}"


def _outcome(result: ToolResult) -> str:
    if result.ok:
        return short(result.value)
    error = result.error
    if error is None:
        return "a refusal"
    cause = f" ({error.cause!r})" if error.cause is not None else ""
    return f"refused [{error.code}] {short(error.message)}{cause}"
