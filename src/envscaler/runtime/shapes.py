"""What a compiled module says about its data: types, fields, keys, states. Descriptions only, immutable once built.

They mirror the spec's types without importing them, so that a compiled environment needs nothing but this package.
Each shape carries a `memo` in which readers, writers and the like, pure functions of the shape, are kept once built.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

__all__ = [
    "ANY", "BOOL", "DATE", "DATETIME", "DURATION", "FLOAT", "INT", "LOCAL_DATETIME", "MAX", "MISSING", "MONEY", "NUMBER",
    "STR", "TIME", "ZONE", "Collection", "Const", "DictOf", "Enum", "Field", "Key", "ListOf", "Missing", "Nullable", "Param",
    "Partial", "Ref", "Scalar", "Shape", "Single", "StateShape", "Struct", "Tree", "Union", "params",
]  # fmt: skip

MAX: Final = 2**53
"""Whole numbers lie strictly between -MAX and MAX, so that JSON readers everywhere agree on them."""


class Missing:
    """The absence of a value, where null is one. There is one instance, MISSING."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


@dataclass(frozen=True, eq=False)
class Shape:
    """Base of all shapes; compared by identity."""

    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)


@dataclass(frozen=True, eq=False)
class Scalar(Shape):
    """A type without parts. ``words`` is how a message names it."""

    name: str
    words: str


STR = Scalar("str", "text")
INT = Scalar("int", "a whole number")
FLOAT = Scalar("float", "a number")
NUMBER = Scalar("number", "a number")
BOOL = Scalar("bool", "true or false")
MONEY = Scalar("money", "an amount with at most 2 decimals")
DATE = Scalar("date", "a date like 2030-03-04")
TIME = Scalar("time", "a time like 09:00:00")
DATETIME = Scalar("datetime", "a time like 2030-03-04T09:00:00Z")
LOCAL_DATETIME = Scalar("local_datetime", "a time like 2030-03-04T09:00:00")
ZONE = Scalar("zone", "a time zone like Europe/Paris")
DURATION = Scalar("duration", "a whole number of seconds")
ANY = Scalar("any", "any JSON value")


@dataclass(frozen=True, eq=False)
class Nullable(Shape):
    """The value or null."""

    of: Shape


@dataclass(frozen=True, eq=False)
class ListOf(Shape):
    """A list of one kind of item."""

    item: Shape


@dataclass(frozen=True, eq=False)
class DictOf(Shape):
    """A mapping; ``key`` is STR, INT, an Enum of text or a Ref."""

    value: Shape
    key: Shape = STR


@dataclass(frozen=True, eq=False)
class Enum(Shape):
    """One of a few literal values, all text or all whole numbers."""

    values: tuple[str | int, ...]
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Const(Shape):
    """Exactly one value; the tag of a union member."""

    value: str | int | bool


@dataclass(frozen=True, eq=False)
class Ref(Shape):
    """A key of ``collection``; ``of`` is STR or INT."""

    collection: str
    of: Scalar = STR


@dataclass(frozen=True, eq=False)
class Field:
    """A named part of a struct, or a parameter of a tool.

    ``json`` is the name outside. ``default`` and the bounds are internal values (money in minor units). A field with
    ``absent`` may be missing from the JSON object and then is missing from the dict too.
    """

    name: str
    shape: Shape
    json: str = ""
    description: str = ""
    default: Any = MISSING
    absent: bool = False
    ge: Any = None
    gt: Any = None
    le: Any = None
    lt: Any = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    incidental: bool = False
    like: str | None = None
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.json:
            object.__setattr__(self, "json", self.name)

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return self.default is MISSING and not self.absent


Param = Field


def params(*fields: Field) -> dict[str, Field]:
    """The parameters of a tool by name."""
    return {f.name: f for f in fields}


@dataclass(frozen=True, eq=False)
class Key:
    """How the records of a collection are keyed.

    ``make`` is a template such as ``M-{n:04d}`` (a counter) or ``{hex:8}`` (seeded), or None: keys are given.
    ``in_record``: the JSON of each record repeats its key under ``json``.
    """

    name: str
    of: Scalar = STR
    make: str | None = None
    in_record: bool = False
    json: str = ""

    def __post_init__(self) -> None:
        if not self.json:
            object.__setattr__(self, "json", self.name)


@dataclass(frozen=True, eq=False)
class Struct(Shape):
    """A dict with declared fields; with ``key`` the record of a collection, which also holds its key under its name."""

    name: str
    fields: tuple[Field, ...]
    key: Key | None = None

    def field(self, name: str) -> Field:
        """The field of that name."""
        return next(f for f in self.fields if f.name == name)


@dataclass(frozen=True, eq=False)
class Union(Shape):
    """Structs told apart by the field ``tag``, which is a Const in each member."""

    name: str
    tag: str
    members: tuple[Struct, ...]


@dataclass(frozen=True, eq=False)
class Partial(Shape):
    """Some of a struct's fields, each absent at will."""

    of: Struct


@dataclass(frozen=True, eq=False)
class Tree:
    """A collection that is a tree.

    ``parent`` names a nullable reference to the same collection, ``name`` the field unique among siblings. With
    ``nested`` the JSON form is a map from name to node, and children stand under that key of their parent.
    """

    parent: str
    name: str
    nested: str | None = None


@dataclass(frozen=True, eq=False)
class Collection:
    """Records addressed by key. ``unique`` lists tuples of field names that no two records may share the values of."""

    name: str
    record: Struct
    unique: tuple[tuple[str, ...], ...] = ()
    form: Literal["map", "list"] = "map"
    tree: Tree | None = None
    description: str = ""

    @property
    def key(self) -> Key:
        """The key of the records."""
        assert self.record.key is not None
        return self.record.key


@dataclass(frozen=True, eq=False)
class Single:
    """One record. ``form`` flat: its fields stand at the top of the state's JSON."""

    name: str
    record: Struct
    form: Literal["map", "flat"] = "map"
    description: str = ""


StateShape = Collection | Single
