"""Which line of the spec each line of a generated module stands for, and how an ordinary traceback shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from envscaler.compiler.module_parts import Function, ModulePlan, RuleFunction
from envscaler.compiler.statement import Stmt

__all__ = ["compact", "line_map"]


def line_map(plan: ModulePlan, tree: ast.Module) -> dict[int, int]:
    """Generated line -> line of the spec, for the statements of tools, helpers, setup functions, rules and checks."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found: dict[int, int] = {}
    every: list[Function | RuleFunction] = [*plan.rules, *plan.helpers]
    every += [t.function for t in (*plan.tools, *plan.setup)]
    for check in plan.checks:
        loop = next(s for s in functions[check.name].body if isinstance(s, ast.For))
        found.update(_statements(check.each, loop.body[-len(check.each) :]))
    for planned in every:
        node = functions[planned.name]
        for generated, line in _function(planned, node):
            found[generated] = line
    return found


def _function(planned: Function | RuleFunction, node: ast.FunctionDef) -> Iterator[tuple[int, int]]:
    body = node.body[1:]  # the docstring is always there
    before = planned.prologue if isinstance(planned, Function) else ()
    yield from _statements(before, body[: len(before)])
    statements = list(_in_order(body[len(before) :]))
    for made, (first, last) in zip(statements, planned.lines, strict=True):
        for offset, generated in enumerate(range(made.lineno, _end(made) + 1)):
            yield generated, min(first + offset, last)


def _statements(planned: Sequence[Stmt], made: Sequence[ast.stmt]) -> Iterator[tuple[int, int]]:
    """The lines of statements that stand one for one for planned ones."""
    for statement, node in zip(planned, made, strict=True):
        for generated in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            yield generated, statement.line


def _in_order(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements with those nested in them; an `elif` is a statement in the `else` of the one before."""
    for statement in body:
        yield statement
        yield from _in_order(getattr(statement, "body", []))
        yield from _in_order(getattr(statement, "orelse", []))


def _end(statement: ast.stmt) -> int:
    """The last line of a statement, of a compound one that of its head."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    return max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno or statement.lineno


def compact(lines: Mapping[int, int], width: int = 110, indent: int = 8) -> str:
    """The map as rows of a dict display, without brackets."""
    rows: list[str] = []
    row = " " * indent
    for generated, line in sorted(lines.items()):
        pair = f"{generated}: {line}, "
        if len(row) + len(pair) > width:
            rows.append(row.rstrip())
            row = " " * indent
        row += pair
    if row.strip():
        rows.append(row.rstrip())
    return "\n".join(rows)
