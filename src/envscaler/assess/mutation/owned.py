"""Records that a call has made ready to be written before: from then on, reading one and asking for it to write is the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

__all__ = ["with_owned"]

_ASKS = ("edit", "edit_or_none", "at", "get")
_WRITES = ("edit", "edit_or_none")

_Place = tuple[str, str]
"""A state's name, and the name of the local that holds the key; "" for a single record."""


def with_owned(tree: ast.Module) -> ast.Module:
    """The module with one form for all ways to such a record.

    The runtime gives what a call has made ready or added back as it is, whether asked to read or to write, until the call
    is over. Only what comes before on every path counts; keys are locals that are not bound anew in between.
    """
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    fresh = {f.name: state for f in functions if (state := _adds(f)) is not None}
    for function in functions:
        _Flow(fresh).block(function.body, frozenset())
    return tree


def _adds(function: ast.FunctionDef) -> str | None:
    """The state to which a helper adds a record whose key is all that it returns; None for others."""
    made: dict[str, tuple[str, str]] = {}
    bound: list[str] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.append(node.id)
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
            added = _added(statement.value)
            if added is not None and bound.count(target.id) == 1:
                made[target.id] = added
    returned = [n.value for n in ast.walk(function) if isinstance(n, ast.Return)]
    states = {_key_of(value, made) for value in returned}
    return states.pop() if len(states) == 1 and isinstance(function.body[-1], ast.Return) else None


def _added(value: ast.expr) -> tuple[str, str] | None:
    """The state to which an expression adds a record, and the field that is the key, which is the first."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "add":
        state, record = _state(value.func.value), value.args[0] if value.args else None
        if state and isinstance(record, ast.Dict) and record.keys and isinstance(record.keys[0], ast.Constant):
            return state, str(record.keys[0].value)
    return None


def _key_of(value: ast.expr | None, made: dict[str, tuple[str, str]]) -> str | None:
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and isinstance(value.slice, ast.Constant):
        state, key = made.get(value.value.id, ("", ""))
        if state and value.slice.value == key:
            return state
    return None


def _state(node: ast.expr) -> str:
    """The name of the state that `_state.name` is; "" for others."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "_state":
        return node.attr
    return ""


class _Flow:
    """Goes through the statements of a function in the order in which they run."""

    def __init__(self, fresh: dict[str, str]) -> None:
        self.fresh = fresh

    def block(self, statements: list[ast.stmt], owned: frozenset[_Place]) -> frozenset[_Place] | None:
        """What is owned after some statements; None where they do not come to their end."""
        for statement in statements:
            after = self.statement(statement, owned)
            if after is None:
                return None
            owned = after
        return owned

    def statement(self, node: ast.stmt, owned: frozenset[_Place]) -> frozenset[_Place] | None:
        if isinstance(node, ast.If):
            node.test = _rewritten(node.test, owned)
            owned = self._after(node.test, owned)
            ends = [end for body in (node.body, node.orelse) if (end := self.block(body, owned)) is not None]
            return None if not ends else frozenset.intersection(*ends)
        if isinstance(node, ast.For):
            node.iter = _rewritten(node.iter, owned)
            inside = _kept(node, self._after(node.iter, owned))
            self.block(node.body, inside)
            self.block(node.orelse, inside)
            return inside
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Delete):
            for name, value in ast.iter_fields(node):
                if isinstance(value, ast.expr):
                    setattr(node, name, _rewritten(value, owned))
                elif isinstance(value, list):
                    setattr(node, name, [_rewritten(v, owned) if isinstance(v, ast.expr) else v for v in value])
            return self._after(node, owned)
        if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
            return None
        return owned if isinstance(node, ast.Pass) else frozenset()

    def _after(self, node: ast.AST, owned: frozenset[_Place]) -> frozenset[_Place]:
        """What is owned after a node that has no statements in it."""
        bound, removes = _bound(node), _removes(node)
        made = {place for inner in _always(node) if (place := _place(inner, _WRITES)) is not None}
        now = {(s, k) for s, k in owned | made if not k or not (removes or k in bound)}
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            state, target = self.fresh.get(node.value.func.id), node.targets[0]
            if state is not None and isinstance(target, ast.Name):
                now.add((state, target.id))
        return frozenset(now)


def _kept(node: ast.For, owned: frozenset[_Place]) -> frozenset[_Place]:
    """What stays owned through every round of a loop."""
    bound, removes = _bound(node), _removes(node)
    return frozenset((s, k) for s, k in owned if not k or not (removes or k in bound))


def _bound(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _removes(node: ast.AST) -> bool:
    """Whether records may be removed: by a statement or method for that, or by a helper."""
    return any(
        isinstance(n, ast.Delete)
        or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id.startswith("helper_"))
        or (isinstance(n, ast.Attribute) and n.attr in ("remove", "pop", "clear"))
        for n in ast.walk(node)
    )


def _always(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes within that are evaluated whenever the node is."""
    yield node
    if isinstance(node, ast.BoolOp):
        inner: list[ast.AST] = [node.values[0]]
    elif isinstance(node, ast.IfExp):
        inner = [node.test]
    elif isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        inner = []
    elif isinstance(node, ast.Compare):
        inner = [node.left, node.comparators[0]]
    else:
        inner = list(ast.iter_child_nodes(node))
    for child in inner:
        yield from _always(child)


def _place(node: ast.AST, ways: tuple[str, ...]) -> _Place | None:
    """The record that an expression asks for in one of these ways."""
    if isinstance(node, ast.Attribute) and node.attr == "value" and "get" in ways and isinstance(node.ctx, ast.Load):
        state = _state(node.value)
        return (state, "") if state else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in ways:
        return None
    state = _state(node.func.value)
    if not state or node.keywords or len(node.args) > 1:
        return None
    if not node.args:
        return (state, "") if node.func.attr == "edit" else None
    key = node.args[0]
    return (state, key.id) if isinstance(key, ast.Name) else None


def _rewritten(node: ast.expr, owned: frozenset[_Place]) -> ast.expr:
    return _Named(owned).visit(node) if owned else node


class _Named(ast.NodeTransformer):
    def __init__(self, owned: frozenset[_Place]) -> None:
        self.owned = owned

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return node  # names may mean something else there
        place = _place(node, _ASKS)
        if place is not None and place in self.owned:
            return ast.Name(f"<own {place[0]} {place[1]}>", ast.Load())
        return self.generic_visit(node)
