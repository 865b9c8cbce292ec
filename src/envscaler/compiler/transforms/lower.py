"""One walk over a body that applies every transform, bottom up, and keeps the spec's line of each statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import libcst as cst

from envscaler import trees
from envscaler.compiler.ending import Row, copies, counter
from envscaler.compiler.transforms import (
    arithmetic,
    calls,
    conversions,
    displays,
    failures,
    fields,
    lookups,
    loops,
    names,
    results,
    statements,
    texts,
)  # fmt: skip
from envscaler.compiler.transforms.base import Before, BodyKind, Case, Handler, Kept, Lowering, Names
from envscaler.spec.checked import CheckedBody

__all__ = ["ALL_CASES", "Lowered", "lower"]

_MODULES = (names, fields, lookups, failures, arithmetic, texts, calls, displays, loops, statements)

_HANDLERS: dict[type[cst.CSTNode], Handler] = {kind: h for module in _MODULES for kind, h in module.HANDLERS.items()}
_BEFORE: dict[type[cst.CSTNode], Before] = {
    kind: b for module in _MODULES for kind, b in getattr(module, "BEFORE", {}).items()
}

ALL_CASES: tuple[tuple[str, Case], ...] = tuple(
    (module.__name__.rpartition(".")[2], case) for module in (*_MODULES, conversions, results) for case in module.CASES
)

_TRIVIA = frozenset({
    cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Comma, cst.Newline,
    cst.Comment, cst.LeftParen, cst.RightParen, cst.Dot, cst.AssignEqual, cst.LeftSquareBracket, cst.RightSquareBracket,
    cst.LeftCurlyBrace, cst.RightCurlyBrace, cst.Colon, cst.Semicolon, cst.SimpleString, cst.Integer, cst.Float,
    cst.FormattedStringText,
})  # fmt: skip
"""Nodes with nothing below them that a transform could want."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """A body as Python: its statements indented by four (or one expression), and for each of its statements, in order
    and nested ones included, the first and last line of the spec's file that it comes from."""

    code: str
    lines: tuple[tuple[int, int], ...]


class _Walk(cst.CSTTransformer):
    """Dispatches on the node's class by table; LibCST's own dispatch looks for methods by name."""

    def __init__(self, low: Lowering) -> None:
        super().__init__()
        self.low = low
        self.lines = low.lines

    def on_visit(self, node: cst.CSTNode) -> bool:
        if type(node) in _TRIVIA:
            return False
        before = _BEFORE.get(type(node))
        if before is not None:
            before(self.low, node)
        return True

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.BaseStatement]:
        kind = type(original_node)
        if kind in _TRIVIA and original_node not in self.low.notes:
            return updated_node
        if kind in _STATEMENTS:
            return self._statement(original_node, updated_node)
        handler = _HANDLERS.get(kind)
        made = updated_node if handler is None else handler(self.low, original_node, updated_node)
        note = self.low.notes.get(original_node)
        if note is not None and note.convert is not None and isinstance(made, cst.BaseExpression):
            assert isinstance(original_node, cst.BaseExpression)
            if not self.low.is_role(original_node, "call", "is_type"):  # there it is the type asked about
                made = conversions.converted(self.low, original_node, made, note.convert)
        if kind is cst.For or kind is cst.If:
            assert isinstance(made, (cst.For, cst.If))
            self.lines[made] = self.low.body.statement_lines.get(original_node, 1)
            before = self._before(original_node)
            if before:
                return cst.FlattenSentinel([*before, made])
        return made

    def _before(self, original: cst.CSTNode) -> list[cst.BaseStatement]:
        """What a tool that keeps by itself what it writes does before a statement."""
        kept = self.low.kept
        if kept is None:
            return []
        rows = list(copies(kept.plan)) if original is kept.plan.first else []
        for name, statement in kept.plan.counters.items():
            if statement is original:
                rows.append(f"{counter(name)} = _state.{name}.top")
        small = original.body[0] if isinstance(original, cst.SimpleStatementLine) else original
        line = self.low.body.statement_lines.get(small, 1)
        return self.parsed([(row, line) for row in rows]) if rows else []

    def parsed(self, rows: Sequence[Row]) -> list[cst.BaseStatement]:
        """Lines of code, each with its line in the block, as statements."""
        source = "\n".join(row for row, _ in rows)
        made: list[cst.BaseStatement] = list(cst.parse_module(source).body)
        places = (node.lineno for node in _python_order(trees.parsed(source).body))
        for statement, place in zip(_in_order(made), places, strict=True):
            self.lines[statement] = rows[place - 1][1]
        return made

    def _statement(
        self, original: cst.CSTNode, updated: cst.CSTNode
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.BaseStatement]:
        if isinstance(original, cst.SimpleStatementLine):
            assert isinstance(updated, cst.SimpleStatementLine)
            made = statements.statement_line(self.low, original, updated, self.lines)
            return cst.FlattenSentinel([*self._before(original), *made])
        assert isinstance(original, cst.SimpleStatementSuite)
        assert isinstance(updated, cst.SimpleStatementSuite)
        body: Sequence[cst.BaseStatement] = statements.statement_line(
            self.low,
            cst.SimpleStatementLine(original.body),
            cst.SimpleStatementLine(updated.body),
            self.lines,
        )
        return cst.IndentedBlock(body, header=updated.trailing_whitespace)


