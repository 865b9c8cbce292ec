"""Statements: flow, assignment, loops, results, and what a whole block comes to."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.logic import calls, comparisons, displays  # noqa: F401  (they register their rules)
from envscaler.spec.logic.binding import bind_loop, bind_target, declare
from envscaler.spec.logic.block import Block, Value, path_of
from envscaler.spec.logic.infer import infer, read
from envscaler.spec.logic.methods import remove
from envscaler.spec.logic.names import key_of
from envscaler.spec.logic.narrowing import narrow
from envscaler.spec.logic.operators import condition, operation, operator_text
from envscaler.spec.logic.places import change, grows, joined_local
from envscaler.spec.logic.relations import assignable, container, literal
from envscaler.spec.logic.scope import Env
from envscaler.spec.logic.storing import store
from envscaler.spec.types import (
    ANY,
    INT,
    NEVER,
    NONE,
    STR,
    Const,
    DictOf,
    IterOf,
    ListOf,
    Nullable,
    Obj,
    StateOf,
    Struct,
    TupleOf,
    Type,
    Union,
    strip_null,
)  # fmt: skip
from envscaler.trees import literal_value

__all__ = ["check_statements"]

Body = Sequence[cst.BaseStatement] | Sequence[cst.BaseSmallStatement]


class _Loop:
    """Environments with which a loop's body was left."""

    def __init__(self) -> None:
        self.exits: list[Env] = []  # by break
        self.again: list[Env] = []  # by continue
        self.bound: set[str] = set()  # states of which the body binds views to names that outlive a round


def check_statements(b: Block, body: Body, expected: Type | None = None) -> None:
    """Check the statements of a whole block; ``expected`` is the declared type of its result."""
    _Statements(b, expected).run(body)


