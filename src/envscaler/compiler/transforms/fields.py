"""Fields: records and structs are dicts, so `member.status` is `member["status"]`; parts of dates are functions."""

from __future__ import annotations

import libcst as cst

from envscaler.compiler.transforms import nodes
from envscaler.compiler.transforms.base import Case, Lowering, scalar
from envscaler.compiler.transforms.names import state

CASES = (
    Case(
        'copy.state = "lost"',
        'copy["state"] = "lost"',
        params="{barcode: {ref: copies, as: copy}}",
    ),
    Case(
        "return {'id': copy.barcode, 'title': copy.title}",
        "return {'id': copy[\"barcode\"], 'title': copy[\"title\"]}",
        params="{barcode: {ref: copies, as: copy}}",
    ),
    Case("return today.year", "return _rt.year(_state._today)"),
    Case(
        "m = members[k]\nm.status = 'active'\nreturn members[k].name",
        'm = _state.members.edit(k)\nm["status"] = \'active\'\nreturn _state.members[k]["name"]',
        params="{k: {ref: members}}",
    ),
)

_PARTS = {"date": "date_part", "time": "time_part"}


def before_attribute(low: Lowering, node: cst.Attribute) -> None:
    """A lookup of which only a scalar field is read needs no writable record."""
    if low.is_role(node, "field") or low.is_role(node, "key"):
        if node not in low.editing and scalar(low.type(node)):
            low.raw.add(node.value)
    elif low.is_role(node, "part"):
        low.raw.add(node.value)


def leave_attribute(low: Lowering, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
    role = low.role(original)
    if role is None:
        return updated
    match role.kind:
        case "field" | "key":
            return nodes.item(updated.value, nodes.text(role.name, low.quote()))
        case "part":
            return nodes.call(f"_rt.{_PARTS.get(role.name, role.name)}", updated.value)
        case "state":
            moment = original.value.value if low.kind == "goal" and isinstance(original.value, cst.Name) else ""
            return state(low, role.name, read_only=original in low.raw, moment=moment)
    return updated


def before_assign_target(low: Lowering, node: cst.AssignTarget) -> None:
    low.editing.add(node.target)


def before_aug_assign(low: Lowering, node: cst.AugAssign) -> None:
    low.editing.add(node.target)


def before_del(low: Lowering, node: cst.Del) -> None:
    low.editing.add(node.target)


BEFORE = {
    cst.Attribute: before_attribute,
    cst.AssignTarget: before_assign_target,
    cst.AugAssign: before_aug_assign,
    cst.Del: before_del,
}
HANDLERS = {cst.Attribute: leave_attribute}
