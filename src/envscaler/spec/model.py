"""A spec as it was declared: names resolved, data typed, logic still text with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from envscaler.diagnostics import Span
from envscaler.spec.types import Field, Key, Struct, Type

__all__ = [
    "Block", "Constant", "Example", "HelperDef", "KeyDef", "Param", "RuleDef", "Spec", "StateDef", "Text", "ToolDef",
    "TreeDef",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Text:
    """Prose with its place. ``value`` is as written, with `{CONSTANT}` (or, in messages, `{param}`) placeholders."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True)
class Block:
    """Logic from a literal block: dedented source, and where its first character stands in the file.

    Line n (1-based) of ``source`` is line ``line + n - 1`` of the file; every line is indented by ``column - 1``.
    """

    source: str
    path: str
    line: int
    column: int
    span: Span  # of the key (`do`, `holds`), for problems of the block as a whole


@dataclass(frozen=True, slots=True)
class Constant:
    name: str
    type: Type
    value: Any  # internal form (money in minor units)
    span: Span


@dataclass(frozen=True, slots=True)
class KeyDef:
    """How a collection is keyed. ``make`` is a template over `n` (counter) or `hex`, or None: keys are given."""

    name: str
    type: Key
    json: str
    make: str | None
    in_record: bool  # `in_record: true`: each record's JSON in the state repeats its key under ``json``
    in_results: bool  # records in results carry their key, unless `in_record: false` says that they never do
    span: Span


@dataclass(frozen=True, slots=True)
class TreeDef:
    """A collection that is a tree: ``parent`` names a nullable self-reference, ``name`` the field unique among siblings.

    ``nested`` is the JSON key under which children stand when the JSON form is nested, else None (flat).
    """

    parent: str
    name: str
    nested: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class StateDef:
    """A collection, or a single record when ``key`` is None.

    ``form``: `map` (JSON object by key), `list` (JSON array of records, keys inside), `flat` (a single record whose
    fields stand at the top of the state's JSON).
    """

    name: str
    record: Struct
    key: KeyDef | None
    tree: TreeDef | None
    unique: tuple[tuple[str, ...], ...]  # single-field `unique: true` included, as 1-tuples
    form: Literal["map", "list", "flat"]
    description: str
    span: Span

    @property
    def single(self) -> bool:
        return self.key is None


@dataclass(frozen=True, slots=True)
class RuleDef:
    """Exactly one of: ``holds`` (with ``each`` naming a collection or single, or None: over the whole state), ``moves``
    over ``field`` = (state, field), ``policy``, or none of them: cited by a `require(..., rule=...)`."""

    name: str
    text: Text
    each: str | None
    holds: Block | None
    field: tuple[str, str] | None
    moves: Mapping[str, tuple[str, ...]] | None
    policy: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter. ``field`` carries type, default, bounds and outside name. A parameter of type Key is a `ref`."""

    field: Field
    as_name: str | None  # `as:` binds the record too
    missing: Text | None  # message when the key does not exist; `{param}` placeholders

    @property
    def name(self) -> str:
        return self.field.name


@dataclass(frozen=True, slots=True)
class HelperDef:
    """Shared logic. ``kind``: `helper`, or `setup` (called by scenarios only)."""

    name: str
    kind: Literal["helper", "setup"]
    params: tuple[Param, ...]
    returns: Type | None  # declared, else inferred
    do: Block
    description: str
    span: Span


@dataclass(frozen=True, slots=True)
class Example:
    """``given`` patches the initial state (a deep merge by state, key and field; null in the place of a record removes it);
    ``then`` lists expected final fields (objects are compared in the named keys only, lists whole; null: no such record).
    Both name states and keys also where the state's JSON form is a list or flat. ``at`` is the episode's `now`, None for the
    spec's clock."""

    call: Mapping[str, Any]  # arguments as JSON
    given: Mapping[str, Any] | None
    at: str | None  # canonical text, as of Spec.clock
    returns: Any  # JSON, or MISSING
    error: str | None
    rule: str | None
    then: Mapping[str, Any] | None
    span: Span


@dataclass(frozen=True, slots=True)
class ToolDef:
    name: str
    kind: Literal["read", "write"]
    actor: Literal["agent", "user"]
    description: Text
    params: tuple[Param, ...]
    returns: Type | None  # declared, else inferred
    errors: Any  # JSON shape with "{message}" in its texts, or None: the spec's
    do: Block
    examples: tuple[Example, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Spec:
    """One file, read and resolved. ``hash`` is `sha256:…` of its canonical content (comments and layout left out)."""

    path: str
    source: str
    language: int
    name: str
    version: str
    title: str
    description: Text
    clock: str  # canonical text of the episode's `now`; ends with Z (or offset) when zoned
    zoned: bool
    constants: Mapping[str, Constant]
    types: Mapping[str, Type]
    states: Mapping[str, StateDef]
    rules: Mapping[str, RuleDef]
    helpers: Mapping[str, HelperDef]
    setup: Mapping[str, HelperDef]
    after_each: tuple[Text, ...]  # helper names
    tools: Mapping[str, ToolDef]
    errors: Any  # JSON shape with "{message}", or None: plain
    policy: Literal["strict", "lenient"]  # how arguments are coerced: `arguments: strict | lenient`, default lenient
    initial_state: Mapping[str, Any]  # JSON form, validated for shape, keys and types
    hash: str
    type_spans: Mapping[str, Span] = field(default_factory=dict)
    unknown_tool: Text | None = None  # message for a call of no tool; `{name}` stands for what was called

    @property
    def class_name(self) -> str:
        """`library_desk` gives `LibraryDesk`."""
        return "".join(part[:1].upper() + part[1:] for part in self.name.split("_"))
