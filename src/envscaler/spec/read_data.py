"""The initial state: typed by the declared states, its keys, references, unique fields and trees checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envscaler.diagnostics import Span, one_of
from envscaler.spec import yamltree as y
from envscaler.spec.entries import Context, describe
from envscaler.spec.model import StateDef
from envscaler.spec.report import short, suggest
from envscaler.spec.types import MISSING, MONEY, Field, strip_null
from envscaler.spec.values import BAD, Converter, Where

__all__ = ["DataReader", "Record"]


@dataclass(frozen=True, slots=True)
class Record:
    """A record as read: its key in internal form, its fields in JSON form by outside name."""

    key: Any
    fields: Mapping[str, Any]
    span: Span
    where: Where


@dataclass
class DataReader:
    """Reads one whole state in JSON form. ``records`` then holds the records of each collection."""

    context: Context
    states: Mapping[str, StateDef]
    records: dict[str, list[Record]] = field(default_factory=dict)
    refused: dict[str, set[Any]] = field(default_factory=dict)  # keys of records that have a problem

    def __post_init__(self) -> None:
        self.converter = Converter(self.context)
        self.report = self.context.report

    def read(self, node: y.Mapping | None, span: Span, where: str = "initial_state") -> dict[str, Any]:
        """The state in JSON form, without what has a problem. ``node`` None: nothing is given."""
        found: dict[str, Any] = {}
        root = Where(where)
        entries = node.entries if node else {}
        flat = {f.json: s for s in self.states.values() if s.form == "flat" for f in s.record.fields.values()}
        plain = {name: s for name, s in self.states.items() if s.form != "flat"}
        for name, entry in entries.items():
            if name in plain:
                value = self._state(plain[name], entry, root.at(name))
                if value is not BAD:
                    found[name] = value
            elif name not in flat:
                self.report.unknown(
                    "unknown-state",
                    entry.key.span,
                    f"{where}: there is no state {short(name)}",
                    name,
                    [*plain, *flat],
                    "states",
                )
        for state in self.states.values():
            if state.form == "flat":
                found.update(self._flat(state, node, span, root))
            elif state.single and state.name not in entries:
                self._lacking(state, span, where)
        self._check()
        return found

    def _flat(self, state: StateDef, node: y.Mapping | None, span: Span, where: Where) -> dict[str, Any]:
        names = {f.json for f in state.record.fields.values()}
        own = {k: e for k, e in node.entries.items() if k in names} if node else {}
        if not own:
            self._lacking(state, span, str(where))
            return {}
        part = y.Mapping(next(iter(own.values())).key.span, 0, 0, False, own)
        fields = self.converter.fields(part, state.record.fields, where, state.record.name)
        return {k: v for k, v in fields.items() if v is not BAD}

    def _lacking(self, state: StateDef, span: Span, where: str) -> None:
        needed = [f.json for f in state.record.fields.values() if f.default is MISSING and not f.absent]
        if needed:
            self.report.error(
                "missing-field",
                span,
                f"{where} says nothing of {state.name}, whose {one_of(needed)} must be given",
                help=f"add {state.name} to initial_state, or give the fields defaults",
            )

    def _state(self, state: StateDef, entry: y.Entry, where: Where) -> Any:
        node = entry.value
        self.records.setdefault(state.name, [])
        if state.single:
            return self.converter.value(node, state.record, where)
        if state.form == "list":
            return self._list(state, node, where)
        if not isinstance(node, y.Mapping):
            inner = "names to records" if state.tree and state.tree.nested else "keys to records"
            return self.converter.bad(
                node,
                where,
                f"expected a mapping of {inner}, got {describe(node)}",
                help="no records are written {}",
                code="wrong-kind",
            )
        if state.tree and state.tree.nested:
            return self._nested(state, node, where, None)
        found = {name: self._record(state, e, where.at(name)) for name, e in node.entries.items()}
        return {k: v for k, v in found.items() if v is not BAD}

    def _list(self, state: StateDef, node: y.Node, where: Where) -> Any:
        assert state.key is not None
        if not isinstance(node, y.Sequence):
            return self.converter.bad(
                node,
                where,
                f"expected a list of records, got {describe(node)}",
                help="no records are written []",
                code="wrong-kind",
            )
        found = []
        for number, item in enumerate(node.items):
            at = where.at(str(number))
            key = item.entries.get(state.key.json) if isinstance(item, y.Mapping) else None
            if not isinstance(item, y.Mapping) or key is None or not isinstance(key.value, y.Scalar):
                if not (isinstance(item, y.Scalar) and item.style == "broken"):
                    self.report.error(
                        "missing-field",
                        item.span,
                        f"{at}: expected a record with its key {state.key.json!r}, got {describe(item)}",
                    )
                continue
            value = self._record(state, y.Entry(key.value, item), where.at(key.value.text))
            found += [] if value is BAD else [value]
        return found

    def _record(self, state: StateDef, entry: y.Entry, where: Where) -> Any:
        assert state.key is not None
        node = entry.value
        if not isinstance(node, y.Mapping):
            return self.converter.bad(
                node,
                where,
                f"expected a record of {one_of(f.json for f in state.record.fields.values())}, got {describe(node)}",
                code="wrong-kind",
            )
        key = self.converter.key(entry.key, state.key.type.of, where)
        own = {
            k: e
            for k, e in node.entries.items()
            if k != state.key.json or k in {f.json for f in state.record.fields.values()}
        }
        repeated = node.entries.get(state.key.json) if len(own) < len(node.entries) else None
        if repeated is not None:
            self._same_key(state, entry.key, repeated, where)
        inner = y.Mapping(entry.key.span if not own else node.span, node.start, node.end, node.flow, own)
        fields = self.converter.fields(inner, state.record.fields, where, state.record.name)
        if key is BAD or BAD in fields.values():
            self.refused.setdefault(state.name, set()).add(key)
            return BAD
        self.records[state.name].append(Record(key, fields, entry.key.span, where))
        return {state.key.json: key, **fields} if state.key.in_record else fields

    def _same_key(self, state: StateDef, key: y.Scalar, repeated: y.Entry, where: Where) -> None:
        assert state.key is not None
        if not state.key.in_record:
            self.report.error(
                "unknown-field",
                repeated.key.span,
                f"{where}: the key is not repeated in the record",
                help="remove it, or say `in_record: true` at the key",
            )
        elif isinstance(repeated.value, y.Scalar) and repeated.value.text != key.text:
            self.report.error(
                "bad-value",
                repeated.value.span,
                f"{where}: the record says that its key is {short(repeated.value.text)}",
            )

    def _nested(self, state: StateDef, node: y.Mapping, where: Where, parent: Any) -> dict[str, Any]:
        """A nested tree: names to nodes, whose children stand under one of their keys."""
        tree = state.tree
        assert tree is not None
        assert tree.nested is not None
        fields = {f.name: f for f in state.record.fields.values() if f.name not in (tree.parent, tree.name)}
        found: dict[str, Any] = {}
        for name, entry in node.entries.items():
            at = where.at(name)
            if not isinstance(entry.value, y.Mapping):
                self.converter.bad(entry.value, at, f"expected a node, got {describe(entry.value)}", code="wrong-kind")
                continue
            own = {k: e for k, e in entry.value.entries.items() if k != tree.nested}
            value = self.converter.fields(y.Mapping(entry.key.span, 0, 0, False, own), fields, at, state.record.name)
            key = len(self.records[state.name]) + 1  # `make` will give the real one
            self.records[state.name].append(Record(key, value, entry.key.span, at))
            if (below := entry.value.entries.get(tree.nested)) is not None:
                value[tree.nested] = self._children(state, below, at.at(tree.nested), key)
            if BAD not in value.values():
                found[name] = value
        return found

    def _children(self, state: StateDef, below: y.Entry, where: Where, key: Any) -> Any:
        if not isinstance(below.value, y.Mapping):
            return self.converter.bad(
                below.value,
                where,
                f"expected a mapping of names to nodes, got {describe(below.value)}",
                code="wrong-kind",
            )
        return self._nested(state, below.value, where, key)

    # -- what holds between records

    def keys(self, state: str) -> set[Any]:
        """The keys of a state's records, those included that have a problem."""
        return {r.key for r in self.records.get(state, ())} | self.refused.get(state, set())

    def _check(self) -> None:
        keys = {name: self.keys(name) for name in self.records}
        for state in self.states.values():
            if not state.single:
                self._unique_keys(state)
                for group in state.unique:
                    self._unique(state, group)
                if state.tree and not state.tree.nested:
                    self._tree(state)
        for ref in self.converter.refs:
            nested = (
                tree := self.states[ref.collection].tree if ref.collection in self.states else None
            ) and tree.nested
            if ref.value not in keys.get(ref.collection, set()) and not nested:
                known = [str(k) for k in keys.get(ref.collection, ())]
                near = suggest(str(ref.value), known)
                self.report.error(
                    "dangling-ref",
                    ref.span,
                    f"{ref.where}: {ref.collection} has no record {ref.value!r}",
                    f"keys: {one_of(known)}" if known else f"{ref.collection} is empty",
                    f"did you mean {near!r}?" if near else "",
                )

    def _unique_keys(self, state: StateDef) -> None:
        seen: dict[Any, Record] = {}
        for record in self.records.get(state.name, ()):
            if record.key in seen:
                self._twice(record, seen[record.key], f"{state.name} has the key {record.key!r} twice")
            seen.setdefault(record.key, record)

    def _twice(self, record: Record, first: Record, title: str) -> None:
        self.report.error(
            "not-unique",
            record.span,
            f"{record.where}: {title}",
            related=((first.span, f"the first is {first.where}"),),
        )

    def _unique(self, state: StateDef, group: tuple[str, ...]) -> None:
        fields = [state.record.fields[name] for name in group]
        seen: dict[str, Record] = {}
        for record in self.records.get(state.name, ()):
            if state.tree and state.tree.nested and not {f.json for f in fields} <= record.fields.keys():
                continue
            values = [_given(record, f) for f in fields]
            if all(v is None or v is MISSING for v in values):
                continue
            same = json.dumps(values, sort_keys=True, default=repr)
            if same in seen:
                shown = ", ".join(f"{f.json} {v!r}" for f, v in zip(fields, values, strict=True))
                self._twice(record, seen[same], f"another record of {state.name} has {shown}, too")
            seen.setdefault(same, record)

    def _tree(self, state: StateDef) -> None:
        tree = state.tree
        assert tree is not None
        parent, name = state.record.fields[tree.parent], state.record.fields[tree.name]
        records = self.records.get(state.name, [])
        above = {r.key: _given(r, parent) for r in records}
        seen: dict[tuple[Any, Any], Record] = {}
        cyclic = _cyclic(above)
        for record in records:
            place = (above[record.key], _given(record, name))
            if place in seen:
                self._twice(record, seen[place], f"{place[1]!r} stands twice under one parent")
            seen.setdefault(place, record)
            if record.key in cyclic:
                self.report.error(
                    "tree-cycle",
                    record.span,
                    f"{record.where}: the record is above itself in the tree",
                    f"{parent.json} leads round to it",
                    "give one of the records on the way another parent, or null",
                )


def _given(record: Record, declared: Field) -> Any:
    """The field's value, or its default in JSON form."""
    if declared.json in record.fields:
        return record.fields[declared.json]
    value = declared.default
    return value / 100 if strip_null(declared.type) == MONEY and isinstance(value, int) else value


def _cyclic(above: Mapping[Any, Any]) -> set[Any]:
    """The keys from which following parents comes back to the key itself."""
    done: set[Any] = set()
    found: set[Any] = set()
    for start in above:
        way: dict[Any, int] = {}
        at = start
        while at in above and at not in way and at not in done:
            way[at] = len(way)
            at = above[at]
        if at in way:
            found |= {key for key, step in way.items() if step >= way[at]}
        done |= way.keys()
    return found
