"""Data of the file as values of declared types: defaults and constants in internal form, states and examples as JSON."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from envscaler.diagnostics import Span, one_of
from envscaler.spec import yamltree as y
from envscaler.spec.entries import Context, describe
from envscaler.spec.report import short
from envscaler.spec.scalars import NotA, any_value, parse_scalar, plain_json
from envscaler.spec.types import (
    ANY,
    INT,
    MISSING,
    NEVER,
    Const,
    DictOf,
    Enum,
    Field,
    Key,
    ListOf,
    Nullable,
    Partial,
    Scalar,
    Struct,
    Type,
    Union,
    strip_null,
)

__all__ = ["BAD", "Converter", "Ref", "Where", "bound_problem", "written_bound"]

BAD: Final = object()
"""What a conversion gives when it reported a problem."""


@dataclass(frozen=True, slots=True)
class Where:
    """A path into data, written out only when a message needs it."""

    name: str
    parent: Where | None = None

    def __str__(self) -> str:
        return f"{self.parent}.{self.name}" if self.parent else self.name

    def at(self, name: str) -> Where:
        return Where(name, self)


@dataclass(frozen=True, slots=True)
class Ref:
    """A stored key that must exist in ``collection``; ``value`` is its internal form."""

    collection: str
    value: str | int
    span: Span
    where: Where


def bound_problem(declared: Field, value: Any, shown: Any = None) -> str | None:
    """What is wrong with an internal value by the field's bounds (`must be at least 1`), or None."""
    if value is None:
        return None
    for name, words in _BOUNDS.items():
        bound = getattr(declared, name)
        if bound is not None and not _HOLDS[name](value, bound):
            return f"must be {words} {written_bound(declared.type, bound)}"
    unit = "characters" if isinstance(value, str) else "elements"
    if declared.min_length is not None and len(value) < declared.min_length:
        return f"must have at least {declared.min_length} {unit}"
    if declared.max_length is not None and len(value) > declared.max_length:
        return f"must have at most {declared.max_length} {unit}"
    if declared.pattern is not None and not re.fullmatch(declared.pattern, value):
        return f"must match {declared.pattern}"
    return None


_BOUNDS: Final = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_HOLDS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "lt": operator.lt,
}


def written_bound(of: Type, bound: Any) -> str:
    """A bound in internal form as a message shows it."""
    kind = strip_null(of)
    return f"{bound / 100:.2f}" if isinstance(kind, Scalar) and kind.name == "money" else str(bound)


