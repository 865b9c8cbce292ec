"""Names: states, constants and the clock come from `_state` and the module; locals and parameters stay."""

from __future__ import annotations

import libcst as cst

from envscaler.compiler.transforms import nodes
from envscaler.compiler.transforms.base import Case, Lowering
from envscaler.spec.language import BUILTINS

CASES = (
    Case("return {'when': today, 'most': MAX_LOANS}", "return {'when': _state._today, 'most': MAX_LOANS}"),
    Case("return desk.notes", 'return [*_state.desk.value["notes"]]'),
    Case('desk.notes.append("x")', '_state.desk.edit()["notes"].append("x")'),
    Case("return len(state.members)", "return len(_state.members)"),
)


def state(low: Lowering, name: str, *, read_only: bool, moment: str = "") -> cst.BaseExpression:
    """A state: the collection itself, or a single record's current value; in a goal that of a ``moment``."""
    base = nodes.ref(f"{'_initial' if moment == 'initial' else '_state'}.{name}")
    if not low.names.spec.states[name].single:
        return base
    if name in low.edits and not read_only:
        return nodes.call(cst.Attribute(base, cst.Name("edit")))
    return cst.Attribute(base, cst.Name("value"))


def leave_name(low: Lowering, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
    role = low.role(original)
    if role is None:
        return updated
    match role.kind:
        case "state":
            return state(low, role.name, read_only=original in low.raw)
        case "constant":
            return nodes.ref(low.names.constant(role.name)).with_changes(lpar=updated.lpar, rpar=updated.rpar)
        case "clock":
            return nodes.ref(f"_state._{role.name}")
        case "builtin" if (
            (builtin := BUILTINS.get(role.name)) is not None and builtin.runtime and role.name not in _PYTHON
        ):
            return nodes.ref(f"_rt.{builtin.runtime}")
    return updated


_PYTHON = frozenset({"int", "float", "str"})

HANDLERS = {cst.Name: leave_name}
