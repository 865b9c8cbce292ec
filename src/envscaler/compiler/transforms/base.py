"""What a transform is given: the body that is lowered, the checker's notes, and the names the module gives to things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import libcst as cst

from envscaler.compiler.direct import Direct
from envscaler.compiler.ending import Row
from envscaler.spec.checked import CheckedBody, Effects, Note, Role
from envscaler.spec.logic.relations import container, plain
from envscaler.spec.model import Spec
from envscaler.spec.types import ANY, NEVER, NONE, Field, ListOf, Struct, Type, strip_null

__all__ = ["Before", "BodyKind", "Case", "Handler", "Kept", "Lowering", "Names", "is_record", "scalar"]

BodyKind = Literal["tool", "helper", "setup", "rule", "goal"]


@dataclass(frozen=True, slots=True)
class Case:
    """A transform's example and test: a body of the sample spec before and after. ``kind`` is where the body stands."""

    before: str
    after: str
    kind: BodyKind = "tool"
    params: str = "{}"


@dataclass(frozen=True, slots=True)
class Kept:
    """How a tool keeps by itself what it writes: the plan of it, and the lines at its end."""

    plan: Direct
    ending: tuple[Row, ...]


class Names(Protocol):
    """The module's names, chosen by the plan."""

    spec: Spec

    def helper(self, name: str) -> str: ...
    def constant(self, name: str) -> str: ...
    def shape(self, of: Type) -> str:
        """The expression of a type's shape."""

    def out(self, of: Type, value: str) -> str:
        """The expression that gives ``value``, an expression of internal form, as JSON; ``value`` itself if it is that."""

    def default(self, of: Field) -> str | None:
        """The expression of a field's value where none is given, or None when there must be one."""

    def effects(self, helper: str) -> Effects:
        """What a helper may do."""


@dataclass(slots=True)
class Lowering:
    """One body on its way to Python. Transforms ask it and mark things in it; they keep nothing themselves."""

    names: Names
    body: CheckedBody
    kind: BodyKind
    edits: frozenset[str] = frozenset()
    notes: dict[cst.CSTNode, Note] = field(default_factory=dict)
    quotes: list[str] = field(default_factory=list)  # quotes of the f-strings around the current node
    raw: set[cst.CSTNode] = field(default_factory=set)  # lookups of which only a scalar is read
    whole: set[cst.CSTNode] = field(default_factory=set)  # `x or fail(…)` that are a whole assignment
    editing: set[cst.CSTNode] = field(default_factory=set)  # loops and generators that need writable records
    returned: set[cst.CSTNode] = field(default_factory=set)  # literals that become a result, and are put into JSON form
    choosing: set[cst.CSTNode] = field(default_factory=set)  # loops whose one `if` makes the record writable
    lines: dict[cst.CSTNode, int] = field(default_factory=dict)  # statements made -> line of the block
    loops: int = 0  # `for` statements around the current node
    kept: Kept | None = None  # for tools that work on copies of their own, see compiler/direct.py

    def note(self, node: cst.CSTNode) -> Note | None:
        return self.notes.get(node)

    def role(self, node: cst.CSTNode) -> Role | None:
        note = self.notes.get(node)
        return note.role if note is not None else None

    def is_role(self, node: cst.CSTNode, kind: str, name: str | None = None) -> bool:
        role = self.role(node)
        return role is not None and role.kind == kind and (name is None or role.name == name)

    def type(self, node: cst.CSTNode) -> Type:
        """The static type of an original node; ANY where the checker left none."""
        note = self.notes.get(node)
        return note.type if note is not None else ANY

    def plain(self, node: cst.CSTNode) -> Type:
        """The static type without null, enums and keys widened to what they are made of."""
        return plain(strip_null(self.type(node)))

    def quote(self) -> str:
        """The quote that a literal here must use."""
        return "'" if self.quotes and self.quotes[-1] == '"' else '"'

    def state_of(self, node: cst.CSTNode) -> str | None:
        """The state that a node names, or None."""
        role = self.role(node)
        return role.name if role is not None and role.kind == "state" else None

    def written_view(self, node: cst.CSTNode) -> str | None:
        """The state whose storage a node is a view of, if this body may write that state."""
        note = self.notes.get(node)
        return note.view if note is not None and note.view in self.edits else None

    def source(self, node: cst.CSTNode) -> str | None:
        """The written state that a node's value is, or may be, physically part of."""
        note = self.notes.get(node)
        if note is None:
            return None
        return next((s for s in (note.view, note.value_of) if s in self.edits), None)

    def fresh(self, node: cst.BaseExpression) -> bool:
        """Whether the value is not shared with anything: a scalar, or made on the spot."""
        of = self.type(node)
        if not container(of):
            return True
        match node:
            case cst.Dict(elements=elements):
                return all(self.fresh(e.value) for e in elements)
            case cst.List(elements=elements):
                return all(self.fresh(e.value) for e in elements)
            case cst.ListComp(elt=elt):
                return self.fresh(elt)
            case cst.DictComp(value=value):
                return self.fresh(value)
            case cst.IfExp(body=body, orelse=orelse):
                return self.fresh(body) and self.fresh(orelse)
            case cst.BinaryOperation():
                return _flat_list(of)
            case cst.Subscript() if self.is_role(node, "slice"):
                return _flat_list(of)
            case cst.Call():
                return self._fresh_call(node, of)
        return False

    def _fresh_call(self, node: cst.Call, of: Type) -> bool:
        role = self.role(node)
        if role is None:
            return False
        if role.kind == "construct" or role.name in ("split", "path", "list.copy", "dict.copy", "as_type"):
            return True
        if role.name in ("str.split", "str.rsplit", "str.splitlines"):
            return True
        return role.kind == "call" and role.name in ("sorted", "list", "reversed") and _flat_list(of)


def _flat_list(of: Type) -> bool:
    return isinstance(of, ListOf) and not container(of.item)


def scalar(of: Type) -> bool:
    """Whether values have no parts."""
    return not container(of) and of not in (NEVER, NONE)


def is_record(of: Type, state: str) -> bool:
    """Whether values are records of the collection (or null)."""
    bare = strip_null(of)
    return isinstance(bare, Struct) and bare.collection == state


Handler = Callable[[Lowering, Any, Any], cst.CSTNode]
"""Gets the node as it was and as its children's transforms left it; gives what stands there from now on."""

Before = Callable[[Lowering, Any], None]
"""Called before a node's children are transformed, to mark what they need to know."""
