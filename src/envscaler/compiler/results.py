"""The functions that give records, structs and unions as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envscaler.compiler.layout import Doc, Group, Prefixed, flat
from envscaler.compiler.literals import literal, quoted
from envscaler.compiler.naming import Naming
from envscaler.spec.types import Const, Field, Partial, Struct, Type, Union

__all__ = ["Result", "result_functions"]


@dataclass(frozen=True, slots=True)
class Result:
    """``out_x``: the entries that are always there, then those that may be absent or stand after such a one.

    ``members``: for a union instead, the condition and the function of each member, the last without a condition.
    """

    name: str
    doc: str
    always: Group
    sometimes: tuple[tuple[str, str], ...] = ()  # condition ("" for none), assignment
    members: tuple[tuple[str, str], ...] = ()


def result_functions(naming: Naming) -> Iterator[Result]:
    """Those that were asked for, and what they in turn ask for, in the order of asking."""
    done: set[Type] = set()
    while remaining := [of for of in naming.wanted if of not in done]:
        for of in remaining:
            done.add(of)
            yield _result(naming, of, naming.wanted[of])


def _result(naming: Naming, of: Type, name: str) -> Result:
    match of:
        case Union(tag=tag, members=members):
            pairs = []
            for member in members:
                kind = member.fields[tag].type
                assert isinstance(kind, Const)
                test = f"r[{quoted(tag)}] == {flat(literal(kind.value))}" if member is not members[-1] else ""
                pairs.append((test, naming.out(member, "r")))
            return Result(name, f"{of.name} as JSON.", Group("{", (), "}"), members=tuple(pairs))
        case Partial(of=struct):
            return _struct(naming, name, f"Some fields of {struct.name} as JSON.", struct, partial=True)
        case Struct():
            return _struct(naming, name, f"{of.name} as JSON.", of, partial=False)
    raise TypeError(f"no function for {of}")


def _struct(naming: Naming, name: str, doc: str, of: Struct, *, partial: bool) -> Result:
    always: list[Doc] = []
    sometimes: list[tuple[str, str]] = []
    key = naming.spec.states[of.collection].key if of.collection is not None and not partial else None
    if key is not None and key.in_results:
        always.append(Prefixed(f"{quoted(key.json)}: ", f"r[{quoted(key.name)}]"))
    for field in of.fields.values():
        value = naming.out(field.type, f"r[{quoted(field.name)}]")
        if field.absent or partial or sometimes:
            test = f"{quoted(field.name)} in r" if field.absent or partial else ""
            sometimes.append((test, f"made[{quoted(field.json)}] = {value}"))
        else:
            always.append(_entry(field, value))
    return Result(name, doc, Group("{", tuple(always), "}"), tuple(sometimes))


def _entry(field: Field, value: str) -> Doc:
    return Prefixed(f"{quoted(field.json)}: ", value)
