"""JSON Schemas of tools, in the dialects that model providers accept.

References do not occur: what is shared is written out. Bounds are a run-time matter first; a dialect that refuses a
keyword is given the schema without it, with the bound said in the description.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.declared import Tool
from envscaler.runtime.writing import writer

__all__ = ["CATALOGUE_TOKENS", "Catalogue", "anthropic", "estimate_tokens", "mcp", "openai", "parameters"]

CATALOGUE_TOKENS: Final = 32_000
"""A catalogue of tools estimated above this is reported."""

# OpenAI's published limits of a strict schema.
_STRICT_PROPERTIES, _STRICT_DEPTH, _STRICT_ENUM, _STRICT_TEXT = 5000, 10, 1000, 120_000
# Nullable and optional parts multiply the grammar a strict schema compiles to.
_STRICT_OPTIONAL = 24


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Tools in a provider's form. ``fallbacks``: tools not offered as strict, with the reason. ``warnings``: on size."""

    tools: list[dict[str, Any]]
    fallbacks: dict[str, str]
    warnings: list[str]
    tokens: int


# -- from shapes


def parameters(params: Mapping[str, s.Field], strict: bool = False) -> dict[str, Any]:
    """The schema of a tool's arguments. ``strict``: every object closed with all keys required, optional ones nullable."""
    return _object(list(params.values()), strict)


def _object(fields: Iterable[s.Field], strict: bool, partial: bool = False) -> dict[str, Any]:
    properties, required = {}, []
    for field in fields:
        optional = partial or not field.required
        schema = _field(field, strict)
        properties[field.json] = _or_null(schema) if strict and optional else schema
        if strict or not optional:
            required.append(field.json)
    result: dict[str, Any] = {"type": "object", "properties": properties}
    if required or strict:
        result["required"] = required
    result["additionalProperties"] = False
    return result


def _field(field: s.Field, strict: bool) -> dict[str, Any]:
    schema = _schema(field.shape, strict)
    bounds = _field_bounds(field)
    target = schema if "anyOf" not in schema else schema["anyOf"][0]
    notes = [field.description] if field.description else []
    if strict:
        notes += [_bound_text(bounds)] if bounds else []
        if field.default is not s.MISSING and field.default is not None:
            notes.append(f"Null means {json.dumps(_default(field), ensure_ascii=False)}.")
    else:
        target.update(bounds)
        if field.default is not s.MISSING:
            schema["default"] = _default(field)
    if isinstance(target.get("description"), str):
        notes.append(target.pop("description"))
    if notes:
        schema = {**schema, "description": " ".join(notes)}
    return schema


def _default(field: s.Field) -> Any:
    return writer(field.shape)(field.default)


def _field_bounds(field: s.Field) -> dict[str, Any]:
    of = field.shape.of if isinstance(field.shape, s.Nullable) else field.shape
    result: dict[str, Any] = {}
    limits = (
        ("minimum", field.ge),
        ("exclusiveMinimum", field.gt),
        ("maximum", field.le),
        ("exclusiveMaximum", field.lt),
    )
    for word, limit in limits:
        if limit is not None and isinstance(limit, int | float):
            result[word] = limit / 100 if of is s.MONEY else limit
    is_list = isinstance(of, s.ListOf)
    for word, limit in (("min", field.min_length), ("max", field.max_length)):
        if limit is not None:
            result[word + ("Items" if is_list else "Properties" if isinstance(of, s.DictOf) else "Length")] = limit
    if field.pattern is not None:
        result["pattern"] = field.pattern
    return result


def _bound_text(bounds: Mapping[str, Any]) -> str:
    words = {
        "minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "exclusiveMaximum": "less than",
        "minLength": "at least", "maxLength": "at most", "minItems": "at least", "maxItems": "at most",
        "minProperties": "at least", "maxProperties": "at most", "pattern": "matching",
    }  # fmt: skip
    units = {"Length": " characters", "Items": " items", "ties": " entries"}
    unit = {k: next((u for end, u in units.items() if k.endswith(end)), "") for k in bounds}
    parts = [f"{words[k]} {v}{unit[k]}" for k, v in bounds.items()]
    return f"({', '.join(parts)})"


_SCALARS: Final[dict[str, dict[str, Any]]] = {
    "str": {"type": "string"}, "int": {"type": "integer"}, "float": {"type": "number"}, "number": {"type": "number"},
    "bool": {"type": "boolean"}, "money": {"type": "number", "description": "At most 2 decimals."},
    "date": {"type": "string", "description": "Date, YYYY-MM-DD."},
    "time": {"type": "string", "description": "Time, HH:MM:SS."},
    "datetime": {"type": "string", "description": "Time in UTC, YYYY-MM-DDTHH:MM:SSZ."},
    "local_datetime": {"type": "string", "description": "Time, YYYY-MM-DDTHH:MM:SS."},
    "zone": {"type": "string", "description": "IANA time zone, such as Europe/Paris."},
    "duration": {"type": "integer", "description": "Seconds."}, "any": {},
}  # fmt: skip


