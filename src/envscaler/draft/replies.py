"""Parts of a spec as a model sends them: the language's forms as a schema; harmless other shapes are read as what they mean."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from envscaler.draft.parts import SECTIONS, WHOLE
from envscaler.spec.forms import SCALARS, FormKey, form

__all__ = ["PartsReply", "schema_of"]

_LOOSE: Final = {
    "types": "type",
    "constants": "constant",
    "states": "state",
    "rules": "rule",
    "helpers": "helper",
    "tools": "tool",
}
_SHORT: Final = ("types", "constants")  # entries that need not be mappings
_KINDS: Final[dict[str, Any]] = {
    "int": {"type": "integer"}, "bool": {"type": "boolean"}, "names": {"type": "array", "items": {"type": "string"}},
    "types": {"type": "array"}, "values": {"type": "array"}, "unique": {"type": "array"}, "map": {"type": "object"},
    "moves": {"type": "object"}, "type": {}, "value": {}, "json": {},
}  # fmt: skip


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of a form, in the reference's keys; what stands deeper is said by the card and held by the checker."""
    found = form(name)
    required = [k.key for k in found.keys if k.required]
    properties = {k.key: _schema(k) for k in found.keys if k.key not in ("actor", "json")}
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _schema(key: FormKey) -> dict[str, Any]:
    if key.kind == "choice":
        return {"enum": list(key.choices)}
    if key.kind == "form":
        return schema_of(key.of)
    if key.kind == "list":
        return {"type": "array", "items": schema_of(key.of)}
    return dict(_KINDS.get(key.kind, {"type": "string"}))


def _section(name: str) -> Any:
    one = {} if name in _SHORT else schema_of(_LOOSE[name])
    shown = f"each {_LOOSE[name]} under its name"
    return Annotated[
        dict[str, Any], WithJsonSchema({"type": "object", "description": shown, "additionalProperties": one})
    ]


def _without_titles(schema: dict[str, Any]) -> None:
    for one in schema["properties"].values():
        one.pop("title", None)
        one.pop("default", None)


class PartsReply(BaseModel):
    """Parts of the spec, by section and name; only those that were asked for."""

    model_config = ConfigDict(title="Parts", extra="ignore", json_schema_extra=_without_titles)

    description: str = ""
    clock: str = ""
    constants: _section("constants") = Field(default_factory=dict)  # type: ignore[valid-type]
    types: _section("types") = Field(default_factory=dict)  # type: ignore[valid-type]
    states: _section("states") = Field(default_factory=dict)  # type: ignore[valid-type]
    rules: _section("rules") = Field(default_factory=dict)  # type: ignore[valid-type]
    helpers: _section("helpers") = Field(default_factory=dict)  # type: ignore[valid-type]
    tools: _section("tools") = Field(default_factory=dict)  # type: ignore[valid-type]
    after_each: list[str] = Field(default_factory=list)
    initial_state: dict[str, Any] = Field(default_factory=dict)
    as_run: list[str] = Field(default_factory=list, description="examples whose expected value was wrong: tool.number")

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, given: Any) -> Any:
        return _meant(given) if isinstance(given, Mapping) else given

    def parts(self) -> dict[str, Any]:
        """The parts by path, in the order of the language."""
        found: dict[str, Any] = {key: getattr(self, key) for key in WHOLE if getattr(self, key, None)}
        if self.after_each == [] and "after_each" in self.model_fields_set:
            found["after_each"] = None
        for section in SECTIONS:
            entries = getattr(self, section)
            found |= {f"{section}.{name.removeprefix(f'{section}.')}": value for name, value in entries.items()}
        return found


# -- other shapes of the same


def _meant(given: Mapping[str, Any]) -> dict[str, Any]:
    inner = [v for k, v in given.items() if k.lower() in ("spec", "parts", "properties") and isinstance(v, Mapping)]
    if len(inner) == 1 and not any(given.get(section) for section in SECTIONS):
        given = inner[0]
    made = {k: v for k, v in given.items() if v is not None}
    for section in SECTIONS:
        if section in made:
            entries = _named(_alone(section, made[section]))
            made[section] = {name: _READ.get(section, _same)(value) for name, value in entries.items()}
    for key in ("description", "clock"):
        if not isinstance(made.get(key, ""), str):
            del made[key]
    for key in {"after_each", "as_run"} & set(made):
        made[key] = [v for v in _listed(made.get(key)) if isinstance(v, str)]
    return made


def _same(value: Any) -> Any:
    return value


