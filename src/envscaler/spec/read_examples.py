"""Examples of tools: arguments typed by the parameters, given and expected state by the states."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from envscaler.spec import yamltree as y
from envscaler.spec.entries import Context, Entries, describe, json_of
from envscaler.spec.model import Example, RuleDef, StateDef, ToolDef
from envscaler.spec.report import Report, short
from envscaler.spec.scalars import NotA, datetime_text
from envscaler.spec.types import MISSING, DictOf, Enum, Field, Key, ListOf, Nullable, Scalar, Type, strip_null
from envscaler.spec.values import BAD, Converter, Where

__all__ = ["read_examples"]


def read_examples(
    context: Context,
    tool: ToolDef,
    entries: Entries,
    states: Mapping[str, StateDef],
    rules: Mapping[str, RuleDef],
    known: Mapping[str, set[Any]],
) -> tuple[Example, ...]:
    """The examples of a tool. ``known`` holds the keys of each collection in the initial state."""
    sequence = entries.sequence("examples")
    found = []
    for number, item in enumerate(sequence.items if sequence else ()):
        where = f"example {number + 1} of {entries.where}"
        if isinstance(item, y.Mapping):
            example = _Reader(context, tool, Entries(context, item, "example", where, item.span), states, known).read(
                rules
            )
            found += [example] if example else []
        elif not (isinstance(item, y.Scalar) and item.style == "broken"):
            context.report.error(
                "wrong-kind",
                item.span,
                f"{where} is {describe(item)}",
                "expected {call: {…}, returns: …} or {call: {…}, error: …}",
            )
    return tuple(found)


class _Reader:
    def __init__(
        self,
        context: Context,
        tool: ToolDef,
        entries: Entries,
        states: Mapping[str, StateDef],
        known: Mapping[str, set[Any]],
    ) -> None:
        self.context = context
        self.tool = tool
        self.entries = entries
        self.states = states
        self.known = known

    def read(self, rules: Mapping[str, RuleDef]) -> Example | None:
        entries = self.entries
        failing = entries.has("error") or entries.has("rule")
        if failing and entries.has("returns"):
            self.context.report.error(
                "conflicting-keys",
                entries.key_span("returns"),
                f"{entries.where} has both 'returns' and 'error'",
                "a call returns or fails",
            )
        rule = entries.scalar("rule", "the name of a rule")
        if rule is not None and rule.text not in rules:
            self.context.report.unknown(
                "unknown-rule",
                rule.span,
                f"{entries.where}: there is no rule {short(rule.text)}",
                rule.text,
                list(rules),
                "rules",
            )
        call = self._call(failing)
        given, then = self._patch("given"), self._patch("then")
        error = entries.text("error")
        if call is None:
            return None
        cited = rule.text if rule else None
        return Example(call, given, self._at(), self._returns(), error, cited, then, entries.span)

    def _at(self) -> str | None:
        node = self.entries.scalar("at", "a datetime")
        if node is None:
            return None
        try:
            return datetime_text(node.text, zoned=self.context.zoned)
        except NotA as reason:
            where = self.entries.where
            self.context.report.error(
                "bad-value", node.span, f"{where}: at: {short(node.text)} is no datetime", str(reason)
            )
            return None

    def _call(self, failing: bool) -> dict[str, Any] | None:
        entry = self.entries.get("call")
        if entry is None:
            return None
        if not isinstance(entry.value, y.Mapping):
            self.entries.wrong(entry, "expected the arguments by name: {name: value}, or {}")
            return None
        params = {p.field.json: p.field for p in self.tool.params}
        if failing:  # what is wrong with the arguments may be the point
            return {name: self._argument(params.get(name), e) for name, e in entry.value.entries.items()}
        converter = Converter(self.context)
        found = converter.fields(
            entry.value,
            {f.name: f for f in params.values()},
            Where("call"),
            f"tool {self.tool.name!r}",
            kind="parameter",
        )
        return {k: v for k, v in found.items() if v is not BAD}

    def _argument(self, declared: Field | None, entry: y.Entry) -> Any:
        if declared is not None:
            value = Converter(dataclasses.replace(self.context, report=Report())).value(
                entry.value, declared.type, Where("")
            )
            if value is not BAD:
                return value
        return self._plain(entry.value)

    def _plain(self, node: y.Node) -> Any:
        try:
            return json_of(node)
        except NotA as reason:
            self.context.report.error(
                "bad-value", node.span, f"{self.entries.where}: {describe(node)} is no JSON value", str(reason)
            )
            return None

    def _returns(self) -> Any:
        entry = self.entries.get("returns")
        if entry is None:
            return MISSING
        of = self.tool.returns
        if of is None or not _simple(of):
            return self._plain(entry.value)
        value = Converter(self.context).value(entry.value, of, Where("returns"))
        return None if value is BAD else value

    def _patch(self, name: str) -> dict[str, Any] | None:
        """Part of a state: by state, key and field; null in the place of a record: none."""
        entry = self.entries.get(name)
        if entry is None:
            return None
        if not isinstance(entry.value, y.Mapping):
            self.entries.wrong(entry, "expected states by name: {accounts: {A-1: {status: closed}}}")
            return None
        found = {}
        for state_name, part in entry.value.entries.items():
            state = self.states.get(state_name)
            if state is None and state_name in self.context.keys:
                continue  # the state was refused
            if state is None:
                self.context.report.unknown(
                    "unknown-state",
                    part.key.span,
                    f"{self.entries.where}: there is no state {short(state_name)}",
                    state_name,
                    list(self.states),
                    "states",
                )
            else:
                found[state_name] = self._part(state, part, Where(name).at(state_name), whole=name == "given")
        return {k: v for k, v in found.items() if v is not BAD}

    def _part(self, state: StateDef, entry: y.Entry, where: Where, *, whole: bool) -> Any:
        converter = Converter(self.context)
        node = entry.value
        if not isinstance(node, y.Mapping):
            return converter.bad(
                node,
                where,
                f"expected {'fields' if state.single else 'records by key'}, got {describe(node)}",
                code="wrong-kind",
            )
        if state.key is None:
            return self._fields(state, node, where, some=True)
        return self._records(state, node, where, whole=whole)

    def _records(self, state: StateDef, node: y.Mapping, where: Where, *, whole: bool) -> Any:
        converter = Converter(self.context)
        found: dict[str, Any] = {}
        for name, record in node.entries.items():
            at = where.at(name)
            if isinstance(record.value, y.Scalar) and record.value.is_null:
                found[name] = None
            elif not isinstance(record.value, y.Mapping):
                message = f"expected fields or null, got {describe(record.value)}"
                found[name] = converter.bad(record.value, at, message, code="wrong-kind")
            elif state.tree is not None and state.tree.nested is not None:
                found[name] = self._node(state, record.value, at, state.tree.nested, whole=whole)
            else:
                assert state.key is not None
                key = converter.key(record.key, state.key.type.of, at)
                some = not whole or key in self.known.get(state.name, ())
                found[name] = self._fields(state, record.value, at, some=some)
        return {k: v for k, v in found.items() if v is not BAD}

    def _node(self, state: StateDef, node: y.Mapping, where: Where, nested: str, *, whole: bool) -> Any:
        """A node of a nested tree: some of its fields, and under ``nested`` some of the nodes below it."""
        below = node.entries.get(nested)
        own = {k: e for k, e in node.entries.items() if k != nested}
        found = self._fields(state, dataclasses.replace(node, entries=own), where, some=True)
        if below is None or found is BAD:
            return found
        if not isinstance(below.value, y.Mapping):
            message = f"expected a mapping of names to nodes, got {describe(below.value)}"
            return Converter(self.context).bad(below.value, where.at(nested), message, code="wrong-kind")
        return {**found, nested: self._records(state, below.value, where.at(nested), whole=whole)}

    def _fields(self, state: StateDef, node: y.Mapping, where: Where, *, some: bool) -> Any:
        converter = Converter(self.context, partial=some)
        if state.key and state.key.in_record:
            node = dataclasses.replace(node, entries={k: e for k, e in node.entries.items() if k != state.key.json})
        found = converter.fields(node, state.record.fields, where, state.record.name, some=some)
        return BAD if BAD in found.values() else found


def _simple(of: Type) -> bool:
    """Whether the JSON of a result follows from the type alone, which a record's does not."""
    of = strip_null(of) if isinstance(of, Nullable) else of
    if isinstance(of, (Scalar, Enum, Key)):
        return True
    return _simple(of.item) if isinstance(of, ListOf) else isinstance(of, DictOf) and _simple(of.value)
