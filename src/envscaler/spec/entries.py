"""A mapping of the file held against its form: unknown, missing and empty keys reported, values handed out by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from envscaler.diagnostics import Span, one_of
from envscaler.spec.forms import FormKey, form
from envscaler.spec.model import Block, Constant, Text
from envscaler.spec.prose import Prose
from envscaler.spec.report import Report, short
from envscaler.spec.scalars import NotA, any_value, parse_scalar
from envscaler.spec.types import BOOL, INT, Key, Struct, Type
from envscaler.spec.yamltree import Document, Entry, Mapping, Node, Scalar, Sequence

__all__ = ["Context", "Entries", "describe", "json_of"]


@dataclass(eq=False)
class Context:
    """What reading one file has found so far; the readers of the parts share it."""

    document: Document
    report: Report
    base: Path | None = None  # the spec's folder, where its data files are
    zoned: bool = True
    constants: dict[str, Constant] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)  # names of types as written to those they are read by
    keys: dict[str, Key] = field(default_factory=dict)  # the key type of each collection
    records: dict[str, Struct] = field(default_factory=dict)  # record types by name
    prose: list[Prose] = field(default_factory=list)
    taken: dict[str, tuple[str, Span]] = field(default_factory=dict)  # names that logic can say: what it is, where

    @property
    def path(self) -> str:
        return self.document.path

    def claim(self, key: Scalar, what: str) -> bool:
        """Take a name of logic's name space; False with a diagnostic when another thing has it."""
        before = self.taken.setdefault(key.text, (what, key.span))
        if before[1] == key.span:
            return True
        self.report.error(
            "name-clash",
            key.span,
            f"{key.text!r} is already the name of {before[0]}",
            "logic could not tell them apart",
            "rename one of them",
            related=((before[1], "the first is here"),),
        )
        return False


