"""Internal values out of shapes: JSON form, copies for writing, bounds of nested values, the references they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.reading import MONEY_MAX, bound_problem
from envscaler.runtime.values import clean_text, copy

__all__ = ["Inspect", "Refs", "cloner", "exact", "field_inspector", "money_json", "refs_of", "same_value", "writer"]

Write = Callable[[Any], Any]
Inspect = Callable[[Any, str, list[str]], None]
"""(internal value, path, problems): appends each broken bound as ``path: reason``."""
Refs = Callable[[Any, list[tuple[str, Any]]], None]
"""(internal value, found): appends each (collection, key) that the value refers to."""


def same_value(value: Any) -> Any:
    """The writer of scalars: the value itself."""
    return value


def money_json(minor: int) -> float:
    """Minor units as a JSON number."""
    return minor / 100


# -- JSON out


def writer(shape: s.Shape) -> Write:
    """The function from an internal value of the shape to its JSON form, made of fresh containers."""
    found: Write | None = shape.memo.get("write")
    if found is None:
        found = shape.memo["write"] = _writer(shape)
    return found


def _writer(shape: s.Shape) -> Write:
    match shape:
        case s.Scalar():
            return money_json if shape is s.MONEY else copy if shape is s.ANY else same_value
        case s.Nullable():
            return _null_writer(writer(shape.of))
        case s.ListOf():
            return _list_writer(writer(shape.item))
        case s.DictOf():
            return _dict_writer(writer(shape.value), _is_int_key(shape.key))
        case s.Union():
            return _union_writer(shape)
        case s.Struct():
            return struct_writer(shape)
        case s.Partial():
            return struct_writer(shape.of)
    return same_value


def _null_writer(write: Write) -> Write:
    return write if write in (same_value, copy) else lambda v: None if v is None else write(v)


def _list_writer(write: Write) -> Write:
    return list if write is same_value else lambda v: [write(x) for x in v]


def _dict_writer(write: Write, int_keys: bool) -> Write:
    if int_keys:
        return lambda v: {str(k): write(x) for k, x in v.items()}
    return dict if write is same_value else lambda v: {k: write(x) for k, x in v.items()}


def _is_int_key(shape: s.Shape) -> bool:
    return (shape.of if isinstance(shape, s.Ref) else shape) is s.INT


def _union_writer(shape: s.Union) -> Write:
    members: dict[Any, Write] = {}
    for member in shape.members:
        const = member.field(shape.tag).shape
        assert isinstance(const, s.Const)
        members[const.value] = writer(member)
    tag = shape.tag
    return lambda v: members[v[tag]](v)


def struct_writer(shape: s.Struct) -> Write:
    """The writer of a struct or record; a record's key is left out."""
    plan = [(f.name, f.json, writer(f.shape)) for f in shape.fields]

    def write(value: Any) -> Any:
        return {
            json: value[name] if put is same_value else put(value[name]) for name, json, put in plan if name in value
        }

    return write


# -- copies for writing


def cloner(shape: s.Struct) -> Callable[[Any], dict[str, Any]]:
    """The function that copies a record so that writing to the copy leaves the record alone."""
    deep = tuple(f.name for f in shape.fields if _is_container(f.shape))
    if not deep:
        return dict.copy

    def clone(value: Any) -> dict[str, Any]:
        result: dict[str, Any] = value.copy()
        for name in deep:
            item = result.get(name)
            if item.__class__ is dict or item.__class__ is list:
                result[name] = copy(item)
        return result

    return clone


def _is_container(shape: s.Shape) -> bool:
    of = shape.of if isinstance(shape, s.Nullable) else shape
    return of is s.ANY or isinstance(of, s.ListOf | s.DictOf | s.Struct | s.Union | s.Partial)


def exact(shape: s.Shape) -> bool:
    """Whether Python's == tells all values of the shape apart (true == 1 is told apart by type, except within `any`)."""
    match shape:
        case s.Scalar():
            return shape is not s.ANY
        case s.Nullable() | s.Partial():
            return exact(shape.of)
        case s.ListOf():
            return exact(shape.item)
        case s.DictOf():
            return exact(shape.value)
        case s.Enum():
            return len({v.__class__ for v in shape.values}) == 1
        case s.Struct():
            return all(exact(f.shape) for f in shape.fields)
        case s.Union():
            return all(exact(m) for m in shape.members)
    return True


# -- bounds of internal values


def field_inspector(field: s.Field) -> Inspect | None:
    """The function that checks a field's internal value and everything in it, or None when nothing can be wrong."""
    if "inspect" not in field.memo:
        field.memo["inspect"] = _with_bounds(_inspector(field.shape), bound_problem(field))
    found: Inspect | None = field.memo["inspect"]
    return found


def _with_bounds(inner: Inspect | None, problem_of: Callable[[Any], str | None] | None) -> Inspect | None:
    if problem_of is None:
        return inner

    def inspect(value: Any, where: str, problems: list[str]) -> None:
        reason = problem_of(value)
        if reason is not None:
            problems.append(f"{where}: {reason}")
        if inner is not None:
            inner(value, where, problems)

    return inspect


def _inspector(shape: s.Shape) -> Inspect | None:
    if "inspect" not in shape.memo:
        shape.memo["inspect"] = _build_inspector(shape)
    found: Inspect | None = shape.memo["inspect"]
    return found


