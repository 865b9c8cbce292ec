"""Types of expressions: literals, names, places, operators, comprehensions, f-strings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.language import (
    BUILTINS, CLOCK_NAMES, DATE_PARTS, DATETIME_PARTS, TIME_PARTS, methods_of,
)  # fmt: skip
from envscaler.spec.logic.block import Block, Value, path_of
from envscaler.spec.logic.narrowing import narrow
from envscaler.spec.logic.relations import (
    NUMERIC, arithmetic, assignable, comparable, container, conversion, holds_records, join, literal, ordered, plain,
    textual,
)  # fmt: skip
from envscaler.spec.logic.scope import Binding
from envscaler.spec.scalars import NotA, parse_scalar
from envscaler.spec.types import (
    ANY, BOOL, DATE, DATETIME, DURATION, FLOAT, INT, MONEY, NEVER, NONE, NUMBER, STR, TIME, Const, DictOf, Enum, Field,
    IterOf, Key, ListOf, MISSING, Nullable, Obj, Partial, Scalar, StateOf, Struct, TupleOf, Type, Union, strip_null,
)  # fmt: skip

__all__ = ["bind_target", "condition", "element", "infer", "read", "store"]

_MAX_WIDTH: Final = 200  # of a format specification

_OPERATORS: Final[dict[type[cst.CSTNode], str]] = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.Power: "**", cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//", cst.ModuloAssign: "%", cst.PowerAssign: "**",
}  # fmt: skip


def infer(b: Block, node: cst.BaseExpression, expected: Type | None = None) -> Value:
    """The value an expression gives; problems inside are reported and typed `never`, which fits everywhere."""
    match node:
        case cst.Name():
            return _name(b, node)
        case cst.Attribute():
            return _attribute(b, node)
        case cst.Call():
            from envscaler.spec.logic.calls import call

            return call(b, node, expected)
        case cst.Subscript():
            return _subscript(b, node)
        case cst.SimpleString():
            return b.note(node, Value(literal(str(node.evaluated_value))))
        case cst.ConcatenatedString(left=left, right=right):
            infer(b, left), infer(b, right)
            return b.note(node, Value(STR))
        case cst.FormattedString():
            return _fstring(b, node)
        case cst.Integer():
            if abs(node.evaluated_value) >= 2**53:
                b.say("number-too-large", node, "Whole numbers stay below 2**53.")
            return b.note(node, Value(INT))
        case cst.Float():
            return b.note(node, Value(FLOAT))
        case cst.Comparison():
            return _comparison(b, node)
        case cst.BooleanOperation():
            return _boolean(b, node)
        case cst.UnaryOperation():
            return _unary(b, node)
        case cst.BinaryOperation(left=left, operator=operator, right=right):
            return operation(b, node, _OPERATORS.get(type(operator), "?"), left, right)
        case cst.IfExp():
            return _conditional(b, node, expected)
        case cst.List():
            return _list(b, node, expected)
        case cst.Tuple(elements=elements):
            items = tuple(infer(b, e.value).type for e in elements)
            return b.note(node, Value(TupleOf(items)))
        case cst.Dict():
            return _dict(b, node, expected)
        case cst.ListComp() | cst.GeneratorExp() | cst.DictComp():
            return _comprehension(b, node, expected)
        case _:
            b.say("forbidden-syntax", node, f"The language has no {type(node).__name__}.")
            return b.note(node, Value(NEVER))


# -- names and places


def _name(b: Block, node: cst.Name) -> Value:
    name = node.value
    if name in ("True", "False"):
        return b.note(node, Value(BOOL))
    if name == "None":
        return b.note(node, Value(NONE))
    if (binding := b.env.names.get(name)) is not None:
        return _local(b, node, binding)
    spec = b.world.spec
    if name in spec.constants:
        b.use("constant", name)
        return b.note(node, Value(spec.constants[name].type, frozen="a constant"), Role("constant", name))
    if name in spec.states:
        return _state(b, node, name)
    if name in CLOCK_NAMES:
        return b.note(node, Value(CLOCK_NAMES[name]), Role("clock", name))
    return _no_such_name(b, node, name)


def _local(b: Block, node: cst.Name, binding: Binding) -> Value:
    name = node.value
    if not b.muted:
        b.locals_used.add(name)
    if not binding.certain:
        b.say("maybe-unassigned", node, f"`{name}` may not have a value here.", fix=f"assign `{name}` before the branch")
    elif binding.clash:
        b.say("unlike-types", node, f"`{name}` has unlike types depending on the way here.", fix="use two names")
    of = b.env.facts.get((name,), binding.type)
    copy_of = _record_state(of) if binding.view is None else None
    value = Value(of, binding.view, copy_of, binding.frozen, (name,))
    return b.note(node, value, Role(binding.kind, name))


def _record_state(of: Type) -> str | None:
    inner = strip_null(of)
    while isinstance(inner, ListOf | IterOf):
        inner = inner.item
    return inner.collection if isinstance(inner, Struct) else None


def _state(b: Block, node: cst.BaseExpression, name: str) -> Value:
    b.use("state", name)
    state = b.world.states[name]
    b.reads(name)
    role = Role("state", name)
    if state.single:
        return b.note(node, Value(state.record, view=name, path=(name,)), role)
    return b.note(node, Value(StateOf(name), view=name, path=(name,)), role)


def _no_such_name(b: Block, node: cst.Name, name: str) -> Value:
    spec = b.world.spec
    known = [*b.env.names, *spec.states, *spec.constants, *CLOCK_NAMES]
    if name in BUILTINS or name in spec.helpers:
        b.say("unknown-name", node, f"`{name}` is a function.", fix=f"call it: {name}(…)")
    elif name in spec.types or b.world.record_type(name):
        b.say("unknown-name", node, f"`{name}` is a type.", fix=f"build a value: {name}(…)")
    elif name == "state":
        b.say("unknown-name", node, "`state` is not a value by itself.", fix="name a collection: state.NAME")
    else:
        b.unknown("unknown-name", node, f"Nothing here is called `{name}`.", name, known, "names here")
    return b.note(node, Value(NEVER))


def _attribute(b: Block, node: cst.Attribute) -> Value:
    owner, name = node.value, node.attr.value
    if isinstance(owner, cst.Name) and owner.value == "state" and "state" not in b.env.names:
        if name in b.world.states:
            return _state(b, node, name)
        b.unknown("unknown-name", node, f"There is no state `{name}`.", name, list(b.world.states), "states")
        return b.note(node, Value(NEVER))
    value = infer(b, owner)
    of = value.type
    if isinstance(of, Nullable):
        _maybe_null(b, owner, of)
        of = of.of
    match of:
        case Struct():
            return _field(b, node, value, of, name)
        case Union():
            return _union_field(b, node, value, of, name)
        case Scalar(name="never"):
            return b.note(node, Value(NEVER))
        case Key(collection=collection) if name not in methods_of("str"):
            b.say("key-not-record", node, f"`{b.source(owner)}` is a key of {collection}, not the record.",
                  fix=f"write {collection}[{b.source(owner)}].{name}, or loop over {collection}.values()")  # fmt: skip
            return b.note(node, Value(NEVER))
        case _:
            parts = _parts(of)
            if name in parts:
                return b.note(node, Value(parts[name]), Role("part", name))
            return _no_attribute(b, node, of, name, parts)


def _parts(of: Type) -> dict[str, Type]:
    if of == DATE:
        return DATE_PARTS
    if of == TIME:
        return TIME_PARTS
    return {**DATETIME_PARTS, "date": DATE, "time": TIME} if of == DATETIME else {}


def _no_attribute(b: Block, node: cst.Attribute, of: Type, name: str, parts: dict[str, Type]) -> Value:
    if isinstance(of, Obj | DictOf):
        b.say("unknown-field", node, f"A {_dict_word(of)} has no fields.", fix=f'write {b.source(node.value)}["{name}"]')
    elif isinstance(of, StateOf):
        b.unknown("unknown-method", node, f"{of.name} has no `{name}`.", name, list(methods_of("collection")), "methods of a collection")
    elif of == ANY:
        b.say("unknown-field", node, "An `any` value has no fields.", fix=f'write {b.source(node.value)}["{name}"]')
    else:
        b.unknown("unknown-field", node, f"{_an(of)} has no `{name}`.", name, list(parts), f"parts of {_an(of)}")
    return b.note(node, Value(NEVER))


def _dict_word(of: Type) -> str:
    return "dict"


def _an(of: Type) -> str:
    word = str(of)
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _field(b: Block, node: cst.Attribute, value: Value, struct: Struct, name: str) -> Value:
    if name == struct.key_name and struct.key is not None:
        if value.view is not None:
            b.reads(value.view)
        return b.note(node, Value(struct.key, path=path_of(node)), Role("key", name, struct))
    found = struct.fields.get(name)
    if found is None:
        names = [*([struct.key_name] if struct.key_name else []), *struct.fields]
        b.unknown("unknown-field", node, f"{struct.name} has no field `{name}`.", name, names, f"fields of {struct.name}")
        return b.note(node, Value(NEVER))
    return _known_field(b, node, value, struct, found)


def _known_field(b: Block, node: cst.Attribute, value: Value, struct: Struct, found: Field) -> Value:
    path = path_of(node)
    if value.view is not None:
        b.reads(value.view, _root_field(b, node))
    if found.absent and (path is None or path not in b.env.present):
        owner = b.source(node.value)
        b.say("maybe-absent", node, f"`{found.name}` may be absent from {struct.name}.",
              fix=f'test `"{found.name}" in {owner}` first, or use {owner}.get("{found.name}")')  # fmt: skip
    of = found.type if path is None else b.env.facts.get(path, found.type)
    shares = container(of)
    result = Value(of, value.view if shares else None, value.copy_of if shares else None, value.frozen, path)
    return b.note(node, result, Role("field", found.name, struct))


def _root_field(b: Block, node: cst.BaseExpression) -> str:
    """The record's field that a place inside a record goes through."""
    name = ""
    while isinstance(node, cst.Attribute | cst.Subscript):
        note = b.notes.get(node.value)
        if isinstance(node, cst.Attribute):
            name = node.attr.value
        if note is not None and isinstance(strip_null(note.type), Struct) and strip_null(note.type).collection:  # type: ignore[attr-defined]
            return name
        node = node.value
    return name


