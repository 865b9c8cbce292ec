"""From a block of logic to its LibCST tree: bounds, Python's own parser for messages, the allow-list of constructs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from envscaler.diagnostics import Diagnostic, Span
from envscaler.spec.model import Block
from envscaler.spec.scan import NO_MATCH, scan_logic
from envscaler.trees import parsed

__all__ = ["Parsed", "parse_block"]

_GRAMMAR = (3, 11)


@dataclass(slots=True)
class Parsed:
    """A block's tree with the file lines of its statements; spans of other nodes are found when asked for."""

    block: Block
    module: cst.Module
    lines: dict[cst.CSTNode, int]
    _ranges: dict[cst.CSTNode, CodeRange] = field(default_factory=dict)

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node of this block stands in the spec's file."""
        if not self._ranges:
            wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
            self._ranges = dict(wrapper.resolve(PositionProvider))
        found = self._ranges.get(node)
        if found is None:
            return self.block.span
        start, end = found.start, found.end
        return _span(self.block, start.line, start.column, end.line, end.column)


def _span(block: Block, line: int, column: int, end_line: int, end_column: int) -> Span:
    """A span from 1-based lines and 0-based columns inside the block."""
    top, left = block.line - 1, block.column
    return Span(block.path, top + line, left + column, top + end_line, left + end_column)


def _too_much(block: Block, line: int, column: int, message: str) -> Diagnostic:
    if message != NO_MATCH:
        return Diagnostic("logic-too-large", _span(block, line, column - 1, line, column), message)
    word = "match" if block.source.split("\n")[line - 1].startswith("match", column - 1) else "case"
    place = _span(block, line, column - 1, line, column - 1 + len(word))
    return Diagnostic("forbidden-syntax", place, message, help="use if, elif and else")


def parse_block(block: Block, *, expression: bool = False) -> tuple[Parsed | None, list[Diagnostic]]:
    """Parse a block of statements, or of one ``expression``; None when it cannot be checked further."""
    problems = [_too_much(block, *problem) for problem in scan_logic(block.source)]
    if problems:
        return None, problems
    try:
        tree = parsed(block.source, _GRAMMAR)
    except SyntaxError as error:
        return None, [_syntax(block, error, expression)]
    except (RecursionError, MemoryError, ValueError) as error:
        return None, [Diagnostic("logic-too-large", block.span, f"the block cannot be parsed: {error}")]
    if not tree.body:
        return None, [Diagnostic("logic-syntax", block.span, "the block has no statement")]
    problems = list(_refused(block, tree))
    if expression and not problems:
        problems = _one_expression(block, tree)
    if problems:
        return None, problems
    try:
        module = cst.parse_module(block.source)
    except cst.ParserSyntaxError as error:  # the few things that Python's own parser takes and this one does not
        where = _span(block, error.raw_line, error.raw_column, error.raw_line, error.raw_column + 1)
        return None, [Diagnostic("logic-syntax", where, f"not valid: {error.message}")]
    return Parsed(block, module, _statement_lines(tree, module)), []


def _syntax(block: Block, error: SyntaxError, expression: bool) -> Diagnostic:
    line, column = error.lineno or 1, max((error.offset or 1) - 1, 0)
    end_line, end_column = error.end_lineno or line, (error.end_offset or column + 2) - 1
    if (end_line, end_column) <= (line, column):
        end_line, end_column = line, column + 1
    fix = (
        "an expression over several lines stands in parentheses"
        if expression and line > 1
        else _syntax_fix(block, line)
    )
    return Diagnostic(
        "logic-syntax", _span(block, line, column, end_line, end_column), f"not valid: {error.msg}", help=fix
    )


def _syntax_fix(block: Block, line: int) -> str:
    """What was probably meant, where another language's operator stands in the line."""
    lines = block.source.split("\n")
    text = lines[line - 1] if line <= len(lines) else ""
    for theirs, ours in (("&&", "and"), ("||", "or"), ("!", "not"), ("++", "+= 1"), ("=>", "")):
        if theirs in text.replace("!=", "") and ours:
            return f"write '{ours}' for '{theirs}'"
    return ""


def _one_expression(block: Block, tree: ast.Module) -> list[Diagnostic]:
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        return []
    return [
        Diagnostic(
            "not-an-expression",
            block.span,
            "this takes one expression, not statements",
            help="write the condition alone, without 'return'",
        )
    ]


_ALLOWED = (
    ast.Module, ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.If, ast.For, ast.Break, ast.Continue, ast.Return,
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Compare, ast.BoolOp, ast.UnaryOp,
    ast.BinOp, ast.IfExp, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.JoinedStr,
    ast.FormattedValue, ast.Lambda, ast.arguments, ast.arg, ast.Call, ast.keyword, ast.List, ast.Dict, ast.Tuple,
    ast.expr_context, ast.boolop, ast.cmpop, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
    ast.Not, ast.USub, ast.UAdd,
)  # fmt: skip

