"""Loops: what they go through is charged to the call's budget, and yields writable records where the body writes them."""

from __future__ import annotations

import libcst as cst

from envscaler.compiler.transforms import index, nodes
from envscaler.compiler.transforms.base import Case, Lowering, is_record
from envscaler.compiler.transforms.fresh import fresh
from envscaler.spec.types import IterOf, ListOf, TupleOf, Type

CASES = (
    Case("for k in copies:\n    fail(k)", 'for k in _state.copies.keys():\n    raise _Failure("refused", k)'),
    Case(
        "for c in copies.values():\n    c.state = 'lost'",
        "for c in _state.copies.edit_values():\n    c[\"state\"] = 'lost'",
    ),
    Case(
        "for c in copies.values():\n    if c.state == 'lost' and c.title != '':\n        c.state = 'on_shelf'",
        "for c in (_state.copies[_k] for _k in _state.copies.keys()):\n"
        "    if c[\"state\"] == 'lost' and c[\"title\"] != '':\n"
        "        c = _state.copies.edit_of(c)\n        c[\"state\"] = 'on_shelf'",
    ),
    Case(
        "for m in loans.values():\n    if m.barcode == k:\n        m.returned = today",
        'for m in _rt.loop(_state, _state.loans.by(("barcode",), k)):\n    if m["barcode"] == k:\n'
        '        m = _state.loans.edit_of(m)\n        m["returned"] = _state._today',
        params="{k: {ref: copies}}",
    ),
    Case(
        "return [m.due for m in loans.values() if m.barcode == k and m.returned is None]",
        'return [m["due"] for m in _rt.loop(_state, _state.loans.by(("barcode",), k)) if m["returned"] is None]',
        params="{k: {ref: copies}}",
    ),
    Case(
        "n = 0\nfor c in copies.values():\n    n += 1\ncopies[k].state = 'lost'\nreturn n",
        "n = 0\nfor c in _state.copies.values():\n    n = _rt.integer(n + 1)\n"
        "_state.copies.edit(k)[\"state\"] = 'lost'\nreturn n",
        params="{k: {ref: copies}}",
    ),
    Case(
        "last = copies[k]\nfor c in copies.values():\n    last = c\nlast.state = 'lost'",
        "last = _state.copies.edit(k)\nfor c in _state.copies.edit_values():\n    last = c\nlast[\"state\"] = 'lost'",
        params="{k: {ref: copies}}",
    ),
    Case(
        "return [n for n in xs if n > 1]",
        "return [n for n in _rt.loop(_state, xs) if n > 1]",
        params="{xs: {list: int}}",
    ),
    Case(
        "for i, c in enumerate(copies.values()):\n    c.title = str(i)",
        'for i, c in _rt.loop(_state, enumerate(_state.copies.edit_values())):\n    c["title"] = str(i)',
    ),
)

_VIEWS = ("collection.keys", "collection.values", "collection.items")
_BESIDE = ("enumerate", "zip")
_EDITING = {"values": "edit_values", "items": "edit_items"}


def before_for(low: Lowering, node: cst.For) -> None:
    low.loops += 1
    written = _written_record(low, node.iter)
    if written is None:
        return
    outlives = any(_used_outside(low.body.module, node, n.value) for n in nodes.names_in(node.target))
    if outlives:
        low.editing.add(node)
    elif written in low.body.loop_edits.get(
        node, ()
    ):  # the body writes the state, or binds a part of it to another name
        chosen = isinstance(node.target, cst.Name) and low.is_role(node.iter, "method", "collection.values")
        choice = _choice(node)
        chosen = chosen and choice is not None and not _writes(low, choice.test, written)
        (low.choosing if chosen else low.editing).add(node)


def _written_record(low: Lowering, iterable: cst.BaseExpression) -> str | None:
    """The written state whose records, or parts of them, an iterable yields."""
    note = low.note(iterable)
    if note is None:
        return None
    if note.view in low.edits:
        return note.view
    of = note.type
    if not isinstance(of, (IterOf, ListOf)) or not _collection(low, iterable):
        return None
    return next((s for s in sorted(low.edits) if _holds(of.item, s)), None)


def _holds(of: Type, state: str) -> bool:
    return is_record(of, state) or (isinstance(of, TupleOf) and any(is_record(t, state) for t in of.items))


def _collection(low: Lowering, iterable: cst.BaseExpression) -> bool:
    """Whether an iterable goes over the records themselves, not over copies of them."""
    role = low.role(iterable)
    return role is not None and (role.name in _VIEWS or role.name in ("children", "walk"))


def _used_outside(module: cst.CSTNode, loop: cst.For, name: str) -> bool:
    """Whether ``name`` is read outside ``loop`` and outside what binds the name anew."""
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        if node is loop:
            stack.append(loop.iter)
        elif isinstance(node, cst.For) and any(n.value == name for n in nodes.names_in(node.target)):
            stack.append(node.iter)
        elif isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.DictComp)) and _binds(node.for_in, name):
            stack.append(node.for_in.iter)
        elif isinstance(node, (cst.Attribute, cst.Arg)):
            stack.append(node.value)
        elif isinstance(node, cst.Name) and node.value == name:
            return True
        else:
            stack.extend(node.children)
    return False


