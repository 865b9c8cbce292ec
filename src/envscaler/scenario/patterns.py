"""Goals that differ in a few literals only are checked and compiled once: keys, texts and amounts become parameters.

A literal is free when nothing that the checker or the compiler decides depends on which one it is: a key in brackets, a text
that is compared with free text or a key, a number that is compared with one, a day with a day. Which of the free literals are
equal is a part of the pattern, as are all others (members of enums, times).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

import libcst as cst

from envscaler.spec.checked import CheckedBody
from envscaler.spec.types import DATE, FLOAT, INT, MONEY, NUMBER, STR, Key, StateOf, Type, strip_null
from envscaler.trees import parsed_expression

__all__ = ["Hole", "Literals", "filled", "holes_of", "nodes_of", "stood_in"]

_TOKEN: Final = re.compile(
    r"(?P<other>[A-Za-z_]\w*(?P<prefix>[\"']?))"
    r"|(?P<text>\"[^\"\\\n]*\"|'[^'\\\n]*')"
    r"|(?P<number>\d+(?:\.\d+)?(?![\w.]))"
    r"|(?P<odd>[#\\\"']|\d)"
)
_MONEY_MAX: Final = 10**15
_WHOLE_MAX: Final = 2**53
_MARK: Final = 7_340_000_000  # numbers that stand for a hole begin here
_BRACKET: Final = "\N{REFERENCE MARK}"  # stands around the number of a text that stands for one

_DAY: Final = date(9321, 1, 1)  # days that stand for a hole begin here

Kind = str
"""What a hole takes: `text`, `day`, `whole`, `money` or `number`."""


@dataclass(frozen=True, slots=True)
class Literals:
    """An expression taken apart: its text with a mark for each literal, and the literals as written."""

    shape: str
    tokens: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Literals | None:
        """None for an expression with anything out of the common: escapes, comments, f-strings, other forms of numbers."""
        parts, tokens, end = [], [], 0
        for match in _TOKEN.finditer(text):
            if match["odd"] or match["prefix"]:
                return None
            if match["other"]:
                continue
            tokens.append(match.group())
            parts += [text[end : match.start()], "\0t" if match["text"] else "\0n"]
            end = match.end()
        return cls("".join([*parts, text[end:]]), tuple(tokens)) if tokens and "\0" not in text else None

    def like_stand_ins(self, holes: Sequence[Hole]) -> bool:
        """Whether a literal that is no hole could be taken for a stand-in of one."""
        free = {hole.place for hole in holes}
        fixed = [token for place, token in enumerate(self.tokens) if place not in free]
        return any(
            _BRACKET in token or f"{_DAY.year}-" in token or str(_MARK)[:7] in token.replace(".", "") for token in fixed
        )

    def with_stand_ins(self, holes: Sequence[Hole], groups: Sequence[int]) -> list[str]:
        """The literals with stand-ins for the holes, by group."""
        tokens = list(self.tokens)
        for hole, group in zip(holes, groups, strict=True):
            tokens[hole.place] = hole.stand_in(group, tokens[hole.place])
        return tokens


@dataclass(frozen=True, slots=True)
class Hole:
    """A free literal: the place among all literals, and what it takes."""

    place: int
    kind: Kind

    def value(self, token: str) -> Any:
        """The internal value of a literal, or None when it must be looked at by itself."""
        if self.kind == "text":
            return token[1:-1]
        if self.kind == "day":
            return token[1:-1] if _is_day(token[1:-1]) else None
        if self.kind == "money":
            cents = Decimal(token) * 100
            return int(cents) if cents == cents.to_integral_value() and cents < _MONEY_MAX else None
        if self.kind == "whole" and "." in token:
            return None
        number = float(token) if "." in token else int(token)
        return number if number < _WHOLE_MAX else None

    def stand_in(self, number: int, token: str) -> str:
        """A literal that stands for the ``number``-th different value of the holes."""
        if self.kind == "text":
            return f'"{_BRACKET}{number}{_BRACKET}"'
        if self.kind == "day":
            return f'"{_DAY + timedelta(number)}"'
        return f"{_MARK + number}.5" if "." in token else str(_MARK + number)


Node = cst.SimpleString | cst.Integer | cst.Float
"""A literal of an expression."""


def nodes_of(body: CheckedBody) -> list[tuple[Node, tuple[cst.CSTNode, ...]]]:
    """Each literal of a checked expression in the order of the text, with what it stands in, the innermost last."""
    found: list[tuple[Node, tuple[cst.CSTNode, ...]]] = []
    stack: list[tuple[cst.CSTNode, tuple[cst.CSTNode, ...]]] = [(body.module, ())]
    while stack:
        node, above = stack.pop()
        if isinstance(node, Node):
            found.append((node, above))
        else:
            stack.extend((child, (*above, node)[-4:]) for child in reversed(node.children))
    return found


def holes_of(
    body: CheckedBody, nodes: Sequence[tuple[Node, tuple[cst.CSTNode, ...]]], literals: Literals
) -> tuple[Hole, ...]:
    """The free literals of a checked expression, whose ``nodes`` they are."""
    if [node.value for node, _ in nodes] != list(literals.tokens):
        return ()
    kinds = (_kind(body, node, above) for node, above in nodes)
    return tuple(Hole(place, kind) for place, kind in enumerate(kinds) if kind is not None)


@contextmanager
def stood_in(
    nodes: Sequence[tuple[Node, tuple[cst.CSTNode, ...]]], literals: Literals, tokens: Sequence[str]
) -> Iterator[None]:
    """Other literals in a checked expression for a while. What was found of it stays as it is, since nothing depends on which
    they are; in a copy there would be other nodes, of which nothing is known."""
    _put(nodes, tokens)
    try:
        yield
    finally:
        _put(nodes, literals.tokens)


def _put(nodes: Sequence[tuple[Node, tuple[cst.CSTNode, ...]]], tokens: Sequence[str]) -> None:
    for (node, _), token in zip(nodes, tokens, strict=True):
        object.__setattr__(node, "value", token)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _kind(body: CheckedBody, node: cst.CSTNode, above: tuple[cst.CSTNode, ...]) -> Kind | None:
    """What may stand in the place of a literal; None where only it may."""
    text = isinstance(node, cst.SimpleString)
    match above[-3:]:
        case [cst.Subscript() as subscript, cst.SubscriptElement(), cst.Index()]:
            return _key(body, subscript, text)
    inner: cst.CSTNode = node
    if isinstance(above[-1], cst.UnaryOperation) and isinstance(above[-1].operator, cst.Minus) and not text:
        inner, above = above[-1], above[:-1]
    match above[-2:]:
        case [cst.Comparison(left=left, comparisons=[target]), cst.ComparisonTarget()] if target.comparator is inner:
            return _compared(body, target.operator, left, text)
    match above[-1]:
        case cst.Comparison(left=left, comparisons=[target]) if left is inner:
            return _compared(body, target.operator, target.comparator, text)
    return None


def _key(body: CheckedBody, node: cst.Subscript, text: bool) -> Kind | None:
    note = body.notes.get(node)
    if note is None or note.role is None or (note.role.kind, note.role.name) != ("at", "collection"):
        return None
    return "text" if text else "whole"


_EQUAL: Final = (cst.Equal, cst.NotEqual)
_ORDER: Final = (*_EQUAL, cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_NUMBERS: Final[dict[Type, Kind]] = {MONEY: "money", INT: "whole", FLOAT: "number", NUMBER: "number"}


def _compared(body: CheckedBody, operator: cst.BaseCompOp, other: cst.BaseExpression, text: bool) -> Kind | None:
    note = body.notes.get(other)
    if note is None or isinstance(other, cst.SimpleString | cst.Integer | cst.Float):
        return None
    of = strip_null(note.type)
    if text:
        free = (isinstance(operator, _EQUAL) and (of == STR or (isinstance(of, Key) and of.of == STR))) or (
            isinstance(operator, cst.In | cst.NotIn) and (isinstance(of, StateOf) or of == STR)
        )
        if of == DATE and isinstance(operator, _ORDER):
            return "day"
        return "text" if free else None
    return _NUMBERS.get(of) if isinstance(operator, _ORDER) else None


# -- from a pattern to functions


def filled(code: str, holes: Sequence[Hole], groups: Sequence[int]) -> str | None:
    """The lowered code of stand-ins as a function of the holes' values, by group; None when one is not found in it.

    ``groups``: for each hole the number of its value among the different ones.
    """
    wanted: dict[Any, str] = {}
    for hole, group in zip(holes, groups, strict=True):
        name = f"_h{group}"
        for token in (hole.stand_in(group, "0"), hole.stand_in(group, "0.5")):
            wanted[hole.value(token)] = name
    wanted.pop(None, None)
    replacer = _Replacer(wanted)
    tree = replacer.visit(parsed_expression(f"(\n{code}\n)"))
    if replacer.found != set(wanted.values()):
        return None
    names = ", ".join(f"_h{n}" for n in range(len(replacer.found)))
    return f"lambda {names}: lambda _initial, _state, answer, refusal: {ast.unparse(tree)}"


class _Replacer(ast.NodeTransformer):
    def __init__(self, wanted: dict[Any, str]) -> None:
        self.wanted = wanted
        self.found: set[str] = set()

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        name = self.wanted.get(node.value) if not isinstance(node.value, bool) else None
        if name is None:
            return node
        self.found.add(name)
        return ast.Name(name, ast.Load())
