"""What an episode changed, as a list of operations in the manner of RFC 6902, at the cost of what was changed.

Paths are JSON pointers in which a record is always addressed by its key, whatever form its collection has outside.
`replace` and `remove` also say what was there `before`.
"""

from __future__ import annotations

from typing import Any

from envscaler.runtime.parts import Record
from envscaler.runtime.plans import Plan, SinglePlan
from envscaler.runtime.pointers import escaped
from envscaler.runtime.prepare import record_json
from envscaler.runtime.state import State
from envscaler.runtime.store import Collection, Single
from envscaler.runtime.values import copy, same

__all__ = ["between", "compare", "state_diff"]

Op = dict[str, Any]


def state_diff(state: State) -> list[Op]:
    """The operations that lead from the episode's base to its state now; all values are fresh copies."""
    ops: list[Op] = []
    for shape in state._model.states:
        part, plan = getattr(state, shape.name), state._model.plans[shape.name]
        if isinstance(part, Single):
            if part.value is not part.base:
                path = "" if shape.form == "flat" else f"/{escaped(shape.name)}"
                compare(path, record_json(plan, part.base), record_json(plan, part.value), ops)
        else:
            assert isinstance(plan, Plan)
            _collection_diff(plan, part, ops)
    return ops


def _collection_diff(plan: Plan, part: Collection, ops: list[Op]) -> None:
    root = f"/{escaped(plan.name)}"
    for key in sorted(part.gone, key=part.table.positions().__getitem__) if part.gone else ():
        if key not in part.own or plan.shape.form == "list":
            ops.append({"op": "remove", "path": f"{root}/{escaped(key)}", "before": record_json(plan, part.base[key])})
    for key, record in part.own.items():
        path = f"{root}/{escaped(key)}"
        if key not in part.base or (key in part.gone and plan.shape.form == "list"):
            ops.append({"op": "add", "path": path, "value": record_json(plan, record)})
        else:
            compare(path, record_json(plan, part.base[key]), record_json(plan, record), ops)


def between(old: State, new: State) -> list[Op]:
    """The operations that lead from one state to another over the same base, at the cost of what either changed.

    A record that was removed and added again in between counts as one that stayed.
    """
    ops: list[Op] = []
    for shape in new._model.states:
        before, after, plan = getattr(old, shape.name), getattr(new, shape.name), new._model.plans[shape.name]
        if isinstance(after, Single):
            if after.value is not before.value:
                path = "" if shape.form == "flat" else f"/{escaped(shape.name)}"
                compare(path, record_json(plan, before.value), record_json(plan, after.value), ops)
            continue
        for key in dict.fromkeys((*before.gone, *after.gone, *before.own, *after.own)):
            _record_diff(plan, f"/{escaped(plan.name)}/{escaped(key)}", before.get(key), after.get(key), ops)
    return ops


def _record_diff(plan: Plan | SinglePlan, path: str, old: Record | None, new: Record | None, ops: list[Op]) -> None:
    if old is new:
        return
    if old is None:
        assert new is not None
        ops.append({"op": "add", "path": path, "value": record_json(plan, new)})
    elif new is None:
        ops.append({"op": "remove", "path": path, "before": record_json(plan, old)})
    else:
        compare(path, record_json(plan, old), record_json(plan, new), ops)


def compare(path: str, old: Any, new: Any, ops: list[Op]) -> None:
    """Append the operations that turn one JSON value into another."""
    if isinstance(old, dict) and isinstance(new, dict):
        _compare_objects(path, old, new, ops)
    elif isinstance(old, list) and isinstance(new, list):
        _compare_lists(path, old, new, ops)
    elif not same(old, new):
        ops.append({"op": "replace", "path": path, "value": copy(new), "before": copy(old)})


def _compare_objects(path: str, old: dict[str, Any], new: dict[str, Any], ops: list[Op]) -> None:
    for key, value in old.items():
        if key not in new:
            ops.append({"op": "remove", "path": f"{path}/{escaped(key)}", "before": copy(value)})
    for key, value in new.items():
        if key in old:
            compare(f"{path}/{escaped(key)}", old[key], value, ops)
        else:
            ops.append({"op": "add", "path": f"{path}/{escaped(key)}", "value": copy(value)})


def _compare_lists(path: str, old: list[Any], new: list[Any], ops: list[Op]) -> None:
    """Element by element where the lengths are equal or one list only continues the other, else as a whole."""
    shared = min(len(old), len(new))
    if len(old) != len(new) and not same(old[:shared], new[:shared]):
        ops.append({"op": "replace", "path": path, "value": copy(new), "before": copy(old)})
        return
    if len(old) == len(new):
        for i in range(shared):
            compare(f"{path}/{i}", old[i], new[i], ops)
    for i in range(len(old) - 1, shared - 1, -1):
        ops.append({"op": "remove", "path": f"{path}/{i}", "before": copy(old[i])})
    for i in range(shared, len(new)):
        ops.append({"op": "add", "path": f"{path}/{i}", "value": copy(new[i])})
