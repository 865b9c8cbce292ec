"""What is checked of a record that a call changed: bounds, references, uniqueness, moves, and which rules to look at again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envscaler.compiler.layout import flat
from envscaler.compiler.literals import literal, quoted
from envscaler.compiler.prologue import LIMIT, between
from envscaler.compiler.statement import Stmt, bound, inside_f
from envscaler.spec.checked import Checked, Effects
from envscaler.spec.dependence import KEY, Dependence
from envscaler.spec.model import RuleDef, Spec, StateDef
from envscaler.spec.prose import render
from envscaler.spec.types import (
    ANY,
    DURATION,
    FLOAT,
    INT,
    MONEY,
    NUMBER,
    Const,
    DictOf,
    Enum,
    Field,
    Key,
    ListOf,
    Nullable,
    Partial,
    Struct,
    Type,
    Union,
    strip_null,
)  # fmt: skip

__all__ = ["Changes", "Check", "changes", "changes_of", "check_statements", "holds_key", "part_checks", "unchanged"]


@dataclass(frozen=True, slots=True)
class Changes:
    """What the bodies of a spec can do to its states at all. ``new_only``: all that is checked is records just added."""

    writes: frozenset[tuple[str, str]]
    adds: frozenset[str]
    removes: frozenset[str]
    new_only: bool = False

    def field(self, state: StateDef, name: str) -> bool:
        """Whether a field can change after its record was added."""
        return (state.name, name) in self.writes or (state.name, "") in self.writes

    def touched(self, state: StateDef) -> bool:
        return state.name in self.adds | self.removes or any(s == state.name for s, _ in self.writes)


def changes(checked: Checked) -> Changes:
    """What tools and setup functions may do, through helpers too; hooks after calls are helpers."""
    assert checked.spec is not None
    return changes_of(
        checked.spec, [b.effects for group in (checked.tools, checked.setup, checked.helpers) for b in group.values()]
    )


def changes_of(spec: Spec, effects: Sequence[Effects]) -> Changes:
    """What blocks of these effects may do."""
    return Changes(
        frozenset(_plain_write(spec.states[s], name) for e in effects for s, name in e.writes),
        frozenset(a for e in effects for a in e.adds),
        frozenset(r for e in effects for r in e.removes),
    )


def _plain_write(state: StateDef, name: str) -> tuple[str, str]:
    """A write as the field of the record that it changes, "" where a part of any field may be meant.

    A write through a local view of a part goes by the name of the part's own field.
    """
    inner = {n for f in state.record.fields.values() for n in _inner_fields(f.type)}
    return state.name, "" if name not in state.record.fields or name in inner else name


def _inner_fields(of: Type) -> Iterator[str]:
    match of:
        case Nullable(of=inner) | ListOf(item=inner) | DictOf(value=inner):
            yield from _inner_fields(inner)
        case Struct(fields=fields):
            for name, field in fields.items():
                yield name
                yield from _inner_fields(field.type)
        case Union(members=members):
            for member in members:
                yield from _inner_fields(member)


@dataclass(frozen=True, slots=True)
class Check:
    """What `check_statements` needs to know of the module."""

    spec: Spec
    changes: Changes
    dependences: dict[str, Dependence]
    rules: dict[str, tuple[str, str]]  # rule -> its function, its expression
    moves: dict[str, str]  # rule -> the constant that holds its moves


def check_statements(module: Check, state: StateDef) -> list[Stmt]:
    """What `check_<state>` does for each record; empty when nothing needs a look."""
    if not module.changes.touched(state):
        return []
    made: list[Stmt] = []
    removed = list(_removed(module, state))
    if removed and state.name in module.changes.removes:
        code = "\n".join(f"    {line}" for stmt in removed for line in stmt.code.split("\n"))
        made.append(Stmt(f"if new is None:\n{code}\n    continue", state.span.line))
    elif state.name in module.changes.removes:
        made.append(Stmt("if new is None:\n    continue", state.span.line))
    checks = part_checks(module, state)
    return made + checks if checks or removed else []


def part_checks(module: Check, state: StateDef) -> list[Stmt]:
    """What is checked of one record, `key`, `old` and `new` being at hand; `it` is the same as `new`."""
    checks = list(_checks(module, state))
    it = [Stmt("it = new", state.span.line)] if any(_IT.search(c.logic) for c in checks) else []
    return it + checks


_IT = re.compile(r"(?<![A-Za-z0-9_.])it\[")


def _checks(module: Check, state: StateDef) -> Iterator[Stmt]:
    for field in state.record.fields.values():
        yield from _field(module, state, field)
    if state.tree is not None and _can(module, state, state.tree.parent, state.tree.name):
        test = _changed(module, state, (state.tree.parent, state.tree.name))
        yield Stmt(_guarded(test, f"_state.{state.name}.require_tree(key, old, new)"), state.tree.span.line)
    for fields in state.unique:
        if _can(module, state, *fields):
            line = state.record.fields[fields[0]].span.line if fields[0] in state.record.fields else state.span.line
            code = f"_state.{state.name}.require_unique({flat(literal(fields))}, key, new)"
            yield Stmt(_guarded(_changed(module, state, fields), code), line)
    for rule in module.spec.rules.values():
        yield from _moves(module, state, rule)
    for rule in module.spec.rules.values():
        yield from _marks(module, state, rule)


def _guarded(test: str, code: str) -> str:
    """The statement under its condition, alone when there is none."""
    if not test:
        return code
    head, _, rest = code.partition("\n")
    if (
        head.startswith("if ")
        and rest
        and all(line.startswith(" ") for line in rest.split("\n"))
        and " or " not in head
    ):
        outer = test[3:-1]
        return f"if {f'({outer})' if ' or ' in outer else outer} and {head[3:]}\n{rest}"
    return f"{test}\n" + "\n".join(f"    {line}" for line in code.split("\n"))


def _can(module: Check, state: StateDef, *fields: str) -> bool:
    """Whether a record can be added or one of the fields be changed."""
    return state.name in module.changes.adds or any(module.changes.field(state, f) for f in fields)


def _changed(module: Check, state: StateDef, fields: tuple[str, ...]) -> str:
    """`if old is None or new[f] != old[f]:` as far as it can happen."""
    if module.changes.new_only:
        return ""
    tests = ["old is None"] if state.name in module.changes.adds and not state.single else []
    tests += [_differs(state, f) for f in fields if module.changes.field(state, f)]
    if not tests:
        return ""
    return f"if {' or '.join(tests)}:"


def _differs(state: StateDef, name: str) -> str:
    field = state.record.fields.get(name)
    if field is not None and field.absent:
        return f"new.get({quoted(name)}, _MISSING) != old.get({quoted(name)}, _MISSING)"
    return f"new[{quoted(name)}] != old[{quoted(name)}]"


def _subject(state: StateDef) -> str:
    return state.record.name if state.single else f"{state.record.name} {{key}}"


def _field(module: Check, state: StateDef, field: Field) -> Iterator[Stmt]:
    if not _can(module, state, field.name):
        return
    kind, line = strip_null(field.type), field.span.line
    value = f"new[{quoted(field.name)}]"
    if isinstance(kind, Key) and not (state.tree is not None and state.tree.parent == field.name):
        code = _reference(state, field, kind, value)
    elif kind in (INT, MONEY, NUMBER, FLOAT, DURATION) and field.pattern is None:
        code = _number(state, field, kind, value)
        if code:
            yield Stmt(code, line)
        return
    elif _inspected(field):
        key = "None" if state.single else "key"
        code = f"_state._require_valid({quoted(state.name)}, {key}, {quoted(field.name)}, new)"
    else:
        return
    yield Stmt(_guarded(_changed(module, state, (field.name,)), code), line)


def _present(field: Field, test: str) -> str:
    """The test for fields that may be absent or null."""
    value = f"new[{quoted(field.name)}]"
    if isinstance(field.type, Nullable):
        test = f"{value} is not None and {test}"
    return f"{quoted(field.name)} in new and {test}" if field.absent else test


def _reference(state: StateDef, field: Field, kind: Key, value: str) -> str:
    test = _present(field, f"_state.{kind.collection}.get({value}) is None")
    shown_value = f"{{new[{_single(field.name)}]}}"
    text = (
        f"{_subject(state)}: {inside_f(field.json)} refers to {shown_value}, which does not exist in {kind.collection}."
    )
    return f'if {test}:\n    raise _Failure("constraint", f"{text}")'


def _single(text: str) -> str:
    return quoted(text, "'")


def _number(state: StateDef, field: Field, kind: Type, value: str) -> str:
    low, high = ("", "") if kind in (NUMBER, FLOAT) else (f"-{LIMIT}", str(LIMIT))
    inside = between(value, field, low, high)
    if inside == value:
        return ""
    text = f"{_subject(state)}: {inside_f(f'{field.json} {_bounds_text(field, kind)}.')}"
    test = _present(field, f"not {inside}")
    prefix = "" if state.single else "f"
    return f'if {test}:\n    raise _Failure("constraint", {prefix}"{text}")'


def _bounds_text(field: Field, kind: Type) -> str:
    words = (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
    said = [f"{word} {bound(getattr(field, name), kind)}" for name, word in words if getattr(field, name) is not None]
    return f"must be {' and '.join(said)}" if said else "is too large"


def _inspected(field: Field) -> bool:
    """Whether a value of the field can be wrong although its static type is right."""
    bounds = (field.ge, field.gt, field.le, field.lt, field.min_length, field.max_length, field.pattern)
    return any(b is not None for b in bounds) or _delicate(field.type)


def _delicate(of: Type) -> bool:
    match of:
        case Nullable(of=inner) | ListOf(item=inner):
            return _delicate(inner)
        case DictOf(value=value, key=key):
            return _delicate(value) or isinstance(key, Key)
        case Struct(fields=fields):
            return any(_inspected(f) for f in fields.values())
        case Union(members=members):
            return any(_delicate(m) for m in members)
        case Partial(of=struct):
            return _delicate(struct)
        case Enum() | Const():
            return False
        case Key():
            return True
    return of in (INT, MONEY)


def unchanged(module: Check, state: StateDef) -> str:
    """The test that a record in which something was written is what it was before, `old` not being None.

    What no body writes cannot differ, so where few fields are written only these are compared.
    """
    if loose(state.record):
        return "_rt.same(new, old)"
    written = [f for f in state.record.fields.values() if module.changes.field(state, f.name)]
    if (state.name, "") in module.changes.writes or not 0 < len(written) <= _FEW or any(f.absent for f in written):
        return "new == old"
    there = "new is not None and " if state.name in module.changes.removes else ""
    return there + " and ".join(f"new[{quoted(f.name)}] == old[{quoted(f.name)}]" for f in written)


_FEW = 4


def loose(of: Type) -> bool:
    """Whether values hold an `any`, in which Python's `==` takes 1, 1.0 and True for the same."""
    match of:
        case Nullable(of=inner) | ListOf(item=inner) | DictOf(value=inner):
            return loose(inner)
        case Struct(fields=fields):
            return any(loose(f.type) for f in fields.values())
        case Union(members=members):
            return any(map(loose, members))
    return of in (ANY, NUMBER)


