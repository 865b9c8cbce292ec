"""The end of a tool that keeps by itself what it writes: check the new versions, then store them with nothing in between.

The last lines store and call nothing: so not even an interrupt can come when only a part is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from envscaler.compiler.checks import Changes, Check, changes_of, part_checks, unchanged
from envscaler.compiler.direct import Added, Direct, View
from envscaler.compiler.literals import quoted
from envscaler.compiler.statement import Stmt, inside_f, logic
from envscaler.spec.checked import Effects
from envscaler.spec.model import KeyDef, StateDef
from envscaler.spec.types import INT

__all__ = ["Row", "copies", "counter", "ending", "made_key"]

_LATER = re.compile(r"_state\._mark\(|\bevery\[|\.require_tree\(|\._require_unreferred\(")
"""Checks that can only be made of a state in which the change was made."""


Row = tuple[str, int]
"""A line of code, and the line of the spec it stands for."""


def ending(module: Check, plan: Direct, effects: Effects, line: int) -> list[Row] | None:
    """The lines after the body, `_value` being the result; None when some check needs the changed state.

    ``line``: of the tool in the spec, for what stands for no line of its own.
    """
    written = replace(changes_of(module.spec, [effects]), adds=frozenset(), removes=frozenset())
    made: list[Row] = []
    for entry in _in_order(plan):
        if isinstance(entry, View):
            rows = list(_changed(replace(module, changes=written), entry, line))
        else:
            added = Changes(frozenset(), frozenset({entry.state.name}), frozenset(), new_only=True)
            rows = list(_new(replace(module, changes=added), entry, line))
        text = logic("\n".join(code for code, _ in rows))
        if _LATER.search(text) or (".require_unique(" in text and len(plan.touched(entry.state)) > 1):
            return None
        made += rows
    return [*made, *((row, line) for row in _stored(plan))]


def _rows(statements: Iterable[Stmt], indent: str = "") -> Iterator[Row]:
    for statement in statements:
        for row in statement.code.split("\n"):
            yield indent + row, statement.line


def _in_order(plan: Direct) -> Iterator[View | Added]:
    """What is checked, in the order of a transaction: collections as they were first touched, then their records."""
    for state in dict.fromkeys(x.state.name for x in plan.order):
        yield from (x for x in plan.order if x.state.name == state and (isinstance(x, Added) or x.written))


def _changed(module: Check, view: View, line: int) -> Iterator[Row]:
    """A record that is equal to what it was is forgotten, any other checked."""
    checks = [*part_checks(module, view.state), _enlisted(view.state, line)]
    yield f"key, old, new = {view.key}, {view.old}, {view.name}", line
    yield f"if {unchanged(module, view.state)}:", line
    yield f"    {view.name} = None", line
    yield "else:", line
    yield from _rows(checks, "    ")


def _new(module: Check, added: Added, line: int) -> Iterator[Row]:
    assert added.state.key is not None
    yield f"key, new = {added.name}[{quoted(added.state.key.name)}], {added.name}", line
    yield from _rows([*part_checks(module, added.state), _enlisted(added.state, line)])


def _enlisted(state: StateDef, line: int) -> Stmt:
    """Versions are found by their values from then on, if anything is looked up by value at all."""
    return Stmt(f"if _state.{state.name}.overlay is not None:\n    _state.{state.name}.enlist(key, new)", line)


def _stored(plan: Direct) -> Iterator[str]:
    views = [v for v in plan.views if v.written]
    yield "# All of it holds: keep it. Nothing below can fail or be interrupted."
    if plan.adds:
        yield "_result = _Changed()"
    else:
        yield f"_result = _Ok() if {' and '.join(f'{v.name} is None' for v in views)} else _Changed()"
    yield "_result.value = _value"
    for name in dict.fromkeys(x.state.name for x in plan.order if isinstance(x, Added) or x.written):
        yield from _stored_in(plan, name)
    yield "return _result"


def _stored_in(plan: Direct, name: str) -> Iterator[str]:
    views = [v for v in plan.views if v.written and v.state.name == name]
    adds = [a for a in plan.adds.values() if a.state.name == name]
    to = f"_to_{name}"
    yield f"{to} = _state.{name}"
    for view in views:
        yield f"if {view.name} is not None:"
        yield f"    {to}.own[{view.key}] = {view.name}"
    for added in adds:
        assert added.state.key is not None
        yield f"{to}.own[{added.name}[{quoted(added.state.key.name)}]] = {added.name}"
    if adds:
        yield f"{to}.added += {len(adds)}"
        yield f"{to}.top = {counter(name)} + {len(adds)}"
    indent = "    " if len(views) == 1 and not adds else ""
    if len(views) > 1 and not adds:
        yield f"if {' or '.join(f'{v.name} is not None' for v in views)}:"
        indent = "    "
    yield f"{indent}{to}.merged = None"
    yield f"{indent}{to}.get = {to}.look"


def counter(name: str) -> str:
    """The local name of a collection's counter."""
    return f"_top_{name}"


def made_key(key: KeyDef, number: int, name: str) -> str:
    """The expression of the key that the ``number``-th record added to a collection gets."""
    value = f"{counter(name)} + {number}"
    if key.type.of == INT:
        return value
    assert key.make is not None
    before, _, rest = key.make.partition("{n")
    form, _, after = rest.partition("}")
    return f'f"{inside_f(before)}{{{value}{form}}}{inside_f(after)}"'


def copies(plan: Direct) -> Iterator[str]:
    """The statements that copy the records before the first of them is written."""
    done: dict[str, View] = {}
    for view in plan.views:
        other = done.setdefault(view.state.name, view)
        copy = f"{view.name}.copy()" if view.shallow else f"_state.{view.state.name}.clone({view.name})"
        if other is view:
            yield from _own(view, copy)
            continue
        if view.written:
            yield f"{view.old} = {view.name}"
        if view.written and other.written:
            yield f"{view.name} = {other.name} if {view.old} is {other.old} else {copy}"
        elif view.written:
            yield f"{view.name} = {copy}"
            yield f"if {other.name} is {view.old}:"
            yield f"    {other.name} = {view.name}"
        elif other.written:
            yield f"if {view.name} is {other.old}:"
            yield f"    {view.name} = {other.name}"


def _own(view: View, copy: str) -> Iterator[str]:
    if view.written:
        yield f"{view.old}, {view.name} = {view.name}, {copy}"
