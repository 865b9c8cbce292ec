"""Lookups and changes of collections: raw records where they are only read, `edit` where the body may write them."""

from __future__ import annotations

import libcst as cst

from envscaler.compiler.ending import made_key
from envscaler.compiler.layout import flat
from envscaler.compiler.literals import literal
from envscaler.compiler.transforms import arithmetic, nodes
from envscaler.compiler.transforms.base import Case, Lowering, is_record
from envscaler.spec.types import MISSING, Const

CASES = (
    Case(
        'm = members[k]\nm.status = "suspended"',
        'm = _state.members.edit(k)\nm["status"] = "suspended"',
        params="{k: {ref: members}}",
    ),
    Case("m = members[k]\nreturn m.name", 'm = _state.members[k]\nreturn m["name"]', params="{k: {ref: members}}"),
    Case(
        'copies.add(title=a + b, state="lost")',
        '_state.copies.add({"barcode": None, "title": _rt.text(a + b), "state": "lost"})',
        params="{a: str, b: str}",
    ),
    Case("del copies[k]", "_state.copies.remove(k)", params="{k: {ref: copies}}"),
    Case(
        'c = copies.add(title="Emma", state="on_shelf")\nreturn c.barcode',
        'c = _state.copies.add({"barcode": None, "title": "Emma", "state": "on_shelf"})\nreturn c["barcode"]',
    ),
    Case(
        'members.add(name="Ann", status="active")',
        "_state.members.add({\n"
        '    "member_id": None,\n    "name": "Ann",\n    "status": "active",\n    "balance": 0,\n    "paid_by": [],\n})',
    ),
)


def leave_subscript(low: Lowering, original: cst.Subscript, updated: cst.Subscript) -> cst.BaseExpression:
    if not low.is_role(original, "at", "collection"):
        return updated
    if original in low.raw or low.kept is not None or low.written_view(original) is None:
        return updated
    return nodes.call(cst.Attribute(updated.value, cst.Name("edit")), _index(updated))


def _index(node: cst.Subscript) -> cst.BaseExpression:
    index = node.slice[0].slice
    assert isinstance(index, cst.Index)
    return index.value


def collection_method(low: Lowering, original: cst.Call, updated: cst.Call, name: str) -> cst.BaseExpression:
    """`c.get`, `c.add`, `c.remove`; the views `values`, `items`, `keys` keep their names."""
    owner = updated.func
    assert isinstance(owner, cst.Attribute)
    match name:
        case "get" if original not in low.raw and low.kept is None and low.written_view(original) is not None:
            return updated.with_changes(func=owner.with_changes(attr=cst.Name("edit_or_none")))
        case "add":
            return _add(low, original, updated)
    return updated


def _add(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    assert isinstance(original.func, cst.Attribute)
    state = low.names.spec.states[low.state_of(original.func.value) or ""]
    assert state.key is not None
    values = stored_arguments(low, original, updated)
    key = values.pop(state.key.name, None)
    if low.kept is not None:
        made = nodes.expression(made_key(state.key, low.kept.plan.adds[original].number, state.name))
        return display(low, {state.key.name: made, **values}, state.record.fields)
    if key is None:
        return nodes.call(updated.func, display(low, {state.key.name: nodes.none(), **values}, state.record.fields))
    again = key
    if not isinstance(key, (cst.Name, cst.SimpleString, cst.Integer)):
        again = cst.Name("_key")
        key = nodes.enclosed(cst.NamedExpr(again, key))
    record = display(low, {state.key.name: key, **values}, state.record.fields)
    return nodes.call(updated.func, record, again)


def stored_arguments(low: Lowering, original: cst.Call, updated: cst.Call) -> dict[str, cst.BaseExpression]:
    """Keyword arguments by name, each safe to store."""
    found = {}
    for before, after in zip(original.args, updated.args, strict=True):
        assert before.keyword is not None
        found[before.keyword.value] = arithmetic.guarded(low, before.value, stored(low, before.value, after.value))
    return found


def display(low: Lowering, values: dict[str, cst.BaseExpression], fields: object) -> cst.Dict:
    """The dict of a new record or struct: what was given in its order, then defaults; absent fields stay away."""
    assert isinstance(fields, dict) or hasattr(fields, "items")
    quote = low.quote()
    entries = [nodes.entry(name, value, quote) for name, value in values.items()]
    for name, declared in fields.items():
        if name in values or declared.absent:
            continue
        if isinstance(declared.type, Const):
            entries.append(nodes.entry(name, nodes.expression(flat(literal(declared.type.value))), quote))
        elif declared.default is not MISSING or (default := low.names.default(declared)) is not None:
            default = low.names.default(declared)
            assert default is not None
            entries.append(nodes.entry(name, nodes.expression(default), quote))
    broken = not low.quotes and sum(len(nodes.code(e)) + 2 for e in entries) > _WIDE
    return nodes.dict_display(entries, broken=broken)


_WIDE = 72  # characters of a record's entries; beyond, each stands on a line of its own


def stored(low: Lowering, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
    """The value for a place in the state, a list or a dict: a copy unless it was made on the spot."""
    return updated if low.fresh(original) else nodes.call("_rt.copy", updated)


def writable(low: Lowering, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
    """A record found among raw ones, made writable if the body may write it."""
    state = low.written_view(original)
    if state is None or original in low.raw or not is_record(low.type(original), state):
        return updated
    return nodes.call(f"_state.{state}.edit_of", updated)


def leave_del(low: Lowering, original: cst.Del, updated: cst.Del) -> cst.BaseSmallStatement:
    if not low.is_role(original.target, "at", "collection"):
        return updated
    target = updated.target
    if isinstance(target, cst.Call):  # already `edit(key)`
        assert isinstance(target.func, cst.Attribute)
        owner, key = target.func.value, target.args[0].value
    else:
        assert isinstance(target, cst.Subscript)
        owner, key = target.value, _index(target)
    return cst.Expr(nodes.call(cst.Attribute(owner, cst.Name("remove")), key))


HANDLERS = {cst.Subscript: leave_subscript, cst.Del: leave_del}