_WORDS = {
    "While": ("while", "go through something bounded with 'for'"),
    "Import": ("import", "the built-ins are all there is; see 'envscaler schema --card'"),
    "ImportFrom": ("import", "the built-ins are all there is; see 'envscaler schema --card'"),
    "FunctionDef": ("def", "shared logic stands under 'helpers:'"),
    "AsyncFunctionDef": ("async", "shared logic stands under 'helpers:'"),
    "ClassDef": ("class", "records and types are declared under 'states:' and 'types:'"),
    "Try": ("try", "guard with a condition, or let the call fail"),
    "TryStar": ("try", "guard with a condition, or let the call fail"),
    "Pass": ("pass", "leave the branch out"),
    "With": ("with", ""),
    "AsyncWith": ("async", ""),
    "AsyncFor": ("async", ""),
    "Raise": ("raise", "use fail(message)"),
    "Assert": ("assert", "use require(condition, message)"),
    "Global": ("global", "states are visible everywhere already"),
    "Nonlocal": ("nonlocal", "states are visible everywhere already"),
    "NamedExpr": (":=", "assign on a line of its own"),
    "Await": ("await", ""),
    "Yield": ("yield", "return a list"),
    "YieldFrom": ("yield", "return a list"),
    "Starred": ("*", "name the parts"),
    "Set": ("a set", "use a list"),
    "SetComp": ("a set", "use a list"),
    "Match": ("match", "use if / elif"),
    "AnnAssign": ("a type annotation", "types are inferred"),
    "MatMult": ("@", ""),
    "BitAnd": ("&", "use 'and'"),
    "BitOr": ("|", "use 'or'"),
    "BitXor": ("^", ""),
    "Invert": ("~", "use 'not'"),
    "LShift": ("<<", ""),
    "RShift": (">>", ""),
    "TypeAlias": ("type", "types are declared under 'types:'"),
    "TemplateStr": ("a t-string", "use an f-string"),
}


def _refused(block: Block, tree: ast.Module) -> Iterator[Diagnostic]:
    """A diagnostic for each construct that is not on the list, and each name that may not be used."""
    parents: dict[int, ast.AST] = {}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, _ALLOWED):
            where = node if hasattr(node, "lineno") else parents.get(id(node))
            word, fix = _WORDS.get(type(node).__name__, (type(node).__name__, ""))
            yield Diagnostic("forbidden-syntax", _ast_span(block, where), f"the language has no '{word}'", help=fix)
            continue  # what stands inside is no news
        problems = list(_refused_detail(block, node, parents))
        yield from problems
        if not problems:
            children = list(ast.iter_child_nodes(node))
            parents.update((id(child), node) for child in children)
            waiting.extend(reversed(children))


def _refused_detail(block: Block, node: ast.AST, parents: dict[int, ast.AST]) -> Iterator[Diagnostic]:
    def refuse(title: str, fix: str = "", code: str = "forbidden-syntax") -> Diagnostic:
        return Diagnostic(code, _ast_span(block, node), title, help=fix)

    match node:
        case ast.Name(id=name) if name.startswith("_"):
            yield refuse(f"'{name}' begins with an underscore", "such names are refused everywhere", "forbidden-name")
        case ast.Attribute(attr=name) if name.startswith("_"):
            yield refuse(f"'.{name}' begins with an underscore", "such names are refused everywhere", "forbidden-name")
        case ast.arg(arg=name) if name.startswith("_"):
            yield refuse(f"'{name}' begins with an underscore", "such names are refused everywhere", "forbidden-name")
        case ast.keyword(arg=None):
            yield refuse("'**' cannot be used in a call", "name each argument")
        case ast.keyword(arg=str(name)) if name.startswith("_"):
            yield refuse(f"'{name}' begins with an underscore", "such names are refused everywhere", "forbidden-name")
        case ast.Dict(keys=keys) if any(k is None for k in keys):
            yield refuse("'**' cannot be used in a dict", "name each entry")
        case ast.Constant(value=value) if not isinstance(value, (str, int, float, bool, type(None))):
            yield refuse(f"the language has no value like {type(value).__name__}")
        case ast.Assign(targets=targets) if len(targets) > 1:
            yield refuse("one target for each assignment", "write two assignments")
        case ast.For(orelse=[_, *_]):
            yield refuse("'for … else' is not in the language", "keep a flag, or use first(…, None)")
        case ast.comprehension(is_async=1):
            yield refuse("the language has no 'async'")
        case ast.Lambda():
            parent = parents.get(id(node))
            if not (isinstance(parent, ast.keyword) and parent.arg == "key"):
                yield refuse(
                    "'lambda' stands only as 'key=' of sorted, min, max or sort", "use a comprehension or a helper"
                )
            elif (a := node.args).defaults or a.kwonlyargs or a.vararg or a.kwarg or a.posonlyargs or len(a.args) != 1:
                yield refuse("a sort key takes one plain parameter")
        case ast.Subscript(slice=ast.Tuple()):
            yield refuse("one index at a time", "write x[a][b]")


def _ast_span(block: Block, node: ast.AST | None) -> Span:
    if not isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword):
        return block.span
    lines = block.source.split("\n")

    def chars(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[:offset].decode(errors="ignore")) if line <= len(lines) else offset

    line, end_line = node.lineno, node.end_lineno or node.lineno
    start, end = chars(line, node.col_offset), chars(end_line, node.end_col_offset or node.col_offset + 1)
    return _span(block, line, start, end_line, end)


def _statement_lines(tree: ast.Module, module: cst.Module) -> dict[cst.CSTNode, int]:
    """The source line of every statement: both trees list statements in the same order."""
    lines = [node.lineno for node in _ast_statements(tree.body)]
    nodes = list(_cst_statements(module.body))
    return dict(zip(nodes, lines, strict=True))


def _ast_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        yield from _ast_statements(getattr(node, "body", []))
        yield from _ast_statements(getattr(node, "orelse", []))


def _cst_statements(body: object) -> Iterator[cst.CSTNode]:
    assert isinstance(body, (list, tuple))
    for node in body:
        if isinstance(node, cst.SimpleStatementLine):
            yield from node.body
        elif isinstance(node, cst.BaseSmallStatement):  # `if x: return 1`
            yield node
        else:
            yield from _cst_statement(node)


def _cst_statement(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    assert isinstance(node, (cst.If, cst.For))
    yield from _cst_statements(node.body.body)
    match node.orelse:
        case cst.If() as branch:
            yield from _cst_statement(branch)
        case cst.Else(body=block):
            yield from _cst_statements(block.body)
