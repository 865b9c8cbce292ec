"""The state of an episode as tool bodies see it, and the transaction around each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from envscaler.runtime.parts import Meter, Record
from envscaler.runtime.plans import REFS, Plan, SinglePlan, Table
from envscaler.runtime.results import Failure
from envscaler.runtime.store import Collection, Single
from envscaler.runtime.times import date_part
from envscaler.runtime.values import same, show
from envscaler.runtime.writing import field_inspector, refs_of

if TYPE_CHECKING:
    from envscaler.runtime.model import Model

__all__ = ["State", "commit", "rollback"]


class State:
    """Base of the generated state classes, which add one slot for each collection and single.

    ``_now`` and ``_today`` are the episode's clock; everything else with an underscore belongs to this package.
    """

    __slots__ = ("_dirty", "_marks", "_meter", "_model", "_now", "_policy", "_today")

    def __init__(self, model: Model, bases: Mapping[str, Table | Record], seed: int, clock: str, policy: str) -> None:
        self._model = model
        self._meter = Meter(seed)
        self._dirty = self._meter.dirty
        self._marks: dict[str, dict[Any, None]] = {}
        self._now = clock
        self._today = date_part(clock)
        self._policy = policy
        for name, base in bases.items():
            plan = model.plans[name]
            if isinstance(base, Table):
                setattr(self, name, Collection(base, self._meter))
            else:
                assert isinstance(plan, SinglePlan)
                setattr(self, name, Single(plan, base, self._meter))

    def _part(self, name: str) -> Any:
        return getattr(self, name)

    # -- for check functions

    def _mark(self, rule: str, key: Any) -> None:
        """Have the rule checked for that record of its collection (None: for the single or the state it is about)
        once all records are checked. Keys that are null or gone are skipped."""
        marked = self._marks.get(rule)
        if marked is None:
            self._marks[rule] = {key: None}
        else:
            marked[key] = None

    def _require_valid(self, name: str, key: Any, field: str, new: Record) -> None:
        """The field of the record (key None: of the single) keeps its bounds in all its parts, and its references exist."""
        if field not in new:
            return
        plan = self._model.plans[name]
        declared = plan.shape.record.field(field)
        subject = plan.noun if key is None else f"{plan.noun} {show(key)}"
        inspect = field_inspector(declared)
        if inspect is not None:
            problems: list[str] = []
            inspect(new[field], declared.json, problems)
            if problems:
                raise Failure("constraint", f"{subject}: {problems[0]}")
        refs = refs_of(declared.shape)
        if refs is not None:
            found: list[tuple[str, Any]] = []
            refs(new[field], found)
            for collection, target in found:
                if target not in self._part(collection):
                    noun = self._model.plans[collection].noun
                    raise Failure("constraint", f"{subject}: {declared.json}: there is no {noun} {show(target)}")

    def _require_unreferred(self, name: str, key: Any) -> None:
        """Nothing refers to the removed record any more."""
        for other in self._model.referrers.get(name, ()):
            plan, part = self._model.plans[other], self._part(other)
            if isinstance(plan, Plan):
                holders = part.by((REFS, name), key)
                subject = f"{plan.noun} {show(holders[0][plan.key_name])}" if holders else ""
            else:
                found: list[tuple[str, Any]] = []
                assert plan.refs is not None
                plan.refs(part.value, found)
                holders, subject = [f for f in found if f == (name, key)], plan.noun
            if holders:
                noun = self._model.plans[name].noun
                raise Failure("constraint", f"{noun} {show(key)} cannot be removed: {subject} refers to it")


def commit(state: State) -> bool:
    """Check what the call wrote and keep it; whether anything is different. Raises Failure, and then nothing is kept."""
    model, dirty, meter = state._model, state._dirty, state._meter
    if model.after_each and _differs(dirty):
        for hook in model.after_each:
            hook(state)
    meter.settling = True
    if meter.indexed:
        for part in dirty:
            if part.overlay is not None:
                part.flush()
    changed = False
    for part in dirty:
        equal = part.check(state, part.before, part.own_get)
        if equal is None or _keep(part, equal):
            changed = True
    if state._marks:
        _check_rules(state)
    for part in dirty:
        part.before.clear()
        if part.saved is not None:
            part.close()
    dirty.clear()
    meter.settling = False
    return changed


def _keep(part: Any, equal: Sequence[Any]) -> bool:
    """Put the versions from before back where the new ones are equal to them; whether there were others."""
    before = part.before
    changed = len(equal) < len(before)
    for key in equal:
        if part.unchanged(key):
            part.keep(key, before[key])
        else:
            changed = True
    return changed


def _differs(dirty: Sequence[Any]) -> bool:
    for part in dirty:
        for key, old in part.before.items():
            new = part.own_get(key)
            if (new is None) is not (old is None) or not same(old, new) or not part.unchanged(key):
                return True
    return False


def _check_rules(state: State) -> None:
    marks, model = state._marks, state._model
    for rule in model.checked_rules:
        marked = marks.get(rule.name)
        if marked is not None:
            for subject in _subjects(state, rule.each, marked):
                assert rule.run is not None
                if not rule.run(state, *subject):
                    raise Failure("rule", rule.text, rule.name, rule.line)
    marks.clear()


def _subjects(state: State, each: str | None, keys: Mapping[Any, None]) -> Sequence[tuple[Any, ...]]:
    if each is None:
        return [()]
    part = state._part(each)
    if isinstance(part, Single):
        return [(part.value,)]
    return [(record,) for key in keys if key is not None and (record := part.get(key)) is not None]


def rollback(state: State) -> None:
    """Put everything back as it was before the call."""
    for part in state._dirty:
        part.rollback()
    state._dirty.clear()
    state._marks.clear()
    state._meter.settling = False
