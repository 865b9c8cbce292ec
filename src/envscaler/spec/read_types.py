"""Type expressions."""

from __future__ import annotations

from typing import Any, Final

from envscaler.diagnostics import Span, one_of
from envscaler.spec import yamltree as y
from envscaler.spec.entries import Context, Entries, describe
from envscaler.spec.forms import ATTRIBUTES, SCALARS, TYPE_KEYS
from envscaler.spec.read_fields import FieldReader
from envscaler.spec.report import short
from envscaler.spec.types import (
    INT,
    NEVER,
    STR,
    Const,
    DictOf,
    Enum,
    Key,
    ListOf,
    Partial,
    Scalar,
    Struct,
    Type,
    Union,
    nullable,
)
from envscaler.spec.values import written

__all__ = ["TypeReader"]

_FORMS: Final = ("type", "ref", "list", "dict", "enum", "const", "union", "partial")


class TypeReader:
    """Resolves type expressions against the types of the spec, which are read when first named."""

    def __init__(self, context: Context, declared: y.Mapping | None) -> None:
        self.context = context
        self.report = context.report
        self.declared = declared.entries if declared else {}
        self.fields = FieldReader(context, self)
        self.too_deep = False  # said once: what such a chain is cut into is deep again
        self.open: list[str] = []  # names being read, to see a type within itself

    def read_all(self) -> None:
        """Read every declared type."""
        for name in self.declared:
            self.named(name)

    @property
    def spans(self) -> dict[str, Span]:
        """Where each type is declared."""
        return {name: entry.key.span for name, entry in self.declared.items()}

    def named(self, name: str) -> Type | None:
        """The declared type of that name, or None when there is none."""
        if name in self.context.types:
            return self.context.types[name]
        entry = self.declared.get(name)
        if entry is None:
            return None
        self.open.append(name)
        found = self._declaration(name, entry)
        self.open.pop()
        self.context.types[name] = found
        return found

    def _declaration(self, name: str, entry: y.Entry) -> Type:
        where = f"type {short(name)}"
        if not isinstance(entry.value, y.Mapping):
            if isinstance(entry.value, y.Scalar) and not entry.value.is_null:
                return self.expression(entry.value, where)
            Entries.of(self.context, entry, "type", where)
            return NEVER
        entries = Entries(self.context, entry.value, "type", where, entry.key.span)
        entries.prose("description")
        if not entries.has("fields"):
            return self.form(entries, name)
        for extra in entries.node.entries:
            if extra in TYPE_KEYS:
                self.report.error(
                    "conflicting-keys",
                    entries.key_span(extra),
                    f"{where} has both 'fields' and {extra!r}",
                    "a type is a structure or another form",
                )
        struct = Struct(name)
        struct.fields.update(self.fields.read(entries, "fields", "field"))  # type: ignore[attr-defined]
        return struct

    # -- expressions

    def expression(self, node: y.Node, where: str, *, records: bool = False) -> Type:
        """The type that ``node`` says; NEVER after a problem, as no more is said of it. ``records``: they may be named."""
        if isinstance(node, y.Mapping):
            self._no_attributes(node, where)
            return self.form(Entries(self.context, _only_types(node), "type", where, node.span), None, records=records)
        if isinstance(node, y.Sequence) or node.is_null:
            if not isinstance(node, y.Scalar):
                self.report.error(
                    "bad-type",
                    node.span,
                    f"{where}: {describe(node)} is no type",
                    "a list of T is written {list: T}, a choice {enum: [a, b]}",
                )
            return NEVER
        return NEVER if node.style == "broken" else self._name(node, where, records)

    def _no_attributes(self, node: y.Mapping, where: str) -> None:
        for name, entry in node.entries.items():
            if name in ATTRIBUTES:
                self.report.error(
                    "misplaced-attribute",
                    entry.key.span,
                    f"{where}: {name!r} cannot stand on a type within a type",
                    "attributes belong to a field or parameter",
                    "put it beside the field's type",
                )

    def _name(self, node: y.Scalar, where: str, records: bool) -> Type:
        name = node.text.rstrip("?")
        name = self.context.renamed.get(name, name)
        if len(node.text) - len(name) > 1:
            self.report.error(
                "unknown-type",
                node.span,
                f"{where}: {short(node.text)} is nullable more than once",
                "one ? says that null is allowed",
                f"write {name}?",
            )
        found = self._lookup(node, name, where, records)
        return nullable(found) if node.text.endswith("?") and found is not NEVER else found

    def _lookup(self, node: y.Scalar, name: str, where: str, records: bool) -> Type:
        if name in SCALARS:
            return Scalar(name)  # type: ignore[arg-type]
        if name in self.open:
            chain = " → ".join([*self.open[self.open.index(name) :], name])
            self.report.error(
                "recursive-type",
                node.span,
                f"type {name!r} contains itself: {chain}",
                "schemas of tools cannot say such a type",
                "make the inner ones records of a collection, and hold their keys: {list: {ref: …}}",
            )
            return NEVER
        if len(self.open) > y.MAX_DEPTH:
            if self.too_deep:
                return NEVER
            self.too_deep = True
            self.report.error(
                "too-deep", node.span, f"types are named within each other more than {y.MAX_DEPTH} levels deep"
            )
            return NEVER
        found = self.named(name)
        if found is not None:
            return found
        if name in self.context.records:
            return self._record(node, name, where, records)
        self._unknown(node, name, where)
        return NEVER

    def _record(self, node: y.Scalar, name: str, where: str, records: bool) -> Type:
        struct = self.context.records[name]
        if not records:
            key = struct.collection if struct.collection in self.context.keys else None
            self.report.error(
                "record-type",
                node.span,
                f"{where}: {name} is a record, which stands in its state only",
                "records refer to each other by key",
                f"store its key: {{ref: {key}}}" if key else "declare a type for it under `types`",
            )
            return NEVER
        return struct

    def _unknown(self, node: y.Scalar, name: str, where: str) -> None:
        known = [*SCALARS, *self.declared, *self.context.records]
        better = _HABITS.get(name.lower())
        if better:
            self.report.error(
                "unknown-type",
                node.span,
                f"{where}: there is no type {short(name)}",
                f"types: {one_of(known, 20)}",
                f"write {better}",
            )
        elif name in self.context.keys:
            self.report.error(
                "unknown-type",
                node.span,
                f"{where}: {name!r} is a collection, not a type",
                help=f"the key of one of its records is {{ref: {name}}}",
            )
        else:
            self.report.unknown(
                "unknown-type", node.span, f"{where}: there is no type {short(name)}", name, known, "types"
            )

    def form(self, entries: Entries, name: str | None, *, records: bool = False) -> Type:
        """A mapping form; ``name`` when it is declared under `types`."""
        present = [k for k in _FORMS if entries.has(k)]
        if len(present) != 1:
            self._not_one(entries, present)
            return NEVER
        kind = present[0]
        for extra, needs in (("key", "dict"), ("tag", "union")):
            if entries.has(extra) and kind != needs:
                self.report.error(
                    "conflicting-keys", entries.key_span(extra), f"{entries.where}: {extra!r} goes with {needs!r} only"
                )
        entry = entries.get(kind)
        if entry is None:
            return NEVER
        found: Type = getattr(self, f"_{kind}")(entries, entry.value, name, records)
        return nullable(found) if entries.flag("null") and found is not NEVER else found

    def _not_one(self, entries: Entries, present: list[str]) -> None:
        if present:
            self.report.error(
                "conflicting-keys",
                entries.key_span(present[1]),
                f"{entries.where} has both {present[0]!r} and {present[1]!r}",
                f"expected exactly one of {one_of(_FORMS)}",
            )
        else:
            self.report.error(
                "missing-key",
                entries.span,
                f"{entries.where} says no type",
                f"expected exactly one of {one_of(_FORMS)}",
            )

    def _type(self, entries: Entries, node: y.Node, name: str | None, records: bool) -> Type:
        return self.expression(node, entries.where, records=records)

    def _ref(self, entries: Entries, node: y.Node, name: str | None, records: bool) -> Type:
        scalar = entries.scalar("ref", "the name of a collection")
        if scalar is None:
            return NEVER
        if scalar.text in self.context.keys:
            return self.context.keys[scalar.text]
        if not self.context.keys and self.report.failed:
            return NEVER  # the states were refused
        self.report.unknown(
            "unknown-state",
            scalar.span,
            f"{entries.where}: there is no collection {short(scalar.text)}",
            scalar.text,
            list(self.context.keys),
            "collections",
        )
        return NEVER

    def _list(self, entries: Entries, node: y.Node, name: str | None, records: bool) -> Type:
        return ListOf(self.expression(node, entries.where, records=records))

    def _dict(self, entries: Entries, node: y.Node, name: str | None, records: bool) -> Type:
        value = self.expression(node, entries.where, records=records)
        key_entry = entries.get("key")
        if key_entry is None:
            return DictOf(value)
        key = self.expression(key_entry.value, entries.where)
        if (
            key in (STR, INT)
            or isinstance(key, Key)
            or (isinstance(key, Enum) and all(isinstance(v, str) for v in key.values))
        ):
            return DictOf(value, key)
        if key is not NEVER:
            self.report.error(
                "bad-type",
                key_entry.value.span,
                f"{entries.where}: {key} cannot be the key of a mapping",
                "expected str, int, an enum of texts, or a ref",
            )
        return DictOf(value)

    def _enum(self, entries: Entries, node: y.Node, name: str | None, records: bool) -> Type:
        sequence = entries.sequence("enum")
        if sequence is None:
            return NEVER
        scalars = [item for item in sequence.items if isinstance(item, y.Scalar) and not item.is_null]
        if len(scalars) != len(sequence.items) or not scalars:
            self.report.error(
                "bad-enum",
                node.span,
                f"{entries.where}: an enum lists texts or whole numbers, at least one",
                help='the text null is written "null"' if any(_is_null(item) for item in sequence.items) else "",
            )
            return NEVER
        return self._members(entries.where, [s for s in scalars if s.style != "broken"], name)

    def _members(self, where: str, scalars: list[y.Scalar], name: str | None) -> Type:
        numbers = [_as_int(s) for s in scalars]
        whole = bool(numbers) and all(n is not None for n in numbers)
        values: list[str | int] = [n for n in numbers if n is not None] if whole else [s.text for s in scalars]
        seen: dict[str | int, y.Scalar] = {}
        for value, scalar in zip(values, scalars, strict=True):
            if value in seen:
                self.report.error(
                    "bad-enum",
                    scalar.span,
                    f"{where}: {short(str(value))} stands in the enum twice",
                    related=((seen[value].span, "the first is here"),),
                )
            seen.setdefault(value, scalar)
        return Enum(tuple(seen), name)

    def _const(self, entries: Entries, node: y.Node, name: str | None, records: bool) -> Type:
        scalar = entries.scalar("const", "a text, a whole number, true or false")
        if scalar is None:
            return NEVER
        if scalar.style == "plain" and scalar.text in ("true", "false"):
            return Const(scalar.text == "true")
        number = _as_int(scalar)
        return Const(scalar.text if number is None else number)

    def _union(self, entries: Entries, node: y.Node, name: str | None, records: bool) -> Type:
        sequence, tag = entries.sequence("union"), entries.scalar("tag", "a field's name")
        if not entries.has("tag"):
            self.report.error(
                "missing-key",
                entries.key_span("union"),
                f"{entries.where}: a union needs the key 'tag'",
                "tag: the field that is a different `const` in each member",
            )
        if sequence is None or tag is None:
            return NEVER
        members = [(item, self.expression(item, entries.where)) for item in sequence.items]
        structs = [(item, of) for item, of in members if isinstance(of, Struct)]
        for item, of in members:
            if not isinstance(of, Struct) and of is not NEVER:
                self.report.error(
                    "bad-union",
                    item.span,
                    f"{entries.where}: {of} is no type with fields",
                    "the members of a union are types with fields",
                )
        if len(members) < 2 and sequence.items == [i for i, _ in members]:
            self.report.error("bad-union", sequence.span, f"{entries.where}: a union has at least two members")
            return NEVER
        if len(structs) != len(members) or not self._tagged(entries.where, structs, tag):
            return NEVER
        return Union(name or " | ".join(of.name for _, of in structs), tag.text, tuple(of for _, of in structs))

    def _tagged(self, where: str, structs: list[tuple[y.Node, Struct]], tag: y.Scalar) -> bool:
        """Whether the tag tells the members apart, under one outside name."""
        seen: dict[Any, str] = {}
        good = True
        for item, struct in structs:
            declared = struct.fields.get(tag.text)
            if declared is None or not isinstance(declared.type, Const) or declared.absent:
                self.report.error(
                    "bad-union",
                    item.span,
                    f"{where}: {struct.name} has no field {tag.text!r} that is a const",
                    help=f"declare it: {tag.text}: {{const: {struct.name.lower()}}}",
                )
                good = False
            elif (value := written(declared.type.value)) in seen:
                self.report.error(
                    "bad-union",
                    item.span,
                    f"{where}: {seen[value]} and {struct.name} have the same {tag.text}, {short(value)}",
                    "the tag must be different in each member",
                )
                good = False
            else:
                seen[value] = struct.name
        names = {struct.fields[tag.text].json for _, struct in structs if tag.text in struct.fields}
        if good and len(names) > 1:
            self.report.error(
                "bad-union", tag.span, f"{where}: the members call the tag differently outside: {one_of(sorted(names))}"
            )
        return good and len(names) == 1

    def _partial(self, entries: Entries, node: y.Node, name: str | None, records: bool) -> Type:
        of = self.expression(node, entries.where, records=True)
        if isinstance(of, Struct):
            return Partial(of)
        if of is not NEVER:
            self.report.error("bad-type", node.span, f"{entries.where}: partial takes a type with fields, not {of}")
        return NEVER


def _only_types(node: y.Mapping) -> y.Mapping:
    """The mapping without attributes, which were reported."""
    kept = {k: e for k, e in node.entries.items() if k not in ATTRIBUTES}
    return y.Mapping(node.span, node.start, node.end, node.flow, kept)


def _is_null(node: y.Node) -> bool:
    return isinstance(node, y.Scalar) and node.is_null


def _as_int(scalar: y.Scalar) -> int | None:
    text = scalar.text
    digits = text.removeprefix("-")
    whole = digits.isascii() and digits.isdigit() and len(digits) < 16 and (digits == "0" or digits[0] != "0")
    return int(text) if scalar.style == "plain" and whole else None


_HABITS: Final = {
    "string": "str",
    "text": "str",
    "integer": "int",
    "boolean": "bool",
    "double": "float",
    "decimal": "money",
    "array": "{list: T}",
    "list": "{list: T}",
    "dict": "{dict: T}",
    "object": "{dict: T}, or a type with fields",
    "map": "{dict: T}",
    "enum": "{enum: [a, b]}",
    "timestamp": "datetime",
    "timezone": "zone",
    "optional": "T?",
    "json": "any",
}