def _schema(shape: s.Shape, strict: bool) -> dict[str, Any]:
    match shape:
        case s.Scalar():
            return dict(_SCALARS[shape.name])
        case s.Nullable():
            return _or_null(_schema(shape.of, strict))
        case s.ListOf():
            return {"type": "array", "items": _schema(shape.item, strict)}
        case s.DictOf():
            key = {"propertyNames": {"enum": list(shape.key.values)}} if isinstance(shape.key, s.Enum) else {}
            return {"type": "object", "additionalProperties": _schema(shape.value, strict), **key}
        case s.Enum():
            return {"type": "string" if isinstance(shape.values[0], str) else "integer", "enum": list(shape.values)}
        case s.Const():
            kind = (
                "boolean" if isinstance(shape.value, bool) else "string" if isinstance(shape.value, str) else "integer"
            )
            return {"type": kind, "enum": [shape.value]}
        case s.Ref():
            return {"type": "integer" if shape.of is s.INT else "string"}
        case s.Struct():
            return _object(shape.fields, strict)
        case s.Partial():
            return _object(shape.of.fields, strict, partial=True)
        case s.Union():
            return {"anyOf": [_schema(m, strict) for m in shape.members]}
    raise TypeError(f"no such shape: {shape!r}")


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if not schema or (isinstance(schema.get("type"), list) and "null" in schema["type"]):
        return schema
    if isinstance(schema.get("type"), str) and schema["type"] != "object" and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    description = {"description": schema["description"]} if "description" in schema else {}
    inner = {k: v for k, v in schema.items() if k != "description"}
    options = inner["anyOf"] if set(inner) == {"anyOf"} else [inner]
    if {"type": "null"} in options:
        return schema
    return {"anyOf": [*options, {"type": "null"}], **description}


# -- dialects


def openai(tools: Iterable[Tool], strict: bool = False) -> Catalogue:
    """Chat-completions function tools. ``strict`` tools that OpenAI could not compile fall back to plain, with the reason."""
    made, fallbacks = [], {}
    for tool in tools:
        schema, reason = _strict_or_plain(tool, strict)
        if reason:
            fallbacks[tool.name] = reason
        function: dict[str, Any] = {"name": tool.name, "description": tool.description, "parameters": schema}
        if strict:
            function["strict"] = not reason
        made.append({"type": "function", "function": function})
    return _catalogue(made, fallbacks)


def anthropic(tools: Iterable[Tool], strict: bool = False) -> Catalogue:
    """Messages-API tools. ``strict`` tools whose grammar would be too large fall back to plain, with the reason."""
    made, fallbacks = [], {}
    for tool in tools:
        schema, reason = _strict_or_plain(tool, strict)
        if reason:
            fallbacks[tool.name] = reason
        entry: dict[str, Any] = {"name": tool.name, "description": tool.description, "input_schema": schema}
        if strict and not reason:
            entry["strict"] = True
        made.append(entry)
    return _catalogue(made, fallbacks)


def mcp(tools: Iterable[Tool]) -> Catalogue:
    """Entries of an MCP tools/list result."""
    return _catalogue(
        [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": parameters(tool.params),
                "annotations": {"readOnlyHint": tool.kind == "read", "openWorldHint": False},
            }
            for tool in tools
        ],
        {},
    )


def _strict_or_plain(tool: Tool, strict: bool) -> tuple[dict[str, Any], str]:
    if not strict:
        return parameters(tool.params), ""
    schema = parameters(tool.params, strict=True)
    reason = _not_strict(schema)
    return (parameters(tool.params), reason) if reason else (schema, "")


def _not_strict(schema: dict[str, Any]) -> str:
    """Why a schema cannot be a strict one, or an empty text."""
    count = _Count()
    count.visit(schema, 0)
    if count.open:
        return f"{count.open} is an object of free form, which strict schemas do not have"
    limits = (
        (count.depth, _STRICT_DEPTH, "levels of nesting"), (count.properties, _STRICT_PROPERTIES, "properties"),
        (count.enums, _STRICT_ENUM, "enum values"), (count.text, _STRICT_TEXT, "characters of names and values"),
        (count.nullable, _STRICT_OPTIONAL, "optional or nullable parts"),
    )  # fmt: skip
    return next((f"it has {n} {words}, and {most} is the most" for n, most, words in limits if n > most), "")


class _Count:
    def __init__(self) -> None:
        self.depth = self.properties = self.enums = self.text = self.nullable = 0
        self.open = ""

    def visit(self, schema: dict[str, Any], depth: int, name: str = "the argument list") -> None:
        if not schema or isinstance(schema.get("additionalProperties"), dict):
            self.open = self.open or name
            return
        kind = schema.get("type")
        if kind == "object":
            depth += 1
            self.depth = max(self.depth, depth)
        if isinstance(kind, list) or any(o == {"type": "null"} for o in schema.get("anyOf", ())):
            self.nullable += 1
        values = schema.get("enum", [])
        self.enums += len(values)
        self.text += sum(len(v) for v in values if isinstance(v, str))
        for key, inner in schema.get("properties", {}).items():
            self.properties += 1
            self.text += len(key)
            self.visit(inner, depth, key)
        for inner in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])):
            if inner != {"type": "null"}:
                self.visit(inner, depth, name)


def _catalogue(tools: list[dict[str, Any]], fallbacks: dict[str, str]) -> Catalogue:
    tokens = estimate_tokens(tools)
    warnings = [f"{name}: not strict, as {reason}" for name, reason in fallbacks.items()]
    if tokens > CATALOGUE_TOKENS:
        warnings.append(
            f"{len(tools)} tools take about {tokens:,} tokens, more than the {CATALOGUE_TOKENS:,} that agents bear"
        )
    return Catalogue(tools, fallbacks, warnings, tokens)


def estimate_tokens(value: Any) -> int:
    """About how many tokens a JSON value takes in a prompt: a quarter of its UTF-8 bytes."""
    return (len(json.dumps(value, ensure_ascii=False).encode()) + 3) // 4
