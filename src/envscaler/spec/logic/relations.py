"""How types relate: what may be stored where, compared with what, joined into what, and what arithmetic gives."""

from __future__ import annotations

from typing import Final

from envscaler.spec.scalars import zones
from envscaler.spec.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    DURATION,
    FLOAT,
    INT,
    LOCAL,
    MONEY,
    NEVER,
    NONE,
    NUMBER,
    STR,
    TIME,
    Const,
    DictOf,
    Enum,
    IterOf,
    Key,
    ListOf,
    Nullable,
    Obj,
    Partial,
    Scalar,
    StateOf,
    Struct,
    TupleOf,
    Type,
    Union,
    nullable,
    strip_null,
)  # fmt: skip

__all__ = [
    "NUMERIC", "arithmetic", "assignable", "comparable", "container", "conversion", "holds_records", "join", "literal",
    "ordered", "plain", "textual",
]  # fmt: skip

NUMERIC: Final = (INT, FLOAT, NUMBER)
_MOST_LITERALS = 24


def literal(value: str) -> Enum:
    """The type of a text literal: exactly that text."""
    return Enum((value,))


def plain(of: Type) -> Type:
    """``of`` with literal texts, keys and constants widened to what they are made of."""
    match of:
        case Enum(values=values):
            return INT if all(isinstance(v, int) for v in values) else STR
        case Key(of=inner):
            return inner
        case Const(value=bool()):
            return BOOL
        case Const(value=int()):
            return INT
        case Const():
            return STR
        case _:
            return of


def textual(of: Type) -> bool:
    """Whether values are text with text's methods: str, enums and keys of text."""
    return plain(of) == STR


def container(of: Type) -> bool:
    """Whether values have parts that could be shared with the state."""
    return isinstance(strip_null(of), (Struct, Union, ListOf, DictOf, Obj, Partial)) or of == ANY


def holds_records(of: Type) -> bool:
    """Whether comparing by ``==`` would compare a collection's records."""
    match of:
        case Struct(collection=collection):
            return collection is not None
        case ListOf(item=item) | IterOf(item=item) | Nullable(of=item):
            return holds_records(item)
        case DictOf(value=value):
            return holds_records(value)
        case TupleOf(items=items):
            return any(map(holds_records, items))
        case StateOf():
            return True
        case _:
            return False


def join(a: Type, b: Type) -> Type | None:
    """The narrowest type of both, or None when they have nothing in common."""
    if a == b or b == NEVER:
        return a
    if a == NEVER:
        return b
    if ANY in (a, b):
        return ANY
    if NONE in (a, b) or isinstance(a, Nullable) or isinstance(b, Nullable):
        inner = join(NEVER if a == NONE else strip_null(a), NEVER if b == NONE else strip_null(b))
        return None if inner is None else nullable(inner)
    if a in NUMERIC and b in NUMERIC:
        return NUMBER
    return _join_parts(a, b)


def _join_parts(a: Type, b: Type) -> Type | None:
    match a, b:
        case Enum(values=x), Enum(values=y) if plain(a) == plain(b):
            values = tuple(dict.fromkeys((*x, *y)))
            if set(values) == set(x) or set(values) == set(y):
                return a if set(values) == set(x) else b
            return Enum(values) if len(values) <= _MOST_LITERALS else plain(a)
        case ListOf(item=x), ListOf(item=y):
            item = join(x, y)
            return None if item is None else ListOf(item)
        case IterOf(item=x), IterOf(item=y):
            item = join(x, y)
            return None if item is None else IterOf(item)
        case DictOf(value=x, key=k), DictOf(value=y, key=m):
            value, key = join(x, y), join(k, m)
            return None if value is None or key is None else DictOf(value, key)
        case Obj(items=x), Obj(items=y):
            return _join_objects(dict(x), dict(y))
        case (Obj(), DictOf()) | (DictOf(), Obj()):
            return join(_as_dict(a), _as_dict(b))
        case TupleOf(items=x), TupleOf(items=y) if len(x) == len(y):
            joined = [join(i, j) for i, j in zip(x, y, strict=True)]
            return None if None in joined else TupleOf(tuple(t for t in joined if t is not None))
        case _:
            wide = (plain(a), plain(b))
            return wide[0] if wide[0] == wide[1] and wide != (a, b) else None


