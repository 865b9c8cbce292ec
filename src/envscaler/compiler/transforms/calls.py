"""Calls: built-ins to the runtime's functions, helpers and constructors to what the module defines."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from envscaler.compiler.transforms import arithmetic, conversions, failures, lookups, nodes, texts
from envscaler.compiler.transforms.base import Case, Lowering, is_record
from envscaler.spec.language import BUILTINS, METHODS
from envscaler.spec.logic.relations import container
from envscaler.spec.logic.storing import number_literal
from envscaler.spec.types import DATE, FLOAT, MONEY, NUMBER, STR, IterOf, ListOf, strip_null

CASES = (
    Case("return count(c for c in copies.values() if c.state == 'lost')",
         "return sum(1 for c in _state.copies.values() if c[\"state\"] == 'lost')"),
    Case("return first(c for c in copies.values() if c.state == 'lost').title",
         "return _rt.first(c for c in _state.copies.values() if c[\"state\"] == 'lost')[\"title\"]"),
    Case("c = first(c for c in copies.values())\nc.state = 'lost'",
         "c = _state.copies.edit_of(_rt.first(c for c in _state.copies.values()))\nc[\"state\"] = 'lost'"),
    Case("return len(open_loans(member))", "return len(helper_open_loans(_state, member))",
         params="{member_id: {ref: members, as: member}}"),
    Case("members[k].paid_by.append(Card(last_four='1234'))",
         "_state.members.edit(k)[\"paid_by\"].append({\"last_four\": '1234', \"by\": \"card\"})", params="{k: {ref: members}}"),
    Case("return rand_int(1, 6)", "return _rt.rand_int(_state, 1, 6)"),
    Case("return rand_float(0, 1.5)", "return _rt.rand_float(_state, 0, 1.5)"),
    Case("return float(fee)", "return fee / 100", params="{fee: money}"),
    Case("return instant_at(today, now.time, 'Europe/Paris')",
         "return _rt.instant_at(_state._today, _rt.time_part(_state._now), 'Europe/Paris')"),
    Case("return [round(n / 3, 2), round(n / 3, n)]", "return [round(n / 3, 2), _rt.round_to(n / 3, n)]", params="{n: int}"),
    Case("return words.zfill(8)", 'return _rt.zfill(words, 8)', params="{words: str}"),
)  # fmt: skip

PARAMETERS: dict[str, tuple[str, ...]] = {
    "require": ("condition", "message", "rule"), "fail": ("message", "rule"), "first": ("xs", "default"), "count": ("xs",),
    "reversed": ("xs",), "list": ("xs",), "len": ("x",), "abs": ("x",), "round": ("x", "digits"), "int": ("x",),
    "float": ("x",), "str": ("x",), "money": ("x",), "as_type": ("x", "T"), "is_type": ("x", "T"),
    "add_months": ("date", "n"), "date": ("x",), "time": ("x",), "instant": ("x", "time"), "choice": ("xs",),
    "child": ("tree", "key", "name"), "children": ("tree", "key"), "walk": ("tree", "key"), "path": ("tree", "key"),
    "collection.get": ("key",), "collection.remove": ("key",), "range": ("start", "stop", "step"),
    "enumerate": ("xs", "start"), "any": ("xs",), "all": ("xs",), "sum": ("xs",), "list.append": ("x",),
    "list.extend": ("ys",), "list.insert": ("i", "x"), "list.remove": ("x",), "list.pop": ("i",), "list.index": ("x",),
    "list.count": ("x",), "str.join": ("texts",), "dict.get": ("key", "default"), "dict.pop": ("key", "default"),
    "dict.update": ("other",), "struct.get": ("field",), "struct.update": ("partial",),
}  # fmt: skip
"""Names by which arguments may be given; in Python they are given by place. For `min`, `max`, `sorted`, `sort` see Python."""

Call = Callable[[Lowering, cst.Call, cst.Call], cst.BaseExpression]


def before_call(low: Lowering, node: cst.Call) -> None:
    """Where a part of a record is picked out of many records, the records must be writable ones."""
    state = low.written_view(node)
    part = state is not None and node not in low.raw and not is_record(low.type(node), state)
    if part and low.is_role(node, "call"):
        low.editing.update(n for n in nodes.children(node) if isinstance(n, cst.CompFor))
    role = low.role(node)
    if (
        role is not None
        and role.kind == "method"
        and METHODS[role.name].writes
        and isinstance(node.func, cst.Attribute)
    ):
        low.editing.add(node.func.value)


def leave_call(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    role = low.role(original)
    if role is None:
        return updated
    if role.kind in ("call", "method") and role.name in PARAMETERS:
        original, updated = _placed(low, original, updated, PARAMETERS[role.name])
    match role.kind:
        case "helper":
            return _helper(low, original, updated, role.name)
        case "construct":
            assert role.struct is not None
            return lookups.display(low, lookups.stored_arguments(low, original, updated), role.struct.fields)
        case "method":
            return _method(low, original, updated, role.name)
        case "call":
            return _builtin(low, original, updated, role.name)
    return updated


def _placed(low: Lowering, original: cst.Call, updated: cst.Call, order: tuple[str, ...]) -> tuple[cst.Call, cst.Call]:
    """Both forms of the call with named arguments moved to their places."""
    if all(a.keyword is None for a in original.args):
        return original, updated
    pairs = list(zip(original.args, updated.args, strict=True))
    place = {id(a): order.index(a.keyword.value) if a.keyword is not None else n for n, (a, _) in enumerate(pairs)}
    pairs.sort(key=lambda pair: place[id(pair[0])])
    moved = nodes.call(updated.func, *(b.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT) for _, b in pairs))
    placed = original.with_changes(args=[a for a, _ in pairs])
    low.notes[placed] = low.notes[original]
    for marks in (low.raw, low.editing, low.returned):
        if original in marks:
            marks.add(placed)
    return placed, moved


def _helper(low: Lowering, original: cst.Call, updated: cst.Call, name: str) -> cst.BaseExpression:
    effects = low.names.effects(name)
    written = effects.edits
    args = [
        after.with_changes(value=nodes.call("_rt.copy", after.value)) if low.source(before.value) in written else after
        for before, after in zip(original.args, updated.args, strict=True)
    ]
    made = nodes.call(low.names.helper(name), nodes.ref("_state"), *args)
    shared = not low.edits.isdisjoint(state for state, _ in effects.reads) and container(low.type(original))
    return nodes.call("_rt.copy", made) if shared and original not in low.returned else made


def _values(call: cst.Call) -> list[cst.BaseExpression]:
    return [a.value for a in call.args]


def _builtin(low: Lowering, original: cst.Call, updated: cst.Call, name: str) -> cst.BaseExpression:
    special = _SPECIAL.get(name)
    if special is not None:
        return special(low, original, updated)
    runtime = BUILTINS[name].runtime
    return updated.with_changes(func=nodes.ref(f"_rt.{runtime}")) if runtime else updated


def _picked(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    """`min`, `max`: Python's own, the record found made writable where needed."""
    return lookups.writable(low, original, updated)