def _union_field(b: Block, node: cst.Attribute, value: Value, union: Union, name: str) -> Value:
    if name == union.tag:
        tags = tuple(m.fields[union.tag].type.value for m in union.members)  # type: ignore[attr-defined]
        return b.note(node, Value(Enum(tags), path=path_of(node)), Role("field", name))
    holders = [m for m in union.members if name in m.fields]
    if len(holders) == len(union.members):
        types = [m.fields[name].type for m in holders]
        if all(t == types[0] for t in types):
            return _known_field(b, node, value, holders[0], holders[0].fields[name])
    owner = b.source(node.value)
    if holders:
        tag = holders[0].fields[union.tag].type
        shown = tag.value if isinstance(tag, Const) else "…"
        b.say("not-narrowed", node, f"Only {' and '.join(m.name for m in holders)} of {union.name} has `{name}`.",
              fix=f'test `{owner}.{union.tag} == "{shown}"` first')  # fmt: skip
    else:
        names = sorted({n for m in union.members for n in m.fields})
        b.unknown("unknown-field", node, f"No member of {union.name} has a field `{name}`.", name, names, "fields of its members")
    return b.note(node, Value(NEVER))


def _maybe_null(b: Block, node: cst.BaseExpression, of: Type) -> None:
    source = b.source(node)
    fix = f"test `{source} is not None` first"
    if isinstance(node, cst.Call):
        fix = f"bind it: x = {source} or fail(…)"
    b.say("maybe-null", node, f"`{source}` may be null here.", fix=fix)


