"""What a person needs to judge a scenario: its solution as it runs, the records it is about, and its proof in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from envscaler.errors import EnvscalerError
from envscaler.runtime import Environment, pointers
from envscaler.runtime import shapes as s
from envscaler.scenario.model import Guard, Scenario, Source
from envscaler.scenario.proof.near import KINDS
from envscaler.scenario.proof.notes import tried_words
from envscaler.scenario.proof.record import GATES
from envscaler.scenario.proof.trial import Trial
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.wording.english import words_of
from envscaler.scenario.wording.leaves import leaves, source_of
from envscaler.scenario.world import States, World

__all__ = ["Audited", "ChangeRow", "GateRow", "GoalRow", "Records", "StepRow"]

_ROWS: Final = 24  # records of a collection
_MARKS: Final = {"add": "new", "remove": "gone", "replace": "changed"}


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One operation: the record and field, what was there before and is after, None for nothing. ``mark``: new, gone,
    changed."""

    record: str
    field: str
    before: Any
    after: Any
    mark: str


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step with what it came to. ``arguments``: place, value, and in words where it comes from."""

    number: int
    tool: str
    kind: str
    actor: str
    arguments: tuple[tuple[str, Any, str], ...]
    refused: str
    error: str
    rule: str
    value: Any
    changes: tuple[ChangeRow, ...]


@dataclass(frozen=True, slots=True)
class Records:
    """Records of one state. Each row: the key, its mark (new, gone, changed or ""), and by field the value at the start, and
    at the end where that is another. ``more``: how many are not shown."""

    name: str
    fields: tuple[str, ...]
    rows: tuple[tuple[str, str, Mapping[str, tuple[Any, ...]]], ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class GoalRow:
    """A goal with its value at the start and after the solution, None when it could not be tried, and what failed it."""

    number: int
    text: str
    expr: str
    steps: tuple[int, ...]
    start: bool | None
    end: bool | None
    failed_by: str


@dataclass(frozen=True, slots=True)
class GateRow:
    """A gate: whether it was passed, None when it was not reached; and what was tried, each with what came of it."""

    name: str
    what: str
    ok: bool | None
    reasons: tuple[tuple[str, str], ...]
    tried: tuple[tuple[str, str, str], ...]


class Audited:
    """A scenario laid open. ``problem``: why its solution cannot be run, "" when it can."""

    def __init__(self, world: World, scenario: Scenario, states: States | None = None) -> None:
        self.world = world
        self.scenario = scenario
        self.problem = ""
        self._trial: Trial | None = None
        try:
            scorer = Scorer.of(world, scenario)
            self._trial = Trial(world, scenario, world.start(scenario, states), scorer)
        except EnvscalerError as error:
            self.problem = str(error)
        self.proof: Mapping[str, Any] = scenario.proof or {"gates": {}}

    @property
    def verdict(self) -> bool | None:
        """Whether the proof holds; None without one."""
        return None if self.scenario.proof is None else bool(self.scenario.proof["ok"])

    @cached_property
    def reward(self) -> float | None:
        """What the solution scores."""
        return None if self._trial is None else self._trial.end.score.reward

    # -- the solution

    @cached_property
    def steps(self) -> tuple[StepRow, ...]:
        """The steps of the solution, each with its result and what it changed."""
        return tuple(self._step(n) for n in range(len(self.scenario.solution)))

    def _step(self, number: int) -> StepRow:
        step = self.scenario.solution[number]
        tool = self.world.tools.get(step.tool)
        params = tool.params if tool is not None else {}
        rows = [
            (leaf.path, leaf.value, self._source(source_of(step.sources, leaf.path), bool(step.sources)))
            for name, value in step.arguments.items()
            for leaf in leaves(name, value, params.get(name))
        ]
        kind = tool.kind if tool is not None else "unknown"
        if self._trial is None:
            return StepRow(number + 1, step.tool, kind, step.actor, tuple(rows), step.refused, "", "", None, ())
        result = self._trial.results[number]
        error, rule = ("", "") if result.error is None else (result.error.message, result.error.rule or "")
        changes = self._changes(self._trial.at(number + 1).diff(self._trial.solved[1][number]))
        return StepRow(
            number + 1,
            step.tool,
            kind,
            step.actor,
            tuple(rows),
            step.refused,
            error,
            rule,
            result.value,
            tuple(changes),
        )

    def _source(self, source: Source, given: bool) -> str:
        match source.kind:
            case "task":
                return "told in the task" if given else ""
            case "fact":
                return f"known to the user ({source.name})"
            case "found":
                return f"found in step {source.step + 1} at {source.path or '/'}"
            case "fixed":
                return "the only choice"
        return "free: any value would do"

    def _changes(self, operations: Iterable[Mapping[str, Any]]) -> Iterator[ChangeRow]:
        for op in operations:
            names = pointers.parts(op["path"])
            whole = 2 if names[0] in self.world.collections else 1
            record, field = " ".join(names[:whole]), "/".join(names[whole:])
            yield ChangeRow(record, field, op.get("before"), op.get("value"), _MARKS[op["op"]])

    # -- the state

    @cached_property
    def records(self) -> tuple[Records, ...]:
        """The records that the solution names or changes, as they are at the start and at the end."""
        trial = self._trial
        if trial is None:
            return ()
        end = trial.at(len(trial.calls)).fork()
        start = trial.at(0)
        return tuple(self._table(name, keys, start, end) for name, keys in self._concerned(trial, end).items() if keys)

    def _concerned(self, trial: Trial, end: Environment) -> dict[str, list[Any]]:
        found: dict[str, dict[Any, None]] = {name: {} for name in self.world.states}
        for name, shape in self.world.collections.items():
            now, then = end.final[name], trial.env.final[name]
            for call in trial.calls:
                for value in _values(call.arguments):
                    if value.__class__ in (str, int) and (value in now or value in then):
                        found[name][value] = None
            keys = getattr(end._state, name)
            found[name] |= dict.fromkeys([*keys.own, *keys.gone])
            if shape.key.of is s.INT:
                found[name] = {key: None for key in found[name] if isinstance(key, int)}
        for name in self.world.states:
            if name not in self.world.collections and end.record(name) != trial.env.record(name):
                found[name][None] = None
        return {name: list(keys) for name, keys in found.items()}

    def _table(self, name: str, keys: Sequence[Any], start: Environment, end: Environment) -> Records:
        rows = []
        fields: dict[str, None] = {}
        for key in keys[:_ROWS]:
            old, new = start.record(name, key), end.record(name, key)
            mark = "new" if old is None else "gone" if new is None else "changed" if old != new else ""
            cells: dict[str, tuple[Any, ...]] = {}
            for field in dict.fromkeys([*(old or {}), *(new or {})]):
                before, after = (old or {}).get(field), (new or {}).get(field)
                one_sided = old is None or new is None
                cells[field] = (after if old is None else before,) if one_sided or before == after else (before, after)
            fields |= dict.fromkeys(cells)
            rows.append(("" if key is None else str(key), mark, cells))
        return Records(name, tuple(fields), tuple(rows), max(0, len(keys) - _ROWS))

    # -- goals and guards

    @cached_property
    def goals(self) -> tuple[GoalRow, ...]:
        """The goals, and why they are what decides."""
        trial = self._trial
        start = None if trial is None else trial.nothing().score.goals
        end = None if trial is None else trial.end.score.goals
        tried = self.proof["gates"].get("goals", {}).get("tried", [])
        return tuple(
            GoalRow(
                n + 1,
                goal.text,
                goal.expr,
                tuple(step + 1 for step in goal.steps),
                None if start is None else start[n],
                None if end is None else end[n],
                _failed_by(tried[n]) if n < len(tried) else "",
            )
            for n, goal in enumerate(self.scenario.goals)
        )

    @cached_property
    def guards(self) -> tuple[tuple[str, ...], ...]:
        """The guards in words, each line one thing that may change, or the expression that must hold."""
        return tuple(tuple(_guarded(guard)) for guard in self.scenario.guards)

    # -- the proof

    @cached_property
    def gates(self) -> tuple[GateRow, ...]:
        """All gates in order."""
        return tuple(self._gate(name, what) for name, what in GATES.items())

    def _gate(self, name: str, what: str) -> GateRow:
        gate = self.proof["gates"].get(name)
        if gate is None:
            return GateRow(name, what, None, (), ())
        reasons = tuple((reason["code"], reason["text"]) for reason in gate.get("reasons", ()))
        return GateRow(name, what, gate["ok"], reasons, tuple(_rows(name, gate.get("tried", ()))))


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for one in value.values():
            yield from _values(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _values(one)
    else:
        yield value


def _guarded(guard: Guard) -> Iterator[str]:
    if guard.only is None:
        yield f"stays true: {guard.expr}"
        return
    only = guard.only
    for state, keys in only.fields.items():
        for key, names in keys.items():
            yield f"{state} {key}: {', '.join(names)} may change" if key else f"{state}: {', '.join(names)} may change"
    for state, count in only.added.items():
        yield f"{state}: {count} may be new"
    for state, gone in only.removed.items():
        yield f"{state}: {', '.join(gone)} may be gone"
    yield "nothing else may change" if only.fields or only.added or only.removed else "nothing may change"


def _failed_by(row: Mapping[str, Any]) -> str:
    if "alone" in row:
        return f"fails alone: {tried_words(row['alone'])}"
    return f"no state was found in which it fails alone; fails with others: {tried_words(row['with'])}" if row else ""


def _rows(name: str, tried: Any) -> Iterator[tuple[str, str, str]]:
    """Kind, what was done, and what came of it."""
    match name:
        case "near":
            for kind, misses in tried.items():
                for miss in misses["misses"]:
                    note = {k: v for k, v in miss.items() if k not in ("fails", "breaks", "alike")}
                    yield KINDS.get(kind, kind), tried_words(note), _came_of(miss)
        case "removed":
            for one in tried:
                yield "a write left out", tried_words({"without": one["without"]}), _came_of(one)
        case "ways":
            for one in tried:
                note = {k: v for k, v in one.items() if k != "way"}
                yield words_of(one["way"].replace("-", "_")), tried_words(note), "accepted"


def _came_of(outcome: Mapping[str, Any]) -> str:
    parts = [_numbered("goal", outcome["fails"], "not met"), _numbered("guard", outcome.get("breaks", ()), "broken")]
    return "; ".join(part for part in parts if part) or "accepted"


def _numbered(what: str, places: Sequence[int], how: str) -> str:
    if not places:
        return ""
    return f"{what}{'s' if len(places) > 1 else ''} {', '.join(str(n + 1) for n in places)} {how}"