def _moves(module: Check, state: StateDef, rule: RuleDef) -> Iterator[Stmt]:
    if rule.moves is None or rule.field is None or rule.field[0] != state.name:
        return
    name = rule.field[1]
    if not module.changes.field(state, name):
        return
    table = module.moves[rule.name]
    old, new = f"old[{quoted(name)}]", f"new[{quoted(name)}]"
    added = "old is not None and " if state.name in module.changes.adds and not state.single else ""
    text = quoted(render(rule.text.value, module.spec.constants).strip())
    failure = f'raise _Failure("rule", {text}, {quoted(rule.name)}, {rule.span.line})'
    yield Stmt(f"if {added}{new} != {old} and {new} not in {table}.get({old}, ()):\n    {failure}", rule.span.line)


# -- which rules to look at again


def _removed(module: Check, state: StateDef) -> Iterator[Stmt]:
    if _referred(module.spec, state.name):
        yield Stmt(f"_state._require_unreferred({quoted(state.name)}, key)", state.span.line)
    for rule in module.spec.rules.values():
        dependence = module.dependences.get(rule.name)
        if dependence is None:
            continue
        if state.name in dependence.whole:
            yield Stmt(_mark_all(module, rule), rule.span.line)
        for join in dependence.joins:
            if join.state == state.name:
                value = "key" if join.on == KEY else f"old[{quoted(join.on)}]"
                yield Stmt(_mark(module, rule, join.own, value), rule.span.line)


