"""The types a spec can declare and the checker infers. Immutable; a record refers to others by key, so trees are finite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from envscaler.diagnostics import Span

__all__ = [
    "ANY",
    "BOOL",
    "DATE",
    "DATETIME",
    "DURATION",
    "FLOAT",
    "INT",
    "LOCAL",
    "MISSING",
    "MONEY",
    "NEVER",
    "NONE",
    "NUMBER",
    "STR",
    "TIME",
    "ZONE",
    "Const",
    "DictOf",
    "Enum",
    "Field",
    "IterOf",
    "Key",
    "ListOf",
    "Nullable",
    "Obj",
    "Partial",
    "Scalar",
    "ScalarName",
    "StateOf",
    "Struct",
    "TupleOf",
    "Type",
    "Union",
    "nullable",
    "strip_null",
]  # fmt: skip


class _Missing:
    """The absence of a value, where null is one."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()

ScalarName = Literal[
    "str", "int", "float", "number", "bool", "money", "date", "time", "datetime", "zone", "any",
    "duration", "local datetime", "none", "never",
]  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """Base of all types. ``str(t)`` is how a message names it."""


@dataclass(frozen=True, slots=True)
class Scalar(Type):
    """A type without parts. `duration`, `local datetime` (of `at_zone`), `none` and `never` are inferred, never declared.

    Values at run time: money is an int of minor units; date, time, datetime and zone are canonical text; a duration
    is an int of seconds; `number` is int or float as given; `any` is any JSON value.
    """

    name: ScalarName

    def __str__(self) -> str:
        return "null" if self.name == "none" else self.name


STR, INT, FLOAT, NUMBER, BOOL = Scalar("str"), Scalar("int"), Scalar("float"), Scalar("number"), Scalar("bool")
MONEY, DATE, TIME, DATETIME, ZONE = Scalar("money"), Scalar("date"), Scalar("time"), Scalar("datetime"), Scalar("zone")
ANY, DURATION, NONE, NEVER = Scalar("any"), Scalar("duration"), Scalar("none"), Scalar("never")
LOCAL = Scalar("local datetime")


@dataclass(frozen=True, slots=True)
class Nullable(Type):
    """``T?``: the value or null (Python None). Never nested."""

    of: Type

    def __str__(self) -> str:
        return f"{self.of}?"


def nullable(of: Type) -> Type:
    """``of`` made nullable, once."""
    return of if isinstance(of, Nullable) or of in (NONE, ANY) else Nullable(of)


def strip_null(of: Type) -> Type:
    """``of`` without its null."""
    return of.of if isinstance(of, Nullable) else of


@dataclass(frozen=True, slots=True)
class ListOf(Type):
    """A list; a Python list at run time."""

    item: Type

    def __str__(self) -> str:
        return f"list of {self.item}"


@dataclass(frozen=True, slots=True)
class DictOf(Type):
    """A mapping; ``key`` is STR, INT, an Enum of text or a Key. A Python dict at run time."""

    value: Type
    key: Type = STR

    def __str__(self) -> str:
        return f"dict of {self.value}"


@dataclass(frozen=True, slots=True)
class Enum(Type):
    """One of a few literal values (text or whole numbers); ``name`` when declared under `types`."""

    values: tuple[str | int, ...]
    name: str | None = None

    def __str__(self) -> str:
        return self.name or "one of " + " | ".join(map(str, self.values))


@dataclass(frozen=True, slots=True)
class Const(Type):
    """Exactly one value; the tag of a union member."""

    value: str | int | bool

    def __str__(self) -> str:
        return f"the constant {self.value!r}"


@dataclass(frozen=True, slots=True)
class Key(Type):
    """A key of ``collection``: what iterating it gives and what a ``{ref: collection}`` stores. ``of`` is STR or INT."""

    collection: str
    of: Scalar = STR

    def __str__(self) -> str:
        return f"key of {self.collection}"


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A named part of a struct or record, or a parameter of a tool (see model.Param).

    ``json`` is the name outside (equal to ``name`` unless declared). ``absent`` fields may be missing from the JSON
    object and then are missing from the Python dict too; reading one needs ``"f" in x`` narrowing or ``x.get("f")``.
    Bounds are in the type's own unit as written (money: major units as Decimal text is converted to minor by the reader,
    so bounds and default here are already internal values: money in minor units).
    """

    name: str
    type: Type
    json: str
    span: Span
    description: str = ""
    default: Any = MISSING
    absent: bool = False
    ge: int | float | str | None = None
    gt: int | float | str | None = None
    le: int | float | str | None = None
    lt: int | float | str | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    unique: bool = False
    incidental: bool = False
    like: str | None = None

    @property
    def required(self) -> bool:
        """Whether a value must be given: there is no default, it is not absent-able, null or constant."""
        return self.default is MISSING and not self.absent and not isinstance(self.type, (Const, Nullable))


@dataclass(frozen=True, slots=True, eq=False)
class Struct(Type):
    """A declared `fields` type or a collection's record (then ``collection`` is set). Nominal: equal by identity.

    A Python dict at run time, keyed by ``Field.name``. A record's dict also holds its key under ``key_name``.
    """

    name: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    collection: str | None = None
    key_name: str | None = None
    key: Key | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Union(Type):
    """Structs told apart by the field ``tag``, which is a Const in each member."""

    name: str
    tag: str
    members: tuple[Struct, ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Partial(Type):
    """``{partial: T}``: some of T's fields; each absent at will. For update parameters."""

    of: Struct

    def __str__(self) -> str:
        return f"some of {self.of}"


@dataclass(frozen=True, slots=True)
class Obj(Type):
    """A dict literal with known text keys, inferred only: what most tools return."""

    items: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return "{" + ", ".join(f"{k}: {t}" for k, t in self.items) + "}"


@dataclass(frozen=True, slots=True)
class TupleOf(Type):
    """A few values side by side, inferred only: what zip, enumerate and items give, and sort keys. Never stored."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.items)) + ")"


@dataclass(frozen=True, slots=True)
class IterOf(Type):
    """Something that can only be gone through once, inferred only: generators, range, zip, `c.values()`."""

    item: Type

    def __str__(self) -> str:
        return f"run of {self.item}"


@dataclass(frozen=True, slots=True)
class StateOf(Type):
    """A collection itself, inferred only."""

    name: str

    def __str__(self) -> str:
        return f"the collection {self.name}"
