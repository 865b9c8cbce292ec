"""The language's semantics the slow way: records are objects, copies are deep, nothing is shared or optimised.

Written apart from the compiler: a block is run by Python itself over attribute dicts, with copies put in wherever the
language says that a value is copied (stored, listed, passed to a helper, returned by one).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Failed", "World", "run"]


class Failed(Exception):
    """The call failed with this message."""


class Record(dict[str, Any]):
    """A record or struct: fields as attributes."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __deepcopy__(self, memo: dict[int, Any]) -> Record:
        return Record({k: copy.deepcopy(v, memo) for k, v in self.items()})


class Collection(dict[str, Record]):
    """A collection; keys are made by a counter that never goes back."""

    def __init__(
        self, key: str, make: str, defaults: Mapping[str, Any], records: Mapping[str, Mapping[str, Any]]
    ) -> None:
        super().__init__(
            {k: Record({key: k, **copy.deepcopy(dict(defaults)), **_records(dict(r))}) for k, r in records.items()}
        )
        self.__dict__.update(
            key=key, make=make, defaults=defaults, top=max((int(k.split("-")[1]) for k in records), default=0)
        )

    def add(self, **fields: Any) -> Record:
        self.__dict__["top"] += 1
        name = self.make.format(n=self.top)
        self[name] = Record({self.key: name, **copy.deepcopy(dict(self.defaults)), **copy.deepcopy(fields)})
        return self[name]

    def remove(self, key: str) -> None:
        del self[key]


def _records(value: Any) -> Any:
    if isinstance(value, dict):
        return Record({k: _records(v) for k, v in value.items()})
    return [_records(v) for v in value] if isinstance(value, list) else value


class World:
    """States by name, and the helpers as Python functions over them."""

    def __init__(self, states: Mapping[str, Any], helpers: Mapping[str, tuple[list[str], str]]) -> None:
        self.states = dict(states)
        self.helpers = {name: self._function(params, body) for name, (params, body) in helpers.items()}

    def _function(self, params: list[str], body: str) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            return copy.deepcopy(run(self, body, dict(zip(params, copy.deepcopy(given), strict=True))))

        return call


def _require(condition: bool, message: str, rule: str = "") -> None:
    if not condition:
        raise Failed(message)


def _fail(message: str, rule: str = "") -> Any:
    raise Failed(message)


def _first(xs: Any, *default: Any) -> Any:
    for x in xs:
        return x
    if default:
        return default[0]
    raise Failed("nothing")


class _Copies(ast.NodeTransformer):
    """Put a deep copy wherever the language copies."""

    def _copied(self, node: ast.expr) -> ast.expr:
        return ast.Call(ast.Name("_copy", ast.Load()), [node], [])

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            node.value = self._copied(node.value)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        node.elt = self._copied(node.elt)
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        node.elts = [self._copied(e) for e in node.elts]
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        node.values = [self._copied(v) for v in node.values]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("sorted", "list", "reversed"):
            return self._copied(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "extend", "insert"):
            node.args = [self._copied(a) for a in node.args]
        return node


def run(world: World, body: str, names: Mapping[str, Any]) -> Any:
    """Run a block as the body of a function; its result, or Failed."""
    lines = "\n".join("    " + line for line in body.splitlines())
    tree = ast.parse(f"def block({', '.join(names)}):\n{lines}\n")
    tree = ast.fix_missing_locations(_Copies().visit(tree))
    scope: dict[str, Any] = {
        **world.states, **world.helpers, "require": _require, "fail": _fail, "first": _first, "_copy": copy.deepcopy,
        "count": lambda xs: sum(1 for _ in xs),
    }  # fmt: skip
    exec(compile(tree, "<block>", "exec"), scope)
    return scope["block"](**names)