def read(b: Block, node: cst.BaseExpression, expected: Type | None = None) -> Value:
    """As infer, with null refused: the value is used in a way that null cannot be."""
    value = infer(b, node, expected)
    if isinstance(value.type, Nullable):
        _maybe_null(b, node, value.type)
        return Value(value.type.of, value.view, value.copy_of, value.frozen, value.path)
    if value.type == NONE:
        b.say("maybe-null", node, f"`{b.source(node)}` is null.")
        return Value(NEVER)
    return value


def _subscript(b: Block, node: cst.Subscript) -> Value:
    owner = read(b, node.value)
    inner = node.slice[0].slice
    if isinstance(inner, cst.Slice):
        return _slice(b, node, owner, inner)
    of, index = owner.type, inner.value
    match of:
        case StateOf(name=name):
            key_of(b, index, name)
            record = b.world.states[name].record
            return b.note(node, Value(record, view=name, path=path_of(node)), Role("at", "collection", record))
        case ListOf(item=item):
            _index_is(b, index, INT, "an index")
            return _at(b, node, owner, item, "list")
        case DictOf(value=item, key=key):
            store(b, index, infer(b, index, key), key, "a key")
            return _at(b, node, owner, item, "dict")
        case Obj(items=items):
            return _object_item(b, node, owner, dict(items), index)
        case Scalar(name="any"):
            infer(b, index)
            return _at(b, node, owner, ANY, "any")
        case TupleOf():
            b.say("wrong-type", node, "Pairs are taken apart by names.", fix="write `for a, b in …`")
        case Scalar(name="never"):
            infer(b, index)
        case _ if textual(of):
            _index_is(b, index, INT, "an index")
            return b.note(node, Value(STR), Role("at", "str"))
        case Struct() | Union():
            b.say("wrong-type", node, f"Fields of {of} are read by name.", fix="write x.field")
        case _:
            b.say("wrong-type", node, f"{_an(of)} has no elements.")
    return b.note(node, Value(NEVER))


def key_of(b: Block, node: cst.BaseExpression, state: str) -> None:
    """Check that an expression can be a key of a collection."""
    key = b.world.states[state].key
    assert key is not None
    value = read(b, node)
    if isinstance(value.type, Struct):
        b.say("wrong-type", node, f"{state} is read by key, not by record.", fix=f"write {b.source(node)}.{value.type.key_name or 'KEY'}")
    elif not assignable(value.type, key.type) and value.type != ANY:
        b.say("wrong-type", node, f"{_an(value.type)} is no key of {state}.", detail=f"expected: {key.type.of}")


def _at(b: Block, node: cst.Subscript, owner: Value, item: Type, word: str) -> Value:
    path = path_of(node)
    of = item if path is None else b.env.facts.get(path, item)
    shares = container(of)
    if owner.view is not None:
        b.reads(owner.view, _root_field(b, node))
    copy_of = owner.copy_of or (_record_state(of) if owner.view is None else None)
    value = Value(of, owner.view if shares else None, copy_of if shares else None, owner.frozen, path)
    return b.note(node, value, Role("at", word))


def _object_item(b: Block, node: cst.Subscript, owner: Value, items: dict[str, Type], index: cst.BaseExpression) -> Value:
    if isinstance(index, cst.SimpleString):
        name = str(index.evaluated_value)
        b.note(index, Value(literal(name)))
        if name in items:
            return b.note(node, Value(items[name], frozen=owner.frozen, path=path_of(node)), Role("at", "dict"))
        b.unknown("unknown-field", index, f"The dict has no entry `{name}`.", name, list(items), "entries")
        return b.note(node, Value(NEVER))
    store(b, index, infer(b, index), STR, "a key")
    joined: Type = NEVER
    for item in items.values():
        joined = join(joined, item) or ANY
    return b.note(node, Value(joined), Role("at", "dict"))


def _index_is(b: Block, node: cst.BaseExpression, of: Type, word: str) -> None:
    value = read(b, node)
    if value.type not in (of, NEVER, ANY):
        b.say("wrong-type", node, f"{word} is {_an(of)}, this is {_an(value.type)}.")


