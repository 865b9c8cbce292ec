"""Mutants that behave as the original does, where that can be proved: their modules are the same up to what is not run."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Set
from typing import Final

from envscaler.assess.mutation.owned import with_owned

__all__ = ["normal_form"]

_TIME: Final = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}\Z")
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def normal_form(text: str) -> str:
    """A module's code without what does not decide results and states: prose, places in the spec, its hash, types that
    nothing is of; with constant expressions folded, parts of constant times too, double negations undone, the operands of
    `==` and of a difference that is squared in one order, a local's text in its place where the code has just found that it
    is that text, and one form for all ways to a record that the call has made ready to be written before."""
    tree = with_owned(ast.parse(text))
    return ast.dump(_Normal(_times(tree)).visit(tree))


def _times(tree: ast.Module) -> dict[str, tuple[int, int]]:
    """Hour and minute of the module's constants that are times of day."""
    found: dict[str, tuple[int, int]] = {}
    bound = Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    for node in tree.body:
        match node:
            case ast.Assign([ast.Name(name)], ast.Constant(str(text))) if bound[name] == 1 and _TIME.match(text):
                found[name] = int(text[:2]), int(text[3:5])
    return found


class _Normal(ast.NodeTransformer):
    def __init__(self, times: Mapping[str, tuple[int, int]]) -> None:
        self.times = times

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        _without_prose(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        _without_prose(node)
        node.body = [s for s in node.body if not _told(s)] or [ast.Pass()]
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.generic_visit(node)
        _without_prose(node)
        read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        node.body = [s for s in node.body if not _unread_type(s, read)]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords = [k for k in node.keywords if k.arg not in ("line", "description")]
        if isinstance(node.func, ast.Name) and node.func.id == "_Failure" and len(node.args) == 4:
            node.args = node.args[:3]  # the fourth is a line of the spec
        match node:
            case ast.Call(ast.Attribute(ast.Name("_rt"), "hour" | "minute" as part), [ast.Name(name)]):
                if name in self.times:
                    return ast.Constant(self.times[name][part == "minute"])
            case ast.Call(ast.Attribute(ast.Name("_rt"), "mul"), [ast.Constant(int(one)), ast.Constant(int(two))]):
                return ast.Constant(one * two)
            case ast.Call(
                ast.Attribute(ast.Name("_rt"), "power"),
                [ast.BinOp(left, ast.Sub(), right) as inner, ast.Constant(int(exponent))],
            ):
                if exponent % 2 == 0 and _quiet(left) and _quiet(right) and ast.dump(right) < ast.dump(left):
                    inner.left, inner.right = right, left
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        text = ""
        for part in node.values:
            match part:
                case ast.FormattedValue(ast.Constant(str(inner)), -1, None) | ast.Constant(str(inner)):
                    text += inner
                case _:
                    return node
        return ast.Constant(text)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not):
            if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
                return inner.operand
            if isinstance(inner, ast.Compare) and len(inner.ops) == 1 and type(inner.ops[0]) in _TURNED:
                return ast.Compare(inner.left, [_TURNED[type(inner.ops[0])]()], inner.comparators)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            left, right = node.left, node.comparators[0]
            if _quiet(left) and _quiet(right) and ast.dump(right) < ast.dump(left):
                node.left, node.comparators = right, [left]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = node.left, node.right
        if not (isinstance(left, ast.Constant) and isinstance(right, ast.Constant)):
            return node
        if type(left.value) is int and type(right.value) is int:
            if isinstance(node.op, ast.Add):
                return ast.Constant(left.value + right.value)
            if isinstance(node.op, ast.Sub):
                return ast.Constant(left.value - right.value)
            if isinstance(node.op, ast.Mult):
                return ast.Constant(left.value * right.value)
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        match node.test:
            case ast.Compare(ast.Name(name), [ast.Eq()], [ast.Constant(str(text))]):
                _fill(node.body, name, text)
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):  # the side that is never taken
            return node.body if node.test.value else node.orelse or [ast.Pass()]
        return node


def _fill(body: list[ast.stmt], name: str, text: str) -> None:
    """Put a text in the place of a local, up to where that may be bound anew."""
    for number, statement in enumerate(body):
        if any(_binds(node, name) for node in ast.walk(statement)):
            return
        body[number] = _Filled(name, text).visit(statement)


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(inner):
            return inner == name and not isinstance(node.ctx, ast.Load)
        case ast.arg(inner):
            return inner == name
    return False


class _Filled(ast.NodeTransformer):
    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(self.text) if node.id == self.name else node


def _quiet(node: ast.expr) -> bool:
    """Whether reading an expression can neither fail nor change anything, so that its place does not matter."""
    return isinstance(node, ast.Name | ast.Constant)


def _unread_type(statement: ast.stmt, read: Set[str]) -> bool:
    """Whether it describes a type that no field, parameter or result is of, as one that only helpers pass on."""
    match statement:
        case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(ast.Name("_s"), "Struct"))):
            return name not in read
    return False


def _without_prose(node: ast.FunctionDef | ast.ClassDef | ast.Module) -> None:
    if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
        node.body = node.body[1:] or [ast.Pass()]


def _told(statement: ast.stmt) -> bool:
    """Whether it sets what is only told: the hash, the texts, the places of the spec."""
    return isinstance(statement, ast.Assign) and any(
        isinstance(t, ast.Name) and t.id in ("spec_hash", "source", "title", "description", "doc_text", "version")
        for t in statement.targets
    )