@dataclass
class Converter:
    """Turns nodes into values of types. ``form``: `internal` (fields by name, money in minor units) or `json`.

    Problems are reported and give BAD. Keys of other records are noted in ``refs``.
    """

    context: Context
    form: Literal["internal", "json"] = "json"
    code: str = "bad-value"
    refs: list[Ref] = field(default_factory=list)
    partial: bool = False  # structs may lack fields, at every depth: what examples give and expect

    def bad(self, node: y.Node, where: Where, message: str, detail: str = "", help: str = "", code: str = "") -> Any:  # noqa: A002
        """Report; gives BAD."""
        if not (isinstance(node, y.Scalar) and node.style == "broken"):
            self.context.report.error(code or self.code, node.span, f"{where}: {message}", detail, help)
        return BAD

    def value(self, node: y.Node, of: Type, where: Where) -> Any:
        """The value of ``node`` as an ``of``, or BAD."""
        if isinstance(of, Nullable):
            return None if isinstance(node, y.Scalar) and node.is_null else self.value(node, of.of, where)
        if isinstance(of, Scalar):
            return self._any(node, where) if of in (ANY, NEVER) else self._scalar(node, of, where)
        if isinstance(of, ListOf):
            return self._list(node, of, where)
        if isinstance(of, DictOf):
            return self._dict(node, of, where)
        if isinstance(of, (Struct, Partial)):
            return self._struct(node, of, where)
        if isinstance(of, Union):
            return self._union(node, of, where)
        return self._leaf(node, of, where)

    def field(self, node: y.Node, declared: Field, where: Where) -> Any:
        """The value of a field or parameter, its bounds checked too."""
        value = self.value(node, declared.type, where)
        if value is BAD:
            return BAD
        problem = bound_problem(declared, self._internal(node, declared.type, value))
        if problem is None:
            return value
        return self.bad(node, where, f"{describe(node)} {problem}", code="out-of-range")

    def _internal(self, node: y.Node, of: Type, value: Any) -> Any:
        kind = strip_null(of)
        if self.form == "json" and value is not None and isinstance(kind, Scalar) and kind.name == "money":
            assert isinstance(node, y.Scalar)
            return parse_scalar(node.text, kind, zoned=self.context.zoned)
        return value

    def _single(self, node: y.Node, of: Type, where: Where) -> y.Scalar | None:
        """The node when it is one text and not null."""
        if not isinstance(node, y.Scalar):
            self.bad(node, where, f"expected {of}, got {describe(node)}")
        elif node.is_null:
            self.bad(
                node,
                where,
                f"null is not allowed, expected {of}",
                help="put the word in quotes if it is meant as text" if node.text else "",
            )
        elif node.style != "broken":
            return node
        return None

    def _scalar(self, node: y.Node, of: Scalar, where: Where) -> Any:
        single = self._single(node, of, where)
        if single is None:
            return BAD
        try:
            if single.style != "plain" and of.name in ("int", "float", "number", "bool", "money"):
                raise NotA("in quotes it is a text; leave them out")
            value = parse_scalar(single.text, of, zoned=self.context.zoned)
        except NotA as reason:
            return self.bad(node, where, f"{describe(node)} is no {of}", str(reason))
        return plain_json(of, single.text, value) if self.form == "json" else value

    def _any(self, node: y.Node, where: Where) -> Any:
        if isinstance(node, y.Sequence):
            return _whole([self._any(item, where.at(str(i))) for i, item in enumerate(node.items)])
        if isinstance(node, y.Mapping):
            return _whole({k: self._any(e.value, where.at(k)) for k, e in node.entries.items()})
        try:
            return BAD if node.style == "broken" else any_value(node.text, node.style == "plain")
        except NotA as reason:
            return self.bad(
                node,
                where,
                f"{describe(node)} is no JSON value",
                str(reason),
                "put it in quotes if it is meant as text",
            )

    def _leaf(self, node: y.Node, of: Type, where: Where) -> Any:
        """Enum, Const or Key."""
        single = self._single(node, of, where)
        if single is None:
            return BAD
        if isinstance(of, Key):
            value = self._scalar(node, of.of, where)
            if value is not BAD:
                self.refs.append(Ref(of.collection, value, node.span, where))
            return value
        options = of.values if isinstance(of, Enum) else (of.value,) if isinstance(of, Const) else ()
        for option in options:
            if single.text == written(option) and (isinstance(option, str) or single.style == "plain"):
                return option
        texts = [written(o) for o in options]
        near = self.context.report
        near.unknown(
            self.code,
            node.span,
            f"{where}: {describe(node)} is not {'a member' if len(texts) > 1 else 'the constant'}",
            single.text,
            texts,
            "expected one of" if len(texts) > 1 else "expected",
        )
        return BAD

    def _list(self, node: y.Node, of: ListOf, where: Where) -> Any:
        if not isinstance(node, y.Sequence):
            return self.bad(
                node, where, f"expected a {of}, got {describe(node)}", help="a list is written [a, b], an empty one []"
            )
        return _whole([self.value(item, of.item, where.at(str(i))) for i, item in enumerate(node.items)])

    def _dict(self, node: y.Node, of: DictOf, where: Where) -> Any:
        if not isinstance(node, y.Mapping):
            return self.bad(
                node,
                where,
                f"expected a {of}, got {describe(node)}",
                help="a mapping is written {a: 1}, an empty one {}",
            )
        found: dict[Any, Any] = {}
        for name, entry in node.entries.items():
            key = self.key(entry.key, of.key, where)
            value = self.value(entry.value, of.value, where.at(name))
            found[key if self.form == "internal" else name] = BAD if key is BAD else value
        return _whole(found)

    def key(self, key: y.Scalar, of: Type, where: Where) -> Any:
        """A mapping's key in internal form."""
        plain = y.Scalar(
            key.span, key.start, key.end, key.text, "plain" if of is INT or key.text.isdigit() else "double"
        )
        if isinstance(of, Key):
            plain.style = "plain" if of.of == INT else "double"
        elif isinstance(of, Enum):
            plain.style = "plain"
        return self.value(plain, of, where.at("key"))

    def _struct(self, node: y.Node, of: Struct | Partial, where: Where) -> Any:
        struct = of.of if isinstance(of, Partial) else of
        if not isinstance(node, y.Mapping):
            return self.bad(node, where, f"expected a {struct}, got {describe(node)}")
        some = self.partial or isinstance(of, Partial)
        return _whole(self.fields(node, struct.fields, where, str(struct), some=some))

    def fields(
        self,
        node: y.Mapping,
        fields: Mapping[str, Field],
        where: Where,
        what: str,
        *,
        some: bool = False,
        kind: Literal["field", "parameter"] = "field",
    ) -> dict[str, Any]:
        """The fields of a struct or record, or the arguments of a tool; problems stand as BAD in the result."""
        outside = {f.json: f for f in fields.values()}
        found: dict[str, Any] = {}
        meant = set()  # what unknown names were most likely to be, of which not more is said
        for name, entry in node.entries.items():
            declared = outside.get(name)
            if declared is None:
                near = self.context.report.unknown(
                    "unknown-field",
                    entry.key.span,
                    f"{where}: {what} has no {kind} {short(name)}",
                    name,
                    list(outside),
                    f"{kind}s",
                )
                found[name] = BAD
                meant.add(near)
            else:
                found[declared.name if self.form == "internal" else name] = self.field(
                    entry.value, declared, where.at(name)
                )
        given = node.entries.keys() | meant
        missing = [f for f in fields.values() if f.json not in given and not f.absent and not some]
        if names := [f.json for f in missing if f.default is MISSING]:
            self.context.report.error(
                "missing-field",
                node.span,
                f"{where}: {one_of(names)} {'is' if len(names) == 1 else 'are'} missing",
                f"{what} has the {kind}s {one_of(outside)}",
            )
            found[""] = BAD
        if self.form == "internal":
            found.update((f.name, f.default) for f in missing if f.default is not MISSING)
        return found

    def _union(self, node: y.Node, of: Union, where: Where) -> Any:
        if not isinstance(node, y.Mapping):
            return self.bad(node, where, f"expected a {of}, got {describe(node)}")
        tags = {member.name: member.fields[of.tag] for member in of.members}
        outside = next(iter(tags.values())).json
        members = {written(t.type.value): m for m in of.members if isinstance((t := tags[m.name]).type, Const)}
        entry = node.entries.get(outside)
        if entry is None and self.partial:
            merged = {f.name: f for m in reversed(of.members) for f in m.fields.values()}
            return _whole(self.fields(node, merged, where, str(of), some=True))
        if entry is None:
            message = f"{outside} is missing, which tells what kind of {of} it is"
            return self.bad(node, where, message, f"expected one of: {one_of(members)}", code="missing-field")
        text = entry.value.text if isinstance(entry.value, y.Scalar) else ""
        if text in members:
            return self._struct(node, members[text], where)
        title = f"{where}: {of} has no kind whose {outside} is {describe(entry.value)}"
        self.context.report.unknown(self.code, entry.value.span, title, text, list(members), "expected one of")
        return BAD


def written(value: str | int | bool) -> str:
    """A literal as it stands in a spec."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _parts(value: Any) -> Iterator[Any]:
    yield from value.values() if isinstance(value, dict) else value


def _whole(value: Any) -> Any:
    return BAD if any(part is BAD for part in _parts(value)) else value
