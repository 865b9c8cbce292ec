"""Small builders for LibCST nodes, so that transforms read like the code they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from envscaler.compiler.literals import quoted

__all__ = [
    "assign", "binary", "call", "children", "code", "conditional", "dict_display", "enclosed", "entry", "expression",
    "has_newline", "integer", "item", "line", "names_in", "none", "raise_if", "ref", "text",
]  # fmt: skip

_MODULE = cst.Module([])

_ATOMS = (
    cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.Integer, cst.Float, cst.SimpleString, cst.FormattedString,
    cst.List, cst.Dict, cst.ListComp, cst.DictComp,
)  # fmt: skip


def code(node: cst.CSTNode) -> str:
    """The source of a node."""
    return _MODULE.code_for_node(node)


def expression(source: str) -> cst.BaseExpression:
    """The tree of an expression."""
    return cst.parse_expression(source)


def ref(dotted: str) -> cst.BaseExpression:
    """A name, or names joined by dots."""
    first, *rest = dotted.split(".")
    node: cst.BaseExpression = cst.Name(first)
    for part in rest:
        node = cst.Attribute(node, cst.Name(part))
    return node


def call(function: str | cst.BaseExpression, *args: cst.BaseExpression | cst.Arg) -> cst.Call:
    """A call with positional arguments (or ready ones)."""
    func = ref(function) if isinstance(function, str) else function
    return cst.Call(func, [_arg(_alone(a, len(args)), last=n == len(args) - 1) for n, a in enumerate(args)])


def _alone(arg: cst.BaseExpression | cst.Arg, number: int) -> cst.BaseExpression | cst.Arg:
    """A generator without parentheses can only be the one argument."""
    value = arg.value if isinstance(arg, cst.Arg) else arg
    if number == 1 or not isinstance(value, cst.GeneratorExp) or value.lpar:
        return arg
    wrapped = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return arg.with_changes(value=wrapped) if isinstance(arg, cst.Arg) else wrapped


def _arg(value: cst.BaseExpression | cst.Arg, last: bool) -> cst.Arg:
    arg = value if isinstance(value, cst.Arg) else cst.Arg(value)
    comma = cst.MaybeSentinel.DEFAULT if last else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if arg.keyword is not None:
        none = cst.SimpleWhitespace("")
        arg = arg.with_changes(equal=cst.AssignEqual(none, none))
    return arg.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace(""))


def text(value: str, quote: str = '"') -> cst.SimpleString:
    """A string literal."""
    return cst.SimpleString(quoted(value, quote))


def integer(value: int) -> cst.BaseExpression:
    """A whole number, also a negative one."""
    return cst.Integer(str(value)) if value >= 0 else cst.UnaryOperation(cst.Minus(), cst.Integer(str(-value)))


def none() -> cst.Name:
    return cst.Name("None")


def enclosed(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression, in parentheses if it needs them as an operand or as the owner of a subscript."""
    if isinstance(node, _ATOMS) or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def item(owner: cst.BaseExpression, key: cst.BaseExpression) -> cst.Subscript:
    """``owner[key]``"""
    return cst.Subscript(enclosed(owner), [cst.SubscriptElement(cst.Index(key))])


def binary(left: cst.BaseExpression, operator: cst.BaseBinaryOp, right: cst.BaseExpression) -> cst.BinaryOperation:
    return cst.BinaryOperation(enclosed(left), operator, enclosed(right))


def conditional(test: cst.BaseExpression, body: cst.BaseExpression, orelse: cst.BaseExpression) -> cst.IfExp:
    return cst.IfExp(test=test, body=body, orelse=orelse)


def entry(key: str, value: cst.BaseExpression, quote: str = '"') -> cst.DictElement:
    """An entry of a dict display."""
    return cst.DictElement(text(key, quote), value)


def dict_display(entries: Sequence[cst.DictElement], *, broken: bool) -> cst.Dict:
    """A dict display, on one line or ``broken`` over lines, an entry each."""
    if not broken:
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        return cst.Dict([e.with_changes(comma=comma) for e in entries[:-1]] + list(entries[-1:]))
    inner = cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace("    "))
    outer = cst.ParenthesizedWhitespace(indent=True)
    between = [e.with_changes(comma=cst.Comma(whitespace_after=inner)) for e in entries[:-1]]
    last = entries[-1].with_changes(comma=cst.Comma(whitespace_after=outer))
    return cst.Dict([*between, last], lbrace=cst.LeftCurlyBrace(whitespace_after=inner))


def assign(target: cst.BaseAssignTargetExpression, value: cst.BaseExpression) -> cst.Assign:
    return cst.Assign([cst.AssignTarget(target)], value)


def line(statement: cst.BaseSmallStatement) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([statement])


def raise_if(test: cst.BaseExpression, failure: cst.BaseExpression) -> cst.If:
    """``if test: raise failure`` over two lines."""
    return cst.If(test, cst.IndentedBlock([line(cst.Raise(failure))]))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Every node below ``node``, itself first."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def names_in(node: cst.CSTNode) -> Iterator[cst.Name]:
    """Every `Name` below a node; attribute and keyword names among them."""
    return (n for n in children(node) if isinstance(n, cst.Name))


def has_newline(node: cst.CSTNode) -> bool:
    return any(isinstance(n, cst.ParenthesizedWhitespace) for n in children(node))
