"""Which changes can make a rule false: its own record, records joined to it by an equality, or anything of a state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from envscaler.spec.checked import CheckedBody, Role
from envscaler.spec.model import RuleDef, Spec

__all__ = ["KEY", "Dependence", "Join", "dependence", "names_state"]

KEY = "<key>"
"""Stands for the key of a record where a field is named."""

_WHOLE = "<any field>"


@dataclass(slots=True)
class Join:
    """Records of ``state`` whose ``on`` equals the rule's record's ``own`` (fields, or KEY), and what is read of them."""

    state: str
    on: str
    own: str
    reads: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Dependence:
    """What a rule depends on.

    ``own``: fields of its own record; ``joins``: see Join; ``whole``: states of which any record may matter, with the
    fields read (None: any).
    """

    own: set[str] = field(default_factory=set)
    joins: list[Join] = field(default_factory=list)
    whole: dict[str, set[str] | None] = field(default_factory=dict)

    @property
    def only_own(self) -> bool:
        return not self.joins and not self.whole

    def any_of(self, reads: set[str]) -> set[str] | None:
        """The fields, or None for any."""
        return None if _WHOLE in reads else reads


_Rows = dict[str, "set[str] | None"]
"""Names of records in scope and the set that collects which of their fields are read; `it` among them."""


def dependence(spec: Spec, rule: RuleDef, body: CheckedBody, helpers: Mapping[str, CheckedBody]) -> Dependence:
    """What the rule depends on, from its expression and the checker's notes; ``helpers`` are the spec's, checked."""
    each = rule.each if rule.each is not None and not spec.states[rule.each].single else None
    walk = _Walk(spec, body, each)
    statement = body.module.body[0]
    assert isinstance(statement, cst.SimpleStatementLine)
    walk.go(statement.body[0], {"it": walk.found.own} if each is not None else {})
    if rule.each is not None and each is None:  # over a single record: `it` is that record
        walk.found.whole.setdefault(rule.each, None)
    for state in {s for s, _ in body.effects.reads if s not in walk.seen and s != each}:
        walk.found.whole[state] = None  # read through a helper
    if each is not None and any(names_state(helpers[name]) for name in body.effects.calls):
        walk.found.own.add(_WHOLE)
        if any(s == each for s, _ in body.effects.reads):
            walk.found.whole[each] = None
    return walk.found


def names_state(helper: CheckedBody) -> bool:
    """Whether a helper reads more than its parameters."""
    return any(note.role is not None and note.role.kind == "state" for note in helper.notes.values())


class _Walk:
    def __init__(self, spec: Spec, body: CheckedBody, each: str | None) -> None:
        self.spec, self.notes, self.each = spec, body.notes, each
        self.found = Dependence()
        self.seen: set[str] = set()

    def role(self, node: cst.CSTNode) -> Role | None:
        note = self.notes.get(node)
        return note.role if note is not None else None

    def go(self, node: cst.CSTNode, rows: _Rows) -> None:
        match node:
            case cst.Attribute():
                self._attribute(node, rows)
            case cst.Name():
                self._name(node, rows)
            case cst.Call(args=[cst.Arg(value=cst.GeneratorExp(elt=test, for_in=loop))]) if self._is_any(node):
                self._comprehension(loop, [test], rows, tuple(_conjuncts(test)))
            case cst.GeneratorExp() | cst.ListComp():
                self._comprehension(node.for_in, [node.elt], rows)
            case cst.DictComp():
                self._comprehension(node.for_in, [node.key, node.value], rows)
            case cst.Subscript() | cst.Call() if (keyed := self._keyed(node)) is not None:
                self._lookup(*keyed, rows, {_WHOLE})
            case cst.Comparison() if (member := self._membership(node)) is not None:
                self._lookup(*member, rows, set())
            case cst.Arg():
                self.go(node.value, rows)
            case _:
                for child in node.children:
                    self.go(child, rows)

    def _attribute(self, node: cst.Attribute, rows: _Rows) -> None:
        role = self.role(node)
        if role is not None and role.kind == "state":
            self._whole(role.name, None)
            return
        if role is not None and role.kind in ("field", "key"):
            read = KEY if role.kind == "key" else role.name
            if isinstance(node.value, cst.Name) and (fields := rows.get(node.value.value)) is not None:
                fields.add(read)
                return
            if isinstance(node.value, (cst.Subscript, cst.Call)) and (keyed := self._keyed(node.value)) is not None:
                self._lookup(*keyed, rows, {read})
                return
            single = self.role(node.value)
            if single is not None and single.kind == "state" and self.spec.states[single.name].single:
                self._whole(single.name, {read})
                return
        self.go(node.value, rows)

    def _name(self, node: cst.Name, rows: _Rows) -> None:
        role = self.role(node)
        if role is None:
            return
        if role.kind == "state":
            self._whole(role.name, None)
        elif (fields := rows.get(node.value)) is not None and role.kind in ("param", "local"):
            fields.add(_WHOLE)

    def _whole(self, state: str, fields: set[str] | None) -> None:
        self.seen.add(state)
        known = self.found.whole.get(state, set())
        self.found.whole[state] = None if fields is None or known is None else known | fields

    def _keyed(self, node: cst.Subscript | cst.Call) -> tuple[str, cst.BaseExpression] | None:
        """The collection and key of `c[key]` or `c.get(key)`."""
        role = self.role(node)
        if role is None:
            return None
        if isinstance(node, cst.Subscript) and role.kind == "at" and role.name == "collection":
            index = node.slice[0].slice
            state = self.role(node.value)
            if state is not None and state.kind == "state" and isinstance(index, cst.Index):
                return state.name, index.value
        if isinstance(node, cst.Call) and role.name == "collection.get" and isinstance(node.func, cst.Attribute):
            state = self.role(node.func.value)
            if state is not None and state.kind == "state":
                return state.name, node.args[0].value
        return None

    def _membership(self, node: cst.Comparison) -> tuple[str, cst.BaseExpression] | None:
        """The collection and key of `key in c`."""
        target = node.comparisons[0]
        state = self.role(target.comparator)
        if len(node.comparisons) != 1 or not isinstance(target.operator, (cst.In, cst.NotIn)):
            return None
        if state is None or state.kind != "state" or self.spec.states[state.name].single:
            return None
        return state.name, node.left

    def _lookup(self, state: str, key: cst.BaseExpression, rows: _Rows, reads: set[str]) -> None:
        own = self._own(key)
        if own is None or self.each is None:
            self.go(key, rows)
            self._whole(state, None if _WHOLE in reads else reads)
            return
        self.seen.add(state)
        self.found.own.add(own)
        self.found.joins.append(Join(state, KEY, own, set(reads)))

    def _own(self, node: cst.BaseExpression) -> str | None:
        """The field of `it` that an expression is."""
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == "it":
            role = self.role(node)
            if role is not None and role.kind in ("field", "key"):
                return KEY if role.kind == "key" else role.name
        return None

    def _is_any(self, node: cst.Call) -> bool:
        role = self.role(node)
        return role is not None and role.kind == "call" and role.name == "any"

    def _comprehension(
        self,
        loop: cst.CompFor,
        results: list[cst.BaseExpression],
        rows: _Rows,
        tests: Sequence[cst.BaseExpression] = (),
    ) -> None:
        """``tests`` are looked for equalities as the conditions behind `if` are."""
        inner = dict(rows)
        state, row, key = self._records(loop)
        reads: set[str] = set()
        if state is None:
            self.go(loop.iter, rows)
            for name in _names(loop.target):
                inner[name] = None
        else:
            self.seen.add(state)
            inner.update(dict.fromkeys(_names(loop.target)))
            if row is not None:
                inner[row] = reads
        inside = loop.inner_for_in is None
        join = self._join([*(c.test for c in loop.ifs), *(tests if inside else ())], state, row, key, reads)
        for condition in loop.ifs:
            self.go(condition.test, inner)
        if loop.inner_for_in is not None:
            self._comprehension(loop.inner_for_in, results, inner, tests)
        else:
            for result in results:
                self.go(result, inner)
        if join is not None:
            self.found.joins.append(join)
        elif state is not None:
            self._whole(state, None if _WHOLE in reads else reads)

    def _records(self, loop: cst.CompFor) -> tuple[str | None, str | None, str | None]:
        """The collection a loop goes over, and the names it gives to the record and to its key."""
        role, call = self.role(loop.iter), loop.iter
        if role is None:
            return None, None, None
        target = loop.target
        if role.kind == "state" and not self.spec.states[role.name].single:
            return role.name, None, target.value if isinstance(target, cst.Name) else None
        if role.name not in ("collection.values", "collection.items", "collection.keys"):
            return None, None, None
        assert isinstance(call, cst.Call)
        assert isinstance(call.func, cst.Attribute)
        state = self.role(call.func.value)
        if state is None or state.kind != "state":
            return None, None, None
        if role.name == "collection.values" and isinstance(target, cst.Name):
            return state.name, target.value, None
        if role.name == "collection.items" and isinstance(target, cst.Tuple) and len(target.elements) == 2:
            key, row = (e.value for e in target.elements)
            if isinstance(key, cst.Name) and isinstance(row, cst.Name):
                return state.name, row.value, key.value
        return state.name, None, None

    def _join(
        self,
        conditions: Sequence[cst.BaseExpression],
        state: str | None,
        row: str | None,
        key: str | None,
        reads: set[str],
    ) -> Join | None:
        if state is None or self.each is None or (row is None and key is None):
            return None
        for condition in conditions:
            for test in _conjuncts(condition):
                pair = self._equality(test, row, key)
                if pair is not None:
                    return Join(state, pair[0], pair[1], reads)
        return None

    def _equality(self, test: cst.BaseExpression, row: str | None, key: str | None) -> tuple[str, str] | None:
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return None
        if not isinstance(test.comparisons[0].operator, cst.Equal):
            return None
        sides = (test.left, test.comparisons[0].comparator)
        for a, b in (sides, sides[::-1]):
            own, other = self._own(b), self._row_field(a, row, key)
            if own is not None and other is not None:
                return other, own
        return None

    def _row_field(self, node: cst.BaseExpression, row: str | None, key: str | None) -> str | None:
        if isinstance(node, cst.Name) and node.value == key:
            return KEY
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == row:
            role = self.role(node)
            if role is not None and role.kind in ("field", "key"):
                return KEY if role.kind == "key" else role.name
        return None


def _conjuncts(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        yield from _conjuncts(test.left)
        yield from _conjuncts(test.right)
    else:
        yield test


def _names(target: cst.BaseAssignTargetExpression) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            if isinstance(element.value, cst.BaseAssignTargetExpression):
                yield from _names(element.value)
