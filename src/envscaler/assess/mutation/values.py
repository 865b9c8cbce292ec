"""Faults in what a spec computes and stores: fields, records, arguments, signs, enum members, types, names."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from envscaler.assess.mutation.blocks import LogicBlock
from envscaler.assess.mutation.mutants import Edit, Site
from envscaler.spec.types import (
    DATE,
    DATETIME,
    DURATION,
    FLOAT,
    INT,
    MONEY,
    NUMBER,
    STR,
    Enum,
    Key,
    Struct,
    Type,
    strip_null,
)
from envscaler.trees import literal_value

__all__ = [
    "attribute_error", "enum_slip", "enum_typo", "missing_update", "swapped_arguments", "type_error", "wrong_field",
    "wrong_record", "wrong_sign",
]  # fmt: skip

_NUMBERS = (INT, FLOAT, NUMBER, MONEY, DURATION)
_SHIFTED = (*_NUMBERS, DATE, DATETIME)
_MUTATORS = (
    "list.append", "list.extend", "list.insert", "list.remove", "list.pop", "list.clear", "list.sort", "list.reverse",
    "dict.pop", "dict.update", "dict.clear", "collection.add", "collection.remove", "record.update", "struct.update",
)  # fmt: skip


def wrong_field(block: LogicBlock) -> Iterator[Site]:
    """Another field of the same record, of the same type."""
    for node in block.nodes:
        role = block.role(node)
        if not isinstance(node, cst.Attribute) or role is None or role.kind != "field" or role.struct is None:
            continue
        name = node.attr.value
        fields = role.struct.fields
        mine = fields.get(name)
        others = [f.name for f in fields.values() if mine is not None and f.name != name and f.type == mine.type]
        for other in others[:2]:
            yield block.replace(node.attr, other, node)


# -- updates


def _updates(block: LogicBlock) -> Iterator[tuple[cst.BaseSmallStatement, cst.CSTNode]]:
    """Statements that change the state, with the part of each that says whose."""
    for node in block.nodes:
        if isinstance(node, cst.Assign) and isinstance(node.targets[0].target, cst.Attribute | cst.Subscript):
            yield node, node.targets[0].target
        elif (isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Attribute | cst.Subscript)) or isinstance(
            node, cst.Del
        ):
            yield node, node.target
        elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call) and _changes(block, node.value):
            yield node, node.value


def _changes(block: LogicBlock, call: cst.Call) -> bool:
    role = block.role(call)
    if role is None:
        return False
    if role.kind == "helper" and role.name in block.checked.helpers:
        effects = block.checked.helpers[role.name].effects
        return bool(effects.writes or effects.adds or effects.removes)
    return role.kind == "method" and role.name in _MUTATORS


def missing_update(block: LogicBlock) -> Iterator[Site]:
    """A statement that changes the state is gone."""
    for statement, _ in _updates(block):
        site = block.removal(statement)
        if site is not None:
            yield site


def wrong_record(block: LogicBlock) -> Iterator[Site]:
    """What is changed is another record of the collection: one that is at hand, or the first of all."""
    for statement, part in _updates(block):
        for node in _within(part):
            up = block.parents[node]
            if not isinstance(node, cst.Name | cst.Subscript) or (isinstance(up, cst.Attribute) and up.attr is node):
                continue
            of = block.type(node)
            record = isinstance(of, Struct) and of.collection is not None
            if isinstance(node, cst.Name) and (record or isinstance(of, Key)):
                others = [n for n, t in block.scope(statement).items() if n != node.value and strip_null(t) == of]
                for other in others[:1]:
                    yield block.replace(node, other, statement)
            if record and isinstance(up, cst.Attribute):
                assert isinstance(of, Struct)
                yield block.replace(node, f"first({of.collection}.values())", statement)


def _within(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from _within(child)


# -- arguments and signs


def swapped_arguments(block: LogicBlock) -> Iterator[Site]:
    """Two arguments of the same type change places, or the two sides of a subtraction or division."""
    for node in block.nodes:
        if isinstance(node, cst.Call) and not block.calls(node, "min", "max", "require", "fail"):
            yield from _swapped(block, node)
        elif isinstance(node, cst.BinaryOperation) and isinstance(
            node.operator, cst.Subtract | cst.Divide | cst.FloorDivide | cst.Modulo
        ):
            left, right = block.type(node.left), block.type(node.right)
            if left in _NUMBERS and right in _NUMBERS and not block.in_message(node):
                yield _exchange(block, node.left, node.right, node)


def _swapped(block: LogicBlock, call: cst.Call) -> Iterator[Site]:
    values = [a.value for a in call.args if not isinstance(a.value, cst.GeneratorExp | cst.Lambda)]
    for i, one in enumerate(values):
        for two in values[i + 1 :]:
            a, b = block.note(one), block.note(two)
            if a is None or b is None or block.text(one) == block.text(two) or block.in_message(call):
                continue
            if _alike(a.convert or a.type, b.convert or b.type):
                yield _exchange(block, one, two, call)
                return


def _alike(a: Type, b: Type) -> bool:
    a, b = strip_null(a), strip_null(b)
    return a == b or (_texts(a) and _texts(b)) or (a in _NUMBERS and b in _NUMBERS)


def _texts(of: Type) -> bool:
    return of == STR or (isinstance(of, Enum) and of.name is None and len(of.values) == 1)


def _exchange(block: LogicBlock, one: cst.CSTNode, two: cst.CSTNode, shown: cst.CSTNode) -> Site:
    edits = (
        Edit(block.start(one), block.end(one), block.operand(two)),
        Edit(block.start(two), block.end(two), block.operand(one)),
    )
    return block.site(one, edits, shown)


def wrong_sign(block: LogicBlock) -> Iterator[Site]:
    """Plus for minus, and the other way round."""
    for node in block.nodes:
        if block.in_message(node):
            continue
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add | cst.Subtract):
            if block.type(node.left) in _SHIFTED and block.type(node.right) in _NUMBERS:
                old, new = ("+", "-") if isinstance(node.operator, cst.Add) else ("-", "+")
                start, _, gap = block.between(node.left, node.right)
                at = start + gap.index(old)
                yield block.site(node, (Edit(at, at + 1, new),), node)
        elif isinstance(node, cst.AugAssign) and block.type(node.value) in _NUMBERS:
            if not isinstance(node.operator, cst.AddAssign | cst.SubtractAssign):
                continue
            old, new = ("+=", "-=") if isinstance(node.operator, cst.AddAssign) else ("-=", "+=")
            start, _, gap = block.between(node.target, node.value)
            at = start + gap.index(old)
            yield block.site(node, (Edit(at, at + 2, new),), node)
        elif isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
            place = isinstance(block.parents[node], cst.Index | cst.Slice)
            if not (place and isinstance(node.expression, cst.Integer)):
                yield block.replace(node, block.text(node.expression), block.parents[node])


# -- enum members


def _members(block: LogicBlock) -> Iterator[tuple[cst.SimpleString, Enum]]:
    """Texts in the logic that stand for a member of an enum."""
    for node in block.nodes:
        if not isinstance(node, cst.SimpleString) or block.in_message(node):
            continue
        note = block.note(node)
        found = _enum_of(block, node) if note is None or not isinstance(note.convert, Enum) else note.convert
        if found is not None and literal_value(node) in found.values and len(found.values) > 1:
            yield node, found


def _enum_of(block: LogicBlock, node: cst.SimpleString) -> Enum | None:
    """The enum that a text is held against or stored in."""
    for up in block.above(node):
        if isinstance(up, cst.Comparison):
            sides = [up.left, *(c.comparator for c in up.comparisons)]
            return next((e for s in sides if (e := _enum(block.type(s))) is not None and len(e.values) > 1), None)
        if isinstance(up, cst.Assign):
            return _enum(block.type(up.targets[0].target))
        if isinstance(up, cst.Arg):
            call = block.parents[up]
            return _param_enum(block, call, up) if isinstance(call, cst.Call) else None
        if not isinstance(up, cst.List | cst.Tuple | cst.Element | cst.ComparisonTarget | cst.AssignTarget | cst.IfExp):
            return None
    return None


def _param_enum(block: LogicBlock, call: cst.Call, arg: cst.Arg) -> Enum | None:
    role = block.role(call)
    if role is None:
        return None
    if role.kind == "helper" and role.name in block.spec.helpers:
        params = block.spec.helpers[role.name].params
        place = call.args.index(arg) if arg in call.args else -1
        name = arg.keyword.value if arg.keyword is not None else ""
        found = [p for i, p in enumerate(params) if p.name == name or (not name and i == place)]
        return _enum(found[0].field.type) if found else None
    struct = role.struct
    if role.name == "collection.add" and struct is None and isinstance(call.func, cst.Attribute):
        state = block.role(call.func.value)
        struct = block.spec.states[state.name].record if state is not None and state.name in block.spec.states else None
    if struct is not None and arg.keyword is not None and arg.keyword.value in struct.fields:
        return _enum(struct.fields[arg.keyword.value].type)
    return None


def _enum(of: Type | None) -> Enum | None:
    of = None if of is None else strip_null(of)
    return of if isinstance(of, Enum) else None


def enum_slip(block: LogicBlock) -> Iterator[Site]:
    """Another member of the same enum."""
    for node, of in _members(block):
        others = [v for v in of.values if v != literal_value(node) and isinstance(v, str)]
        if others:
            mine = of.values.index(str(literal_value(node)))
            yield block.replace(node, f'"{others[mine % len(others)]}"', block.parents[node])


def enum_typo(block: LogicBlock) -> Iterator[Site]:
    """A member is misspelt."""
    for node, of in _members(block):
        value = str(literal_value(node))
        wrong = _misspelt(value)
        if wrong not in of.values:
            yield block.replace(node, f'"{wrong}"', block.parents[node])


def _misspelt(name: str) -> str:
    """A name with its last two letters changed places, or, where they are the same, one letter short."""
    turned = name[:-2] + name[-1:] + name[-2:-1]
    return turned if len(name) > 2 and turned != name else name[:-1] or name + "x"


# -- types and names


def type_error(block: LogicBlock) -> Iterator[Site]:
    """A value of another type: a number as text, the length of a text instead of it."""
    for node in block.nodes:
        if not isinstance(node, cst.Name | cst.Attribute) or block.in_message(node):
            continue
        of, up = block.type(node), block.parents[node]
        if of in (INT, MONEY, FLOAT, NUMBER, DATE):
            new = f"str({block.text(node)})"
        elif of == STR:
            new = f"len({block.text(node)})"
        else:
            continue
        ordered = isinstance(up, cst.BinaryOperation) or (isinstance(up, cst.AugAssign) and up.value is node)
        stored = isinstance(up, cst.Assign) and isinstance(up.targets[0].target, cst.Attribute)
        compared = isinstance(up, cst.Comparison | cst.ComparisonTarget)
        passed = (
            isinstance(up, cst.Arg)
            and (role := block.role(block.parents[up])) is not None
            and (role.kind in ("helper", "construct") or role.name == "collection.add")
        )
        if ordered or stored or compared or passed:
            shown = block.parents[up] if isinstance(up, cst.Arg | cst.ComparisonTarget) else up
            yield block.replace(node, new, shown)


def attribute_error(block: LogicBlock) -> Iterator[Site]:
    """A field, a key or a method that there is none of: its name misspelt."""
    for node in block.nodes:
        if isinstance(node, cst.Attribute) and not block.in_message(node):
            wrong = _misspelt(node.attr.value)
            of = block.type(node.value)
            known = {*of.fields, of.key_name} if isinstance(of, Struct) else set()
            if wrong not in known:
                yield block.replace(node.attr, wrong, node)
