"""Copies of records that nobody can tell from the records, since nothing of what is read of them is written meanwhile."""

from __future__ import annotations

import ast

from envscaler.spec.checked import Checked, Effects
from envscaler.spec.types import Struct

__all__ = ["is_idle_copy"]


def is_idle_copy(text: str, owner: str, checked: Checked) -> bool:
    """Whether the one `x = deepcopy(record)` of a module, in the code of `tool NAME` or `helper NAME`, changes nothing.

    It does not where `x` is only held against None and asked for fields that, by the effects of the block, neither it nor a
    helper that it calls writes, nor takes away with the record.
    """
    effects = _effects(owner, checked)
    for function in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            found = _copied(node)
            if found is not None and effects is not None:
                name, state = found
                return _untouched(state, _read(function, name), effects, checked)
    return False


def _effects(owner: str, checked: Checked) -> Effects | None:
    kind, _, name = owner.partition(" ")
    blocks = {"tool": checked.tools, "helper": checked.helpers}.get(kind, {})
    return blocks[name].effects if name in blocks else None


def _copied(node: ast.AST) -> tuple[str, str] | None:
    """Name and state of `name = __import__("copy").deepcopy(_state.STATE.method(…))`."""
    match node:
        case ast.Assign(
            [ast.Name(name)],
            ast.Call(
                ast.Attribute(ast.Call(ast.Name("__import__"), [ast.Constant("copy")]), "deepcopy"),
                [ast.Call(ast.Attribute(ast.Attribute(ast.Name("_state"), state)))],
            ),
        ):
            return name, state
    return None


def _read(function: ast.FunctionDef, name: str) -> set[str] | None:
    """The fields that a function reads of a local; None when it does anything else with it."""
    fields: set[str] = set()
    allowed = 0
    for node in ast.walk(function):
        match node:
            case ast.Subscript(ast.Name(id), ast.Constant(str(field)), ast.Load()) if id == name:
                fields.add(field)
                allowed += 1
            case ast.Compare(ast.Name(id), [ast.Is() | ast.IsNot()], [ast.Constant(None)]) if id == name:
                allowed += 1
    used = sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(function))
    return fields if used == allowed else None


def _untouched(state: str, fields: set[str] | None, effects: Effects, checked: Checked) -> bool:
    assert checked.spec is not None
    declared = checked.spec.states.get(state)
    if fields is None or declared is None or not isinstance(declared.record, Struct):
        return False
    known = {name: field.json for name, field in declared.record.fields.items()}
    if not fields <= {name for name, outside in known.items() if name == outside}:
        return False  # the key, or a field that the module calls otherwise
    return state not in effects.removes and not {(state, f) for f in ("", *fields)} & effects.writes
