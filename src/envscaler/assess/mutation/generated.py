"""A generated module as text with places: its functions by tool and helper, lines and offsets, the spec's line of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from envscaler.assess.mutation.blocks import pair
from envscaler.assess.mutation.mutants import Edit, Site
from envscaler.compiler import CompiledModule
from envscaler.spec.checked import Checked
from envscaler.spec.model import Spec

__all__ = ["Generated"]


class Generated:
    """The module that a spec was compiled to."""

    def __init__(self, checked: Checked, unit: CompiledModule) -> None:
        assert checked.spec is not None
        self.checked = checked
        self.spec: Spec = checked.spec
        self.unit = unit
        self.text = unit.text
        self.tree = ast.parse(unit.text)
        self._rows = unit.text.splitlines(keepends=True)
        self._starts = [0]
        for row in self._rows:
            self._starts.append(self._starts[-1] + len(row))

    def offset(self, line: int, column: int) -> int:
        """Where a place of the tree is in the text; ``column`` counts bytes, as in `ast`."""
        row = self._rows[line - 1]
        return self._starts[line - 1] + (column if row.isascii() else len(row.encode()[:column].decode()))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends in the text."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def code(self, node: ast.expr | ast.stmt) -> str:
        """The node as it is written."""
        start, end = self.span(node)
        return self.text[start:end]

    def spec_line(self, node: ast.expr | ast.stmt, owner: str) -> int:
        """The spec's line that a node stands for."""
        return self.unit.lines.get(node.lineno) or self.owner_line(owner)

    def owner_line(self, owner: str) -> int:
        """The line of a tool, helper or state."""
        kind, _, name = owner.partition(" ")
        spec = self.spec
        held = spec.tools if kind == "tool" else spec.helpers if kind == "helper" else spec.states
        return held[name].span.line

    @cached_property
    def functions(self) -> list[tuple[str, ast.FunctionDef]]:
        """`tool x`, `helper y` with their functions, in the order of the module. No call reaches setup functions."""
        return list(self._functions())

    def _functions(self) -> Iterator[tuple[str, ast.FunctionDef]]:
        spec = self.spec
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                kind, _, name = node.name.partition("_")
                if (kind == "tool" and name in spec.tools) or (kind == "helper" and name in spec.helpers):
                    yield f"{kind} {name}", node

    def state_class(self) -> ast.ClassDef:
        """The class of the state."""
        return next(
            n for n in self.tree.body if isinstance(n, ast.ClassDef) and any(_named(b) == "State" for b in n.bases)
        )

    # -- sites

    def replace(self, owner: str, node: ast.expr, new: str, shown: ast.expr | ast.stmt) -> Site:
        """The site at which an expression becomes other code."""
        start, end = self.span(node)
        left, right = self.span(shown)
        after = self.text[left:start] + new + self.text[end:right]
        edits = (Edit(start, end, new),)
        return Site(self.spec_line(shown, owner), owner, *pair(self.text[left:right], after), edits)

    def insert_before(self, owner: str, node: ast.stmt, lines: str, told: str) -> Site:
        """The site at which lines are put in before a statement."""
        at = self.offset(node.lineno, 0)
        return Site(self.owner_line(owner), owner, "(nothing)", told, (Edit(at, at, lines),))

    def insert_after(self, owner: str, node: ast.stmt, lines: str, told: str) -> Site:
        """The site at which lines are put in after a statement."""
        assert node.end_lineno is not None
        at = self._starts[node.end_lineno]
        return Site(self.owner_line(owner), owner, "(nothing)", told, (Edit(at, at, lines),))


def _named(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