_STATEMENTS = (cst.SimpleStatementLine, cst.SimpleStatementSuite)


def lower(body: CheckedBody, module_names: Names, kind: BodyKind, kept: Kept | None = None) -> Lowered:
    """The Python of a body of the given kind. A rule's or goal's is one expression, any other's are statements."""
    edits: frozenset[str] = frozenset() if kind in ("rule", "goal") else body.effects.edits
    low = Lowering(module_names, body, kind, edits, dict(body.notes), kept=kept)
    walk = _Walk(low)
    if kind in ("rule", "goal"):
        return _expression(body, walk)
    module = body.module.visit(walk)
    assert isinstance(module, cst.Module)
    lowered = cast("list[cst.BaseStatement]", list(module.body))
    if module.header:
        first = lowered[0]
        headed = first.with_changes(leading_lines=[*module.header, *getattr(first, "leading_lines", ())])
        walk.lines[headed] = walk.lines[first]
        lowered[0] = headed
    if kept is not None:
        top = body.block.line - 1
        nothing = [] if kept.plan.last is not None else [("_value = None", 1)]
        lowered += walk.parsed([*nothing, *((row, line - top) for row, line in kept.ending)])
    block = cst.IndentedBlock(lowered, footer=module.footer)
    function = cst.FunctionDef(cst.Name("f"), cst.Parameters(), block)
    code = cst.Module([function]).code.split("\n", 1)[1].rstrip()
    return Lowered(_tidy(code), tuple(_lines(body, walk, lowered)))


def _expression(body: CheckedBody, walk: _Walk) -> Lowered:
    statement = body.module.body[0]
    assert isinstance(statement, cst.SimpleStatementLine)
    assert isinstance(statement.body[0], cst.Expr)
    made = statement.body[0].value.visit(walk)
    assert isinstance(made, cst.BaseExpression)
    code = cst.Module([]).code_for_node(made)
    first = body.block.line
    return Lowered(code, ((first, first + body.block.source.rstrip("\n").count("\n")),))


def _tidy(code: str) -> str:
    """Without blanks at the ends of lines, unless a text goes over several lines."""
    if '"""' in code or "'''" in code:
        return code
    return "\n".join(line.rstrip() for line in code.split("\n"))


def _lines(body: CheckedBody, walk: _Walk, block: Sequence[cst.BaseStatement]) -> Iterator[tuple[int, int]]:
    ends = _ends(body.block.source)
    top = body.block.line - 1
    for statement in _in_order(block):
        first = walk.lines.get(statement, 1)
        yield top + first, top + max(first, ends.get(first, first))


def _in_order(block: Sequence[object]) -> Iterator[cst.CSTNode]:
    """Statements as Python's own `ast` lists them: each before what is nested in it."""
    for statement in block:
        assert isinstance(statement, cst.CSTNode)
        yield statement
        if isinstance(statement, (cst.If, cst.For)):
            yield from _in_order(statement.body.body)
            yield from _otherwise(statement.orelse)


def _python_order(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in block:
        yield statement
        yield from _python_order(getattr(statement, "body", ()))
        yield from _python_order(getattr(statement, "orelse", ()))


def _otherwise(orelse: cst.If | cst.Else | None) -> Iterator[cst.CSTNode]:
    if isinstance(orelse, cst.If):
        yield from _in_order([orelse])
    elif orelse is not None:
        yield from _in_order(orelse.body.body)


def _ends(source: str) -> dict[int, int]:
    """The last line of what begins on each line; of a compound statement the last line of its head."""
    found: dict[int, int] = {}
    for node in ast.walk(trees.parsed(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            found[node.lineno] = max(found.get(node.lineno, 0), end, node.lineno)
    return found
