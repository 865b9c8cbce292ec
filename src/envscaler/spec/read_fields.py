"""Fields and parameters: a type with its attributes."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, Final, Protocol

from envscaler.diagnostics import Span, one_of
from envscaler.spec import yamltree as y
from envscaler.spec.entries import Context, Entries
from envscaler.spec.forms import form
from envscaler.spec.names import check_outside, named_entries
from envscaler.spec.patterns import BadPattern, check_pattern
from envscaler.spec.types import (
    ANY,
    INT,
    NEVER,
    STR,
    Const,
    DictOf,
    Field,
    ListOf,
    Nullable,
    Partial,
    Scalar,
    Struct,
    Type,
    Union,
    strip_null,
)
from envscaler.spec.values import BAD, Converter, Where, written_bound

__all__ = ["NOT_COMPARED", "FieldReader", "comparable"]

_ORDERED: Final = ("int", "float", "number", "money", "date", "time", "datetime")
_BOUNDS: Final = ("ge", "gt", "le", "lt")


class _Types(Protocol):
    """What reads the types of fields."""

    def expression(self, node: y.Node, where: str, *, records: bool = False) -> Type: ...

    def form(self, entries: Entries, name: str | None, *, records: bool = False) -> Type: ...


class FieldReader:
    """Reads fields and parameters, their attributes held against their types."""

    def __init__(self, context: Context, types: _Types) -> None:
        self.context = context
        self.report = context.report
        self.types = types

    def read(self, entries: Entries, key: str, kind: str) -> dict[str, Field]:
        """The fields under ``key`` by name, those that could be read."""
        found: dict[str, Field] = {}
        outside: dict[str, Span] = {}
        for name, entry in named_entries(entries.mapping(key), "lower", form(kind).what, self.report, reserved=()):
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
            return _plain_field(name, self.types.expression(node, where, records=records), entry.key.span), None
        entries = Entries(self.context, node, kind, where, entry.key.span)
        of = self.types.form(entries, None, records=records)
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
        return _replaced(declared, None if value is BAD else value)

    def _bound(self, entries: Entries, name: str, of: Type) -> Any:
        entry = entries.get(name)
        kind = strip_null(of)
        if entry is None or of is NEVER:
            return None
        if not isinstance(kind, Scalar) or kind.name not in _ORDERED:
            self._no_use(entries, name, f"a bound goes with {one_of(_ORDERED)}, not with {kind}")
            return None
        value = Converter(self.context, "internal").value(entry.value, kind, Where(f"{name} of {entries.where}"))
        return None if value is BAD else value

    def _length(self, entries: Entries, name: str, of: Type) -> int | None:
        kind = strip_null(of)
        if of is not NEVER and kind != STR and not isinstance(kind, (ListOf, DictOf)):
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
        if of is not NEVER and strip_null(of) != STR:
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
            shown = partial(written_bound, INT if key == "max_length" else declared.type)
            if least is not None and most is not None and least > most:  # type: ignore[operator]
                self.report.error(
                    "bad-bounds",
                    entries.key_span(key),
                    f"{entries.where}: the least ({shown(least)}) is more than the greatest ({shown(most)})",
                    "no value is within these bounds",
                )
        if declared.unique and not comparable(declared.type):
            self._no_use(entries, "unique", NOT_COMPARED)


NOT_COMPARED: Final = "values of lists, dicts, structures and any are not compared"


def comparable(of: Type) -> bool:
    """Whether values of a type can be held against each other to find equal ones."""
    kind = strip_null(of)
    return kind != ANY and not isinstance(kind, (ListOf, DictOf, Struct, Union, Partial))


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
