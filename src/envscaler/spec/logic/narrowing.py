"""What a condition proves: null tests, union tags, presence of fields, types of `any`, through and, or, not."""

from __future__ import annotations

import libcst as cst

from envscaler.spec.logic.block import Block, path_of
from envscaler.spec.types import NEVER, NONE, Const, Enum, Nullable, Partial, Struct, Type, Union, strip_null
from envscaler.trees import literal_value

__all__ = ["narrow"]


def narrow(b: Block, test: cst.BaseExpression, holds: bool) -> None:
    """Add to the block's environment what follows from ``test`` being true (or false); it was inferred before."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            narrow(b, inner, not holds)
        case cst.BooleanOperation():
            _boolean(b, test, holds)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            _comparison(b, left, operator, right, holds)
        case cst.Call(func=cst.Name(value="is_type"), args=[cst.Arg(value=subject), cst.Arg(value=named)]) if holds:
            path = path_of(subject)
            note = b.notes.get(named)
            if path is not None and note is not None and note.convert is not None:
                b.env.facts[path] = note.convert


def _boolean(b: Block, test: cst.BooleanOperation, holds: bool) -> None:
    if isinstance(test.operator, cst.And) == holds:
        narrow(b, test.left, holds)
        narrow(b, test.right, holds)
        return
    before = b.env.copy()
    narrow(b, test.left, holds)
    one = b.env.copy()
    b.env.take(before)
    narrow(b, test.left, not holds)
    narrow(b, test.right, holds)
    b.env.take(one.joined(b.env))


def _comparison(
    b: Block, left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression, holds: bool
) -> None:
    match operator:
        case cst.Is() | cst.IsNot() if _is_none(right):
            _null(b, left, isinstance(operator, cst.Is) == holds)
        case cst.Equal() | cst.NotEqual():
            _equal(b, left, right, isinstance(operator, cst.Equal) == holds)
        case cst.In() | cst.NotIn():
            _contained(b, left, right, isinstance(operator, cst.In) == holds)


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _type(b: Block, node: cst.BaseExpression) -> Type | None:
    note = b.notes.get(node)
    return None if note is None else note.type


def _null(b: Block, subject: cst.BaseExpression, is_null: bool) -> None:
    path, of = path_of(subject), _type(b, subject)
    if path is not None and isinstance(of, Nullable):
        b.env.facts[path] = NONE if is_null else of.of


def _equal(b: Block, left: cst.BaseExpression, right: cst.BaseExpression, equal: bool) -> None:
    for subject, other in ((left, right), (right, left)):
        other_type = _type(b, other)
        if isinstance(other, cst.SimpleString):
            _tag(b, subject, (str(literal_value(other)),), equal)
        path, of = path_of(subject), _type(b, subject)
        never_null = not isinstance(other_type, Nullable) and other_type not in (NONE, NEVER, None)
        if equal and path is not None and isinstance(of, Nullable) and never_null:
            b.env.facts.setdefault(path, of.of)


def _tag(b: Block, subject: cst.BaseExpression, values: tuple[str, ...], equal: bool) -> None:
    """`payment.by == "card"` proves which member of its union `payment` is."""
    if not isinstance(subject, cst.Attribute):
        return
    owner, path = _type(b, subject.value), path_of(subject.value)
    union = strip_null(owner) if owner is not None else None
    if path is None or not isinstance(union, Union) or subject.attr.value != union.tag:
        return
    members = tuple(m for m in union.members if (_tag_value(m, union.tag) in values) == equal)
    if len(members) == 1:
        b.env.facts[path] = members[0]
    elif members:
        b.env.facts[path] = Union(union.name, union.tag, members)


def _tag_value(member: Struct, tag: str) -> object:
    of = member.fields[tag].type
    return of.value if isinstance(of, Const) else None


def _contained(b: Block, left: cst.BaseExpression, right: cst.BaseExpression, inside: bool) -> None:
    of, path = _type(b, right), path_of(right)
    if isinstance(left, cst.SimpleString) and path is not None and isinstance(of, Struct | Partial | Union):
        if inside:
            b.env.present.add((*path, str(literal_value(left))))
        return
    if isinstance(right, cst.Tuple | cst.List):
        values = [literal_value(e.value) for e in right.elements if isinstance(e.value, cst.SimpleString)]
        if len(values) == len(right.elements):
            texts = tuple(map(str, values))
            _tag(b, left, texts, inside)
            _member(b, left, texts, inside)


def _member(b: Block, subject: cst.BaseExpression, texts: tuple[str, ...], inside: bool) -> None:
    """`reason in ("a", "b")` proves that a text is one of those."""
    path, of = path_of(subject), _type(b, subject)
    if not inside or path is None or of is None or not texts:
        return
    inner = strip_null(of)
    if isinstance(inner, Enum):
        kept = tuple(v for v in inner.values if v in texts)
        if kept:
            b.env.facts[path] = Enum(kept)
    elif str(inner) == "str":
        b.env.facts[path] = Enum(texts)