def _binds(comp: cst.CompFor, name: str) -> bool:
    if any(n.value == name for n in nodes.names_in(comp.target)):
        return True
    return comp.inner_for_in is not None and _binds(comp.inner_for_in, name)


def leave_for(low: Lowering, original: cst.For, updated: cst.For) -> cst.BaseStatement:
    low.loops -= 1
    if original in low.choosing:
        return _choosing(low, original, updated)
    return updated.with_changes(iter=iterated(low, original.iter, updated.iter, editing=original in low.editing))


def _choice(loop: cst.For) -> cst.If | None:
    """The one `if` that a loop's body consists of."""
    body = loop.body.body
    if len(body) == 1 and isinstance(body[0], cst.If) and body[0].orelse is None:
        return body[0]
    return None


def _writes(low: Lowering, test: cst.BaseExpression, state: str) -> bool:
    """Whether a condition writes the state, by a helper."""
    helpers = (role.name for n in nodes.children(test) if (role := low.role(n)) is not None and role.kind == "helper")
    return any(state in low.names.effects(name).edits for name in helpers)


def _choosing(low: Lowering, original: cst.For, updated: cst.For) -> cst.For:
    """Records are looked at raw, and only those that the `if` chooses are made writable."""
    choice, made = _choice(original), _choice(updated)
    assert choice is not None
    assert made is not None
    assert isinstance(updated.iter, cst.Call)
    assert isinstance(updated.iter.func, cst.Attribute)
    collection = updated.iter.func.value
    name = updated.target
    assert isinstance(name, cst.Name)
    found = index.lookup(low, original, choice.test, made.test, collection)
    if found is None:
        rows = nodes.expression(f"({nodes.code(collection)}[_k] for _k in {nodes.code(collection)}.keys())")
    else:
        rows = nodes.call("_rt.loop", nodes.ref("_state"), found.rows)
    take = nodes.line(nodes.assign(name, nodes.call(cst.Attribute(collection, cst.Name("edit_of")), name)))
    low.lines[take] = low.body.statement_lines.get(choice, 1)
    changed = made.with_changes(body=made.body.with_changes(body=[take, *made.body.body]))
    low.lines[changed] = low.lines[made]
    return updated.with_changes(iter=rows, body=updated.body.with_changes(body=[changed]))


def leave_comp_for(low: Lowering, original: cst.CompFor, updated: cst.CompFor) -> cst.CompFor:
    if low.kind == "goal" and original.ifs and (new := fresh(low, original, updated)) is not None:
        return _over(low, updated, new)
    editing = original in low.editing and _written_record(low, original.iter) is not None
    if not editing and original.ifs and low.is_role(original.iter, "method", "collection.values"):
        assert isinstance(updated.iter, cst.Call)
        assert isinstance(updated.iter.func, cst.Attribute)
        first, made = original.ifs[0].test, updated.ifs[0].test
        found = index.lookup(low, original, first, made, updated.iter.func.value)
        if found is not None:
            return _over(low, updated, found)
    return updated.with_changes(iter=iterated(low, original.iter, updated.iter, editing=editing))


def _over(low: Lowering, updated: cst.CompFor, found: index.Found) -> cst.CompFor:
    """The comprehension over only those records that its first condition would let pass."""
    rows = found.rows if low.kind == "rule" else nodes.call("_rt.loop", nodes.ref("_state"), found.rows)
    rest = [] if found.rest is None else [updated.ifs[0].with_changes(test=found.rest)]
    return updated.with_changes(iter=rows, ifs=[*rest, *updated.ifs[1:]])


def iterated(
    low: Lowering, original: cst.BaseExpression, updated: cst.BaseExpression, *, editing: bool
) -> cst.BaseExpression:
    """What a loop goes through: collections charge by themselves, anything else by `_rt.loop`."""
    role = low.role(original)
    if role is not None and role.kind == "state" and not low.names.spec.states[role.name].single:
        return nodes.call(cst.Attribute(updated, cst.Name("keys")))
    if role is not None and role.kind == "method" and role.name in _VIEWS:
        assert isinstance(updated, cst.Call)
        assert isinstance(updated.func, cst.Attribute)
        method = updated.func.attr.value
        changed = updated.func.with_changes(attr=cst.Name(_EDITING.get(method, method) if editing else method))
        return updated.with_changes(func=changed)
    if editing and role is not None and role.kind == "call" and role.name in _BESIDE:
        updated = _beside(low, original, updated)
    if editing and role is not None and role.name in ("children", "walk"):
        state = _written_record(low, original)
        updated = nodes.expression(f"[_state.{state}.edit_of(_r) for _r in {nodes.code(updated)}]")
    if isinstance(original, (cst.List, cst.Tuple)):
        return updated
    return nodes.call("_rt.loop", nodes.ref("_state"), updated)


def _beside(low: Lowering, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
    """`enumerate(c.values())` over records that are written: what it goes through is made writable."""
    assert isinstance(original, cst.Call)
    assert isinstance(updated, cst.Call)
    args = []
    for before, after in zip(original.args, updated.args, strict=True):
        value, note = after.value, low.note(before.value)
        if note is not None and note.view in low.edits and _collection(low, before.value):
            value = iterated(low, before.value, after.value, editing=True)
        args.append(after.with_changes(value=value))
    return updated.with_changes(args=args)


BEFORE = {cst.For: before_for}
HANDLERS = {cst.For: leave_for, cst.CompFor: leave_comp_for}
