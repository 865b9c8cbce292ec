"""Type expressions, fields and their attributes."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from envscaler.diagnostics import Span, one_of
from envscaler.spec import yamltree as y
from envscaler.spec.entries import Context, Entries, describe
from envscaler.spec.forms import ATTRIBUTES, SCALARS, TYPE_KEYS, form
from envscaler.spec.names import check_name, check_outside
from envscaler.spec.patterns import BadPattern, check_pattern
from envscaler.spec.report import short
from envscaler.spec.types import (
    ANY,
    INT,
    STR,
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
    nullable,
    strip_null,
)
from envscaler.spec.values import BAD, Converter, Where, written

__all__ = ["TypeReader"]

_FORMS: Final = ("type", "ref", "list", "dict", "enum", "const", "union", "partial")
_ORDERED: Final = ("int", "float", "number", "money", "date", "time", "datetime")
_BOUNDS: Final = ("ge", "gt", "le", "lt")


class TypeReader:
    """Resolves type expressions against the types of the spec, which are read when first named."""

    def __init__(self, context: Context, declared: y.Mapping | None) -> None:
        self.context = context
        self.report = context.report
        self.declared = declared.entries if declared else {}
        self.too_deep = False  # said once: what such a chain is cut into is deep again
        self.open: list[str] = []  # names being read, to see a type within itself

    def read_all(self) -> None:
        """Read every declared type."""
        for name in self.declared:
            self.named(name)

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
            return ANY
        entries = Entries(self.context, entry.value, "type", where, entry.key.span)
        entries.prose("description")
        if not entries.has("fields"):
            return self._form(entries, name)
        for extra in entries.node.entries:
            if extra in TYPE_KEYS:
                self.report.error(
                    "conflicting-keys",
                    entries.key_span(extra),
                    f"{where} has both 'fields' and {extra!r}",
                    "a type is a structure or another form",
                )
        struct = Struct(name)
        struct.fields.update(self.fields(entries, "fields", "field"))  # type: ignore[attr-defined]
        return struct

    # -- expressions

    def expression(self, node: y.Node, where: str, *, records: bool = False) -> Type:
        """The type that ``node`` says; ANY after a problem. ``records``: record types may be named."""
        if isinstance(node, y.Mapping):
            self._no_attributes(node, where)
            return self._form(Entries(self.context, _only_types(node), "type", where, node.span), None, records=records)
        if isinstance(node, y.Sequence) or node.is_null:
            if not isinstance(node, y.Scalar):
                self.report.error(
                    "bad-type",
                    node.span,
                    f"{where}: {describe(node)} is no type",
                    "a list of T is written {list: T}, a choice {enum: [a, b]}",
                )
            return ANY
        return ANY if node.style == "broken" else self._name(node, where, records)

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
        name = node.text.removesuffix("?")
        found = self._lookup(node, name, where, records)
        return nullable(found) if node.text.endswith("?") and found is not ANY else found

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
            return ANY
        if len(self.open) > y.MAX_DEPTH:
            if self.too_deep:
                return ANY
            self.too_deep = True
            self.report.error(
                "too-deep", node.span, f"types are named within each other more than {y.MAX_DEPTH} levels deep"
            )
            return ANY
        found = self.named(name)
        if found is not None:
            return found
        if name in self.context.records:
            return self._record(node, name, where, records)
        self._unknown(node, name, where)
        return ANY

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
            return ANY
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

    def _form(self, entries: Entries, name: str | None, *, records: bool = False) -> Type:
        """A mapping form; ``name`` when it is declared under `types`."""
        present = [k for k in _FORMS if entries.has(k)]
        if len(present) != 1:
            self._not_one(entries, present)
            return ANY
        kind = present[0]
        for extra, needs in (("key", "dict"), ("tag", "union")):
            if entries.has(extra) and kind != needs:
                self.report.error(
                    "conflicting-keys", entries.key_span(extra), f"{entries.where}: {extra!r} goes with {needs!r} only"
                )
        entry = entries.get(kind)
        if entry is None:
            return ANY
        found: Type = getattr(self, f"_{kind}")(entries, entry.value, name, records)
        return nullable(found) if entries.flag("null") and found is not ANY else found

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
            return ANY
        if scalar.text in self.context.keys:
            return self.context.keys[scalar.text]
        self.report.unknown(
            "unknown-state",
            scalar.span,
            f"{entries.where}: there is no collection {short(scalar.text)}",
            scalar.text,
            list(self.context.keys),
            "collections",
        )
        return ANY

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
        if key is not ANY:
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
            return ANY
        scalars = [item for item in sequence.items if isinstance(item, y.Scalar) and not item.is_null]
        if len(scalars) != len(sequence.items) or not scalars:
            self.report.error(
                "bad-enum",
                node.span,
                f"{entries.where}: an enum lists texts or whole numbers, at least one",
                help='the text null is written "null"',
            )
            return ANY
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
            return ANY
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
            return ANY
        members = [(item, self.expression(item, entries.where)) for item in sequence.items]
        structs = [(item, of) for item, of in members if isinstance(of, Struct)]
        for item, of in members:
            if not isinstance(of, Struct) and of is not ANY:
                self.report.error(
                    "bad-union", item.span, f"{entries.where}: {of} is no type with fields", "members of a union are"
                )
        if len(members) < 2 and sequence.items == [i for i, _ in members]:
            self.report.error("bad-union", sequence.span, f"{entries.where}: a union has at least two members")
            return ANY
        if len(structs) != len(members) or not self._tagged(entries.where, structs, tag):
            return ANY
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
        if of is not ANY:
            self.report.error("bad-type", node.span, f"{entries.where}: partial takes a type with fields, not {of}")
        return ANY

    # -- fields

    def fields(self, entries: Entries, key: str, kind: str) -> dict[str, Field]:
        """The fields under ``key`` by name, those that could be read."""
        found: dict[str, Field] = {}
        outside: dict[str, Span] = {}
        mapping = entries.mapping(key)
        for name, entry in mapping.entries.items() if mapping else ():
            if not check_name(entry.key, "lower", form(kind).what, self.report, reserved=False):
                continue
            found[name], _ = self.field(entry, kind, f"{kind} {name!r} of {entries.where}")
            self.distinct(found[name], entry.key.span, outside)
        return found

    def distinct(self, declared: Field, span: Span, outside: dict[str, Span]) -> None:
        """Report a second field of the same outside name."""
        if declared.json in outside:
            self.report.error(
                "duplicate-key",
                span,
                f"{declared.json!r} is the outside name of another one, too",
                related=((outside[declared.json], "the first is here"),),
            )
        outside.setdefault(declared.json, span)

    def field(self, entry: y.Entry, kind: str, where: str, *, records: bool = False) -> tuple[Field, Entries | None]:
        """One field or parameter, with its entries when it was written as a mapping."""
        name, node = entry.key.text, entry.value
        if not isinstance(node, y.Mapping):
            if isinstance(node, y.Scalar) and node.is_null:
                self.report.error("null-value", entry.key.span, f"{where} has no value", "expected its type")
            return _plain_field(name, self.expression(node, where, records=records), entry.key.span), None
        entries = Entries(self.context, node, kind, where, entry.key.span)
        of = self._form(entries, None, records=records)
        return self._attributes(entries, name, of, kind), entries

    def _attributes(self, entries: Entries, name: str, of: Type, kind: str) -> Field:
        outside = entries.scalar("json", "the outside name")
        if outside is not None and not check_outside(outside, entries.form.what, self.report, strict=kind == "param"):
            outside = None
        bounds: dict[str, Any] = {k: self._bound(entries, k, of) for k in _BOUNDS if entries.has(k)}
        lengths: dict[str, Any] = {
            k: self._length(entries, k, of) for k in ("min_length", "max_length") if entries.has(k)
        }
        declared = Field(
            name=name,
            type=of,
            json=outside.text if outside else name,
            span=entries.span,
            description=entries.prose_text("description"),
            absent=kind == "field" and entries.flag("absent"),
            unique=kind == "field" and entries.flag("unique"),
            incidental=kind == "field" and entries.flag("incidental"),
            like=entries.choice("like"),
            pattern=self._pattern(entries, of),
            **bounds,
            **lengths,
        )
        self._consistent(entries, declared)
        return self._with_default(entries, declared)

    def _with_default(self, entries: Entries, declared: Field) -> Field:
        entry = entries.get("default")
        if entry is None:
            return _implied(declared)
        if declared.absent:
            self.report.error(
                "conflicting-keys",
                entry.key.span,
                f"{entries.where} has both 'absent' and 'default'",
                "a field with a default is never absent",
            )
        value = Converter(self.context, "internal").field(entry.value, declared, Where(f"default of {declared.name}"))
        return declared if value is BAD else _replaced(declared, value)

    def _bound(self, entries: Entries, name: str, of: Type) -> Any:
        entry = entries.get(name)
        kind = strip_null(of)
        if entry is None or of is ANY:
            return None
        if not isinstance(kind, Scalar) or kind.name not in _ORDERED:
            self._no_use(entries, name, f"a bound goes with {one_of(_ORDERED)}, not with {kind}")
            return None
        value = Converter(self.context, "internal").value(entry.value, kind, Where(f"{name} of {entries.where}"))
        return None if value is BAD else value

    def _length(self, entries: Entries, name: str, of: Type) -> int | None:
        kind = strip_null(of)
        if of is not ANY and kind != STR and not isinstance(kind, (ListOf, DictOf)):
            self._no_use(entries, name, f"a length goes with str, lists and dicts, not with {kind}")
            return None
        length = entries.integer(name)
        if length is not None and length < 0:
            self.report.error("bad-bounds", entries.key_span(name), f"{entries.where}: {name} is negative")
            return None
        return length

    def _pattern(self, entries: Entries, of: Type) -> str | None:
        scalar = entries.scalar("pattern", "a regular expression")
        if scalar is None:
            return None
        if of is not ANY and strip_null(of) != STR:
            self._no_use(entries, "pattern", f"a pattern goes with str, not with {strip_null(of)}")
            return None
        try:
            return check_pattern(scalar.text)
        except BadPattern as bad:
            code = "slow-pattern" if "quadratic" in str(bad) else "bad-pattern"
            self.report.error(
                code,
                scalar.span,
                f"{entries.where}: the pattern cannot be used, at its character {bad.offset + 1}: {bad}",
                "patterns are the regular expressions that match in linear time: each next character decides how to go on",
            )
            return None

    def _no_use(self, entries: Entries, name: str, why: str) -> None:
        self.report.error(
            "misplaced-attribute", entries.key_span(name), f"{entries.where}: {name!r} has no meaning here", why
        )

    def _consistent(self, entries: Entries, declared: Field) -> None:
        low = max((b for b in (declared.ge, declared.gt) if b is not None), default=None)
        high = min((b for b in (declared.le, declared.lt) if b is not None), default=None)
        pairs = [
            (low, high, next((k for k in ("le", "lt") if entries.has(k)), "")),
            (declared.min_length, declared.max_length, "max_length"),
        ]
        for least, most, key in pairs:
            if least is not None and most is not None and least > most:  # type: ignore[operator]
                self.report.error(
                    "bad-bounds",
                    entries.key_span(key),
                    f"{entries.where}: the bounds leave no value: more than the greatest is the least",
                )
        if declared.unique and isinstance(declared.type, (ListOf, DictOf)):
            self._no_use(entries, "unique", "values of lists and dicts are not compared")


def _plain_field(name: str, of: Type, span: Span) -> Field:
    return _implied(Field(name=name, type=of, json=name, span=span))


def _implied(declared: Field) -> Field:
    """What a field is without a given value: null when nullable, itself when a constant; else it must be given."""
    if declared.absent:
        return declared
    if isinstance(declared.type, Nullable):
        return _replaced(declared, None)
    return _replaced(declared, declared.type.value) if isinstance(declared.type, Const) else declared


def _replaced(declared: Field, default: Any) -> Field:
    return dataclasses.replace(declared, default=default)


def _only_types(node: y.Mapping) -> y.Mapping:
    """The mapping without attributes, which were reported."""
    kept = {k: e for k, e in node.entries.items() if k not in ATTRIBUTES}
    return y.Mapping(node.span, node.start, node.end, node.flow, kept)


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
