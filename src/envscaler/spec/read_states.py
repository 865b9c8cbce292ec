"""States: collections, single records, their keys and trees."""

from __future__ import annotations

import dataclasses
import re
from typing import Final

from envscaler.diagnostics import Span
from envscaler.spec import yamltree as y
from envscaler.spec.entries import Context, Entries
from envscaler.spec.model import KeyDef, StateDef, TreeDef
from envscaler.spec.names import check_outside, is_name, named_entries, proposal, usable_name
from envscaler.spec.read_fields import NOT_COMPARED, comparable
from envscaler.spec.read_types import TypeReader
from envscaler.spec.report import short
from envscaler.spec.types import BOOL, INT, STR, Field, Key, Nullable, Struct

__all__ = ["StateReader"]

_MAKE: Final = re.compile(
    r"(?P<before>[^{}]*)\{(?:(?P<n>n)(?::(?P<width>0[1-9][0-9]?)?d)?|hex:(?P<hex>[1-9][0-9]?))\}(?P<after>[^{}]*)\Z"
)


class StateReader:
    """Reads `states` in two goes: first names, keys and records, so that types can refer to them; then the fields."""

    def __init__(self, context: Context, declared: y.Mapping | None) -> None:
        self.context = context
        self.report = context.report
        self.heads: dict[str, tuple[Entries, KeyDef | None, Struct]] = {}
        for name in declared.entries if declared else ():
            context.keys[name] = Key(name)  # refs to what is refused are not reported
        for name, entry in named_entries(declared, "lower", "a state", self.report):
            if context.claim(entry.key, "a state"):
                self._head(name, entry)

    def _head(self, name: str, entry: y.Entry) -> None:
        entries = Entries.of(self.context, entry, "state", f"state {name!r}")
        if entries is None:
            return
        key = self._key(entries, name)
        self.context.keys.pop(name, None)
        if key:
            self.context.keys[name] = key.type
        record = Struct(f"record of {name}", {}, name, key.name if key else None, key.type if key else None)
        node = entries.scalar("record", "the name of a type")
        named = usable_name(node, "type", "a record", self.report) if node else None
        if named and self.context.claim(named, "a record"):
            record = dataclasses.replace(record, name=named.text)
            self.context.records[named.text] = record
        self.heads[name] = (entries, key, record)

    def _key(self, entries: Entries, name: str) -> KeyDef | None:
        """The key of a state, None when it is single. One that was refused is made up, so that its uses are no problems."""
        entry = entries.get("key")
        if _single(entries):
            for extra in ("key", "unique", "tree"):
                if entries.has(extra):
                    self.report.error(
                        "conflicting-keys",
                        entries.key_span(extra),
                        f"{entries.where} is single and has {extra!r}",
                        "a single record has no key and no siblings",
                        "remove one of the two",
                    )
            if not entries.has("key"):
                return None
        if entry is None:
            if not entries.has("key"):
                self.report.error(
                    "missing-key",
                    entries.span,
                    f"{entries.where} needs the key 'key'",
                    "key: how its records are addressed",
                    f"key: {{name: {name.removesuffix('s')}_id}}, or `single: true` for one record",
                )
            return _made_up(entries, name)
        inner = Entries.of(self.context, entry, "key", f"the key of {entries.where}")
        return self._key_def(entries, inner, name) if inner else _made_up(entries, name)

    def _key_def(self, entries: Entries, inner: Entries, name: str) -> KeyDef:
        node = inner.scalar("name", "a name")
        own = usable_name(node, "lower", "a key", self.report, reserved=()) if node else None
        made_up = _made_up(entries, name)
        of = INT if inner.choice("type", "str") == "int" else STR
        outside = inner.scalar("json", "the outside name")
        if outside is not None and not check_outside(outside, "a key", self.report, strict=False):
            outside = None
        return KeyDef(
            own.text if own else made_up.name,
            Key(name, of),
            outside.text if outside else own.text if own else made_up.json,
            self._make(inner, of is INT),
            bool(inner.typed("in_record", BOOL)),
            inner.typed("in_record", BOOL) is not False,
            own.span if own else made_up.span,
        )

    def _make(self, inner: Entries, whole: bool) -> str | None:
        node = inner.scalar("make", "a template of keys")
        if node is None:
            return None
        match = _MAKE.match(node.text)
        if not match or len(node.text) > 100 or (match["hex"] and int(match["hex"]) > 32):
            self.report.error(
                "bad-make",
                node.span,
                f"{inner.where}: {short(node.text)} makes no keys",
                "expected text with one {n} or {n:04d}, which counts, or one {hex:8}, which is seeded, up to 32 digits",
            )
            return "{n}"
        if whole and node.text != "{n}":
            self.report.error(
                "bad-make", node.span, f"{inner.where}: {short(node.text)} makes no whole numbers", help='write "{n}"'
            )
            return "{n}"
        return node.text

    def read(self, types: TypeReader) -> dict[str, StateDef]:
        """The states, their records filled with fields."""
        found = {}
        for name, (entries, key, record) in self.heads.items():
            record.fields.update(types.fields.read(entries, "fields", "field"))  # type: ignore[attr-defined]
            if key:
                self._no_key_field(entries, key, record)
            found[name] = self._state(name, entries, key, record)
        return found

    def _no_key_field(self, entries: Entries, key: KeyDef, record: Struct) -> None:
        for declared in record.fields.values():
            if declared.name == key.name or (declared.json == key.json and key.in_record):
                self.report.error(
                    "name-clash",
                    declared.span,
                    f"{entries.where}: {declared.json!r} is the key's name and a field's",
                    "the key belongs to every record without being declared as a field",
                    "remove the field; `in_record: true` of the key repeats it in the JSON",
                    ((key.span, "the key is here"),),
                )

    def _state(self, name: str, entries: Entries, key: KeyDef | None, record: Struct) -> StateDef:
        form = entries.choice("form", "map")
        if (form == "flat") != (key is None) and form != "map":
            self.report.error(
                "bad-choice",
                entries.key_span("form"),
                f"{entries.where} cannot have the form {form}",
                "flat goes with single records, list with collections",
            )
            form = "map"
        if key and form == "list" and not key.in_record:
            key = dataclasses.replace(key, in_record=True)
        tree = self._tree(entries, record, key)
        if tree and tree.nested and form == "list":
            self.report.error(
                "bad-choice",
                entries.key_span("form"),
                f"{entries.where} cannot have the form list",
                "a nested tree is a map by name",
            )
            form = "map"
        return StateDef(
            name,
            record,
            key,
            tree,
            self._unique(entries, record, key),
            form,
            entries.prose_text("description"),
            entries.span,
        )

    def _field(self, entries: Entries, node: y.Scalar | None, record: Struct) -> Field | None:
        if node is None or node.style == "broken":
            return None
        if node.text not in record.fields:
            self.report.unknown(
                "unknown-field",
                node.span,
                f"{entries.where}: {record.name} has no field {short(node.text)}",
                node.text,
                list(record.fields),
                "fields",
            )
        return record.fields.get(node.text)

    def _unique(self, entries: Entries, record: Struct, key: KeyDef | None) -> tuple[tuple[str, ...], ...]:
        found = [(f.name,) for f in record.fields.values() if f.unique]
        for declared in record.fields.values() if key is None else ():
            if declared.unique:
                self.report.error(
                    "misplaced-attribute",
                    declared.span,
                    f"{entries.where}: 'unique' has no meaning here",
                    "there is one record only",
                )
        sequence = entries.sequence("unique") if key else None
        for item in sequence.items if sequence else ():
            scalars = item.items if isinstance(item, y.Sequence) else []
            if not scalars or not all(isinstance(s, y.Scalar) for s in scalars):
                self.report.error(
                    "wrong-kind",
                    item.span,
                    f"{entries.where}: 'unique' is a list of lists of fields",
                    help="unique: [[parent, name]]",
                )
                continue
            names = [self._field(entries, s, record) for s in scalars if isinstance(s, y.Scalar)]
            for node, field in zip(scalars, names, strict=True):
                if field is not None and not comparable(field.type):
                    self.report.error(
                        "misplaced-attribute",
                        node.span,
                        f"{entries.where}: {field.name} cannot be unique",
                        NOT_COMPARED,
                    )
            group = tuple(f.name for f in names if f)
            if len(group) == len(scalars) and group not in found:
                found.append(group)  # type: ignore[arg-type]
        return tuple(found)

    def _tree(self, entries: Entries, record: Struct, key: KeyDef | None) -> TreeDef | None:
        entry = entries.get("tree")
        if entry is None or key is None:
            return None
        inner = Entries.of(self.context, entry, "tree", f"the tree of {entries.where}")
        if inner is None:
            return None
        parent = self._field(inner, inner.scalar("parent", "a field"), record)
        name = self._field(inner, inner.scalar("name", "a field"), record)
        if parent and parent.type != Nullable(key.type):
            self._bad_tree(
                inner,
                "parent",
                f"{parent.name} is {parent.type}",
                f"expected `{{ref: {entries.where.split(chr(39))[1]}, null: true}}`, null at the roots",
            )
            parent = None
        if name and name.type != STR:
            self._bad_tree(inner, "name", f"{name.name} is {name.type}", "expected str")
            name = None
        nested = inner.text("nested")
        if nested is not None and record.fields and nested in {f.json for f in record.fields.values()}:
            self._bad_tree(
                inner,
                "nested",
                f"{short(nested)} is the outside name of a field, too",
                "children need a key of their own",
            )
        if nested is not None and key.make is None:
            self._bad_tree(
                inner, "nested", "the keys of a nested tree do not stand in its JSON", "so the key needs `make`"
            )
        return TreeDef(parent.name, name.name, nested, inner.span) if parent and name else None

    def _bad_tree(self, inner: Entries, key: str, what: str, why: str) -> None:
        node = inner.node.entries.get(key)
        span: Span = node.value.span if node else inner.span
        self.report.error("bad-tree", span, f"{inner.where}: {what}", why)


def _single(entries: Entries) -> bool:
    """Whether a state is single; one with a refused value of `single` was meant to be."""
    return entries.has("single") and entries.typed("single", BOOL) is not False


def _made_up(entries: Entries, state: str) -> KeyDef:
    """What the key of a state may have been: by the text that stands for it, else by the record's name."""
    for key in ("key", "record"):
        entry = entries.get(key)
        text = entry.value.text if entry and isinstance(entry.value, y.Scalar) else ""
        name = proposal(text if key == "key" else f"{text}_id", "lower") if text else None
        if name and is_name(name, "lower"):
            break
    else:
        name = f"{state}_id"
    return KeyDef(name, Key(state), name, "{n}", False, True, entries.span)