def _build_inspector(shape: s.Shape) -> Inspect | None:
    match shape:
        case s.Scalar():
            return _SCALARS.get(shape.name)
        case s.Nullable():
            return _inspect_nullable(_inspector(shape.of))
        case s.ListOf():
            return _inspect_list(_inspector(shape.item))
        case s.DictOf():
            return _inspect_dict(shape, _inspector(shape.value))
        case s.Struct():
            return _inspect_struct(shape)
        case s.Partial():
            return _inspect_struct(shape.of)
        case s.Union():
            return _inspect_union(shape)
    return None


def _inspect_int(value: Any, where: str, problems: list[str]) -> None:
    if not -s.MAX < value < s.MAX:
        problems.append(f"{where}: must be within ±2^53")


def _inspect_money(value: Any, where: str, problems: list[str]) -> None:
    if not -MONEY_MAX <= value <= MONEY_MAX:
        problems.append(f"{where}: the amount is too large")


def _inspect_number(value: Any, where: str, problems: list[str]) -> None:
    if value - value != 0:
        problems.append(f"{where}: must be a finite number")
    elif value.__class__ is int:
        _inspect_int(value, where, problems)


def _inspect_text(value: Any, where: str, problems: list[str]) -> None:
    if not clean_text(value):
        problems.append(f"{where}: text is not valid Unicode")


_SCALARS: Final[dict[str, Inspect]] = {
    "int": _inspect_int, "duration": _inspect_int, "money": _inspect_money, "float": _inspect_number,
    "number": _inspect_number, "str": _inspect_text,
}  # fmt: skip


def _inspect_nullable(inner: Inspect | None) -> Inspect | None:
    if inner is None:
        return None

    def inspect(value: Any, where: str, problems: list[str]) -> None:
        if value is not None:
            inner(value, where, problems)

    return inspect


def _inspect_list(inner: Inspect | None) -> Inspect | None:
    if inner is None:
        return None

    def inspect(value: Any, where: str, problems: list[str]) -> None:
        for i, item in enumerate(value):
            inner(item, f"{where}[{i}]", problems)

    return inspect


def _inspect_dict(shape: s.DictOf, inner: Inspect | None) -> Inspect | None:
    allowed = frozenset(shape.key.values) if isinstance(shape.key, s.Enum) else None
    if inner is None and allowed is None:
        return None

    def inspect(value: Any, where: str, problems: list[str]) -> None:
        for key, item in value.items():
            if allowed is not None and key not in allowed:
                problems.append(f"{where}.{key}: is not one of the allowed keys")
            if inner is not None:
                inner(item, f"{where}.{key}", problems)

    return inspect


def _inspect_struct(shape: s.Struct) -> Inspect | None:
    plan = [(f.name, f.json, inner) for f in shape.fields if (inner := field_inspector(f)) is not None]
    if not plan:
        return None

    def inspect(value: Any, where: str, problems: list[str]) -> None:
        for name, json, inner in plan:
            if name in value:
                inner(value[name], f"{where}.{json}", problems)

    return inspect


def _inspect_union(shape: s.Union) -> Inspect | None:
    members = {_tag_value(m, shape.tag): _inspector(m) for m in shape.members}
    if not any(members.values()):
        return None

    def inspect(value: Any, where: str, problems: list[str]) -> None:
        inner = members[value[shape.tag]]
        if inner is not None:
            inner(value, where, problems)

    return inspect


def _tag_value(member: s.Struct, tag: str) -> Any:
    const = member.field(tag).shape
    assert isinstance(const, s.Const)
    return const.value


# -- references


def refs_of(shape: s.Shape) -> Refs | None:
    """The function that lists the references in a value of the shape, or None when it can hold none."""
    if "refs" not in shape.memo:
        shape.memo["refs"] = _refs(shape)
    found: Refs | None = shape.memo["refs"]
    return found


def _refs(shape: s.Shape) -> Refs | None:
    match shape:
        case s.Ref():
            collection = shape.collection
            return lambda value, found: found.append((collection, value))
        case s.Nullable():
            return _refs_nullable(refs_of(shape.of))
        case s.ListOf():
            return _refs_list(refs_of(shape.item))
        case s.DictOf():
            return _refs_dict(refs_of(shape.key), refs_of(shape.value))
        case s.Struct():
            return _refs_struct(shape)
        case s.Partial():
            return _refs_struct(shape.of)
        case s.Union():
            return _refs_union(shape)
    return None


def _refs_nullable(inner: Refs | None) -> Refs | None:
    return None if inner is None else lambda value, found: None if value is None else inner(value, found)


def _refs_list(inner: Refs | None) -> Refs | None:
    if inner is None:
        return None

    def refs(value: Any, found: list[tuple[str, Any]]) -> None:
        for item in value:
            inner(item, found)

    return refs


def _refs_dict(of_key: Refs | None, of_value: Refs | None) -> Refs | None:
    if of_key is None and of_value is None:
        return None

    def refs(value: Any, found: list[tuple[str, Any]]) -> None:
        for key, item in value.items():
            if of_key is not None:
                of_key(key, found)
            if of_value is not None:
                of_value(item, found)

    return refs


def _refs_struct(shape: s.Struct) -> Refs | None:
    plan = [(f.name, inner) for f in shape.fields if (inner := refs_of(f.shape)) is not None]
    if not plan:
        return None

    def refs(value: Any, found: list[tuple[str, Any]]) -> None:
        for name, inner in plan:
            if name in value:
                inner(value[name], found)

    return refs


def _refs_union(shape: s.Union) -> Refs | None:
    members = {_tag_value(m, shape.tag): refs_of(m) for m in shape.members}
    if not any(members.values()):
        return None

    def refs(value: Any, found: list[tuple[str, Any]]) -> None:
        inner = members[value[shape.tag]]
        if inner is not None:
            inner(value, found)

    return refs
