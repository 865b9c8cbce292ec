"""Helpers, setup functions and tools with their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from envscaler.diagnostics import Span
from envscaler.spec import yamltree as y
from envscaler.spec.entries import Context, Entries, json_of
from envscaler.spec.language import UNHIDABLE
from envscaler.spec.model import HelperDef, Param, Text, ToolDef
from envscaler.spec.names import OUTSIDE, RESERVED_TOOLS, named_entries, usable_name
from envscaler.spec.read_types import TypeReader
from envscaler.spec.report import short
from envscaler.spec.scalars import NotA
from envscaler.spec.types import MONEY, NEVER, DictOf, Key, ListOf, Partial, Struct, Type, Union, strip_null

__all__ = ["read_errors", "read_functions", "read_tools"]


def read_functions(
    context: Context, types: TypeReader, declared: y.Mapping | None, kind: Literal["helper", "setup"]
) -> dict[str, HelperDef]:
    """The helpers or setup functions by name."""
    found = {}
    what = "a helper" if kind == "helper" else "a setup function"
    for name, entry in named_entries(declared, "lower", what, context.report):
        if kind == "helper" and not context.claim(entry.key, "a helper"):
            continue
        entries = Entries.of(context, entry, "helper", f"{kind} {name!r}")
        block = entries.block("do") if entries else None
        if entries is None:
            continue
        before = len(context.prose)
        params = _params(context, types, entries, records=kind == "helper")
        returns = _returns(types, entries)
        description = entries.prose_text("description")
        _own_numbers(context, before, params)
        if block:
            found[name] = HelperDef(name, kind, params, returns, block, description, entries.span)
    return found


def read_tools(
    context: Context, types: TypeReader, declared: y.Mapping | None
) -> tuple[dict[str, ToolDef], dict[str, Entries]]:
    """The tools by name, and the entries of each for reading its examples once the initial state is known."""
    found: dict[str, ToolDef] = {}
    examples: dict[str, Entries] = {}
    for name, entry in named_entries(declared, "tool", "a tool", context.report, reserved=()):
        if not _free_tool(context, entry.key):
            continue
        entries = Entries.of(context, entry, "tool", f"tool {name!r}")
        tool = _tool(context, types, name, entries) if entries else None
        if tool is not None and entries is not None:
            found[name] = tool
            examples[name] = entries
    return found, examples


def _free_tool(context: Context, key: y.Scalar) -> bool:
    if key.text in RESERVED_TOOLS:
        context.report.error(
            "reserved-name",
            key.span,
            f"{key.text!r} cannot be the name of a tool",
            "trainers and servers have this name for something of their own",
            f"{key.text}_it or a more telling name would do",
        )
        return False
    return True


def _tool(context: Context, types: TypeReader, name: str, entries: Entries) -> ToolDef | None:
    before = len(context.prose)
    description = entries.prose("description")
    if description is None and not entries.has("description"):
        context.report.warning(
            "missing-description",
            entries.span,
            f"{entries.where} has no description",
            "an agent chooses tools by what they say of themselves",
            "add `description:`, one sentence",
        )
    params = _params(context, types, entries, records=False)
    for param in params:
        _outside_names(context, param.field.type, param.field.span, entries.where)
    _own_numbers(context, before, params)
    kind = entries.choice("kind")
    block = entries.block("do")
    returns = _returns(types, entries)
    errors = read_errors(context, entries)
    if block is None:
        return None
    return ToolDef(
        name,
        kind or "write",
        entries.choice("actor", "agent"),
        description or Text("", entries.span),
        params,
        returns,
        errors,
        block,
        (),
        entries.span,
    )


def _own_numbers(context: Context, before: int, params: tuple[Param, ...]) -> None:
    """Tell the prose of a tool or helper, from the ``before``th on, which numbers are bounds of its parameters."""
    own = frozenset(n for param in params for n in _numbers_of(param))
    context.prose[before:] = [replace(prose, numbers=own) for prose in context.prose[before:]]


def _numbers_of(param: Param) -> Iterator[float]:
    field = param.field
    unit = 100 if strip_null(field.type) == MONEY else 1
    for value in (field.ge, field.gt, field.le, field.lt, field.default, field.min_length, field.max_length):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield value / unit


def _returns(types: TypeReader, entries: Entries) -> Type | None:
    entry = entries.get("returns")
    return types.expression(entry.value, f"the result of {entries.where}", records=True) if entry else None


def read_errors(context: Context, entries: Entries) -> Any:
    """The JSON shape of failures, or None. One of its texts holds {message}."""
    entry = entries.get("errors")
    if entry is None:
        return None
    try:
        shape = json_of(entry.value)
    except NotA as reason:
        context.report.error("bad-value", entry.value.span, f"errors of {entries.where} is no JSON", str(reason))
        return None
    if not any("{message}" in text for text in _texts(shape)):
        context.report.error(
            "bad-errors",
            entry.value.span,
            f"errors of {entries.where} never says what is wrong",
            "expected {message} in one of its texts",
            'errors: {error: "{message}"}',
        )
    return shape


def _texts(shape: Any) -> Iterator[str]:
    if isinstance(shape, str):
        yield shape
    for part in shape.values() if isinstance(shape, dict) else shape if isinstance(shape, list) else ():
        yield from _texts(part)


def _params(context: Context, types: TypeReader, entries: Entries, *, records: bool) -> tuple[Param, ...]:
    mapping = entries.mapping("params")
    found: list[Param] = []
    outside: dict[str, Span] = {}
    names = tuple(mapping.entries) if mapping else ()
    for name, entry in named_entries(mapping, "lower", "a parameter", context.report, reserved=UNHIDABLE):
        if _free(context, entry.key, "a parameter"):
            param = _param(context, types, entry, f"parameter {name!r} of {entries.where}", names, records)
            types.fields.distinct(param.field, entry.key.span, outside)
            found.append(param)
    _bound_names(context, found, mapping)
    return tuple(found)


def _param(
    context: Context, types: TypeReader, entry: y.Entry, where: str, names: tuple[str, ...], records: bool
) -> Param:
    field, entries = types.fields.field(entry, "param", where, records=records)
    if entries is None:
        return Param(field, None, None)
    bound = entries.scalar("as", "a name")
    missing = entries.prose("missing", names)
    for key in ("as", "missing"):
        if entries.has(key) and not _refers(field.type, lists=key == "missing"):
            context.report.error(
                "misplaced-attribute",
                entries.key_span(key),
                f"{where}: {key!r} has no meaning here",
                "it goes with a ref",
            )
            bound = None if key == "as" else bound
    if bound is not None:
        bound = usable_name(bound, "lower", "a record", context.report)
    if bound is not None and not _free(context, bound, "a record"):
        bound = None
    return Param(field, bound.text if bound else None, missing)


def _refers(of: Type, *, lists: bool) -> bool:
    """Whether a parameter's value is a key, or with ``lists`` a list of keys; so is one whose type has an error."""
    of = strip_null(of)
    if lists and isinstance(of, ListOf):
        of = strip_null(of.item)
    return isinstance(of, Key) or of is NEVER