def describe(node: Node) -> str:
    """How a message calls a node."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if node.is_null:
        return "nothing" if node.text == "" else "null"
    return "a literal block" if node.style == "literal" else short(node.text, 40)


class Entries:
    """A mapping that was checked against a form. Accessors give None for a key that is missing or was reported."""

    def __init__(self, context: Context, node: Mapping, name: str, where: str, span: Span) -> None:
        self.context = context
        self.report = context.report
        self.node = node
        self.form = form(name)
        self.where = where  # how messages call this mapping: `tool 'check_out'`
        self.span = span
        self._kinds = {k.key: k for k in self.form.keys}
        self._meant()
        self._check()

    @classmethod
    def of(cls, context: Context, entry: Entry, name: str, where: str) -> Entries | None:
        """The entry's value as this form, or None with a diagnostic when it is no mapping."""
        if isinstance(entry.value, Mapping):
            return cls(context, entry.value, name, where, entry.key.span)
        if not _broken(entry.value):
            _expected(
                context.report,
                entry.value,
                entry.key.span,
                f"{where} is a mapping of {one_of(form(name).names, 20)}",
                where,
            )
        return None

    def _meant(self) -> None:
        """Report unknown keys. One that is like a key that is not there is read as that key: its lack is not reported too."""
        found: dict[str, Entry] = {}
        for name, entry in self.node.entries.items():
            if name in self._kinds:
                found[name] = entry
                continue
            title = f"{self.where} has no key {short(name)}"
            if " " in name and isinstance(entry.value, Scalar) and entry.value.is_null:
                self.report.error("unknown-key", entry.key.span, title, help="a text with a comma in braces is quoted")
                continue
            meant = self.report.unknown("unknown-key", entry.key.span, title, name, self.form.names, "allowed keys")
            if meant is not None and meant not in self.node.entries and meant not in found:
                found[meant] = Entry(replace(entry.key, text=meant), entry.value)
        self.node = replace(self.node, entries=found)

    def _check(self) -> None:
        for name, entry in self.node.entries.items():
            if not self._kinds[name].null and isinstance(entry.value, Scalar) and entry.value.is_null:
                self.report.error(
                    "null-value",
                    entry.key.span,
                    f"{name!r} of {self.where} has no value",
                    f"expected {self._kinds[name].doc}",
                    _empty_fix(self._kinds[name]),
                )
        missing = [k for k in self.form.keys if k.required and k.key not in self.node.entries]
        for key in missing:
            self.report.error(
                "missing-key", self.span, f"{self.where} needs the key {key.key!r}", f"{key.key}: {key.doc}"
            )

    def has(self, name: str) -> bool:
        """Whether the key stands there, whatever its value."""
        return name in self.node.entries

    def get(self, name: str) -> Entry | None:
        """The entry, or None when it is missing or null where null is no value."""
        entry = self.node.entries.get(name)
        if entry is None or _broken(entry.value):
            return None
        if isinstance(entry.value, Scalar) and entry.value.is_null and not self._kinds[name].null:
            return None
        return entry

    def key_span(self, name: str) -> Span:
        """Where the key stands, or the mapping's place without it."""
        entry = self.node.entries.get(name)
        return entry.key.span if entry else self.span

    def wrong(self, entry: Entry, expected: str) -> None:
        """Report a value of the wrong kind."""
        _expected(self.report, entry.value, entry.key.span, expected, f"{entry.key.text!r} of {self.where}")

    def scalar(self, name: str, expected: str = "a text") -> Scalar | None:
        """The value as one text."""
        entry = self.get(name)
        if entry is None:
            return None
        if isinstance(entry.value, Scalar):
            return entry.value
        self.wrong(entry, f"expected {expected}")
        return None

    def text(self, name: str) -> str | None:
        node = self.scalar(name)
        return node.text if node else None

    def prose(self, name: str, params: tuple[str, ...] | None = None) -> Text | None:
        """A text with placeholders, which are checked once everything is read."""
        node = self.scalar(name)
        if node is None:
            return None
        text = Text(node.text.strip("\n") if node.style == "literal" else node.text, node.span)
        self.context.prose.append(Prose(text, params or ()))
        return text

    def prose_text(self, name: str) -> str:
        prose = self.prose(name)
        return prose.value if prose else ""

    def typed(self, name: str, kind: Any) -> Any:
        """An int or bool of the form itself."""
        node = self.scalar(name, "true or false" if kind is BOOL else "a whole number")
        if node is None:
            return None
        try:
            if node.style != "plain":
                raise NotA("expected it without quotes")
            return parse_scalar(node.text, kind, zoned=True)
        except NotA as reason:
            self.report.error(
                "bad-value", node.span, f"{name} of {self.where}: {short(node.text, 40)} does not fit", str(reason)
            )
            return None

    def flag(self, name: str) -> bool:
        """A bool that is false when left out."""
        return bool(self.typed(name, BOOL))

    def integer(self, name: str) -> int | None:
        value: int | None = self.typed(name, INT)
        return value

    def choice(self, name: str, default: Any = None) -> Any:
        """One of the key's choices."""
        allowed = self._kinds[name].choices
        node = self.scalar(name, f"one of {one_of(allowed)}")
        if node is None:
            return default
        if node.text in allowed:
            return node.text
        self.report.unknown(
            "bad-choice",
            node.span,
            f"{name} of {self.where} cannot be {short(node.text, 40)}",
            node.text,
            allowed,
            "expected one of",
        )
        return default

    def mapping(self, name: str) -> Mapping | None:
        """The value as names with something each."""
        entry = self.get(name)
        if entry is None:
            return None
        if isinstance(entry.value, Mapping):
            return entry.value
        self.wrong(entry, f"expected a mapping: {self._kinds[name].doc}")
        return None

    def sequence(self, name: str) -> Sequence | None:
        entry = self.get(name)
        if entry is None:
            return None
        if isinstance(entry.value, Sequence):
            return entry.value
        self.wrong(entry, f"expected a list: {self._kinds[name].doc}")
        return None

    def block(self, name: str) -> Block | None:
        """A literal block of logic."""
        entry = self.get(name)
        if entry is None:
            return None
        node, span = entry.value, entry.key.span
        if not isinstance(node, Scalar) or node.style != "literal":
            if not (isinstance(node, Scalar) and node.style == "folded"):
                self.report.error(
                    "not-a-block",
                    node.span,
                    f"{name!r} of {self.where} is logic, and logic stands in a literal block",
                    "YAML misreads code outside of one",
                    f"write `{name}: |` and the code on the next lines, indented",
                )
            return None
        source, line, column = self.context.document.literal_source(node)
        if not source.strip():
            self.report.error("null-value", span, f"{name!r} of {self.where} has no value", "the block is empty")
            return None
        return Block(source, self.context.path, line, column, span)

    def each(self, name: str, read: Callable[[Entry], Any]) -> Iterator[tuple[str, Any]]:
        """(key, what ``read`` gave) of a mapping's entries, leaving out those that gave None."""
        mapping = self.mapping(name)
        for key, entry in mapping.entries.items() if mapping else ():
            value = read(entry)
            if value is not None:
                yield key, value


def _empty_fix(key: FormKey) -> str:
    if key.kind == "map" and key.required:
        return f"put at least one entry under `{key.key}:`"
    if key.kind in ("map", "value", "state"):
        return f"give it one, or remove the key; empty is written `{key.key}: {{}}`"
    if key.kind in ("list", "names", "unique"):
        return f"give it one, or remove the key; empty is written `{key.key}: []`"
    return "give it one, or remove the key; in {…} a text with a comma or colon needs quotes"


def _broken(node: Node) -> bool:
    return isinstance(node, Scalar) and node.style == "broken"


def _expected(report: Report, node: Node, key: Span, expected: str, where: str) -> None:
    if isinstance(node, Scalar) and node.is_null:
        report.error("null-value", key, f"{where} has no value", expected)
    elif not _broken(node):
        report.error(
            "wrong-kind", node.span if isinstance(node, Scalar) else key, f"{where} is {describe(node)}", expected
        )


def json_of(node: Node) -> Any:
    """The node as JSON where no type is declared: unquoted text may be null, a bool or a number. May raise NotA."""
    if isinstance(node, Scalar):
        return any_value(node.text, node.style == "plain")
    if isinstance(node, Sequence):
        return [json_of(item) for item in node.items]
    return {key: json_of(entry.value) for key, entry in node.entries.items()}
