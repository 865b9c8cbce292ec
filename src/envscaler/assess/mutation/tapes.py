"""Calls recorded on the unmutated class, to be played on a mutant: a difference in results or states kills it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envscaler.errors import EnvscalerError
from envscaler.runtime import Environment, ToolResult

__all__ = ["Step", "Tape", "difference", "difference_of_variants", "ends", "recorder", "settle", "settle_variants"]

_UNKNOWN: Any = object()
_TAPES = 4000
"""So many episodes are kept at most; a fuzzer that forks much begins many."""


@dataclass(slots=True)
class Step:
    """A call with its outcome on the unmutated class; ``variants`` are tried on a fork before it is made, and ``changes``
    is what such a one changes."""

    tool: str
    arguments: Any
    actor: str
    outcome: Any = None
    variants: list[Step] = field(default_factory=list)
    changes: Any = None


@dataclass(slots=True)
class Tape:
    """An episode: what it begins with (None: the spec's initial state, and its clock), its calls, and in the end what they
    changed. ``variants`` are tried on a fork of its beginning."""

    state: Mapping[str, Any] | None
    seed: int
    clock: str | None = None
    steps: list[Step] = field(default_factory=list)
    changes: Any = None
    variants: list[Step] = field(default_factory=list)


class _Starts:
    """The states that tapes begin in, each prepared once for a class."""

    def __init__(self, environment: type[Environment]) -> None:
        self.environment = environment
        self._bases: dict[int, Any] = {}

    def begin(self, tape: Tape) -> Environment:
        """The beginning of a tape's episode. Raises StateError when the class does not allow its state."""
        base = self._bases.get(id(tape.state))
        if base is None:
            base = self._bases[id(tape.state)] = self.environment.prepare(copy.deepcopy(tape.state))
        return self.environment.new(base, seed=tape.seed, clock=tape.clock)


def recorder(environment: type[Environment], tapes: list[Tape]) -> type[Environment]:
    """A subclass whose episodes enter their calls in ``tapes``. One that is reset begins a new tape; where one goes on
    from a snapshot or a fork is not recorded."""
    bases: list[tuple[Any, Mapping[str, Any] | None]] = []

    class Recorded(environment):  # type: ignore[misc, valid-type]
        __slots__ = ("_tape",)

        def __init__(self, state: Any = None, seed: int = 0, policy: Any = None, clock: Any = None) -> None:
            super().__init__(state, seed, policy, clock)
            given = state
            if state is not None and not isinstance(state, Mapping):
                given = next((of for base, of in bases if base is state), _UNKNOWN)
            self._tape = Tape(given, seed, clock)
            self._enter(given is not _UNKNOWN and policy is None)

        @classmethod
        def prepare(cls, state: Any = None) -> Any:
            base = super().prepare(state)
            bases.append((base, copy.deepcopy(state)))
            return base

        def call(self, tool: str, arguments: Any = None, actor: str = "agent") -> ToolResult:
            try:
                self._tape.steps.append(Step(tool, copy.deepcopy(arguments), actor))
            except Exception:  # a hostile value; the mutants do without it
                return super().call(tool, arguments, actor)  # type: ignore[no-any-return]
            return super().call(tool, arguments, actor)  # type: ignore[no-any-return]

        def reset(self) -> None:
            super().reset()
            self._tape = Tape(self._tape.state, self._tape.seed, self._tape.clock)
            self._enter(self._tape.state is not _UNKNOWN)

        def restore(self, snapshot: Any) -> None:
            super().restore(snapshot)
            self._tape = Tape(_UNKNOWN, 0)

        def fork(self) -> Any:
            other = super().fork()
            other._tape.steps = []
            other._tape = Tape(_UNKNOWN, 0)
            return other

        def _enter(self, known: bool) -> None:
            if known and len(tapes) < _TAPES:
                tapes.append(self._tape)

    return Recorded


def settle(environment: type[Environment], tapes: Sequence[Tape]) -> list[Tape]:
    """The tapes with what the unmutated class makes of them; those without calls or with a state it refuses are left out."""
    kept, starts = [], _Starts(environment)
    for tape in tapes:
        if not tape.steps:
            continue
        try:
            env = starts.begin(tape)
        except EnvscalerError:
            continue
        for step in tape.steps:
            step.outcome = _outcome(env.call(step.tool, copy.deepcopy(step.arguments), step.actor))
        tape.changes = env.diff()
        kept.append(tape)
    return kept


def settle_variants(environment: type[Environment], tapes: Sequence[Tape]) -> None:
    """Enter what the unmutated class makes of the variants."""
    for _, env, variants in _forked(environment, tapes):
        for variant in variants:
            variant.outcome, variant.changes = _tried(env, variant)


def ends(environment: type[Environment], tapes: Sequence[Tape]) -> Iterator[Mapping[str, Any]]:
    """The states in which tapes end, but for those that end as they begin."""
    starts = _Starts(environment)
    for tape in tapes:
        env = starts.begin(tape)
        for step in tape.steps:
            env.call(step.tool, copy.deepcopy(step.arguments), step.actor)
        if env.diff():
            yield env.state


def difference_of_variants(environment: type[Environment], tapes: Sequence[Tape]) -> str:
    """As `difference`, of variants."""
    for number, env, variants in _forked(environment, tapes):
        for variant in variants:
            got, changes = _tried(env, variant)
            if got != variant.outcome:
                return f"episode {number} ({variant.tool}): {_shown(variant.outcome)}, now {_shown(got)}"
            if changes != variant.changes:
                return f"episode {number} ({variant.tool}): it changes something else"
    return ""


def _forked(environment: type[Environment], tapes: Sequence[Tape]) -> Iterator[tuple[int, Environment, Sequence[Step]]]:
    """Tapes by number, played as far as each place where variants are tried."""
    starts = _Starts(environment)
    for number, tape in enumerate(tapes, 1):
        last = max((i for i, step in enumerate(tape.steps) if step.variants), default=-1)
        if last < 0 and not tape.variants:
            continue
        env = starts.begin(tape)
        yield number, env, tape.variants
        for step in tape.steps[: last + 1]:
            yield number, env, step.variants
            env.call(step.tool, copy.deepcopy(step.arguments), step.actor)


def _tried(env: Environment, step: Step) -> tuple[Any, Any]:
    """The outcome of a call on a fork, and what differs from the episode's start then."""
    fork = env.fork()
    try:
        outcome = _outcome(fork.call(step.tool, copy.deepcopy(step.arguments), step.actor))
    except Exception as error:
        outcome = ("raised", type(error).__name__)
    return outcome, fork.diff() if outcome[-1] is True else None


def difference(environment: type[Environment], tapes: Sequence[Tape]) -> str:
    """The first call whose outcome is another on a class than was recorded, in words; "" when there is none."""
    return next(_differences(environment, tapes), "")


def _differences(environment: type[Environment], tapes: Sequence[Tape]) -> Iterator[str]:
    starts = _Starts(environment)
    for number, tape in enumerate(tapes, 1):
        try:
            env = starts.begin(tape)
        except EnvscalerError as error:
            yield f"episode {number}: its state is refused: {str(error)[:160]}"
            continue
        except Exception as error:
            yield f"episode {number}: cannot begin: {type(error).__name__}"
            continue
        for place, step in enumerate(tape.steps, 1):
            try:
                got = _outcome(env.call(step.tool, copy.deepcopy(step.arguments), step.actor))
            except Exception as error:
                got = ("raised", type(error).__name__)
            if got != step.outcome:
                yield f"episode {number}, call {place} ({step.tool}): {_shown(step.outcome)}, now {_shown(got)}"
                return
        if env.diff() != tape.changes:
            yield f"episode {number}: the state is another after {len(tape.steps)} calls"


def _outcome(result: ToolResult) -> Any:
    """What is compared of a result: value or error, and whether the state was changed."""
    error = result.error
    if error is None:
        return ("ok", _typed(result.value), result.changed)
    return ("error", error.code, error.message, error.rule, result.changed)


def _typed(value: Any) -> Any:
    """A JSON value in which 1, 1.0 and true are three things."""
    if isinstance(value, Mapping):
        return {k: _typed(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_typed(v) for v in value]
    return (type(value).__name__, value) if isinstance(value, bool | float) else value


def _shown(outcome: Any) -> str:
    text = " ".join(str(part) for part in outcome[1:-1]) if outcome[0] != "raised" else f"raised {outcome[1]}"
    return text if len(text) <= 60 else text[:59] + "…"
