"""Whether what refers to records is declared to: a reference that is mere text is checked by nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from envscaler.assess.events import Breach
from envscaler.assess.facts import Facts
from envscaler.assess.layout import keys_of
from envscaler.spec.model import Spec
from envscaler.spec.types import STR, DictOf, Field, ListOf, Struct, Type, Union, strip_null

__all__ = ["references_are_declared"]

_ENOUGH: Final = 2  # different values that are all keys; one where keys are made by a pattern


def references_are_declared(facts: Facts) -> Iterator[Breach]:
    """No stored text is named as the key of a collection, or holds nothing but its keys, without being a reference to it."""
    spec = facts.spec
    if spec is None:
        return
    named = {state.key.name: name for name, state in spec.states.items() if state.key is not None}
    keys = {name: set(found) for name, found in keys_of(facts.shapes, spec.initial_state).items()}
    enough = {name: 1 if (key := spec.states[name].key) is not None and key.make else _ENOUGH for name in keys}
    values = _values(spec)
    for struct, field in _fields(spec):
        if _text(field.type) is None:
            continue
        target = named.get(field.name)
        if target is None or target == struct.collection:
            found = values.get((struct.name, field.name), set())
            target = next((n for n, k in keys.items() if len(found) >= enough[n] and found <= k), None)
        if target is not None:
            title = f"{field.name} of {struct.name} is text that means a record of {target}, and nothing checks that"
            yield Breach(title, f"declare {{ref: {target}}}", (field.span.line,), f"{struct.name}.{field.name}")


def _text(of: Type) -> Type | None:
    """The text of a field that is one or holds some; None for others."""
    of = strip_null(of)
    if isinstance(of, ListOf):
        return _text(of.item)
    return of if of == STR else None


def _fields(spec: Spec) -> Iterator[tuple[Struct, Field]]:
    """The fields of all that is stored, each once."""
    seen: list[Type] = []
    stack: list[Type] = [state.record for state in spec.states.values()]
    while stack:
        of = strip_null(stack.pop(0))
        if any(of is other for other in seen):
            continue
        if isinstance(of, Struct):
            seen.append(of)
            for field in of.fields.values():
                yield of, field
                stack.append(field.type)
        elif isinstance(of, ListOf):
            stack.append(of.item)
        elif isinstance(of, DictOf):
            stack.append(of.value)
        elif isinstance(of, Union):
            stack += of.members


def _values(spec: Spec) -> dict[tuple[str, str], set[str]]:
    """The texts that stand in the initial state, by the struct and field they stand in."""
    found: dict[tuple[str, str], set[str]] = {}
    for name, state in spec.states.items():
        part = spec.initial_state if state.form == "flat" else spec.initial_state.get(name)
        if isinstance(part, Mapping):
            for record in [part] if state.single else part.values():
                _take(state.record, record, ("", ""), found)
        elif isinstance(part, list):
            for record in part:
                _take(state.record, record, ("", ""), found)
    return found


def _take(of: Type, value: Any, place: tuple[str, str], found: dict[tuple[str, str], set[str]]) -> None:
    of = strip_null(of)
    if isinstance(of, Struct) and isinstance(value, Mapping):
        for field in of.fields.values():
            if field.json in value:
                _take(field.type, value[field.json], (of.name, field.name), found)
    elif isinstance(of, Union) and isinstance(value, Mapping):
        for member in of.members:
            tag = member.fields[of.tag]
            if value.get(tag.json) == getattr(tag.type, "value", None):
                _take(member, value, place, found)
    elif isinstance(of, ListOf) and isinstance(value, list):
        for item in value:
            _take(of.item, item, place, found)
    elif isinstance(of, DictOf) and isinstance(value, Mapping):
        for item in value.values():
            _take(of.value, item, place, found)
    elif of == STR and isinstance(value, str):
        found.setdefault(place, set()).add(value)
