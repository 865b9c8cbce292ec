"""JSON Schemas of arguments as the runtime's shapes, for classes that tell their tools by schemas only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envscaler.runtime import shapes as s

__all__ = ["fields_of_schema"]

_BOUNDS = {
    "minimum": "ge", "exclusiveMinimum": "gt", "maximum": "le", "exclusiveMaximum": "lt", "minLength": "min_length",
    "maxLength": "max_length", "minItems": "min_length", "maxItems": "max_length",
}  # fmt: skip
_SCALARS = {
    "string": s.STR,
    "integer": s.INT,
    "number": s.NUMBER,
    "boolean": s.BOOL,
}
_FORMATS = {"date": s.DATE, "time": s.TIME, "date-time": s.DATETIME}


def fields_of_schema(schema: Mapping[str, Any]) -> dict[str, s.Field]:
    """The properties of an object's schema as fields by name."""
    required = set(schema.get("required", ()))
    properties = schema.get("properties", {})
    return {name: _field(name, part, name in required) for name, part in properties.items()}


def _field(name: str, schema: Mapping[str, Any], required: bool) -> s.Field:
    bounds = {ours: schema[theirs] for theirs, ours in _BOUNDS.items() if theirs in schema}
    default = schema.get("default", s.MISSING)
    absent = not required and default is s.MISSING
    return s.Field(name, _shape(name, schema), default=default, absent=absent, **bounds)


def _shape(name: str, schema: Mapping[str, Any]) -> s.Shape:
    if "enum" in schema:
        values = tuple(v for v in schema["enum"] if v is not None)
        return s.Nullable(s.Enum(values)) if None in schema["enum"] else s.Enum(values)
    if "const" in schema:
        return s.Const(schema["const"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            options = [part for part in schema[key] if part.get("type") != "null"]
            of = _shape(name, options[0]) if len(options) == 1 else s.ANY
            return s.Nullable(of) if len(options) < len(schema[key]) else of
    kind = schema.get("type")
    if isinstance(kind, list):
        rest = [k for k in kind if k != "null"]
        of = _shape(name, {**schema, "type": rest[0]}) if len(rest) == 1 else s.ANY
        return s.Nullable(of) if "null" in kind else of
    if kind == "array":
        return s.ListOf(_shape(name, schema.get("items", {})))
    if kind == "object":
        if "properties" in schema:
            return s.Struct(name, tuple(fields_of_schema(schema).values()))
        of = schema.get("additionalProperties", {})
        return s.DictOf(_shape(name, of if isinstance(of, Mapping) else {}))
    if kind == "string":
        return _FORMATS.get(schema.get("format", ""), s.STR)
    return _SCALARS.get(str(kind), s.ANY)
