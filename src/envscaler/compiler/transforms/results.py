"""Results: what a tool returns is put into JSON form, as far inside literals as possible."""

from __future__ import annotations

import libcst as cst

from envscaler.compiler.transforms import arithmetic, nodes
from envscaler.compiler.transforms.base import Case, Lowering
from envscaler.spec.logic.relations import container, plain
from envscaler.spec.types import ANY, FLOAT, NUMBER, IterOf, StateOf, TupleOf, Type

CASES = (
    Case(
        "return {'id': member_id, 'due': member.balance}",
        "return {'id': member_id, 'due': member[\"balance\"] / 100}",
        params="{member_id: {ref: members, as: member}}",
    ),
    Case("return {'half': x / 2}", "return {'half': _rt.finite(x / 2)}", params="{x: float}"),
    Case("return member", "return out_member(member)", params="{member_id: {ref: members, as: member}}"),
    Case(
        "return [m.balance for m in members.values()]",
        'return [m["balance"] / 100 for m in _state.members.values()]',
    ),
    Case(
        "found = [m for m in members.values()]\nreturn sorted(found, key=lambda m: m.name)[:2]",
        "found = [m for m in _state.members.values()]\n"
        'return [out_member(_x) for _x in sorted(found, key=lambda m: m["name"])[:2]]',
    ),
)


def as_json(low: Lowering, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
    """``updated`` in JSON form, sharing nothing with the state."""
    note = low.note(original)
    if note is not None and note.convert is not None:
        return updated if note.convert == ANY else in_json(low, note.convert, updated)
    match original, updated:
        case cst.Dict(), cst.Dict():
            pairs = zip(original.elements, updated.elements, strict=True)
            return updated.with_changes(
                elements=[b.with_changes(value=as_json(low, a.value, b.value)) for a, b in pairs]
            )
        case cst.List(), cst.List():
            items = zip(original.elements, updated.elements, strict=True)
            return updated.with_changes(
                elements=[b.with_changes(value=as_json(low, a.value, b.value)) for a, b in items]
            )
        case cst.ListComp(), cst.ListComp():
            return updated.with_changes(elt=as_json(low, original.elt, updated.elt))
        case cst.DictComp(), cst.DictComp():
            return updated.with_changes(value=as_json(low, original.value, updated.value))
        case cst.IfExp(), cst.IfExp():
            body, orelse = as_json(low, original.body, updated.body), as_json(low, original.orelse, updated.orelse)
            return updated.with_changes(body=body, orelse=orelse)
    of = low.type(original)
    if isinstance(of, (IterOf, StateOf, TupleOf)):
        return updated
    if note is not None and container(of) and low.fresh(original) and _plain(low, original):
        return updated
    if plain(of) in (FLOAT, NUMBER):
        updated = arithmetic.guarded(low, original, updated)
    return in_json(low, of, updated)


def in_json(low: Lowering, of: Type, updated: cst.BaseExpression) -> cst.BaseExpression:
    """The value of an expression of the type, as a whole."""
    if of == ANY and isinstance(updated, cst.Call) and nodes.code(updated.func) == "_rt.copy":
        return updated
    source = nodes.code(nodes.enclosed(updated) if nodes.has_newline(updated) else updated)
    made = low.names.out(of, source)
    return updated if made == source else nodes.expression(made)


def _plain(low: Lowering, node: cst.BaseExpression) -> bool:
    """Whether a fresh container is in JSON form already, so that no second copy is needed."""
    marker = "_x"
    of = low.type(node)
    return low.names.out(of, marker) in (marker, f"[*{marker}]", f"{{**{marker}}}")
