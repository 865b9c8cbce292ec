"""Building structs and records from keyword arguments."""

from __future__ import annotations

import libcst as cst

from envscaler.spec.checked import Role
from envscaler.spec.logic.block import Block, Value
from envscaler.spec.logic.infer import infer
from envscaler.spec.logic.storing import store
from envscaler.spec.types import Field, Struct

__all__ = ["check_fields", "construct", "not_while_iterating"]


def not_while_iterating(b: Block, node: cst.CSTNode, state: str, what: str) -> None:
    if any(s == state for _, s in b.iterating):
        b.say("change-while-iterating", node, f"{what} while it is being gone through",
              fix=f"go through list({state}) or collect the keys first")  # fmt: skip


def construct(b: Block, node: cst.Call, struct: Struct) -> Value:
    check_fields(b, node, struct, struct.name)
    return b.note(node, Value(struct), Role("construct", struct.name, struct))


def check_fields(
    b: Block, node: cst.Call, struct: Struct, name: str, key: Field | None = None, key_needed: bool = False
) -> None:
    """Check the keyword arguments that give a struct its fields."""
    fields = dict(struct.fields)
    if key is not None:
        fields[key.name] = key
    given: set[str] = set()
    for arg in node.args:
        if arg.keyword is None:
            b.say(
                "wrong-arguments",
                arg,
                f"fields of {struct.name} are given by name",
                fix=f"write {name}({next(iter(fields), 'field')}=…)",
            )
            infer(b, arg.value)
            continue
        label = arg.keyword.value
        if label not in fields:
            b.unknown("unknown-field", arg, f"{struct.name} has no field '{label}'", label, list(fields), "fields")
            infer(b, arg.value)
            continue
        if label in given:
            b.say("wrong-arguments", arg, f"'{label}' is given twice")
        given.add(label)
        of = fields[label].type
        store(b, arg.value, infer(b, arg.value, of), of, f"'{label}'")
    missing = [f.name for f in struct.fields.values() if f.name not in given and f.required]
    if key is not None and key_needed and key.name not in given:
        missing.insert(0, key.name)
    if missing:
        b.say(
            "wrong-arguments",
            node,
            f"{struct.name} also needs {', '.join(missing)}",
            detail=f"fields: {', '.join(fields)}",
        )
