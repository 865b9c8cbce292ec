"""Faults in what a spec declares: bounds, constants, references, messages, moves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envscaler.assess.mutation.blocks import pair
from envscaler.assess.mutation.mutants import Edit, Site
from envscaler.spec import yamltree as y
from envscaler.spec.checked import Checked
from envscaler.spec.report import Report

__all__ = ["Declared", "declared_bounds", "dropped_missing", "lost_reference", "wrong_default", "wrong_moves"]

_BOUNDS = ("ge", "gt", "le", "lt", "min_length", "max_length")
_WHOLE = re.compile(r"-?[0-9]+\Z")


class Declared:
    """The tree of a spec's YAML, with the owner of each mapping in it: `tool x`, `state y`, `type z`."""

    def __init__(self, checked: Checked) -> None:
        document = y.parse_yaml(checked.path, checked.source, Report())
        assert document is not None
        assert checked.spec is not None
        self.spec = checked.spec
        self.source = checked.source
        self.root = document.root

    def section(self, name: str) -> Iterator[tuple[str, y.Mapping]]:
        """The mappings of a section, by name."""
        part = self.root.entries.get(name)
        if part is not None and isinstance(part.value, y.Mapping):
            for key, entry in part.value.entries.items():
                if isinstance(entry.value, y.Mapping):
                    yield key, entry.value

    def fields(self) -> Iterator[tuple[str, str, y.Mapping]]:
        """Owner, the key that holds it, and the form of every field and parameter that is a mapping."""
        for word, section, keys in (
            ("type", "types", ("fields",)), ("state", "states", ("fields",)), ("helper", "helpers", ("params",)),
            ("tool", "tools", ("params",)),
        ):  # fmt: skip
            for name, form in self.section(section):
                for key in keys:
                    entry = form.entries.get(key)
                    if entry is not None and isinstance(entry.value, y.Mapping):
                        for field, of in entry.value.entries.items():
                            if isinstance(of.value, y.Mapping):
                                yield f"{word} {name}", field, of.value

    def text(self, node: y.Node) -> str:
        return self.source[node.start : node.end]

    def site(self, owner: str, node: y.Node, new: str, shown: y.Node, word: str = "") -> Site:
        """The site at which a node becomes another text."""
        edit = Edit(node.start, node.end, new)
        before = self.text(shown)
        at = node.start - shown.start
        after = before[:at] + new + before[at + node.end - node.start :]
        prefix = f"{word}: " if word else ""
        return Site(node.span.line, owner, *pair(prefix + before, prefix + after), (edit,))


def declared_bounds(declared: Declared) -> Iterator[Site]:
    """A bound or a constant that is one off."""
    for owner, field, form in declared.fields():
        for key in _BOUNDS:
            entry = form.entries.get(key)
            if entry is not None and isinstance(entry.value, y.Scalar) and _WHOLE.match(entry.value.text):
                up = int(entry.value.text) + (
                    -1 if key in ("ge", "gt", "min_length") and entry.value.text != "0" else 1
                )
                yield declared.site(owner, entry.value, str(up), form, field)
    constants = declared.root.entries.get("constants")
    if constants is not None and isinstance(constants.value, y.Mapping):
        for name, entry in constants.value.entries.items():
            value: y.Node | None = entry.value
            if isinstance(value, y.Mapping):
                inner = value.entries.get("value")
                value = inner.value if inner is not None else None
            if isinstance(value, y.Scalar) and value.style == "plain" and _WHOLE.match(value.text):
                yield declared.site(f"constant {name}", value, str(int(value.text) + 1), entry.value, name)


def lost_reference(declared: Declared) -> Iterator[Site]:
    """A reference is declared as mere text: that there is such a record is not checked."""
    for owner, field, form in declared.fields():
        for holder in (form, *(e.value for e in form.entries.values() if isinstance(e.value, y.Mapping))):
            entry = holder.entries.get("ref")
            if entry is None or not isinstance(entry.value, y.Scalar):
                continue
            state = declared.spec.states.get(entry.value.text)
            of = "str" if state is None or state.key is None else str(state.key.type.of)
            rest = [
                declared.source[e.key.start : e.value.end]
                for k, e in holder.entries.items()
                if k not in ("ref", "as", "missing")
            ]
            if not holder.flow and len(holder.entries) > 1:
                continue
            new = "{" + ", ".join([f"type: {of}", *rest]) + "}" if rest or holder is not form else of
            yield declared.site(owner, holder, new if rest else of, form, field)


def dropped_missing(declared: Declared) -> Iterator[Site]:
    """The words for a record that there is none of are gone; the language has its own."""
    for owner, field, form in declared.fields():
        entry = form.entries.get("missing")
        if entry is not None and form.flow:
            yield _without(declared, owner, form, "missing", field)


def _without(declared: Declared, owner: str, form: y.Mapping, key: str, field: str) -> Site:
    rest = [declared.source[e.key.start : e.value.end] for k, e in form.entries.items() if k != key]
    return declared.site(owner, form, "{" + ", ".join(rest) + "}", form, field)


def wrong_moves(declared: Declared) -> Iterator[Site]:
    """A state machine lacks a move that it should have."""
    for name, form in declared.section("rules"):
        moves = form.entries.get("moves")
        if moves is None or not isinstance(moves.value, y.Mapping):
            continue
        for member, entry in moves.value.entries.items():
            if isinstance(entry.value, y.Sequence) and entry.value.flow and entry.value.items:
                kept = [declared.text(item) for item in entry.value.items[1:]]
                yield declared.site(f"rule {name}", entry.value, "[" + ", ".join(kept) + "]", entry.value, member)


def wrong_default(declared: Declared) -> Iterator[Site]:
    """Another member of an enum as the default."""
    for owner, field, form in declared.fields():
        default, members = form.entries.get("default"), form.entries.get("enum")
        if default is None or not isinstance(default.value, y.Scalar):
            continue
        if members is not None and isinstance(members.value, y.Sequence):
            values = [i.text for i in members.value.items if isinstance(i, y.Scalar)]
        else:
            named = form.entries.get("type")
            of = declared.spec.types.get(named.value.text) if named and isinstance(named.value, y.Scalar) else None
            values = [str(v) for v in getattr(of, "values", ())]
        others = [v for v in values if v != default.value.text]
        if others and default.value.text in values:
            yield declared.site(owner, default.value, others[0], form, field)