def _slice(b: Block, node: cst.Subscript, owner: Value, parts: cst.Slice) -> Value:
    for bound in (parts.lower, parts.upper, parts.step):
        if bound is not None:
            _index_is(b, bound, INT, "a bound")
    if isinstance(owner.type, ListOf):
        return b.note(node, Value(owner.type, copy_of=owner.view or owner.copy_of), Role("slice"))
    if textual(owner.type):
        return b.note(node, Value(STR), Role("slice"))
    if owner.type != NEVER:
        b.say("wrong-type", node, f"{_an(owner.type)} cannot be sliced.", detail="lists and texts can", fix="make a list first: list(…)")
    return b.note(node, Value(NEVER))


# -- operators


def operation(b: Block, node: cst.CSTNode, op: str, left: cst.BaseExpression, right: cst.BaseExpression) -> Value:
    """``left op right``, also for augmented assignment."""
    x, y = read(b, left), read(b, right)
    found = arithmetic(op, x.type, y.type)
    if found is None and MONEY in (x.type, y.type) and op in "+-":
        found = _money_with_literal(b, x, y, left, right)
    if found is not None:
        return b.note(node, Value(found[0]), Role("operator", found[1]))
    _no_operation(b, node, op, x.type, y.type)
    return b.note(node, Value(NEVER))


def _money_with_literal(
    b: Block, x: Value, y: Value, left: cst.BaseExpression, right: cst.BaseExpression
) -> tuple[Type, str] | None:
    other, node = (y, right) if x.type == MONEY else (x, left)
    if other.type in NUMERIC and number_literal(node) is not None:
        return (MONEY, "") if money_literal(b, node) else (NEVER, "")
    return None


def number_literal(node: cst.BaseExpression) -> str | None:
    """The text of a number literal, its sign included."""
    match node:
        case cst.Integer(value=text) | cst.Float(value=text):
            return text
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=text) | cst.Float(value=text)):
            return f"-{text}"
        case _:
            return None


def money_literal(b: Block, node: cst.BaseExpression) -> bool:
    """Take a number literal as money; false (and a diagnostic) when it has more than two decimals."""
    amount = Decimal((number_literal(node) or "0").replace("_", ""))
    if amount.as_tuple().exponent < -2 and amount != round(amount, 2):  # type: ignore[operator]
        b.say("wrong-type", node, "Money has two decimals.")
        return False
    b.convert(node, MONEY)
    return True


def _no_operation(b: Block, node: cst.CSTNode, op: str, x: Type, y: Type) -> None:
    fix = ""
    numbers = (*NUMERIC, DURATION)
    if MONEY in (x, y) and (x in NUMERIC or y in NUMERIC):
        fix = "make the number money first: money(x)"
    elif op == "+" and (textual(x) or textual(y)):
        fix = 'put values into text with an f-string: f"{a} {b}"'
    elif {x, y} & {DATE, DATETIME} and (x in numbers or y in numbers):
        fix = "a date moves by days(n), hours(n), minutes(n)"
    elif ANY in (x, y):
        fix = "say what it is first: as_type(x, number)"
    b.say("wrong-type", node, f"`{op}` has no meaning between {_an(x)} and {_an(y)}.", fix=fix)


def _unary(b: Block, node: cst.UnaryOperation) -> Value:
    if isinstance(node.operator, cst.Not):
        condition(b, node.expression)
        return b.note(node, Value(BOOL))
    value = read(b, node.expression)
    of = plain(value.type)
    if of in (*NUMERIC, MONEY, DURATION, NEVER):
        return b.note(node, Value(of), Role("operator"))
    b.say("wrong-type", node, f"{_an(value.type)} has no sign.")
    return b.note(node, Value(NEVER))


def condition(b: Block, node: cst.BaseExpression) -> None:
    """Check that an expression is a condition: bool and never null."""
    of = infer(b, node).type
    if of in (BOOL, NEVER):
        return
    source = b.source(node)
    b.say("not-bool", node, f"A condition is a bool; `{source}` is {_an(of)}.", fix=_comparison_fix(of, source))


def _comparison_fix(of: Type, source: str) -> str:
    match of:
        case Nullable() | Scalar(name="none"):
            return f"write `{source} is not None`"
        case ListOf() | DictOf() | StateOf() | Obj():
            return f"write `len({source}) > 0`"
        case Enum(values=values) if len(values) == 1:
            return "compare it with something"
        case Enum(values=values):
            return f"write `{source} == {values[0]!r}`"
        case _ if textual(of):
            return f'write `{source} != ""`'
        case _ if of in (*NUMERIC, MONEY, DURATION):
            return f"write `{source} != 0`"
        case _ if of == ANY:
            return f"write `as_type({source}, bool)`"
        case _:
            return "write a comparison"


def _boolean(b: Block, node: cst.BooleanOperation) -> Value:
    if isinstance(node.operator, cst.Or) and _is_fail(node.right):
        return _or_fail(b, node)
    condition(b, node.left)
    before = b.env.copy()
    narrow(b, node.left, isinstance(node.operator, cst.And))
    condition(b, node.right)
    if b.env.live:
        b.env.take(before)
    return b.note(node, Value(BOOL))


