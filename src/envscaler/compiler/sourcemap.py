"""Which line of the spec each line of a generated module stands for, and how an ordinary traceback shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from envscaler.compiler.plan import Function, ModulePlan, RuleFunction

__all__ = ["compact", "line_map"]


def line_map(plan: ModulePlan, tree: ast.Module) -> dict[int, int]:
    """Generated line -> line of the spec, for the statements of tools, helpers, setup functions, rules and checks."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found: dict[int, int] = {}
    every: list[Function | RuleFunction] = [*plan.rules, *plan.checks, *plan.helpers]
    every += [t.function for t in (*plan.tools, *plan.setup)]
    for planned in every:
        node = functions[planned.name]
        for generated, line in _function(planned, node):
            found[generated] = line
    return found


def _function(planned: Function | RuleFunction, node: ast.FunctionDef) -> Iterator[tuple[int, int]]:
    body = node.body[1:]  # the docstring is always there
    before = planned.prologue if isinstance(planned, Function) else ()
    for statement, made in zip(before, body, strict=False):
        for generated in range(made.lineno, (made.end_lineno or made.lineno) + 1):
            yield generated, statement.line
    statements = list(_in_order(body[len(before) :]))
    for made, (first, last) in zip(statements, planned.lines, strict=True):
        for offset, generated in enumerate(range(made.lineno, _end(made) + 1)):
            yield generated, min(first + offset, last)


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
