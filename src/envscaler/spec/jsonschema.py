"""The JSON Schema of specs, for editors: derived from the forms, so that it allows the keys that the reader allows."""

from __future__ import annotations

from typing import Any

from envscaler.spec.forms import FORMS, NAME_KINDS, Form, FormKey

__all__ = ["spec_schema"]

# YAML parsers of editors type plain scalars on their own: a text may arrive as a number, a bool, or null
_TEXT = {"type": ["string", "number", "boolean"]}
_NAMES = {
    "lower": "^[a-z][a-z0-9_]*$",
    "tool": "^[a-z][A-Za-z0-9_]*$",
    "type": "^[A-Z][A-Za-z0-9]*$",
    "constant": "^[A-Z][A-Z0-9_]*$",
}
_KEYS_OF_MAP = {"constant": "constant", "tool": "tool", "type": "type"}  # names of other maps are lower-case


def spec_schema() -> dict[str, Any]:
    """The schema (2020-12) of a spec. It knows structure and names of keys; what names refer to, the checker knows."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "envscaler spec",
        "description": FORMS["spec"].doc,
        "$ref": "#/$defs/spec",
        "$defs": {
            **{form.name: _form(form) for form in FORMS.values()},
            "type_expression": _type_expression(),
        },
    }


def _form(form: Form) -> dict[str, Any]:
    properties = {key.key: {**_of(key), "description": _doc(key)} for key in form.keys}
    mapping: dict[str, Any] = {
        "type": "object",
        "description": form.doc,
        "properties": properties,
        "required": [key.key for key in form.keys if key.required],
        "additionalProperties": False,
    }
    if form.name == "constant":
        return {
            "anyOf": [
                mapping,
                {
                    "not": {
                        "anyOf": [
                            {"type": "null"},
                            {"type": "object", "anyOf": [{"required": ["type"]}, {"required": ["value"]}]},
                        ]
                    }
                },
            ]
        }
    if "type" in form.short:
        return {
            "anyOf": [{"type": "string", "description": "the name of a type, with ? when null is allowed"}, mapping]
        }
    return mapping


def _doc(key: FormKey) -> str:
    return f"{key.doc} (default: {key.default})" if key.default else key.doc


def _of(key: FormKey) -> dict[str, Any]:
    match key.kind:
        case "int":
            return {"type": "integer"}
        case "bool":
            return {"type": "boolean"}
        case "choice":
            return {"enum": list(key.choices)}
        case "name":
            return {"type": "string", "pattern": _NAMES[key.of], "maxLength": 64}
        case "names":
            return {"type": "array", "items": {"type": "string", "pattern": _NAMES[key.of]}}
        case "block":
            return {"type": "string"}
        case "type":
            return {"$ref": "#/$defs/type_expression"}
        case "types":
            return {"type": "array", "items": {"type": "string"}, "minItems": 2}
        case "values":
            return {"type": "array", "items": _TEXT, "minItems": 1}
        case "form":
            return {"$ref": f"#/$defs/{key.of}"}
        case "list":
            return {"type": "array", "items": {"$ref": f"#/$defs/{key.of}"}}
        case "map":
            return _map(key)
        case "unique":
            return {"type": "array", "items": {"type": "array", "items": {"type": "string"}, "minItems": 1}}
        case "moves":
            return {"type": "object", "additionalProperties": {"type": "array", "items": _TEXT}}
        case "state":
            return {"type": "object"}
        case "value" | "json":
            return {}
        case _:
            return dict(_TEXT)


def _map(key: FormKey) -> dict[str, Any]:
    kind = _KEYS_OF_MAP.get(key.of, "lower")
    names = {"pattern": _NAMES[kind], "maxLength": 64, "description": NAME_KINDS[kind]}
    return {"type": "object", "propertyNames": names, "additionalProperties": {"$ref": f"#/$defs/{key.of}"}}


def _type_expression() -> dict[str, Any]:
    """A type within a type: a name or a type form without attributes."""
    keys = [k for k in FORMS["type"].keys if k.key not in ("fields", "description")]
    mapping = {
        "type": "object",
        "properties": {k.key: {**_of(k), "description": _doc(k)} for k in keys},
        "minProperties": 1,
        "additionalProperties": False,
    }
    return {"anyOf": [{"type": "string"}, mapping]}