def _as_dict(of: Type) -> Type:
    if not isinstance(of, Obj):
        return of
    value: Type = NEVER
    for _, item in of.items:
        value = join(value, item) or ANY
    return DictOf(value)


def _join_objects(x: dict[str, Type], y: dict[str, Type]) -> Type | None:
    if x.keys() == y.keys():
        joined = {k: join(x[k], y[k]) for k in x}
        return None if None in joined.values() else Obj(tuple((k, t) for k, t in joined.items() if t is not None))
    return ANY if x and y else join(_as_dict(Obj(tuple(x.items()))), _as_dict(Obj(tuple(y.items()))))


def assignable(value: Type, place: Type) -> bool:
    """Whether a value of type ``value`` may be stored where ``place`` is declared (see `conversion` for the work it takes)."""
    if value in (place, NEVER) or place in (ANY, NEVER):
        return not isinstance(value, (StateOf, IterOf, TupleOf))
    match value, place:
        case Nullable(of=x), Nullable(of=y):
            return assignable(x, y)
        case Scalar(name="none"), Nullable():
            return True
        case _, Nullable(of=y):
            return assignable(value, y)
        case Enum(values=x), Enum(values=y) | Union(tag=_, members=y):
            return isinstance(place, Enum) and set(x) <= set(y)
        case Enum(values=x), Scalar(name="zone"):
            return zones().issuperset(map(str, x))
        case Enum(values=x), Const(value=y):
            return x == (y,)
        case Const(value=x), Const(value=y):
            return x == y
        case Const(value=x), Enum(values=y):
            return x in y
        case Struct(), Union(members=members):
            return value in members
        case Struct(), Partial(of=struct):
            return value is struct
        case ListOf(item=x), ListOf(item=y):
            return assignable(x, y)
        case DictOf(value=x, key=k), DictOf(value=y, key=m):
            return assignable(x, y) and assignable(k, m)
        case Obj(items=items), DictOf(value=y, key=m):
            return all(assignable(t, y) and assignable(literal(k), m) for k, t in items)
        case Obj(items=items), Struct(fields=fields):
            return all(k in fields and assignable(t, fields[k].type) for k, t in items)
        case _, Key():
            return plain(value) == place.of and not (isinstance(value, Key) and value.collection != place.collection)
        case _:
            return (place in (STR, INT) and plain(value) == place) or (value, place) in _WIDENED


_WIDENED = {(INT, FLOAT), (INT, NUMBER), (FLOAT, NUMBER), (NUMBER, FLOAT), (BOOL, BOOL)}


def conversion(value: Type, place: Type) -> Type | None:
    """The type to convert to when storing takes work: numbers as float, anything with money or parts as `any`."""
    target = strip_null(place)
    if target == FLOAT and value in (INT, NUMBER):
        return FLOAT
    if target == ANY and value != ANY and (container(value) or strip_null(value) == MONEY):
        return ANY
    return None


def comparable(a: Type, b: Type) -> bool:
    """Whether ``==`` between the two can be true."""
    a, b = strip_null(a), strip_null(b)
    if a == b or {a, b} & {ANY, NEVER, NONE}:
        return True
    if a in NUMERIC and b in NUMERIC:
        return True
    match a, b:
        case Enum(values=x), Enum(values=y):
            return bool(set(x) & set(y))
        case (Enum(values=x), Const(value=y)) | (Const(value=y), Enum(values=x)):
            return y in x
        case Key(collection=x), Key(collection=y):
            return x == y
        case ListOf(item=x), ListOf(item=y):
            return comparable(x, y)
        case DictOf(value=x), DictOf(value=y):
            return comparable(x, y)
        case (Obj(), DictOf() | Obj() | Struct()) | (DictOf() | Struct(), Obj()):
            return True
        case TupleOf(items=x), TupleOf(items=y):
            return len(x) == len(y) and all(map(comparable, x, y))
        case Union(members=members), Struct():
            return b in members
        case Struct(), Union(members=members):
            return a in members
        case _:
            wide = plain(a), plain(b)
            return wide[0] == wide[1] or (wide[0] in NUMERIC and wide[1] in NUMERIC)


