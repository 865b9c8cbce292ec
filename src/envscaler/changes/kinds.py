"""Types of two versions: whether each value of the one is a value of the other, and the difference in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from envscaler.spec.types import (
    ANY,
    MONEY,
    NEVER,
    NONE,
    Const,
    DictOf,
    Enum,
    Field,
    IterOf,
    Key,
    ListOf,
    Nullable,
    Obj,
    Partial,
    Scalar,
    Struct,
    TupleOf,
    Type,
    Union,
    strip_null,
)
from envscaler.spec.words import bound_words

__all__ = ["bounds_cover", "covers", "same", "type_words"]

# What is written alike in JSON: a whole number is a number, a date is text.
_WIDER: Mapping[str, frozenset[str]] = {
    "int": frozenset({"float", "number", "money"}),
    "float": frozenset({"number"}),
    "money": frozenset({"number", "float"}),
    "date": frozenset({"str"}),
    "time": frozenset({"str"}),
    "datetime": frozenset({"str"}),
    "local datetime": frozenset({"str"}),
    "zone": frozenset({"str"}),
}


def same(old: Type, new: Type) -> bool:
    """Whether two types have the same values, whatever their names."""
    return covers(old, new) and covers(new, old) and _form(old) == _form(new)


def covers(new: Type, old: Type, *, closed: bool = False) -> bool:
    """Whether each JSON value of ``old`` is one of ``new``.

    ``closed``: of values that are given, not taken: an object with a field more is then another object.
    """
    return _covers(new, old, closed)


def _covers(new: Type, old: Type, closed: bool) -> bool:
    if new == ANY or old == NEVER:
        return True
    if isinstance(old, Nullable):
        return isinstance(new, Nullable) and _covers(new.of, old.of, closed)
    if isinstance(new, Nullable):
        return str(old) == "null" or _covers(new.of, old, closed)
    match old, new:
        case Union(), _:
            return all(_covers(new, member, closed) for member in old.members)
        case _, Union():
            return any(_covers(member, old, closed) for member in new.members)
        case Scalar(), Scalar():
            return old.name == new.name or new.name in _WIDER.get(old.name, ())
        case ((Enum() | Const() | Key()), Scalar()):
            return _covers(new, _written(old), closed)
        case ((Enum() | Const()), (Enum() | Const())):
            return set(_values(old)) <= set(_values(new))
        case Key(), Key():
            return old.collection == new.collection and old.of == new.of
        case ((ListOf() | IterOf()), (ListOf() | IterOf())):
            return _covers(new.item, old.item, closed)
        case DictOf(), DictOf():
            return _covers(new.key, old.key, closed) and _covers(new.value, old.value, closed)
        case TupleOf(), TupleOf():
            return len(old.items) == len(new.items) and all(
                _covers(a, b, closed) for a, b in zip(new.items, old.items, strict=True)
            )
        case Obj(), Obj():
            items, others = dict(old.items), dict(new.items)
            return items.keys() == others.keys() and all(_covers(others[k], of, closed) for k, of in items.items())
        case Struct(), Struct():
            return _struct(new, old, closed)
        case ((Partial() | Struct()), Partial()):
            return _struct(new.of, old.of if isinstance(old, Partial) else old, closed, partial=True)
    return str(old) == str(new)


def _written(of: Type) -> Type:
    """The scalar as which an enum, a constant or a key is written."""
    if isinstance(of, Key):
        return of.of
    value = _values(of)[0]
    return Scalar("bool" if isinstance(value, bool) else "str" if isinstance(value, str) else "int")


def _values(of: Type) -> tuple[Any, ...]:
    return of.values if isinstance(of, Enum) else (of.value,) if isinstance(of, Const) else ()


def _struct(new: Struct, old: Struct, closed: bool, partial: bool = False) -> bool:
    """Whether objects of the old structure are accepted as objects of the new one."""
    before = {f.json: f for f in old.fields.values()}
    after = {f.json: f for f in new.fields.values()}
    if not before.keys() <= after.keys() or (
        closed and any(n not in before and not f.absent for n, f in after.items())
    ):
        return False
    if (
        not partial
        and not closed
        and any(f.required and (name not in before or not before[name].required) for name, f in after.items())
    ):
        return False
    return all(
        _covers(after[n].type, f.type, closed) and (closed or bounds_cover(after[n], f)) for n, f in before.items()
    )


def bounds_cover(new: Field, old: Field) -> bool:
    """Whether the new bounds let through all that the old ones do."""
    if new.pattern not in (None, old.pattern):
        return False
    if (new.min_length or 0) > (old.min_length or 0):
        return False
    if new.max_length is not None and (old.max_length is None or old.max_length > new.max_length):
        return False
    low, high = _limits(new, 1), _limits(new, -1)
    return (not low or _within(_limits(old, 1), low, 1)) and (not high or _within(_limits(old, -1), high, -1))


_Limit = tuple[float | str, bool]


def _limits(field: Field, sign: int) -> list[_Limit]:
    """The limits of one side (1: from below, -1: from above) with whether the limit itself is left out."""
    pairs = ((field.ge, False), (field.gt, True)) if sign > 0 else ((field.le, False), (field.lt, True))
    unit = 100 if strip_null(field.type) == MONEY else 1
    return [(v / unit if isinstance(v, (int, float)) else v, strict) for v, strict in pairs if v is not None]


def _within(old: list[_Limit], new: list[_Limit], sign: int) -> bool:
    """Whether for each new limit there is an old one that is as tight."""
    return all(any(_tighter(before, after, sign) for before in old) for after in new)


def _tighter(old: _Limit, new: _Limit, sign: int) -> bool:
    a, b = old[0], new[0]
    if isinstance(a, str) or isinstance(b, str):
        if not (isinstance(a, str) and isinstance(b, str)):
            return False
        beyond = a > b if sign > 0 else a < b
    else:
        beyond = a > b if sign > 0 else a < b
    return beyond or (a == b and (old[1] or not new[1]))


def _form(of: Type) -> Any:
    """What makes two types different although they have the same values: what they are read as and shown as."""
    match of:
        case Nullable(of=inner):
            return ("null", _form(inner))
        case Scalar(name=name):
            return name
        case Key(collection=collection):
            return ("key", collection)
        case ListOf(item=item) | IterOf(item=item):
            return ("list", _form(item))
        case DictOf(value=value, key=key):
            return ("dict", _form(key), _form(value))
        case Obj(items=items):
            return ("object", tuple((k, _form(t)) for k, t in items))
        case Struct():
            return ("fields", tuple(_field_form(f) for f in of.fields.values()))
        case Partial(of=struct):
            return ("some", _form(struct))
        case Union(members=members, tag=tag):
            return ("union", tag, tuple(map(_form, members)))
        case Enum(values=values):
            return ("enum", frozenset(values))
        case Const(value=value):
            return ("const", value)
    return str(of)


def _field_form(field: Field) -> Any:
    return (field.json, _form(field.type), field.absent, repr(field.default), tuple(bound_words(field)))


def type_words(old: Type, new: Type) -> str:
    """The difference of two types, in words; of parts by their paths."""
    return "; ".join(dict.fromkeys(_differences(old, new, ""))) or f"{new} is read otherwise"


def _differences(old: Type, new: Type, path: str) -> Iterator[str]:
    def say(words: str) -> str:
        return f"{path} {words}" if path else words

    if isinstance(old, Nullable) != isinstance(new, Nullable) and NONE not in (old, new):
        yield say("may be null" if isinstance(new, Nullable) else "may no longer be null")
    before, after = strip_null(old), strip_null(new)
    if same(before, after):
        return
    match before, after:
        case Enum(), Enum():
            gained = [str(v) for v in after.values if v not in before.values]
            lost = [str(v) for v in before.values if v not in after.values]
            if gained:
                yield say(f"gains {', '.join(gained)}")
            if lost:
                yield say(f"loses {', '.join(lost)}")
        case ListOf(), ListOf():
            yield from _differences(before.item, after.item, f"{path}[]")
        case DictOf(), DictOf() if same(before.key, after.key):
            yield from _differences(before.value, after.value, f"{path}[]")
        case Obj(), Obj():
            yield from _members(dict(before.items), dict(after.items), path)
        case Struct(), Struct():
            first, second = ({f.json: f for f in t.fields.values()} for t in (before, after))
            yield from _members({n: f.type for n, f in first.items()}, {n: f.type for n, f in second.items()}, path)
            for name, field in first.items():
                if (
                    name in second
                    and same(field.type, second[name].type)
                    and _field_form(field) != _field_form(second[name])
                ):
                    yield f"{_joined(path, name)} has another default or other bounds"
        case Partial(), Partial():
            yield from _differences(before.of, after.of, path)
        case Union(), Union():
            members, others = ({m.name: m for m in t.members} for t in (before, after))
            for name in dict.fromkeys([*members, *others]):
                if name in members and name in others:
                    yield from _differences(members[name], others[name], _joined(path, name))
                else:
                    yield say(f"gains {name}" if name in others else f"loses {name}")
        case _:
            yield say(f"was {before}, is {after}")


def _members(old: Mapping[str, Type], new: Mapping[str, Type], path: str) -> Iterator[str]:
    for name, of in old.items():
        if name not in new:
            yield f"{_joined(path, name)} is gone"
        else:
            yield from _differences(of, new[name], _joined(path, name))
    yield from (f"{_joined(path, name)} is new" for name in new if name not in old)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
