"""Records that a call has made ready to be written before: from then on, reading one and asking for it to write is the same."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["with_owned"]

_ASKS = ("edit", "edit_or_none", "at", "get")
_WRITES = ("edit", "edit_or_none")

_Place = tuple[str, str]
"""A state's name, and the local that holds the key, or `x[field]` of a record; "" for a single record."""


def with_owned(tree: ast.Module) -> ast.Module:
    """The module with one form for all ways to such a record.

    The runtime gives what a call has made ready or added back as it is, whether asked to read or to write, until the call
    is over. Only what comes before on every path counts, in a helper on every path to it; keys are locals that are not
    bound anew in between.
    """
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    fresh = {name: state for name, f in functions.items() if (state := _adds(f)) is not None}
    known = _Known(functions, fresh, _removing(functions))
    begins = _begins(tree, known)
    for name, function in functions.items():
        _Flow(known, rewrites=True).block(function.body, begins[name])
    return tree


@dataclass(frozen=True, slots=True)
class _Known:
    """``fresh``: helpers that return the key of a record they add, with its state; ``removing``: those that remove records."""

    functions: Mapping[str, ast.FunctionDef]
    fresh: Mapping[str, str]
    removing: frozenset[str]


def _removing(functions: Mapping[str, ast.FunctionDef]) -> frozenset[str]:
    found = {name for name, f in functions.items() if _removes(f, frozenset())}
    while more := {n for n, f in functions.items() if n not in found and _removes(f, frozenset(found))}:
        found |= more
    return frozenset(found)


def _begins(tree: ast.Module, known: _Known) -> dict[str, frozenset[_Place]]:
    """What is owned where a function begins: in a helper, what is so wherever it is called.

    A helper that is named elsewhere than in calls that the flow comes by may be called by anybody.
    """
    named = Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in known.functions)
    begins: dict[str, frozenset[_Place]] = dict.fromkeys(known.functions, frozenset())
    while True:
        called: dict[str, list[frozenset[_Place]]] = {}
        for name, function in known.functions.items():
            flow = _Flow(known)
            flow.block(function.body, begins[name])
            for helper, owned in flow.calls:
                called.setdefault(helper, []).append(owned)
        made = dict.fromkeys(known.functions, frozenset[_Place]())
        for name, sites in called.items():
            if name.startswith("helper_") and len(sites) == named[name]:
                made[name] = frozenset.intersection(*sites)
        if made == begins:
            return begins
        begins = made


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

    def __init__(self, known: _Known, rewrites: bool = False) -> None:
        self.known = known
        self.rewrites = rewrites
        self.calls: list[tuple[str, frozenset[_Place]]] = []

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
            node.test = self._seen(node.test, owned)
            owned = self._after(node.test, owned)
            ends = [end for body in (node.body, node.orelse) if (end := self.block(body, owned)) is not None]
            return None if not ends else frozenset.intersection(*ends)
        if isinstance(node, ast.For):
            node.iter = self._seen(node.iter, owned)
            inside = self._kept(node, self._after(node.iter, owned))
            self.block(node.body, inside)
            self.block(node.orelse, inside)
            return inside
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Delete):
            for name, value in ast.iter_fields(node):
                if isinstance(value, ast.expr):
                    setattr(node, name, self._seen(value, owned))
                elif isinstance(value, list):
                    setattr(node, name, [self._seen(v, owned) if isinstance(v, ast.expr) else v for v in value])
            return self._after(node, owned)
        if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
            self._note(node, owned)
            return None
        return owned if isinstance(node, ast.Pass) else frozenset()

    def _seen(self, node: ast.expr, owned: frozenset[_Place]) -> ast.expr:
        """The expression, its calls of helpers noted, rewritten if that is wanted."""
        self._note(node, owned)
        return _Named(owned).visit(node) if owned and self.rewrites else node

    def _note(self, node: ast.AST, owned: frozenset[_Place]) -> None:
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and (name := _helper(call)) in self.known.functions:
                params = [a.arg for a in self.known.functions[name].args.args]
                keys = {_key(arg): param for arg, param in zip(call.args, params, strict=False)}
                left = _left(owned, node, self.known.removing)
                places = {(state, keys[key] if key else "") for state, key in left if not key or key in keys}
                self.calls.append((name, frozenset(places)))

    def _after(self, node: ast.AST, owned: frozenset[_Place]) -> frozenset[_Place]:
        """What is owned after a node that has no statements in it."""
        made = {place for inner in _always(node) if (place := _place(inner, _WRITES)) is not None}
        now = set(_left(owned | made, node, self.known.removing))
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name):
            added = _added(node.value)
            state = self.known.fresh.get(_helper(node.value))
            if state is not None:
                now.add((state, target.id))
            elif added is not None:
                now.add((added[0], f"{target.id}[{added[1]}]"))
        return frozenset(now)

    def _kept(self, node: ast.For, owned: frozenset[_Place]) -> frozenset[_Place]:
        """What stays owned through every round of a loop."""
        return _left(owned, node, self.known.removing)


def _left(owned: Iterable[_Place], node: ast.AST, removing: frozenset[str]) -> frozenset[_Place]:
    """What stays owned: single records, and those whose keys are not bound anew where no record is removed."""
    bound, removes = _bound(node), _removes(node, removing)
    return frozenset((s, k) for s, k in owned if not k or not (removes or k.partition("[")[0] in bound or k in bound))


def _bound(node: ast.AST) -> set[str]:
    """Locals, and fields of locals, that a node writes."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    written = (n for n in ast.walk(node) if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load))
    return found | {_key(n) for n in written}


def _helper(node: ast.expr) -> str:
    """The name of the function that is called by its name; "" for anything else."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _key(node: ast.expr) -> str:
    """What names a key in a place; "" where nothing does."""
    match node:
        case ast.Name(name):
            return name
        case ast.Subscript(ast.Name(name), ast.Constant(str(field))):
            return f"{name}[{field}]"
    return ""


def _removes(node: ast.AST, removing: frozenset[str]) -> bool:
    """Whether records may be removed: by a statement or method for that, or by a helper."""
    return any(
        isinstance(n, ast.Delete)
        or (isinstance(n, ast.Call) and _helper(n) in removing)
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
    key = _key(node.args[0])
    return (state, key) if key else None


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