class _Statements:
    def __init__(self, b: Block, expected: Type | None) -> None:
        self.b = b
        self.expected = expected
        self.loops: list[_Loop] = []

    def run(self, body: Body) -> None:
        told = False
        for node in body:
            if not self.b.env.live:
                self.b.unreached = True
                if not told:
                    self.b.say("unreachable", _first(node), "this is never reached", fix="remove it")
                told = True
                continue
            if isinstance(node, cst.SimpleStatementLine):
                self.run(node.body)
            elif isinstance(node, cst.If):
                self._if(node)
            elif isinstance(node, cst.For):
                self._for(node)
            else:
                self._small(node)

    def _suite(self, node: cst.BaseSuite) -> None:
        self.run(node.body)

    # -- flow

    def _if(self, node: cst.If) -> None:
        b = self.b
        condition(b, node.test)
        before = b.env.copy()
        narrow(b, node.test, True)
        self._suite(node.body)
        taken = b.env.copy()
        b.env.take(before)
        narrow(b, node.test, False)
        if isinstance(node.orelse, cst.If):
            self._if(node.orelse)
        elif node.orelse is not None:
            self._suite(node.orelse.body)
        b.env.take(taken.joined(b.env))

    def _for(self, node: cst.For) -> None:
        b = self.b
        source = read(b, node.iter)
        b.loops()
        entry = b.env.copy()
        with b.trial():
            after = self._round(node, source)
        # what one round can change is unknown at the start of the next
        b.env.take(entry.joined(after) if after.live else entry)
        start = b.env.copy()
        writes, adds, removes = b.effects.writes, b.effects.adds, b.effects.removes
        b.effects = b.effects.__class__(
            b.effects.reads, frozenset(), frozenset(), frozenset(), b.effects.draws, b.effects.loops, b.effects.calls
        )
        loop = _Loop()
        self._round(node, source, loop)
        b.loop_edits[node] = b.effects.edits | loop.bound
        b.effects = b.effects.joined(b.effects.__class__(writes=writes, adds=adds, removes=removes))
        ends = [b.env.copy(), *loop.again, *loop.exits]
        b.env.take(start)
        for end in ends:
            if end.live:
                b.env.take(b.env.joined(end))

    def _round(self, node: cst.For, source: Value, loop: _Loop | None = None) -> Env:
        """One pass over a loop's body; the environment at its end."""
        b = self.b
        own = loop or _Loop()
        self.loops.append(own)
        b.iterating.append((b.source(node.iter), _iterated_state(b, node.iter, source)))
        bind_loop(b, node, source)
        self._suite(node.body)
        b.iterating.pop()
        self.loops.pop()
        end = b.env
        if loop is None:
            for other in (*own.again, *own.exits):
                end = end.joined(other)
        return end.copy()

    # -- small statements

    def _small(self, node: cst.CSTNode) -> None:
        b = self.b
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                self._assign(target, value)
            case cst.AugAssign():
                self._augmented(node)
            case cst.Del(target=target):
                self._delete(target)
            case cst.Return():
                self._return(node)
            case cst.Expr(value=value):
                self._expression(value)
            case cst.Break() | cst.Continue():
                self._jump(node)
            case _:
                b.say("forbidden-syntax", node, f"the language has no {type(node).__name__}")

    def _jump(self, node: cst.Break | cst.Continue) -> None:
        word = "break" if isinstance(node, cst.Break) else "continue"
        if not self.loops:
            self.b.say("logic-syntax", node, f"'{word}' stands outside of a loop")
            return
        ways = self.loops[-1].exits if word == "break" else self.loops[-1].again
        ways.append(self.b.env.copy())
        self.b.env.live = False

    def _return(self, node: cst.Return) -> None:
        b = self.b
        if node.value is None:
            b.returns.append((NONE, node))
        else:
            value = infer(b, node.value, self.expected)
            if isinstance(value.type, StateOf | IterOf | TupleOf):
                fix = f"write list({b.source(node.value)})"
                b.say("wrong-type", node.value, f"{value.type} cannot be a result", fix=fix)
            elif self.expected is not None:
                store(b, node.value, value, self.expected, "the result")
            b.returns.append((self.expected or value.type, node))
        b.env.live = False

    def _expression(self, node: cst.BaseExpression) -> None:
        b = self.b
        value = infer(b, node)
        if (
            value.type == NEVER
            and isinstance(node, cst.Call)
            and isinstance(node.func, cst.Name)
            and node.func.value == "fail"
        ):
            b.env.live = False
            return
        if not _acts(b, node):
            what = "a comparison" if isinstance(node, cst.Comparison) else "this"
            fix = "write require(…, message)" if isinstance(node, cst.Comparison) else "return it, or bind it to a name"
            b.say("no-effect", node, f"the value of {what} is not used", fix=fix)

    # -- assignment

    def _assign(self, target: cst.BaseExpression, value: cst.BaseExpression) -> None:
        match target:
            case cst.Name(value=name):
                self._assign_name(target, name, value)
            case cst.Tuple(elements=elements):
                self._assign_tuple(target, elements, value)
            case cst.Attribute():
                self._assign_field(target, value)
            case cst.Subscript():
                self._assign_element(target, value)
            case _:
                self.b.say("forbidden-syntax", target, "only names and places can be assigned")

    def _assign_name(self, target: cst.Name, name: str, node: cst.BaseExpression) -> None:
        b = self.b
        value = infer(b, node)
        if isinstance(value.type, StateOf | IterOf | TupleOf):
            fix = f"write list({b.source(node)})" if not isinstance(value.type, TupleOf) else "use two names"
            b.say("wrong-type", node, f"{value.type} cannot be bound to a name", fix=fix)
            value = Value(NEVER)
        elif value.type == NONE and isinstance(node, cst.Call):
            b.say(
                "wrong-type", node, f"'{b.source(node.func)}' gives nothing to bind", fix="call it on a line of its own"
            )
            value = Value(NEVER)
        if value.view is not None:
            for loop in self.loops:
                loop.bound.add(value.view)
        declare(b, target, name, value if container(value.type) else Value(value.type))

    def _assign_tuple(self, target: cst.Tuple, elements: Sequence[cst.BaseElement], node: cst.BaseExpression) -> None:
        b = self.b
        if isinstance(node, cst.Tuple) and len(node.elements) == len(elements):
            values = [infer(b, e.value) for e in node.elements]
            b.note(node, Value(TupleOf(tuple(v.type for v in values))))
            for part, value in zip(elements, values, strict=True):
                bind_target(b, part.value, value if container(value.type) else Value(value.type))
            return
        value = infer(b, node)
        bind_target(b, target, value)

    def _assign_field(self, target: cst.Attribute, node: cst.BaseExpression) -> None:
        b = self.b
        found = self._written_field(target)
        if found is None:
            infer(b, node)
            return
        owner, name, of = found
        value = infer(b, node, of)
        store(b, node, value, of, f"'{name}'")
        change(b, target.value, owner, field=name)
        path = path_of(target)
        if path is not None:
            b.env.present.add(path)
            if isinstance(of, Nullable) and value.type not in (NEVER, ANY):
                b.env.facts[path] = value.type if isinstance(value.type, Nullable) or value.type == NONE else of.of

    def _written_field(self, target: cst.Attribute) -> tuple[Value, str, Type] | None:
        """The owner, name and type of a field that is written."""
        b = self.b
        name = target.attr.value
        owner = read(b, target.value)
        of = owner.type
        if isinstance(of, Struct) and name in of.fields:
            field = of.fields[name]
            if isinstance(field.type, Const):
                b.say(
                    "wrong-type",
                    target,
                    f"'{name}' tells what this is and does not change",
                    fix="assign a new value made by the type's constructor",
                )
                return None
            b.note(target, Value(field.type, owner.view if container(field.type) else None), Role("field", name, of))
            return owner, name, field.type
        if isinstance(of, Struct) and name == of.key_name:
            b.say("wrong-type", target, "a record keeps its key", fix="remove the record and add a new one")
            return None
        value = infer(b, target)  # reports what is wrong; a field that all members of a union share has a type
        if value.type != NEVER and isinstance(of, Union) and name != of.tag:
            return owner, name, value.type
        self._no_write(target, value)
        return None

    def _no_write(self, target: cst.Attribute, value: Value) -> None:
        if value.type != NEVER:
            self.b.say("wrong-type", target, f"'{self.b.source(target)}' cannot be assigned")

    def _assign_element(self, target: cst.Subscript, node: cst.BaseExpression) -> None:
        b = self.b
        owner = read(b, target.value)
        index = target.slice[0].slice
        if isinstance(index, cst.Slice):
            b.say("forbidden-syntax", target, "slices are not assigned", fix="build the list anew")
            infer(b, node)
            return
        assert isinstance(index, cst.Index)
        match owner.type:
            case StateOf(name=name):
                b.say(
                    "wrong-type",
                    target,
                    f"records of {name} are not assigned",
                    fix=f"write {name}.add(…) or change its fields",
                )
                infer(b, node)
            case ListOf(item=item):
                self._index(index.value)
                self._element(target, owner, item, node)
            case DictOf() | Obj():
                self._entry(target, owner, index.value, node)
            case _ if owner.type == ANY:
                infer(b, index.value)
                change(b, target.value, owner, structure=True)
                store(b, node, infer(b, node), ANY, "this")
                b.note(target, Value(ANY, owner.view), Role("at", "any"))
            case _:
                infer(b, node)
                if owner.type != NEVER:
                    b.say("wrong-type", target, f"elements of {owner.type} cannot be assigned")

    def _index(self, node: cst.BaseExpression) -> None:
        value = read(self.b, node)
        if value.type not in (INT, NEVER):
            self.b.say("wrong-type", node, f"an index is an int, this is {value.type}")

    def _element(self, target: cst.Subscript, owner: Value, item: Type, node: cst.BaseExpression) -> None:
        b = self.b
        value = infer(b, node, item)
        b.note(target, Value(item, owner.view if container(item) else None), Role("at", "list"))
        if grows(b, target.value, owner):
            joined_local(b, target.value, owner, ListOf(value.type), node)
        else:
            store(b, node, value, item, "an element")
        change(b, target.value, owner)

    def _entry(self, target: cst.Subscript, owner: Value, key: cst.BaseExpression, node: cst.BaseExpression) -> None:
        b = self.b
        of = owner.type
        key_value = infer(b, key)
        change(b, target.value, owner, structure=True)
        if isinstance(of, Obj):
            self._object_entry(target, owner, of, key, node)
            return
        assert isinstance(of, DictOf)
        value = infer(b, node, None if of.value == NEVER else of.value)
        b.note(target, Value(of.value, owner.view if container(of.value) else None), Role("at", "dict"))
        if grows(b, target.value, owner):
            joined_local(b, target.value, owner, DictOf(value.type, _dict_key(key_value.type)), node)
        else:
            store(b, key, key_value, of.key, "a key")
            store(b, node, value, of.value, "a value")

    def _object_entry(
        self, target: cst.Subscript, owner: Value, of: Obj, key: cst.BaseExpression, node: cst.BaseExpression
    ) -> None:
        b = self.b
        value = infer(b, node)
        b.note(target, Value(value.type), Role("at", "dict"))
        name = target.value
        if not isinstance(name, cst.Name):
            return
        if isinstance(key, cst.SimpleString) and name.value in b.env.names:
            items = {**dict(of.items), str(literal_value(key)): value.type}
            local = b.env.names[name.value]
            b.env.names[name.value] = local.__class__(Obj(tuple(items.items())), local.kind, local.view, local.frozen)
        else:
            joined_local(b, name, owner, DictOf(value.type), node)

    def _augmented(self, node: cst.AugAssign) -> None:
        b = self.b
        op = operator_text(node.operator)
        target = node.target
        if not isinstance(target, cst.Name | cst.Attribute | cst.Subscript):
            b.say("forbidden-syntax", node, "only names and places can be assigned")
            return
        before = read(b, target)
        result = operation(b, node, op, target, node.value)
        if isinstance(before.type, ListOf):
            b.say(
                "wrong-type",
                node,
                "lists grow by extend",
                fix=f"write {b.source(target)}.extend({b.source(node.value)})",
            )
            return
        if isinstance(target, cst.Name):
            self._augment_name(target, result)
            return
        value = infer(b, target.value)
        place = self._place_type(target, before)
        if not assignable(result.type, place) and result.type != NEVER:
            b.say("wrong-type", node, f"'{b.source(target)}' takes {place}; the result is {result.type}")
        change(b, target.value, value, field=target.attr.value if isinstance(target, cst.Attribute) else "")

    def _place_type(self, target: cst.Attribute | cst.Subscript, before: Value) -> Type:
        owner = strip_null(self.b.notes[target.value].type)
        if isinstance(target, cst.Attribute) and isinstance(owner, Struct):
            if target.attr.value == owner.key_name:
                self.b.say("wrong-type", target, "a record keeps its key")
            return owner.fields[target.attr.value].type if target.attr.value in owner.fields else before.type
        return before.type

    def _augment_name(self, target: cst.Name, result: Value) -> None:
        b = self.b
        known = b.env.names.get(target.value)
        if known is None:
            b.say("wrong-type", target, f"'{target.value}' is not a local name", fix="bind it to a local name first")
        elif known.kind == "param":
            b.say(
                "shadowing",
                target,
                f"'{target.value}' is a parameter",
                fix="take another name; parameters keep their value",
            )
        else:
            b.env.bind(target.value, known.__class__(result.type, "local"))

    def _delete(self, target: cst.BaseExpression) -> None:
        b = self.b
        match target:
            case cst.Subscript(value=place, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
                owner = read(b, place)
                if isinstance(owner.type, StateOf):
                    key_of(b, index, owner.type.name)
                    remove(b, target, owner.type.name)
                    b.note(target, Value(NONE), Role("at", "collection"))
                    return
                infer(b, target)
                change(b, place, owner, structure=True)
            case cst.Attribute(value=place):
                self._delete_field(target, place)
            case _:
                b.say("forbidden-syntax", target, "only elements and absent-able fields are deleted")

    def _delete_field(self, target: cst.Attribute, place: cst.BaseExpression) -> None:
        b = self.b
        found = self._written_field(target)
        if found is None:
            return
        owner, name, _ = found
        if isinstance(owner.type, Struct) and not owner.type.fields[name].absent:
            b.say(
                "never-absent", target, f"'{name}' is never absent", fix="declare it 'absent: true', or set it to None"
            )
        change(b, place, owner, field=name)
        path = path_of(target)
        if path is not None:
            b.env.present.discard(path)


def _dict_key(of: Type) -> Type:
    return STR if isinstance(of, literal("x").__class__) else of


def _first(node: cst.CSTNode) -> cst.CSTNode:
    return node.body[0] if isinstance(node, cst.SimpleStatementLine) else node


def _iterated_state(b: Block, node: cst.BaseExpression, source: Value) -> str:
    """The collection a loop goes through directly, "" when it goes through something else."""
    if isinstance(source.type, StateOf):
        return source.type.name
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="values" | "items" | "keys"))):
            note = b.notes.get(owner)
            return note.type.name if note is not None and isinstance(note.type, StateOf) else ""
        case cst.Call(func=cst.Name(value="enumerate" | "zip" | "children" | "walk"), args=args):
            inner = [_iterated_state(b, a.value, Value(b.notes[a.value].type)) for a in args if a.value in b.notes]
            return next((s for s in inner if s), "")
        case _:
            return ""


def _acts(b: Block, node: cst.BaseExpression) -> bool:
    """Whether an expression statement does something."""
    if not isinstance(node, cst.Call):
        return False
    note = b.notes.get(node)
    role = note.role if note is not None else None
    if role is None:
        return True  # a problem was reported already
    if role.kind == "helper":
        return True
    if role.kind == "call":
        return role.name in ("require", "fail")
    return role.kind == "method" and role.name in _ACTING


_ACTING = {
    "list.append", "list.extend", "list.insert", "list.remove", "list.pop", "list.clear", "list.sort", "list.reverse",
    "dict.pop", "dict.update", "dict.clear", "collection.add", "collection.remove", "struct.update",
}  # fmt: skip
