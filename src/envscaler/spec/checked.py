"""What the checker knows of a spec: for every block of logic its tree, a note on each node, and its effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import libcst as cst

from envscaler.diagnostics import Diagnostic
from envscaler.spec.model import Block, Spec
from envscaler.spec.types import Struct, Type

__all__ = ["Checked", "CheckedBody", "Effects", "Note", "Role", "RoleKind"]

RoleKind = Literal[
    # cst.Name
    "local",  # a local name of the block, comprehension and lambda variables included
    "param",  # a parameter, or the record bound by `as:`, or `it` of an `each` rule
    "constant",  # name: the constant
    "state",  # name: a collection or single record (cst.Name, or cst.Attribute `state.flights`)
    "clock",  # name: now | today
    "builtin",  # name: a built-in used as a value (only `key=len` and the like)
    # cst.Attribute
    "field",  # name: the field (Field.name) of a struct, union or record
    "key",  # name: key_name of the record's collection: the record's key
    "part",  # name: year, month, day, weekday, hour, minute, date, time of a date, time or datetime
    "item",  # name: an Obj's item read by attribute is not allowed; used for Subscript of an Obj with a literal
    # cst.Call
    "call",  # name: a built-in of language.BUILTINS
    "method",  # name: owner.method, one of language.METHODS ("str.lower", "list.append", "collection.get", …)
    "helper",  # name: the helper
    "construct",  # name: the type; struct is set
    # cst.Subscript
    "at",  # name: collection | list | dict | str | any: an element by key or index
    "slice",  # a slice of a list or str
    # cst.BinaryOperation, cst.AugAssign, cst.UnaryOperation, cst.Comparison, cst.FormattedStringExpression
    "operator",  # name: the runtime function to use instead of the operator, from language.OPERATORS; "" keeps it
]


@dataclass(frozen=True, slots=True)
class Role:
    """What a node is. ``name`` depends on the kind, see above; ``struct`` for `field`, `construct` and record results."""

    kind: RoleKind
    name: str = ""
    struct: Struct | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """The checker's finding on one expression node.

    ``type``: the static type after narrowing. ``view``: the state whose storage the value aliases, for records and
    containers reached through a view; None for scalars and values. ``value_of``: the state whose record or part this is a
    *copy* of in the language's sense although it may be the same object physically. ``convert``: the
    type the context stores this value as when that needs work (a number literal as money, money as `any`, int as float).
    """

    type: Type
    role: Role | None = None
    view: str | None = None
    value_of: str | None = None
    convert: Type | None = None


@dataclass(frozen=True, slots=True)
class Effects:
    """What a block may do, transitively through helpers.

    ``reads`` and ``writes`` are (state, field) pairs, field "" for the whole record or the set of keys;
    ``adds`` and ``removes`` are states. ``edits`` (derived) are the states whose records may be written in place.
    """

    reads: frozenset[tuple[str, str]] = frozenset()
    writes: frozenset[tuple[str, str]] = frozenset()
    adds: frozenset[str] = frozenset()
    removes: frozenset[str] = frozenset()
    draws: bool = False  # uses rand_int, rand_float, choice or a seeded hex key
    loops: bool = False
    calls: frozenset[str] = frozenset()  # helpers called directly

    @property
    def edits(self) -> frozenset[str]:
        return frozenset(state for state, _ in self.writes)

    @property
    def pure(self) -> bool:
        return not (self.writes or self.adds or self.removes or self.draws)

    def joined(self, other: Effects) -> Effects:
        return Effects(
            self.reads | other.reads, self.writes | other.writes, self.adds | other.adds, self.removes | other.removes,
            self.draws or other.draws, self.loops or other.loops, self.calls | other.calls,
        )  # fmt: skip


@dataclass(slots=True)
class CheckedBody:
    """One block of logic.

    ``module`` is the parsed block (for `holds` a module with one expression statement). ``notes`` is keyed by node
    identity. ``statement_lines`` gives the 1-based source line of each small and compound statement. ``own`` are the
    block's own effects, ``effects`` those through helpers too. ``loop_edits``: for each cst.For the states whose
    records are written in its body, or later through a view that its body binds. ``returns`` is the joined type of all
    results (`none` when there is none).
    """

    owner: str  # "tool transfer", "helper x", "rule y", "setup z"
    block: Block
    module: cst.Module
    notes: Mapping[cst.CSTNode, Note]
    statement_lines: Mapping[cst.CSTNode, int]
    own: Effects
    effects: Effects
    returns: Type
    loop_edits: Mapping[cst.For, frozenset[str]] = field(default_factory=dict)


@dataclass(slots=True)
class Checked:
    """A spec with everything the checker found. ``ok`` when it may be compiled."""

    path: str
    source: str
    spec: Spec | None
    diagnostics: list[Diagnostic]
    tools: Mapping[str, CheckedBody] = field(default_factory=dict)
    helpers: Mapping[str, CheckedBody] = field(default_factory=dict)
    setup: Mapping[str, CheckedBody] = field(default_factory=dict)
    rules: Mapping[str, CheckedBody] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.spec is not None and not any(d.severity == "error" for d in self.diagnostics)

    def with_helpers(self, body: CheckedBody) -> list[CheckedBody]:
        """A block, and the blocks of the helpers that it calls, through others too, each once."""
        found: dict[str, CheckedBody] = {}
        stack = [body]
        while stack:
            one = stack.pop()
            if one.owner not in found:
                found[one.owner] = one
                stack += [self.helpers[name] for name in sorted(one.effects.calls)]
        return list(found.values())