def _free(context: Context, key: y.Scalar, what: str) -> bool:
    """A parameter may hide a collection, and nothing else."""
    kind, span = context.taken.get(key.text, ("a state", key.span))
    if kind == "a state":
        return True
    context.report.error(
        "name-clash",
        key.span,
        f"{key.text!r} is already the name of {kind}",
        f"{what} may hide a state only",
        "rename one of them",
        ((span, "the first is here"),),
    )
    return False


def _bound_names(context: Context, params: list[Param], mapping: y.Mapping | None) -> None:
    seen = {p.name for p in params}
    for param in params:
        if param.as_name is None or mapping is None:
            continue
        if param.as_name in seen:
            context.report.error(
                "name-clash",
                _as_span(mapping, param),
                f"{param.as_name!r} is already the name of a parameter",
                "each name is bound once",
            )
        seen.add(param.as_name)


def _as_span(mapping: y.Mapping, param: Param) -> Span:
    entry = mapping.entries.get(param.name)
    node = entry.value.entries.get("as") if entry and isinstance(entry.value, y.Mapping) else None
    return node.value.span if node else param.field.span


def _outside_names(context: Context, of: Type, span: Span, where: str) -> None:
    """Report fields within a parameter whose outside name providers refuse as a property."""
    stack: list[Type] = [of]
    seen: set[int] = set()
    while stack:
        at = strip_null(stack.pop())
        if id(at) in seen:
            continue
        seen.add(id(at))
        if isinstance(at, Struct):
            bad = [f for f in at.fields.values() if not OUTSIDE.match(f.json)]
            for field in bad:
                context.report.error(
                    "bad-outside-name",
                    span,
                    f"{where} takes a {at.name}, whose field {short(field.json)} has an outside name that providers refuse",
                    "providers accept 1 to 64 of A-Z a-z 0-9 _ . -",
                    related=((field.span, "the field is here"),),
                )
            stack += [f.type for f in at.fields.values()]
        elif isinstance(at, Union):
            stack += at.members
        elif isinstance(at, Partial):
            stack.append(at.of)
        elif isinstance(at, ListOf):
            stack.append(at.item)
        elif isinstance(at, DictOf):
            stack.append(at.value)
