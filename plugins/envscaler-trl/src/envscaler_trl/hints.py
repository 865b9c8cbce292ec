"""What Python can say of a JSON Schema: a type hint, and in words what a hint cannot hold.

`transformers` makes a schema of hints again. It knows no objects with fields, no bounds and no defaults; these go into the
text of the argument.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, Union

__all__ = ["described", "hint", "plain"]

Schema = Mapping[str, Any]

_SCALARS: Final[dict[str, Any]] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None)}
_SAID: Final = {"type", "items", "enum", "anyOf", "additionalProperties"}
"""What a hint says."""

_BOUNDS: Final = {
    "minimum": "at least {}", "exclusiveMinimum": "more than {}", "maximum": "at most {}",
    "exclusiveMaximum": "less than {}", "minLength": "at least {} long", "maxLength": "at most {} long",
    "minItems": "at least {} long", "maxItems": "at most {} long", "minProperties": "at least {} long",
    "maxProperties": "at most {} long", "pattern": "matching {}",
}  # fmt: skip
_HEADS: Final = re.compile(r"\b(Args|Returns|Raises):")
_CHOICES: Final = re.compile(r"\(choices:.*\)\s*$", re.IGNORECASE)


def hint(schema: Schema) -> Any:
    """The type hint of a schema; `dict` for an object with fields."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "anyOf" in schema:
        return Union[tuple(map(hint, schema["anyOf"]))]  # noqa: UP007 - made of values
    kind = schema.get("type")
    if isinstance(kind, list):
        return Union[tuple(hint({**schema, "type": one}) for one in kind)]  # noqa: UP007
    if kind == "array":
        return list[hint(schema["items"])] if schema.get("items") else list  # type: ignore[misc]
    if kind == "object":
        values = schema.get("additionalProperties")
        return dict[str, hint(values)] if isinstance(values, Mapping) else dict  # type: ignore[misc]
    return _SCALARS.get(str(kind), Any)


def described(name: str, schema: Schema) -> str:
    """The text of an argument, in one line: description, bounds, default; its schema where a hint says too little."""
    top = _top(schema)
    rest = {key: value for key, value in top.items() if key not in _BOUNDS}
    parts = [str(schema.get("description") or top.get("description") or name.replace("_", " "))]
    bounds = [text.format(top[key]) for key, text in _BOUNDS.items() if key in top]
    if bounds:
        said = ", ".join(bounds)
        parts.append(said[0].upper() + said[1:])
    if schema.get("default") is not None:
        parts.append(f"By default {_json(schema['default'])}.")
    if not _whole({key: value for key, value in rest.items() if key not in ("description", "default")}):
        form = {key: value for key, value in schema.items() if key not in ("description", "default")}
        parts.append(f"As JSON Schema: {_json(form)}")
    text = " ".join(" ".join(_sentence(part, last=part is parts[-1]) for part in parts).split())
    return plain(text + "." if _CHOICES.search(text) else text)


def plain(text: str) -> str:
    """Text that has no headings of a docstring in it."""
    return _HEADS.sub(r"\1 -", text)


def _top(schema: Schema) -> Schema:
    """The schema itself, or the one beside null."""
    others = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    return others[0] if len(others) == 1 and len(schema["anyOf"]) == 2 else schema


def _whole(schema: Schema) -> bool:
    """Whether a hint says all of it."""
    if set(schema) - _SAID or schema.get("additionalProperties") is False:
        return False
    inner = [*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")]
    return all(_whole(one) for one in inner if isinstance(one, Mapping))


def _sentence(text: str, *, last: bool) -> str:
    return text if last or text.rstrip().endswith((".", "!", "?", ":", ";", ",")) else f"{text.rstrip()}."


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