def _referred(spec: Spec, collection: str) -> bool:
    """Whether some record, other than those below it in a tree, can hold a key of the collection."""
    for state in spec.states.values():
        for field in state.record.fields.values():
            parent = state.name == collection and state.tree is not None and state.tree.parent == field.name
            if not parent and holds_key(field.type, collection):
                return True
    return False


def holds_key(of: Type, collection: str) -> bool:
    match of:
        case Key(collection=name):
            return name == collection
        case Nullable(of=inner) | ListOf(item=inner):
            return holds_key(inner, collection)
        case DictOf(value=value, key=key):
            return holds_key(value, collection) or holds_key(key, collection)
        case Struct(fields=fields):
            return any(holds_key(f.type, collection) for f in fields.values())
        case Union(members=members):
            return any(holds_key(m, collection) for m in members)
        case Partial(of=struct):
            return holds_key(struct, collection)
    return False


def _mark(module: Check, rule: RuleDef, own: str, value: str) -> str:
    """Have the rule looked at again for the records whose ``own`` field (or key) is ``value``."""
    assert rule.each is not None
    if own == KEY:
        return f"_state._mark({quoted(rule.name)}, {value})"
    key = module.spec.states[rule.each].key
    assert key is not None
    mark = f"_state._mark({quoted(rule.name)}, _r[{quoted(key.name)}])"
    return f"for _r in _state.{rule.each}.by(({quoted(own)},), {value}):\n    {mark}"


