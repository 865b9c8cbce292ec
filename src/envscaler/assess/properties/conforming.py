"""Whether a JSON value is of a type that the checker knows: of the declared or inferred type of a result."""

from __future__ import annotations

import re
from typing import Any

from envscaler.runtime.times import canonical_date, canonical_datetime, canonical_time
from envscaler.spec import types as t
from envscaler.spec.model import Spec

__all__ = ["misfit"]

Misfit = tuple[str, str] | None
"""Where in the value, like ` at /0/name`, and what is wrong."""

_CENTS = re.compile(r"-?\d+(\.\d{1,2})?|-?\d+(\.\d+)?e[+-]?\d+")
_WANTED = {
    "str": "text", "int": "a whole number", "float": "a number", "number": "a number", "bool": "true or false",
    "money": "an amount", "date": "a date", "time": "a time", "datetime": "a time", "zone": "a zone", "none": "null",
    "duration": "a number of seconds", "local datetime": "a time",
}  # fmt: skip


def misfit(kind: t.Type, value: Any, spec: Spec | None = None, where: str = "") -> Misfit:
    """The first place where the value is not of the type; None when it is."""
    match kind:
        case t.Scalar():
            return None if _scalar(kind.name, value) else _wrong(where, _WANTED.get(kind.name, kind.name), value)
        case t.Nullable():
            return None if value is None else misfit(kind.of, value, spec, where)
        case t.Enum():
            fits = any(value == v and value.__class__ is v.__class__ for v in kind.values)
            return None if fits else _wrong(where, str(kind), value)
        case t.Const():
            return None if value == kind.value else _wrong(where, str(kind), value)
        case t.Key():
            return None if value.__class__ is (int if kind.of == t.INT else str) else _wrong(where, str(kind), value)
        case t.ListOf() | t.IterOf():
            return _list(kind.item, value, spec, where)
        case t.TupleOf():
            return _tuple(kind, value, spec, where)
        case t.DictOf():
            return _dict(kind, value, spec, where)
        case t.Obj():
            return _obj(kind, value, spec, where)
        case t.Struct():
            return _struct(kind, value, spec, where)
        case t.Partial():
            return _struct(kind.of, value, spec, where, partial=True)
        case t.Union():
            return _union(kind, value, spec, where)
    return None


def _wrong(where: str, wanted: str, value: Any) -> Misfit:
    text = repr(value)
    return f" at {where}" if where else "", f"expected {wanted}, got {text if len(text) <= 80 else text[:77] + '...'}"


def _scalar(name: str, value: Any) -> bool:
    kind = value.__class__
    match name:
        case "any" | "never":
            return True
        case "none":
            return value is None
        case "str" | "zone":
            return kind is str
        case "int" | "duration":
            return kind is int
        case "float":
            return kind is float
        case "number":
            return kind is int or kind is float
        case "money":
            return (kind is int or kind is float) and _CENTS.fullmatch(repr(value)) is not None
        case "bool":
            return kind is bool
        case "date":
            return kind is str and canonical_date(value) == value
        case "time":
            return kind is str and canonical_time(value) == value
        case "datetime":
            return kind is str and value in (canonical_datetime(value, True), canonical_datetime(value, False))
        case "local datetime":
            return kind is str
    return True


def _list(item: t.Type, value: Any, spec: Spec | None, where: str) -> Misfit:
    if value.__class__ is not list:
        return _wrong(where, "a list", value)
    for i, element in enumerate(value):
        if (found := misfit(item, element, spec, f"{where}/{i}")) is not None:
            return found
    return None


def _tuple(kind: t.TupleOf, value: Any, spec: Spec | None, where: str) -> Misfit:
    if value.__class__ is not list or len(value) != len(kind.items):
        return _wrong(where, str(kind), value)
    for i, (item, element) in enumerate(zip(kind.items, value, strict=True)):
        if (found := misfit(item, element, spec, f"{where}/{i}")) is not None:
            return found
    return None


def _dict(kind: t.DictOf, value: Any, spec: Spec | None, where: str) -> Misfit:
    if value.__class__ is not dict:
        return _wrong(where, "an object", value)
    for key, element in value.items():
        if key.__class__ is not str:
            return _wrong(where, "keys that are text", key)
        if isinstance(kind.key, t.Enum) and key not in kind.key.values:
            return _wrong(where, f"keys that are {kind.key}", key)
        if (found := misfit(kind.value, element, spec, f"{where}/{key}")) is not None:
            return found
    return None


def _obj(kind: t.Obj, value: Any, spec: Spec | None, where: str) -> Misfit:
    if value.__class__ is not dict:
        return _wrong(where, "an object", value)
    names = [name for name, _ in kind.items]
    if list(value) != names:
        return _wrong(where, f"the keys {', '.join(names)} in this order", ", ".join(map(str, value)))
    for name, item in kind.items:
        if (found := misfit(item, value[name], spec, f"{where}/{name}")) is not None:
            return found
    return None


def _struct(kind: t.Struct, value: Any, spec: Spec | None, where: str, partial: bool = False) -> Misfit:
    if value.__class__ is not dict:
        return _wrong(where, "an object", value)
    fields = {f.json: f for f in kind.fields.values()}
    keys = _key_names(kind, spec)
    for name, element in value.items():
        if name in fields:
            if (found := misfit(fields[name].type, element, spec, f"{where}/{name}")) is not None:
                return found
        elif name not in keys:
            return _wrong(where, f"a {kind}", f"the key {name}")
    if partial:
        return None
    if keys and len(keys) == 1 and keys[0] not in value and _in_results(kind, spec):
        return _wrong(where, f"the key {keys[0]}", ", ".join(map(str, value)))
    missing = [f.json for f in fields.values() if not f.absent and f.json not in value]
    if missing and not _nests(kind, spec):
        return _wrong(where, f"the field {missing[0]}", ", ".join(map(str, value)))
    order = [name for name in (*keys, *fields) if name in value]
    if [name for name in value if name in order] != order:
        return _wrong(where, f"the order {', '.join(order)}", ", ".join(map(str, value)))
    return None


def _key_names(kind: t.Struct, spec: Spec | None) -> list[str]:
    if kind.collection is None:
        return []
    definition = spec.states.get(kind.collection) if spec is not None else None
    if definition is None or definition.key is None:
        return [kind.key_name] if kind.key_name else []
    return [definition.key.json]


def _in_results(kind: t.Struct, spec: Spec | None) -> bool:
    definition = spec.states.get(kind.collection or "") if spec is not None else None
    return definition is not None and definition.key is not None and definition.key.in_results


def _nests(kind: t.Struct, spec: Spec | None) -> bool:
    definition = spec.states.get(kind.collection or "") if spec is not None else None
    return definition is not None and definition.tree is not None and definition.tree.nested is not None


def _union(kind: t.Union, value: Any, spec: Spec | None, where: str) -> Misfit:
    if value.__class__ is not dict:
        return _wrong(where, f"a {kind}", value)
    for member in kind.members:
        tag = next(f for f in member.fields.values() if f.name == kind.tag)
        if isinstance(tag.type, t.Const) and value.get(tag.json) == tag.type.value:
            return misfit(member, value, spec, where)
    return _wrong(where, f"a {kind}", value)