def _is_fail(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "fail"


def _or_fail(b: Block, node: cst.BooleanOperation) -> Value:
    value = infer(b, node.left)
    before = b.env.copy()
    infer(b, node.right)
    b.env.take(before)
    if not isinstance(value.type, Nullable) and value.type not in (NEVER, ANY):
        b.say("not-bool", node.left, f"`… or fail(…)` takes something that may be null; this is {_an(value.type)}.",
              fix="write require(condition, message)")  # fmt: skip
    return b.note(node, Value(strip_null(value.type), value.view, value.copy_of, value.frozen), Role("operator", "or_fail"))


def _conditional(b: Block, node: cst.IfExp, expected: Type | None) -> Value:
    condition(b, node.test)
    before = b.env.copy()
    narrow(b, node.test, True)
    x = infer(b, node.body, expected)
    b.env.take(before.copy())
    narrow(b, node.test, False)
    y = infer(b, node.orelse, expected)
    b.env.take(before)
    of = join(x.type, y.type)
    if of is None and expected is not None and _fit(b, node.body, x, expected) and _fit(b, node.orelse, y, expected):
        of = expected
    if of is None:
        b.say("unlike-types", node, f"One side is {_an(x.type)}, the other {_an(y.type)}.")
        of = NEVER
    view = x.view if x.view == y.view else None
    copy_of = None if view else x.view or x.copy_of or y.view or y.copy_of
    frozen = x.frozen or y.frozen or ("one thing or another" if copy_of and container(of) else "")
    return b.note(node, Value(of, view, copy_of, frozen))


def _fit(b: Block, node: cst.BaseExpression, value: Value, place: Type) -> bool:
    return assignable(value.type, place) or (strip_null(place) == MONEY and number_literal(node) is not None)


_ORDER = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


def _comparison(b: Block, node: cst.Comparison) -> Value:
    left = node.left
    for target in node.comparisons:
        _compare(b, node, left, target.operator, target.comparator)
        left = target.comparator
    return b.note(node, Value(BOOL))


def _compare(
    b: Block, node: cst.Comparison, left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression
) -> None:
    match operator:
        case cst.Is() | cst.IsNot():
            value = infer(b, left)
            if not (isinstance(right, cst.Name) and right.value == "None"):
                b.say("forbidden-syntax", node, "`is` compares with None only.", fix="use ==")
            elif not isinstance(value.type, Nullable) and value.type not in (ANY, NONE, NEVER):
                b.say("never-null", left, f"`{b.source(left)}` is never null here.", severity="warning")
            b.note(right, Value(NONE))
        case cst.In() | cst.NotIn():
            _membership(b, left, right)
        case cst.Equal() | cst.NotEqual():
            _equality(b, node, left, right)
        case _ if isinstance(operator, _ORDER):
            _ordering(b, node, left, right)


def _equality(b: Block, node: cst.Comparison, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
    x, y = infer(b, left), infer(b, right)
    if NONE in (x.type, y.type):
        b.say("null-comparison", node, "Null is tested with `is`.", fix=f"write `{b.source(left)} is None`")
    elif holds_records(strip_null(x.type)) or holds_records(strip_null(y.type)):
        b.say("compare-records", node, "Records are not compared with `==`.", fix="compare their keys")
    elif not _like(b, x, y, left, right):
        _unlike(b, node, left, right, x.type, y.type)


def _like(b: Block, x: Value, y: Value, left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    a, c = strip_null(x.type), strip_null(y.type)
    for money, other, node in ((a, c, right), (c, a, left)):
        if money == MONEY and other in NUMERIC and number_literal(node) is not None:
            return money_literal(b, node) or True
    for dated, other, node in ((a, c, right), (c, a, left)):
        if dated in (DATE, TIME, DATETIME) and isinstance(node, cst.SimpleString):
            return date_literal(b, node, dated)
    return comparable(a, c)


def date_literal(b: Block, node: cst.BaseExpression, of: Type) -> bool:
    """Whether a text literal is a date (time, datetime) in canonical form; a diagnostic when it is not."""
    assert isinstance(node, cst.SimpleString) and isinstance(of, Scalar)
    text = str(node.evaluated_value)
    try:
        canonical = parse_scalar(text, of, zoned=b.world.spec.zoned)
    except NotA as reason:
        b.say("bad-literal", node, f"This is no {of}: {reason}.")
    else:
        if canonical != text:
            b.say("bad-literal", node, f"Not the one way to write this {of}.", fix=f'write "{canonical}"')
    return True


def _unlike(b: Block, node: cst.CSTNode, left: cst.BaseExpression, right: cst.BaseExpression, x: Type, y: Type) -> None:
    for a, c, other in ((x, y, right), (y, x, left)):
        enum = strip_null(a)
        if isinstance(enum, Enum) and isinstance(c, Enum) and isinstance(other, cst.SimpleString):
            text = str(other.evaluated_value)
            if enum.name or len(enum.values) > 1:
                b.unknown("unknown-member", other, f"`{text}` is no member of {enum}.", text, list(map(str, enum.values)), "members")
                return
    fix = "make the number money first: money(x)" if MONEY in (strip_null(x), strip_null(y)) else ""
    b.say("unlike-comparison", node, f"{_an(x)} and {_an(y)} are never equal.", fix=fix)


def _ordering(b: Block, node: cst.Comparison, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
    x, y = read(b, left), read(b, right)
    if ordered(x.type, y.type):
        return
    if MONEY in (x.type, y.type) or {x.type, y.type} & {DATE, TIME, DATETIME}:
        if _like(b, x, y, left, right):
            return
    fix = "make the number money first: money(x)" if MONEY in (x.type, y.type) else ""
    b.say("unlike-comparison", node, f"{_an(x.type)} and {_an(y.type)} have no order.", fix=fix)


def _membership(b: Block, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
    holder = read(b, right)
    of = holder.type
    if isinstance(of, Struct | Partial | Union):
        _has_field(b, left, of)
        return
    if isinstance(of, StateOf):
        key_of(b, left, of.name)
        return
    value = infer(b, left)
    item = element(of)
    if item is None:
        if of != NEVER:
            b.say("wrong-type", right, f"{_an(of)} holds no elements.")
        return
    if isinstance(of, TupleOf) and isinstance(right, cst.Tuple):
        for part in right.elements:
            if not _like(b, value, Value(b.notes[part.value].type), left, part.value):
                _unlike(b, part.value, left, part.value, value.type, b.notes[part.value].type)
    elif isinstance(right, cst.List) and right.elements:
        for part in right.elements:
            if not _like(b, value, Value(b.notes[part.value].type), left, part.value):
                _unlike(b, part.value, left, part.value, value.type, b.notes[part.value].type)
    elif holds_records(item) or holds_records(strip_null(value.type)):
        b.say("compare-records", right, "Records are not compared.", fix="compare their keys")
    elif textual(of) and not textual(strip_null(value.type)) and value.type not in (ANY, NEVER):
        b.say("unlike-comparison", left, f"A text does not contain {_an(value.type)}.")
    elif not comparable(value.type, item):
        b.say("unlike-comparison", left, f"{_an(value.type)} is never in {_an(of)}.")


def _has_field(b: Block, left: cst.BaseExpression, of: Type) -> None:
    if not isinstance(left, cst.SimpleString):
        b.say("wrong-type", left, "The name of a field is a literal text here.")
        return
    name = str(left.evaluated_value)
    b.note(left, Value(literal(name)))
    structs = of.members if isinstance(of, Union) else (of.of,) if isinstance(of, Partial) else (of,)
    fields: dict[str, Field] = {}
    for struct in structs:
        assert isinstance(struct, Struct)
        fields.update(struct.fields)
    if name not in fields:
        b.unknown("unknown-field", left, f"{of} has no field `{name}`.", name, list(fields), "fields")
    elif not fields[name].absent and not isinstance(of, Partial):
        b.say("never-absent", left, f"`{name}` is never absent.", severity="warning")


def element(of: Type) -> Type | None:
    """What going through a value gives, or None when one cannot go through it."""
    match of:
        case ListOf(item=item) | IterOf(item=item):
            return item
        case DictOf(key=key):
            return key
        case Obj():
            return STR
        case TupleOf(items=items):
            joined: Type = NEVER
            for item in items:
                joined = join(joined, item) or ANY
            return joined
        case Scalar(name="any" | "never"):
            return of
        case _:
            return STR if textual(of) else None


# -- displays, comprehensions, f-strings


def _list(b: Block, node: cst.List, expected: Type | None) -> Value:
    target = strip_null(expected) if expected is not None else None
    wanted = target.item if isinstance(target, ListOf) else None
    item: Type = NEVER
    for part in node.elements:
        value = infer(b, part.value, wanted)
        if wanted is not None:
            store(b, part.value, value, wanted, "an element")
            continue
        both = join(item, value.type)
        if both is None:
            b.say("unlike-types", part.value, f"The elements before are {item}, this is {_an(value.type)}.")
        else:
            item = both
    return b.note(node, Value(ListOf(wanted if wanted is not None else item)))


def _dict(b: Block, node: cst.Dict, expected: Type | None) -> Value:
    target = strip_null(expected) if expected is not None else None
    elements = [e for e in node.elements if isinstance(e, cst.DictElement)]
    if isinstance(target, DictOf):
        for part in elements:
            store(b, part.key, infer(b, part.key), target.key, "a key")
            store(b, part.value, infer(b, part.value, target.value), target.value, "a value")
        return b.note(node, Value(target))
    if not elements:
        return b.note(node, Value(DictOf(NEVER, NEVER)))
    if all(isinstance(e.key, cst.SimpleString) for e in elements):
        return _object(b, node, elements, target)
    key: Type = NEVER
    value: Type = NEVER
    for part in elements:
        key, value = join(key, infer(b, part.key).type) or ANY, join(value, infer(b, part.value).type) or ANY
    return b.note(node, Value(DictOf(value, plain(key))))


def _object(b: Block, node: cst.Dict, elements: Sequence[cst.DictElement], target: Type | None) -> Value:
    fields = target.fields if isinstance(target, Struct) else {}
    known = dict(target.items) if isinstance(target, Obj) else {}
    items: dict[str, Type] = {}
    for part in elements:
        assert isinstance(part.key, cst.SimpleString)
        name = str(part.key.evaluated_value)
        b.note(part.key, Value(literal(name)))
        if name in items:
            b.say("duplicate-entry", part.key, f"`{name}` stands twice in the dict.")
        wanted = fields[name].type if name in fields else known.get(name)
        value = infer(b, part.value, wanted)
        if name in fields:
            store(b, part.value, value, fields[name].type, f"`{name}`")
        items[name] = value.type
        if isinstance(value.type, StateOf | IterOf | TupleOf):
            b.say("wrong-type", part.value, f"{_an(value.type)} cannot be stored.", fix="make it a list: list(…)")
    return b.note(node, Value(Obj(tuple(items.items()))))


def bind_target(b: Block, target: cst.BaseExpression, value: Value) -> None:
    """Bind a loop's or comprehension's names to an element."""
    match target:
        case cst.Name(value=name):
            declare(b, target, name, value)
        case cst.Tuple(elements=elements):
            parts = value.type.items if isinstance(value.type, TupleOf) else None
            if parts is not None and len(parts) != len(elements):
                b.say("wrong-type", target, f"Each element has {len(parts)} parts, not {len(elements)}.")
            elif parts is None and value.type not in (ANY, NEVER):
                item = element(value.type) if isinstance(value.type, ListOf) else None
                if item is None:
                    b.say("wrong-type", target, f"{_an(value.type)} is not a pair.")
                parts = (item or NEVER,) * len(elements)
            for i, part in enumerate(elements):
                of = parts[i] if parts is not None and i < len(parts) else value.type
                bind_target(b, part.value, _shared(Value(of, value.view, value.copy_of, value.frozen)))
        case _:
            b.say("forbidden-syntax", target, "Only names can stand here.")


def _shared(value: Value) -> Value:
    return value if container(value.type) else Value(value.type, frozen=value.frozen)


def declare(b: Block, node: cst.CSTNode, name: str, value: Value) -> None:
    """Bind a local name; refused when it would hide something."""
    known = b.env.names.get(name)
    if known is not None and known.kind == "param":
        b.say("shadowing", node, f"`{name}` is a parameter.", fix="take another name; parameters keep their value")
    elif (hidden := _hidden(b, name)) is not None:
        b.say("shadowing", node, f"`{name}` hides {hidden}.", fix="take another name")
    b.locals_bound.setdefault(name, node)
    b.env.bind(name, Binding(value.type, "local", value.view, value.frozen))
    b.note(node, value, Role("local", name))


def _hidden(b: Block, name: str) -> str | None:
    spec = b.world.spec
    if name in spec.states:
        return f"the state {name}"
    if name in spec.constants:
        return f"the constant {name}"
    if name in spec.helpers:
        return f"the helper {name}"
    if name in BUILTINS:
        return f"the built-in {name}"
    if name in CLOCK_NAMES or name in ("state", "it"):
        return f"`{name}` of the language"
    return f"the type {name}" if name in spec.types or b.world.record_type(name) else None


def _comprehension(b: Block, node: cst.ListComp | cst.GeneratorExp | cst.DictComp, expected: Type | None) -> Value:
    before = b.env.copy()
    _comp_for(b, node.for_in)
    b.loops()
    if isinstance(node, cst.DictComp):
        key, item = infer(b, node.key), infer(b, node.value)
        result = Value(DictOf(item.type, plain(key.type)), copy_of=item.view or item.copy_of)
    else:
        target = strip_null(expected) if expected is not None else None
        wanted = target.item if isinstance(target, ListOf) else None
        item = infer(b, node.elt, wanted)
        if wanted is not None:
            store(b, node.elt, item, wanted, "an element")
        of = wanted if wanted is not None else item.type
        result = Value(ListOf(of), copy_of=item.view or item.copy_of)
        if isinstance(node, cst.GeneratorExp):
            result = Value(IterOf(item.type), item.view, item.copy_of, item.frozen)
    b.env.take(before)
    return b.note(node, result)


def _comp_for(b: Block, node: cst.CompFor) -> None:
    source = read(b, node.iter)
    bind_target(b, node.target, elements_of(b, node.iter, source))
    for test in node.ifs:
        condition(b, test.test)
        narrow(b, test.test, True)
    if node.inner_for_in is not None:
        _comp_for(b, node.inner_for_in)


def elements_of(b: Block, node: cst.BaseExpression, source: Value) -> Value:
    """What going through ``source`` gives each time."""
    if isinstance(source.type, StateOf):
        key = b.world.states[source.type.name].key
        assert key is not None
        return Value(key.type)
    item = element(source.type)
    if item is None:
        fix = f"loop over {b.source(node)}.keys()" if isinstance(source.type, Struct) else ""
        b.say("not-iterable", node, f"One cannot go through {_an(source.type)}.", fix=fix)
        return Value(NEVER)
    if isinstance(item, TupleOf):
        return Value(item, source.view, source.copy_of, source.frozen)
    copy_of = source.copy_of or (_record_state(item) if source.view is None else None)
    return _shared(Value(item, source.view, copy_of, source.frozen))


def _fstring(b: Block, node: cst.FormattedString) -> Value:
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression):
            _formatted(b, part)
    return b.note(node, Value(STR))


def _formatted(b: Block, part: cst.FormattedStringExpression) -> None:
    value = infer(b, part.expression)
    of = strip_null(value.type)
    if part.conversion is not None or part.equal is not None:
        b.say("forbidden-syntax", part, "f-strings take a value and a format, nothing else.")
    if isinstance(of, Struct | Union | StateOf | IterOf | TupleOf | Partial) or _money_inside(of):
        b.say("wrong-type", part.expression, f"{_an(of)} has no text.", fix="name the fields that should be shown")
    runtime = "money_text" if of == MONEY else ""
    if part.format_spec:
        runtime = _format_spec(b, part, of)
    b.notes[part] = b.notes[part.expression].__class__(value.type, Role("operator", runtime))


def _money_inside(of: Type) -> bool:
    match of:
        case ListOf(item=item):
            return strip_null(item) == MONEY or holds_records(item) or _money_inside(item) or isinstance(strip_null(item), Struct | Union)
        case DictOf(value=value):
            return strip_null(value) == MONEY or holds_records(value) or _money_inside(value) or isinstance(strip_null(value), Struct | Union)
        case Obj(items=items):
            return any(strip_null(t) == MONEY or _money_inside(t) or isinstance(t, Struct | Union) for _, t in items)
        case _:
            return False


def _format_spec(b: Block, part: cst.FormattedStringExpression, of: Type) -> str:
    spec = part.format_spec or ()
    text = "".join(p.value for p in spec if isinstance(p, cst.FormattedStringText))
    if any(isinstance(p, cst.FormattedStringExpression) for p in spec):
        b.say("bad-format", part, "A format is constant.")
        return ""
    found = re.fullmatch(r"(?:.?[<>^=])?[+\- ]?#?0?(\d*)[,_]?(?:\.(\d+))?([bdeEfFgGnosxX%]?)", text)
    if found is None or any(int(n) > _MAX_WIDTH for n in found.group(1, 2) if n and len(n) < 9) or len(text) > 20:
        b.say("bad-format", part, f"`{text}` is not a format the language has.", detail=f"as Python's, width and digits up to {_MAX_WIDTH}")
    kind = found.group(3) if found else ""
    numeric = plain(of) in (*NUMERIC, MONEY, DURATION)
    if kind and kind != "s" and not numeric and of not in (ANY, NEVER):
        b.say("bad-format", part, f"`{text}` formats numbers; this is {_an(of)}.")
    elif kind in tuple("bdoxXn") and plain(of) not in (INT, ANY, NEVER, DURATION):
        b.say("bad-format", part, f"`{text}` formats whole numbers; this is {_an(of)}.", fix="use .2f, or int(x)")
    if isinstance(b.notes[part.expression].type, Nullable):
        _maybe_null(b, part.expression, of)
    return "money_number" if of == MONEY else ""


# -- storing


def store(b: Block, node: cst.BaseExpression, value: Value, place: Type, what: str) -> bool:
    """Check that a value may be stored where ``place`` is wanted, and write down the conversion; ``what`` names the place."""
    target = strip_null(place)
    if target == MONEY and value.type in NUMERIC and number_literal(node) is not None:
        return money_literal(b, node)
    if target in (DATE, TIME, DATETIME) and isinstance(node, cst.SimpleString):
        return date_literal(b, node, target)
    if isinstance(target, Enum) and plain(value.type) == INT and (text := number_literal(node)) is not None:
        if int(text, 0) in target.values:
            return True
    if isinstance(target, Struct) and isinstance(value.type, Obj):
        return _store_object(b, node, value.type, target, what)
    if assignable(value.type, place):
        b.convert(node, conversion(value.type, place))
        return True
    _cannot_store(b, node, value.type, place, what)
    return False


def _store_object(b: Block, node: cst.BaseExpression, given: Obj, target: Struct, what: str) -> bool:
    items = dict(given.items)
    for name in items:
        if name not in target.fields:
            b.unknown("unknown-field", node, f"{target.name} has no field `{name}`.", name, list(target.fields), "fields")
            return False
    missing = [f.name for f in target.fields.values()
               if f.name not in items and f.default is MISSING and not f.absent and not isinstance(f.type, Const | Nullable)]  # fmt: skip
    if missing:
        b.say("wrong-arguments", node, f"{target.name} also needs {', '.join(missing)}.")
        return False
    wrong = [n for n, t in items.items() if not assignable(t, target.fields[n].type)]
    if wrong and not all(strip_null(target.fields[n].type) == MONEY for n in wrong):
        _cannot_store(b, node, items[wrong[0]], target.fields[wrong[0]].type, f"`{wrong[0]}`")
        return False
    b.convert(node, target)
    return True


def _cannot_store(b: Block, node: cst.BaseExpression, value: Type, place: Type, what: str) -> None:
    target = strip_null(place)
    if isinstance(value, Nullable) and assignable(value.of, place):
        _maybe_null(b, node, value)
        return
    if isinstance(target, Enum) and isinstance(value, Enum) and isinstance(node, cst.SimpleString):
        text = str(node.evaluated_value)
        b.unknown("unknown-member", node, f"`{text}` is no member of {target}.", text, list(map(str, target.values)), "members")
        return
    b.say("wrong-type", node, f"{what} takes {_an(place)}, this is {_an(value)}.", fix=_storing_fix(b, node, value, target))


def _storing_fix(b: Block, node: cst.BaseExpression, value: Type, target: Type) -> str:
    source = b.source(node)
    if target == MONEY and value in NUMERIC:
        return f"write money({source})"
    if target in NUMERIC and value == MONEY:
        return f"write float({source})"
    if target == INT and value in (FLOAT, NUMBER):
        return f"write int({source}) or round({source})"
    if target == STR:
        return f'write f"{{{source}}}"'
    if target == DATE and textual(value) or target == DATE and value == DATETIME:
        return f"write date({source})"
    if target == DATETIME and textual(value):
        return f"write instant({source})"
    if isinstance(target, Enum) and textual(value):
        return f"declare it as {target} where it comes from, or as_type({source}, …)"
    if isinstance(target, Key) and isinstance(value, Struct):
        return f"write {source}.{value.key_name}"
    if value == ANY:
        return f"write as_type({source}, {target})"
    if isinstance(value, IterOf):
        return f"write list({source})"
    return ""


def operator_text(operator: cst.CSTNode) -> str:
    """`+` for both `+` and `+=`."""
    return _OPERATORS.get(type(operator), "?")
