"""Calls: what a called name is, and what a helper gives and does."""

from __future__ import annotations

from typing import Final

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.language import BUILTINS
from envscaler.spec.logic.arguments import arguments_of, ignore_arguments
from envscaler.spec.logic.block import Block, HelperInfo, Value
from envscaler.spec.logic.builtins import builtin_call
from envscaler.spec.logic.construct import construct, not_while_iterating
from envscaler.spec.logic.infer import infer, rule
from envscaler.spec.logic.methods import method_call
from envscaler.spec.logic.relations import container
from envscaler.spec.logic.storing import store
from envscaler.spec.types import MISSING, NEVER, ListOf, Struct, Type, strip_null

__all__ = ["call"]


@rule(cst.Call)
def call(b: Block, node: cst.Call, expected: Type | None) -> Value:
    """The value of a call."""
    if any(arg.star for arg in node.args):
        b.say("forbidden-syntax", node, "the language has no '*' in calls")
        return b.note(node, Value(NEVER))
    if isinstance(node.func, cst.Attribute):
        return method_call(b, node, node.func)
    if isinstance(node.func, cst.Name):
        return _function(b, node, node.func.value)
    b.say("unknown-function", node.func, "only names and methods can be called")
    return b.note(node, Value(NEVER))


def _function(b: Block, node: cst.Call, name: str) -> Value:
    spec = b.world.spec
    if name in b.env.names:
        b.say(
            "unknown-function",
            node.func,
            f"'{name}' is a value here, not a function",
            fix="rename the local or parameter",
        )
        return b.note(node, Value(NEVER))
    if name in BUILTINS:
        return builtin_call(b, node, BUILTINS[name])
    if name in b.world.helpers:
        return _helper(b, node, b.world.helpers[name])
    if name in spec.helpers:  # its own block has errors, or it calls itself
        ignore_arguments(b, node)
        b.use("helper", name)
        return b.note(node, Value(NEVER))
    declared = spec.types.get(name)
    if isinstance(declared, Struct):
        b.use("type", name)
        return construct(b, node, declared)
    _no_function(b, node, name)
    ignore_arguments(b, node)
    return b.note(node, Value(NEVER))


def _no_function(b: Block, node: cst.Call, name: str) -> None:
    spec = b.world.spec
    record = b.world.record_type(name)
    if record is not None:
        b.say(
            "unknown-function",
            node.func,
            f"records of {name} are made by their collection",
            fix=f"write {record.collection or name.lower()}.add(…)",
        )
    elif name in spec.types:
        b.say(
            "unknown-function", node.func, f"{name} is no struct; it has no constructor", fix="write the value itself"
        )
    elif name in spec.setup:
        b.say(
            "unknown-function",
            node.func,
            f"'{name}' is a setup function, called by scenarios only",
            fix="move the shared part into a helper",
        )
    elif name in spec.tools:
        b.say(
            "unknown-function",
            node.func,
            f"'{name}' is a tool; tools do not call each other",
            fix="move the shared part into a helper",
        )
    elif (hint := _PYTHON.get(name)) is not None:
        b.say("unknown-function", node.func, f"the language has no '{name}'", fix=hint)
    elif b.world.refused(name):
        return
    else:
        known = [*BUILTINS, *spec.helpers, *(n for n, t in spec.types.items() if isinstance(t, Struct))]
        b.unknown("unknown-function", node.func, f"there is no function '{name}'", name, known, "functions")


_PYTHON: Final = {
    "isinstance": "write is_type(x, T)", "type": "write is_type(x, T)", "print": "return the text", "input": "take a parameter",
    "open": "data stands in initial_state", "getattr": "write x.field", "setattr": "write x.field = …",
    "hasattr": 'write "field" in x',
    "set": "use a list or a dict", "tuple": "use a list", "dict": "write {}", "bool": "write a comparison",
    "eval": "write arith(text)",
    "map": "write [f(x) for x in xs]", "filter": "write [x for x in xs if …]", "next": "write first(xs)",
    "datetime": "write instant(text)", "timedelta": "write days(n), hours(n) or minutes(n)", "Decimal": "write money(x)",
    "pow": "write a ** b", "divmod": "write a // b and a % b", "format": 'write f"{x:.2f}"', "exec": "", "repr": "write str(x)",
    "Exception": "write fail(message)", "ValueError": "write fail(message)", "uuid4": "give the collection a `make`",
}  # fmt: skip


def _helper(b: Block, node: cst.Call, helper: HelperInfo) -> Value:
    b.use("helper", helper.name)
    role = Role("helper", helper.name)
    needed = [p.name for p in helper.params if p.field.default is MISSING]
    optional = [p.name for p in helper.params if p.field.default is not MISSING]
    found = arguments_of(b, node, helper.name, needed, optional)
    if found is None:
        ignore_arguments(b, node)
    else:
        types = {p.name: p.field.type for p in helper.params}
        for name, value in found.items():
            store(b, value, infer(b, value, types[name]), types[name], f"'{name}'")
    _helper_effects(b, node, helper)
    of = helper.returns
    frozen = f"what '{helper.name}' gave" if container(of) else ""
    return b.note(node, Value(of, copy_of=_record_of(of), frozen=frozen), role)


def _record_of(of: Type) -> str | None:
    inner = strip_null(of)
    while isinstance(inner, ListOf):
        inner = inner.item
    return inner.collection if isinstance(inner, Struct) else None


def _helper_effects(b: Block, node: cst.Call, helper: HelperInfo) -> None:
    b.calls(helper)
    effects = helper.effects
    for state in effects.adds | effects.removes:
        not_while_iterating(b, node, state, f"'{helper.name}' adds to or removes from {state}")
        b.env.forget_state(state)
    b.env.forget_fields(field for _, field in effects.writes)
    if b.mode == "read" and (changed := sorted(effects.adds | effects.removes | effects.edits)):
        b.say(
            "write-in-read",
            node,
            f"'{helper.name}' changes {', '.join(changed)}; a read tool changes nothing",
            fix="declare 'kind: write'",
        )
    if b.only_tells and not effects.pure:
        b.say("impure-rule", node, f"'{helper.name}' changes something; a {b.mode} only reads")
