"""Recorded calls run on two versions of an environment: where they come out otherwise, whatever was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from envscaler.errors import StateError
from envscaler.replay import Case
from envscaler.replay.values import mismatches, short

if TYPE_CHECKING:
    from envscaler.runtime import Environment, ToolResult

__all__ = ["Outcome", "outcomes"]

_KEPT = 8  # prepared states, as many as the cases of a recording are likely to share


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a case gives otherwise: at ``call`` (from 1), at the `start`, or in its final `state`. ``old`` and ``new`` are
    one-line texts."""

    path: str
    line: int
    case: str
    call: int | Literal["start", "state"]
    of: int
    tool: str | None
    old: str
    new: str

    @property
    def where(self) -> str:
        """``cases.jsonl:7: retail_1, call 3 of 5: get_order`` or the like."""
        if isinstance(self.call, int):
            place = f"call {self.call} of {self.of}: {self.tool}"
        else:
            place = "the initial state" if self.call == "start" else "the final state"
        return f"{self.path}:{self.line}: {self.case}, {place}"


def outcomes(old: type[Environment], new: type[Environment], cases: Iterable[Case], seed: int = 0) -> Iterator[Outcome]:
    """Run each case from its own initial state on both; ``seed`` is for cases that record none."""
    bases = [_Bases(old), _Bases(new)]
    for case in cases:
        yield from _case(case, bases, seed if case.seed is None else case.seed)


class _Bases:
    """Prepared initial states by identity, the last few of them."""

    def __init__(self, environment: type[Environment]) -> None:
        self.environment = environment
        self._kept: dict[int, tuple[Any, Any]] = {}

    def get(self, initial: Any) -> Any:
        """The base, or the text of why the state is refused."""
        held = self._kept.get(id(initial))
        if held is None:
            try:
                base: Any = self.environment.prepare(initial)
            except StateError as error:
                base = "refused: " + "; ".join(error.problems[:3]) + ("; …" if len(error.problems) > 3 else "")
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            held = self._kept[id(initial)] = (initial, base)
        return held[1]


def _case(case: Case, versions: list[_Bases], seed: int) -> Iterator[Outcome]:
    def outcome(call: int | Literal["start", "state"], tool: str | None, old: str, new: str) -> Outcome:
        return Outcome(case.path, case.line, case.id, call, len(case.calls), tool, old, new)

    bases = [v.get(case.initial) for v in versions]
    words = [base if isinstance(base, str) else "accepted" for base in bases]
    if words[0] != words[1]:
        yield outcome("start", None, words[0], words[1])
    if words != ["accepted", "accepted"]:
        return
    first, second = (v.environment.new(base, seed=seed) for v, base in zip(versions, bases, strict=True))
    for call in case.calls:
        a, b = (env.call(call.tool, call.arguments, actor=call.actor) for env in (first, second))
        if a.ok != b.ok or mismatches(a.output, b.output, 1):
            yield outcome(call.number, call.tool, _words(a), _words(b))
    if first.diff() != second.diff():
        places = mismatches(first.state, second.state, 3)
        if places:
            paths = ", ".join(p.path for p in places)
            yield outcome("state", None, *(f"{paths}: " + ", ".join(short(getattr(p, side)) for p in places)
                                           for side in ("expected", "got")))  # fmt: skip


def _words(result: ToolResult) -> str:
    return short(result.output) if result.ok else f"refused {short(result.output)}"
