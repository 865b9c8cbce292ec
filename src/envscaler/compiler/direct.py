"""Which tools can keep what they write by themselves: all is put into the state at their very end, so nothing is ever undone.

Such a tool changes fields of records that it got by key, and adds records, in straight lines and conditions, and reads
the collections in question in no other way. It works on copies of its own, checks them, and only then stores them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from envscaler.compiler.checks import holds_key
from envscaler.spec.checked import Checked, CheckedBody, Effects, Role
from envscaler.spec.language import METHODS
from envscaler.spec.logic.relations import container
from envscaler.spec.model import Param, Spec, StateDef, ToolDef
from envscaler.spec.types import Key, Nullable

__all__ = ["Added", "Direct", "View", "direct"]

_RESERVED = frozenset({"key", "old", "new", "it"})
"""Names that the checks at the end of such a tool use."""


@dataclass(slots=True)
class View:
    """A record that a tool got by key. ``key`` is the expression of its key; ``shallow``: no part of it is written."""

    name: str
    state: StateDef
    key: str
    written: bool = False
    shallow: bool = True

    @property
    def old(self) -> str:
        """The name of the version from before."""
        return f"_old_{self.name}"


@dataclass(slots=True)
class Added:
    """A record that a tool adds, the ``number``-th of its collection."""

    name: str
    state: StateDef
    number: int


@dataclass(slots=True)
class Direct:
    """What such a tool does: the records it gets, in order, and those it adds, by the call that does it.

    ``first``: the statement before which the records are copied; ``last``: the `return` at the end, if there is one;
    ``counters``: for each collection the statement that first adds to it.
    """

    views: list[View] = field(default_factory=list)
    adds: dict[cst.CSTNode, Added] = field(default_factory=dict)
    order: list[View | Added] = field(default_factory=list)
    first: cst.CSTNode | None = None
    last: cst.Return | None = None
    counters: dict[str, cst.CSTNode] = field(default_factory=dict)

    def touched(self, state: StateDef) -> list[View | Added]:
        """What is written or added of a collection."""
        return [x for x in self.order if x.state is state and (isinstance(x, Added) or x.written)]


def direct(checked: Checked, tool: ToolDef, body: CheckedBody) -> Direct | None:
    """How the tool keeps what it writes, or None when the transaction around calls has to do it."""
    assert checked.spec is not None
    effects = body.effects
    changes_nothing = not (effects.writes or effects.adds)
    if changes_nothing or checked.spec.after_each or effects.removes or effects.draws or effects.loops:
        return None
    states = [checked.spec.states[name] for name in effects.edits | effects.adds]
    if any(s.single for s in states) or not all(_countable(s, effects) for s in states):
        return None
    try:
        return _Reader(checked, checked.spec, tool, body).read()
    except _Unfit:
        return None


def _countable(state: StateDef, effects: Effects) -> bool:
    """Whether what is added has keys from a counter, and refers to nothing that is added with it."""
    if state.name not in effects.adds:
        fields = state.record.fields.values()
        return not any(holds_key(f.type, name) for f in fields for name in effects.adds)
    if state.key is None or state.key.make is None or "{n" not in state.key.make or state.tree is not None:
        return False
    return not any(holds_key(f.type, name) for f in state.record.fields.values() for name in effects.adds)


class _Unfit(Exception):
    """The tool does something that a direct one cannot."""


class _Reader:
    def __init__(self, checked: Checked, spec: Spec, tool: ToolDef, body: CheckedBody) -> None:
        self.checked, self.spec, self.tool, self.body = checked, spec, tool, body
        self.effects = body.effects
        self.states = body.effects.edits | body.effects.adds
        self.found = Direct()
        self.views: dict[str, View] = {}
        self.added: dict[str, Added] = {}
        self.params = {p.name for p in tool.params} | {p.as_name for p in tool.params if p.as_name is not None}
        self.known: set[cst.CSTNode] = set()  # names of collections, and targets, that are understood
        self.assigned: set[str] = set()

    def read(self) -> Direct:
        for name in self.effects.calls:
            self._helper(name)
        for param in self.tool.params:
            self._param(param)
        statements = self.body.module.body
        for statement in statements:
            self._top(statement, last=statement is statements[-1])
        for node in _below(self.body.module):
            self._node(node)
        for view in self.views.values():
            if view.key in self.assigned or view.key in _RESERVED:
                assert view.state.key is not None
                view.key = f'{view.name}["{view.state.key.name}"]'
        self._limits()
        return self.found

    # -- what is bound

    def _helper(self, name: str) -> None:
        effects = self.checked.helpers[name].effects
        if not effects.pure or any(state in self.states for state, _ in effects.reads):
            raise _Unfit

    def _param(self, param: Param) -> None:
        kind = param.field.type
        if param.as_name is None:
            return
        inner = kind.of if isinstance(kind, Nullable) else kind
        if isinstance(inner, Key) and inner.collection in self.effects.edits:
            if inner is not kind:
                raise _Unfit
            self._view(param.as_name, inner.collection, param.name)

    def _view(self, name: str, state: str, key: str) -> View:
        if name in self.views or name in self.added or name in _RESERVED:
            raise _Unfit
        view = self.views[name] = View(name, self.spec.states[state], key)
        self.found.views.append(view)
        self.found.order.append(view)
        return view

    def _top(self, statement: cst.BaseStatement | cst.BaseSmallStatement, *, last: bool) -> None:
        if not isinstance(statement, cst.SimpleStatementLine):
            if self._writes(statement):
                self._first(statement)
            return
        for small in statement.body:
            match small:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as target)], value=value):
                    if self._bound(name, value, statement):
                        self.known.add(target)
                case cst.Expr(value=cst.Call() as call) if self._adds(call):
                    self._add(f"_new_{len(self.found.adds) + 1}", call, statement)
                case cst.Return(value=value) if last and small is statement.body[-1]:
                    if isinstance(value, cst.BooleanOperation):  # perhaps `x or fail(…)`, which is two statements
                        raise _Unfit
                    self.found.last = small
            if self._writes(small):
                self._first(statement)

    def _first(self, statement: cst.CSTNode) -> None:
        if self.found.first is None:
            self.found.first = statement

    def _bound(self, name: str, value: cst.BaseExpression, statement: cst.CSTNode) -> bool:
        """Whether a name is bound to a record by key, or to an added one, once."""
        if self._adds(value):
            assert isinstance(value, cst.Call)
            self._add(name, value, statement)
            return True
        looked = value
        if isinstance(value, cst.BooleanOperation) and isinstance(value.operator, cst.Or):
            if not self._is(value.right, "call", "fail"):
                return False
            looked = value.left
        owner: cst.BaseExpression
        if isinstance(looked, cst.Subscript) and looked is value and self._is(looked, "at", "collection"):
            owner = looked.value
        elif isinstance(looked, cst.Call) and looked is not value and self._is(looked, "method", "collection.get"):
            assert isinstance(looked.func, cst.Attribute)
            owner = looked.func.value
        else:
            return False
        state = self._state(owner)
        if state not in self.effects.edits:
            return False
        if name in self.params or self.found.first is not None or state in self.effects.adds:
            raise _Unfit
        self.known.add(owner)
        key = self.spec.states[state].key
        assert key is not None
        self._view(name, state, f'{name}["{key.name}"]')
        return True

    def _adds(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) and self._is(node, "method", "collection.add")

    def _add(self, name: str, call: cst.Call, statement: cst.CSTNode) -> None:
        assert isinstance(call.func, cst.Attribute)
        owner = call.func.value
        state = self.spec.states[self._state(owner) or ""]
        assert state.key is not None
        given = any(a.keyword is not None and a.keyword.value == state.key.name for a in call.args)
        if given or name in self.params or name in self.views or name in self.added or name in _RESERVED:
            raise _Unfit
        self.known.add(owner)
        number = 1 + sum(a.state is state for a in self.added.values())
        made = self.found.adds[call] = self.added[name] = Added(name, state, number)
        self.found.order.append(made)
        self.found.counters.setdefault(state.name, statement)

    # -- what is done

    def _node(self, node: cst.CSTNode) -> None:
        match node:
            case cst.For() | cst.While() | cst.ListComp() | cst.DictComp() | cst.GeneratorExp() | cst.Lambda():
                raise _Unfit
            case cst.Return() if node is not self.found.last:
                raise _Unfit
            case cst.Assign(targets=targets, value=value):
                for target in targets:
                    self._target(target.target)
                    if isinstance(target.target, cst.Name) and target.target not in self.known:
                        self._alias(value)
            case cst.AugAssign(target=target, value=value):
                self._target(target)
            case cst.AnnAssign() | cst.NamedExpr():
                raise _Unfit
            case cst.Del(target=target):
                self._target(target)
            case cst.Call() if self._changing(node):
                assert isinstance(node.func, cst.Attribute)
                self._written(node.func.value, "")
            case cst.Name() | cst.Attribute():
                if self._state(node) in self.states and node not in self.known:
                    raise _Unfit

    def _target(self, target: cst.CSTNode) -> None:
        match target:
            case cst.Name(value=name):
                self.assigned.add(name)
                if target not in self.known and (name in self.views or name in self.added):
                    raise _Unfit
            case cst.Attribute(value=owner, attr=attribute):
                self._written(owner, attribute.value)
            case cst.Subscript(value=owner):
                self._written(owner, "")
            case _:
                raise _Unfit

    def _alias(self, value: cst.BaseExpression) -> None:
        """Another name for a record or a part of one would not see, or not follow, the copy."""
        note = self.body.notes.get(value)
        if note is not None and (note.view in self.states or note.value_of in self.states) and container(note.type):
            raise _Unfit

    def _written(self, owner: cst.BaseExpression, name: str) -> None:
        note = self.body.notes.get(owner)
        if note is None or note.view is None:
            return
        inner: cst.CSTNode = owner
        while isinstance(inner, (cst.Attribute, cst.Subscript)):
            inner = inner.value
        if not isinstance(inner, cst.Name):
            raise _Unfit
        view = self.views.get(inner.value)
        if view is None:
            if inner.value not in self.added:
                raise _Unfit
            return
        view.written = True
        field_ = view.state.record.fields.get(name)
        view.shallow &= owner is inner and field_ is not None and not container(field_.type)

    def _writes(self, node: cst.CSTNode) -> bool:
        """Whether something may be written to in a statement."""
        for part in _below(node):
            match part:
                case cst.AssignTarget(target=target) | cst.AugAssign(target=target):
                    if not isinstance(target, cst.Name):
                        return True
                case cst.Del():
                    return True
                case cst.Call() if self._changing(part):
                    return True
        return False

    def _changing(self, node: cst.Call) -> bool:
        role = self._role(node)
        changing = role is not None and role.kind == "method" and METHODS[role.name].writes
        return changing and role is not None and not role.name.startswith("collection.")

    def _limits(self) -> None:
        """At most two records of a collection by key: with more it takes too many words to tell which are the same."""
        for view in self.found.views:
            twins = [v for v in self.found.views if v.state is view.state]
            if len(twins) > 2:
                raise _Unfit
            view.shallow = all(v.shallow for v in twins)

    # -- asking the checker

    def _role(self, node: cst.CSTNode) -> Role | None:
        note = self.body.notes.get(node)
        return note.role if note is not None else None

    def _is(self, node: cst.CSTNode, kind: str, name: str) -> bool:
        role = self._role(node)
        return role is not None and role.kind == kind and role.name == name

    def _state(self, node: cst.CSTNode) -> str | None:
        role = self._role(node)
        return role.name if role is not None and role.kind == "state" else None


def _below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Every node below ``node``, itself first."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))