def _first(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    args = _values(updated)
    made = nodes.call("_rt.first" if len(args) == 1 else "_rt.first_or", *args)
    return lookups.writable(low, original, made)


def _count(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    value = updated.args[0].value
    if isinstance(value, cst.GeneratorExp):
        counted = value.with_changes(elt=cst.Integer("1"), lpar=[], rpar=[])
        return nodes.call("sum", counted)
    return nodes.call("_rt.count" if isinstance(low.type(original.args[0].value), IterOf) else "len", value)


def _round(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    """Python's own takes its time with whole numbers and a great many digits, so that digits must be few."""
    digits = number_literal(original.args[1].value) if len(updated.args) > 1 else "0"
    few = digits is not None and len(digits) <= 3
    return updated if few else nodes.call("_rt.round_to", *_values(updated))


def _list_copies(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    """`sorted` and `list`: the elements are copies, which matters where the body writes the records."""
    shared = low.source(original) is not None and container(low.type(original))
    return nodes.call("_rt.copy", updated) if shared else updated


def _reversed(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    value = updated.args[0].value
    if isinstance(low.type(original.args[0].value), ListOf):
        made: cst.BaseExpression = nodes.expression(f"{nodes.code(nodes.enclosed(value))}[::-1]")
    else:
        made = nodes.expression(f"list({nodes.code(value)})[::-1]")
    shared = low.source(original) is not None and container(low.type(original))
    return nodes.call("_rt.copy", made) if shared else made


def _float(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    value = updated.args[0].value
    of = low.plain(original.args[0].value)
    if of == MONEY:
        return nodes.binary(value, cst.Divide(), cst.Integer("100"))
    return updated if of in (FLOAT, NUMBER) or str(of) == "int" else nodes.call("_rt.to_float", value)


def _int(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    return nodes.call("_rt.to_int", *_values(updated))


def _str(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    value = updated.args[0].value
    of = low.type(original.args[0].value)
    shown = texts.shown(low, of, value)
    if of == MONEY:
        return shown
    return value if low.plain(original.args[0].value) == STR and of == strip_null(of) else nodes.call("str", shown)


def _money(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    before, after = original.args[0].value, updated.args[0].value
    return after if low.plain(before) == MONEY else conversions.as_money(before, after)


def _instant(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    zoned = low.names.spec.zoned
    if len(original.args) == 2 and low.plain(original.args[0].value) == DATE:
        return nodes.call("_rt.combine", *_values(updated), nodes.ref(str(zoned)))
    return nodes.call("_rt.instant", *_values(updated), *([] if zoned else [nodes.ref("None"), nodes.ref("False")]))


def _instant_at(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
    zoned = low.names.spec.zoned
    return nodes.call("_rt.instant_at", *_values(updated), *([] if zoned else [nodes.ref("False")]))


def _with_state(function: str) -> Call:
    return lambda low, original, updated: nodes.call(f"_rt.{function}", nodes.ref("_state"), *_values(updated))


def _as_type(function: str) -> Call:
    def made(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        of = low.type(original.args[1].value)
        return nodes.call(f"_rt.{function}", nodes.expression(low.names.shape(of)), updated.args[0].value)

    return made


def _tree(function: str) -> Call:
    """A function over a tree. What it gives is raw; where the body may write it, loops make each record writable."""

    def made(low: Lowering, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        found = nodes.call(f"_rt.{function}", *_values(updated))
        if function == "child":
            return lookups.writable(low, original, found)
        return found

    return made


def _method(low: Lowering, original: cst.Call, updated: cst.Call, name: str) -> cst.BaseExpression:
    owner, _, method = name.partition(".")
    assert isinstance(original.func, cst.Attribute)
    assert isinstance(updated.func, cst.Attribute)
    value, args = updated.func.value, _values(updated)
    if owner == "collection":
        return lookups.collection_method(low, original, updated, method)
    if method in ("ljust", "rjust", "center", "zfill") and owner == "str":
        return nodes.call(f"_rt.{method}", value, *args)
    if owner == "str" and method == "replace":
        return nodes.call("_rt.replace", value, *args)
    if owner == "str" and method == "join":
        return nodes.call("_rt.join", value, *args)
    if method == "copy":
        return nodes.call("_rt.copy", value)
    if method in ("append", "insert", "extend", "update"):
        last = lookups.stored(low, original.args[-1].value, args[-1])
        last = arithmetic.guarded(low, original.args[-1].value, last)
        if method == "extend":
            return nodes.call("_rt.extend", value, last)
        return updated.with_changes(args=[*updated.args[:-1], updated.args[-1].with_changes(value=last)])
    return updated


_SPECIAL: dict[str, Call] = {
    "first": _first,
    "min": _picked,
    "max": _picked,
    "count": _count,
    "sorted": _list_copies,
    "list": _list_copies,
    "reversed": _reversed,
    "round": _round,
    "float": _float,
    "int": _int,
    "str": _str,
    "money": _money,
    "instant": _instant,
    "instant_at": _instant_at,
    "rand_int": _with_state("rand_int"),
    "rand_float": _with_state("rand_float"),
    "choice": _with_state("choice"),
    "as_type": _as_type("as_type"),
    "is_type": _as_type("is_type"),
    "child": _tree("child"),
    "children": _tree("children"),
    "walk": _tree("walk"),
    "path": _tree("path"),
    "fail": failures.leave_fail,
}

BEFORE = {cst.Call: before_call}
HANDLERS = {cst.Call: leave_call}
