"""List and dict displays and comprehensions: what they hold are copies where the body writes the records."""

from __future__ import annotations

import libcst as cst

from envscaler.compiler.transforms import nodes
from envscaler.compiler.transforms.base import Case, Lowering
from envscaler.spec.logic.relations import container

CASES = (
    Case(
        "found = [m for m in members.values()]\nmembers[k].status = 'active'\nreturn found[0].name",
        "found = [_rt.copy(m) for m in _state.members.values()]\n"
        '_state.members.edit(k)["status"] = \'active\'\nreturn found[0]["name"]',
        params="{k: {ref: members}}",
    ),
)


def before_return(low: Lowering, node: cst.Return) -> None:
    """What stands in a tool's result is put into JSON form, which copies it anyway."""
    if low.kind in ("tool", "setup") and node.value is not None:
        _mark(low, node.value)


def _mark(low: Lowering, node: cst.BaseExpression) -> None:
    low.returned.add(node)
    low.raw.add(node)
    match node:
        case cst.Dict(elements=elements) | cst.List(elements=elements):
            for element in elements:
                _mark(low, element.value)
        case cst.ListComp(elt=value) | cst.DictComp(value=value):
            _mark(low, value)
        case cst.IfExp(body=body, orelse=orelse):
            _mark(low, body)
            _mark(low, orelse)


def _copied(low: Lowering, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
    if (
        low.source(original) is None
        or original in low.returned
        or low.fresh(original)
        or not container(low.type(original))
    ):
        return updated
    return nodes.call("_rt.copy", updated)


def leave_list_comp(low: Lowering, original: cst.ListComp, updated: cst.ListComp) -> cst.BaseExpression:
    return updated.with_changes(elt=_copied(low, original.elt, updated.elt))


def leave_dict_comp(low: Lowering, original: cst.DictComp, updated: cst.DictComp) -> cst.BaseExpression:
    return updated.with_changes(value=_copied(low, original.value, updated.value))


def leave_display(low: Lowering, original: cst.List | cst.Dict, updated: cst.List | cst.Dict) -> cst.BaseExpression:
    if not low.edits:
        return updated
    pairs = zip(original.elements, updated.elements, strict=True)
    return updated.with_changes(elements=[b.with_changes(value=_copied(low, a.value, b.value)) for a, b in pairs])


HANDLERS = {
    cst.ListComp: leave_list_comp,
    cst.DictComp: leave_dict_comp,
    cst.List: leave_display,
    cst.Dict: leave_display,
}