_ALONE: Final = {"states": "record", "tools": "kind", "rules": "text"}


def _alone(section: str, value: Any) -> Any:
    """Where a section holds its one entry itself, a list with that; a state without a name is called for its record, and of
    other entries those without one are lost."""
    word = _ALONE.get(section, "")
    if not isinstance(value, Mapping) or not isinstance(value.get(word), str) or len(value) < 2:
        return value
    made = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", value[word]).lower() + "s" if section == "states" else None
    return [{"name": made, **value}]


def _named(value: Any) -> dict[str, Any]:
    """A mapping by name, also of a list of objects that have a `name`."""
    if isinstance(value, Mapping):
        return {str(k): v for k, v in value.items() if str(k).strip()}
    found = {}
    for item in _listed(value):
        if isinstance(item, Mapping) and isinstance(name := item.get("name"), str) and name.strip():
            found[name] = {k: v for k, v in item.items() if k != "name"}
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _tool(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    made = _helper(value)
    if isinstance(kind := made.get("kind"), str):
        made["kind"] = _TOOL_KINDS.get(kind.strip().lower(), kind)
    if isinstance(
        made.get("errors"), list
    ):  # the plan's refusals, which the logic says; the language's `errors` is a shape
        del made["errors"]
    if "examples" in made:
        made["examples"] = [_example(one) for one in _listed(made["examples"])]
    return _filled(made)


_TOOL_KINDS: Final = {"query": "read", "get": "read", "change": "write", "update": "write", "mutation": "write"}


def _helper(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return {"do": _logic(value)} if isinstance(value, str) else value
    made = _called(value, _ALIASES)
    if "do" in made:
        made["do"] = _logic(made["do"])
    if "params" in made:
        made["params"] = {name: _typed(of) for name, of in _named(made["params"]).items()}
    if "returns" in made:
        made["returns"] = _typed(made["returns"])
    return _filled({k: v for k, v in made.items() if k != "params" or v})


_ALIASES: Final = {"parameters": "params", "code": "do", "logic": "do", "body": "do"}


def _called(value: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A mapping with other names for some keys, where it has not got these already."""
    made: dict[str, Any] = {}
    for key, inner in value.items():
        meant = names.get(key, key)
        made[key if meant in value else meant] = inner
    return made


def _filled(made: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in made.items() if v is not None and (v != "" or k not in ("description", "returns"))}


def _example(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    made = _called(value, _EXAMPLE)
    if made.get("error", "") is None or ("returns" in made and made.get("error") == ""):
        del made["error"]
    if "error" in made and made.get("returns", "") is None:
        del made["returns"]
    return {k: v for k, v in made.items() if not (k in ("given", "at", "then", "rule") and not v)}


_EXAMPLE: Final = {
    "args": "call", "arguments": "call", "params": "call", "input": "call",
    "result": "returns", "output": "returns", "expected": "returns",
}  # fmt: skip


def _state(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    made = dict(value)
    if isinstance(made.get("key"), str):
        made["key"] = {"name": made["key"]}
    if "fields" in made:
        made["fields"] = {name: _typed(of) for name, of in _named(made["fields"]).items()}
    if made.get("single") is True and not made.get("key"):
        made.pop("key", None)
    return {
        k: v for k, v in made.items() if v is not None and v != "" and v != [] and not (k == "single" and v is False)
    }


def _rule(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return {"text": value} if isinstance(value, str) else value
    made = {k: v for k, v in value.items() if v is not None and v != "" and v != {}}
    if "holds" in made:
        made["holds"] = _logic(made["holds"])
    if made.get("policy") is False:
        del made["policy"]
    return made


def _declared(value: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(value.get("fields"), (Mapping, list)):
        return {**value, "fields": {name: _typed(of) for name, of in _named(value["fields"]).items()}}
    return _typed(value)


def _constant(value: Any) -> Any:
    return {**value, "type": _typed(value["type"])} if isinstance(value, Mapping) and "type" in value else value


_READ: Final = {
    "tools": _tool, "helpers": _helper, "states": _state, "rules": _rule, "types": _declared, "constants": _constant,
}  # fmt: skip

# -- logic

_LONGEST: Final = 100_000  # characters; of more no part is made
_FENCE: Final = re.compile(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", re.DOTALL)
_DEF: Final = re.compile(r"\A\s*def \w+\([^\n]*\)[^\n]*:[ \t]*\n(?=[ \t])")
_BAR: Final = re.compile(r"\A\s*\|[-+]?[ \t]*\n")


def _logic(value: Any) -> Any:
    """The text of a block: lines of a list joined, a fence or a `def` around it taken off, margins and odd characters too."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "\n".join(value)
    if not isinstance(value, str) or len(value) > _LONGEST:
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    text = "".join(c for c in text if c == "\n" or c.isprintable())
    for around in (_FENCE, _BAR):
        if match := around.match(text):
            text = match[1] if around is _FENCE else text[match.end() :]
    text = textwrap.dedent(text.strip("\n"))
    return textwrap.dedent(_DEF.sub("", text, count=1)).strip("\n")


# -- types

_WORDS: Final = {
    "string": "str", "text": "str", "integer": "int", "boolean": "bool", "double": "float", "timestamp": "datetime",
    "object": "any", "Any": "any",
}  # fmt: skip
_LIST: Final = re.compile(r"(?:list|List|array)\s*(?:\[|of |<)\s*(.+?)\s*[\]>]?\Z")
_DICT: Final = re.compile(r"(?:dict|Dict)\s*\[\s*str\s*,\s*(.+?)\s*\]\Z")
_NULL: Final = re.compile(r"(?:Optional\[(.+)\]|(.+?)\s*(?:\||or)\s*(?:None|null))\Z")
_REF: Final = re.compile(r"(?:ref|key of)[\s:(]+([a-z]\w*)\)?\Z")
_ENUM: Final = re.compile(r"enum\s*[\[(:]\s*(.+?)\s*[\])]?\Z")
_DEEPEST: Final = 12


def _typed(value: Any, depth: int = 0) -> Any:
    """A type as the language writes it, from what JSON Schema or Python would write."""
    if isinstance(value, str):
        return _word(value.strip(), depth)
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return value
    made = {k: v for k, v in value.items() if not (v is None and k != "default") and v != ""}
    inner = made.get("type")
    if isinstance(inner, Mapping):
        made = {**{k: v for k, v in made.items() if k != "type"}, **inner}
        inner = made.get("type")
    if isinstance(inner, str):
        made = _with_word(made, inner, depth)
    for key in ("list", "dict", "partial"):
        if key in made:
            made[key] = _typed(made[key], depth + 1)
    if made.pop("nullable", False) is True or (made.pop("optional", False) is True and "default" not in made):
        made.setdefault("null", True)
    if made.pop("required", True) is False and "default" not in made:
        made.update(null=True, default=None)
    if isinstance(made.get("type"), str) and made["type"].endswith("?"):
        made.pop("null", None)
    made = {k: v for k, v in made.items() if not (k in ("null", "absent", "unique", "incidental") and v is False)}
    return made["type"] if set(made) == {"type"} else made


def _with_word(made: dict[str, Any], inner: str, depth: int) -> dict[str, Any]:
    rest = {k: v for k, v in made.items() if k != "type"}
    if inner in ("array", "list") and any(k in rest for k in ("items", "of", "list")):
        of = next(rest.pop(k) for k in ("items", "of", "list") if k in rest)
        return {"list": of, **rest}
    if inner == "ref" and any(k in rest for k in ("collection", "to", "ref")):
        return {"ref": next(rest.pop(k) for k in ("ref", "collection", "to") if k in rest), **rest}
    if inner == "enum" and any(k in rest for k in ("values", "enum")):
        return {"enum": next(rest.pop(k) for k in ("enum", "values") if k in rest), **rest}
    if any(k in rest for k in ("enum", "ref", "list", "dict")):  # said twice
        return rest
    word = _word(inner, depth)
    return {**word, **rest} if isinstance(word, Mapping) else {"type": word, **rest}


def _word(text: str, depth: int) -> Any:
    plain = text.removesuffix("?")
    if plain in SCALARS or depth > _DEEPEST:
        return text
    if plain in _WORDS:
        return _WORDS[plain] + text[len(plain) :]
    if match := _NULL.match(text):
        of = _word((match[1] or match[2]).strip(), depth + 1)
        return {**of, "null": True} if isinstance(of, Mapping) else f"{str(of).removesuffix('?')}?"
    for pattern, key in ((_LIST, "list"), (_DICT, "dict")):
        if match := pattern.match(text):
            return {key: _word(match[1], depth + 1)}
    if match := _REF.match(text):
        return {"ref": match[1]}
    if match := _ENUM.match(text):
        return {"enum": [member.strip().strip("'\"") for member in match[1].split(",")]}
    return text
