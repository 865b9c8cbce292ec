"""One block under check: what names mean around it, what was found in it, where its problems are reported."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

import libcst as cst

from envscaler.diagnostics import Diagnostic, Severity, Span, one_of
from envscaler.spec.checked import Effects, Note, Role
from envscaler.spec.logic.parse import Parsed
from envscaler.spec.logic.scope import Env, Path
from envscaler.spec.model import Param, Spec, StateDef
from envscaler.spec.report import Report, suggest
from envscaler.spec.types import Struct, Type
from envscaler.trees import literal_value

__all__ = ["Block", "HelperInfo", "Value", "World", "path_of"]

Mode = Literal["read", "write", "helper", "rule", "goal"]


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression gives. ``view``: the state it aliases; ``copy_of``: the state it is a copy of in the language's
    sense; ``frozen``: why it may not be written to, "" when it may; ``path``: its place for narrowing, if it has one;
    ``field``: of a view of a part of a record, the record's field that the part is in, "" when it is not known."""

    type: Type
    view: str | None = None
    copy_of: str | None = None
    frozen: str = ""
    path: Path | None = None
    field: str = ""

    def part(self, of: Type, *, name: str | None = None) -> Value:
        """A part of this value: as much a view, a copy or frozen as the whole."""
        path = (*self.path, name) if self.path is not None and name is not None else None
        return Value(of, self.view, self.copy_of, self.frozen, path, self.field)


@dataclass(frozen=True, slots=True)
class HelperInfo:
    """A checked helper as its callers see it."""

    name: str
    params: tuple[Param, ...]
    returns: Type
    effects: Effects
    ok: bool = True


@dataclass(slots=True)
class World:
    """What names mean in a spec, for all of its blocks, and which of them were used."""

    spec: Spec
    report: Report
    helpers: dict[str, HelperInfo] = field(default_factory=dict)
    used: set[tuple[str, str]] = field(default_factory=set)  # (kind, name)
    said: set[Diagnostic] = field(default_factory=set)  # a part that is looked at twice is reported once

    @property
    def states(self) -> Mapping[str, StateDef]:
        return self.spec.states

    def refused(self, name: str) -> bool:
        """Whether the name is declared in the file by something that was refused, which is reported already."""
        if not self.report.failed:
            return False
        return (
            re.search(rf"(?m)(?:^ *|[{{,] *){re.escape(name)} *:|\bas: *{re.escape(name)}\b", self.spec.source)
            is not None
        )

    def record_type(self, name: str) -> Struct | None:
        """The record type of that name."""
        return next((s.record for s in self.spec.states.values() if s.record.name == name), None)

    def state_of(self, record: Struct) -> str | None:
        """The state whose records are of this type."""
        return next((n for n, s in self.spec.states.items() if s.record is record), None)


@dataclass(slots=True)
class Block:
    """The state of checking one block."""

    world: World
    parsed: Parsed
    mode: Mode
    owner: str
    env: Env = field(default_factory=Env)
    notes: dict[cst.CSTNode, Note] = field(default_factory=dict)
    own: Effects = field(default_factory=Effects)
    effects: Effects = field(default_factory=Effects)
    returns: list[tuple[Type, cst.CSTNode]] = field(default_factory=list)
    iterating: list[tuple[str, str]] = field(default_factory=list)  # (place as text, state or "")
    locals_used: set[str] = field(default_factory=set)
    locals_bound: dict[str, cst.CSTNode] = field(default_factory=dict)
    records: dict[str, Span] = field(default_factory=dict)  # bound by `as:`, with where they are declared
    loop_edits: dict[cst.For, frozenset[str]] = field(default_factory=dict)
    muted: int = 0
    failed: bool = False
    unreached: bool = False  # so that names used only there are not called unused

    @property
    def only_tells(self) -> bool:
        """Whether the block only tells if something holds, as rules and goals do: it reads and nothing else."""
        return self.mode in ("rule", "goal")

    # -- reporting

    def say(
        self, code: str, node: cst.CSTNode, title: str, detail: str = "", fix: str = "", severity: Severity = "error"
    ) -> None:
        """Report a problem at a node, unless this is a trial pass."""
        if self.muted:
            return
        found = Diagnostic(code, self.parsed.span(node), title, detail, fix, severity)
        self.failed |= severity == "error"
        if found not in self.world.said:
            self.world.said.add(found)
            self.world.report.extend([found])

    def unknown(self, code: str, node: cst.CSTNode, title: str, name: str, allowed: Collection[str], what: str) -> None:
        """Report an unknown name with the allowed ones and the nearest."""
        near = suggest(name, allowed)
        detail = f"{what}: {one_of(allowed)}" if allowed else f"there are no {what}"
        self.say(code, node, title, detail, f"did you mean '{near}'?" if near else "")

    @contextmanager
    def trial(self) -> Iterator[None]:
        """A pass that only finds out types: problems, results and uses found in it do not count."""
        kept = len(self.returns)
        self.muted += 1
        try:
            yield
        finally:
            self.muted -= 1
            del self.returns[kept:]

    # -- notes and effects

    def note(self, node: cst.CSTNode, value: Value, role: Role | None = None) -> Value:
        """Write down what a node is and hand its value on."""
        self.notes[node] = Note(value.type, role, value.view, value.copy_of)
        return value

    def convert(self, node: cst.CSTNode, target: Type | None) -> None:
        """Write down that a node's value is to be converted."""
        if target is not None and node in self.notes:
            self.notes[node] = replace(self.notes[node], convert=target)

    def reads(self, state: str, name: str = "") -> None:
        self._affect(Effects(reads=frozenset({(state, name)})))

    def writes(self, state: str, name: str) -> None:
        self._affect(Effects(writes=frozenset({(state, name)})))

    def adds(self, state: str) -> None:
        self._affect(Effects(adds=frozenset({state})))

    def removes(self, state: str) -> None:
        self._affect(Effects(removes=frozenset({state})))

    def draws(self) -> None:
        self._affect(Effects(draws=True))

    def loops(self) -> None:
        self._affect(Effects(loops=True))

    def calls(self, helper: HelperInfo) -> None:
        self.own = self.own.joined(Effects(calls=frozenset({helper.name})))
        self.effects = self.effects.joined(helper.effects).joined(Effects(calls=frozenset({helper.name})))

    def _affect(self, effects: Effects) -> None:
        self.own, self.effects = self.own.joined(effects), self.effects.joined(effects)

    def use(self, kind: str, name: str) -> None:
        """A declared thing was used."""
        self.world.used.add((kind, name))

    def source(self, node: cst.CSTNode) -> str:
        """The node as written, for a message."""
        text = self.parsed.module.code_for_node(node).strip()
        return text if len(text) <= 60 and "\n" not in text else text.split("\n")[0][:57] + "…"


def path_of(node: cst.BaseExpression) -> Path | None:
    """The place an expression names, when it is made of names, fields and simple indices only."""
    match node:
        case cst.Name(value=name):
            return (name,)
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            path = path_of(owner)
            return None if path is None else (*path, name)
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            path, part = path_of(owner), _index(index)
            return None if path is None or part is None else (*path, part)
        case _:
            return None


def _index(node: cst.BaseExpression) -> str | None:
    match node:
        case cst.Name(value=name) | cst.Integer(value=name):
            return f"[{name}]"
        case cst.SimpleString():
            return f"[{literal_value(node)!r}]"
        case _:
            return None