def ordered(a: Type, b: Type) -> bool:
    """Whether ``<`` is defined between the two."""
    if ANY in (a, b) or NEVER in (a, b):
        return True
    a, b = plain(a), plain(b)
    if isinstance(a, TupleOf) and isinstance(b, TupleOf):
        return len(a.items) == len(b.items) and all(map(ordered, a.items, b.items))
    if isinstance(a, ListOf) and isinstance(b, ListOf):
        return ordered(a.item, b.item)
    return (a in NUMERIC and b in NUMERIC) or (
        a == b and a in (STR, MONEY, DATE, TIME, DATETIME, LOCAL, DURATION, BOOL)
    )


_NUMBERS: dict[tuple[Type, Type], Type] = {
    (INT, INT): INT, (INT, FLOAT): FLOAT, (FLOAT, INT): FLOAT, (FLOAT, FLOAT): FLOAT,
}  # fmt: skip


def arithmetic(op: str, a: Type, b: Type) -> tuple[Type, str] | None:
    """Result type and runtime function ("" for the operator itself) of ``a op b``, or None when it has no meaning."""
    a, b = plain(a), plain(b)
    if NEVER in (a, b):
        return (NEVER if op in ("*", "/") else b if a == NEVER else a), ""
    if a in NUMERIC and b in NUMERIC:
        return _number_arithmetic(op, a, b)
    if (special := _SPECIAL.get((op, a, b))) is not None:
        return special
    if MONEY in (a, b):
        return _money_arithmetic(op, a, b)
    match op, a, b:
        case "+", ListOf(), ListOf():
            joined = join(a, b)
            return None if joined is None else (joined, "")
        case "*", ListOf(), Scalar(name="int"):
            return a, "repeat"
        case _:
            return None


def _number_arithmetic(op: str, a: Type, b: Type) -> tuple[Type, str]:
    result = _NUMBERS.get((a, b), NUMBER)
    if op == "/":
        return FLOAT, ""
    if op == "**":
        return (FLOAT if FLOAT in (a, b) else NUMBER), "power"
    return result, "mul" if op == "*" and result != FLOAT else ""


def _money_arithmetic(op: str, a: Type, b: Type) -> tuple[Type, str] | None:
    if op == "*" and (a in NUMERIC or b in NUMERIC):
        return MONEY, "money_mul" if a == MONEY else "money_rmul"
    if op == "/" and a == MONEY and b in NUMERIC:
        return MONEY, "money_div"
    return None


_SPECIAL: dict[tuple[str, Type, Type], tuple[Type, str]] = {
    ("+", MONEY, MONEY): (MONEY, ""),
    ("-", MONEY, MONEY): (MONEY, ""),
    ("/", MONEY, MONEY): (FLOAT, ""),
    ("//", MONEY, MONEY): (INT, ""),
    ("%", MONEY, MONEY): (MONEY, ""),
    ("+", STR, STR): (STR, ""),
    ("*", STR, INT): (STR, "repeat"),
    ("+", DATE, DURATION): (DATE, "date_add"),
    ("-", DATE, DURATION): (DATE, "date_sub"),
    ("-", DATE, DATE): (DURATION, "date_diff"),
    ("+", DATETIME, DURATION): (DATETIME, "datetime_add"),
    ("-", DATETIME, DURATION): (DATETIME, "datetime_sub"),
    ("-", DATETIME, DATETIME): (DURATION, "datetime_diff"),
    ("+", TIME, DURATION): (TIME, "time_add"),
    ("-", TIME, DURATION): (TIME, "time_sub"),
    ("-", TIME, TIME): (DURATION, "time_diff"),
    ("+", DURATION, DURATION): (DURATION, ""),
    ("-", DURATION, DURATION): (DURATION, ""),
    ("*", DURATION, INT): (DURATION, "mul"),
    ("*", INT, DURATION): (DURATION, "mul"),
    ("/", DURATION, DURATION): (FLOAT, ""),
    ("//", DURATION, DURATION): (INT, ""),
    ("//", DURATION, INT): (DURATION, ""),
    ("%", DURATION, DURATION): (DURATION, ""),
}