def _mark_all(module: Check, rule: RuleDef) -> str:
    """Have the rule looked at again for all its records; `every` collects these so that each is gone through once."""
    if rule.each is None or module.spec.states[rule.each].single:
        return f"_state._mark({quoted(rule.name)}, None)"
    return f"every[{quoted(rule.name)}] = _state.{rule.each}"


def _marks(module: Check, state: StateDef, rule: RuleDef) -> Iterator[Stmt]:
    """Statements for a record that was added or changed."""
    dependence = module.dependences.get(rule.name)
    if dependence is None:
        return
    line = rule.span.line
    if state.name in dependence.whole:
        test = _read_changed(module, state, dependence.whole[state.name])
        if test is not None:
            yield Stmt(_guarded(test, _mark_all(module, rule)), line)
        if dependence.whole[state.name] is None:
            return
    if rule.each == state.name and not state.single:
        test = _read_changed(module, state, dependence.any_of(dependence.own - {KEY}))
        if test is not None:
            code, cheap = _own_rule(module, rule, dependence)
            yield Stmt(code if cheap else _guarded(test, code), line)
    for join in dependence.joins:
        if join.state != state.name:
            continue
        test = _read_changed(module, state, dependence.any_of(join.reads | {join.on} - {KEY}))
        if test is None:
            continue
        value = "key" if join.on == KEY else f"new[{quoted(join.on)}]"
        yield Stmt(_guarded(test, _mark(module, rule, join.own, value)), line)
        if join.on != KEY and module.changes.field(state, join.on):
            before = _mark(module, rule, join.own, f"old[{quoted(join.on)}]")
            added = "old is not None and " if state.name in module.changes.adds else ""
            yield Stmt(_guarded(f"if {added}{_differs(state, join.on)}:", before), line)


def _own_rule(module: Check, rule: RuleDef, dependence: Dependence) -> tuple[str, bool]:
    """The statement for a rule of the record itself, and whether it is cheaper than to find out if it is needed."""
    if not dependence.only_own:
        return f"_state._mark({quoted(rule.name)}, key)", False
    text = quoted(render(rule.text.value, module.spec.constants).strip())
    failure = f'raise _Failure("rule", {text}, {quoted(rule.name)}, {rule.span.line})'
    function, expression = module.rules[rule.name]
    if "\n" in expression or len(expression) > _SHORT or _LOOPS.search(expression):
        return f"if not {function}(_state, new):\n    {failure}", False
    return f"if not ({expression}):\n    {failure}", True


_SHORT = 100
_LOOPS = re.compile(r"\b(for|lambda)\b")


def _read_changed(module: Check, state: StateDef, reads: set[str] | None) -> str | None:
    """The test that something a rule reads of a record changed: None when it cannot, "" when any change counts."""
    if reads is None:
        return ""
    names = sorted(n for n in reads if n != KEY and n in state.record.fields)
    if not _can(module, state, *names):
        return None
    return _changed(module, state, tuple(names))
