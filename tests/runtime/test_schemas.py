"""Tool schemas: they keep the rules that providers publish, and say no less than the tools enforce.

The rules are written down as JSON Schemas of schemas: OpenAI's strict subset (all objects closed, all keys required,
listed keywords only), Anthropic's and MCP's input schemas (an object at the top; draft 2020-12).
"""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from envscaler.runtime import MISSING, Environment, Tool
from envscaler.runtime import shapes as s
from envscaler.runtime.schemas import CATALOGUE_TOKENS
from tests.runtime.sample_forms import Forms
from tests.runtime.sample_library import Library

_NAME = {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}
OPENAI_STRICT = {
    "$defs": {
        "schema": {
            "type": "object",
            "properties": {
                "type": {
                    "anyOf": [
                        {"enum": ["string", "number", "integer", "boolean", "object", "array", "null"]},
                        {"type": "array"},
                    ]
                },
                "description": {"type": "string"},
                "enum": {"type": "array", "minItems": 1},
                "properties": {"type": "object", "additionalProperties": {"$ref": "#/$defs/schema"}},
                "required": {"type": "array"},
                "additionalProperties": {"const": False},
                "items": {"$ref": "#/$defs/schema"},
                "anyOf": {"type": "array", "items": {"$ref": "#/$defs/schema"}},
            },
            "anyOf": [{"required": ["type"]}, {"required": ["anyOf"]}],
            "additionalProperties": False,
            "if": {"properties": {"type": {"const": "object"}}, "required": ["type"]},
            "then": {"required": ["properties", "required", "additionalProperties"]},
        }
    },
    "$ref": "#/$defs/schema",
}
OPENAI_TOOL = {
    "type": "object",
    "properties": {
        "type": {"const": "function"},
        "function": {
            "type": "object",
            "properties": {
                "name": _NAME,
                "description": {"type": "string"},
                "parameters": {"type": "object"},
                "strict": {"type": "boolean"},
            },
            "required": ["name", "parameters"],
            "additionalProperties": False,
        },
    },
    "required": ["type", "function"],
    "additionalProperties": False,
}
ANTHROPIC_TOOL = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "description": {"type": "string"},
        "strict": {"type": "boolean"},
        "input_schema": {"type": "object", "properties": {"type": {"const": "object"}}, "required": ["type"]},
    },
    "required": ["name", "input_schema"],
    "additionalProperties": False,
}
MCP_TOOL = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "inputSchema": {"type": "object", "properties": {"type": {"const": "object"}}, "required": ["type"]},
        "annotations": {"type": "object"},
    },
    "required": ["name", "inputSchema"],
    "additionalProperties": False,
}

ADDRESS = s.Struct(
    "Address",
    (s.Field("street", s.STR), s.Field("unit", s.STR, absent=True), s.Field("floor", s.Nullable(s.INT), default=None)),
)
CASH = s.Struct("Cash", (s.Field("by", s.Const("cash")),))
CARD = s.Struct("Card", (s.Field("by", s.Const("card")), s.Field("digits", s.STR, pattern="^[0-9]{4}$")))


def echo(
    _state: Any,
    a: Any = MISSING,
    b: Any = MISSING,
    c: Any = MISSING,
    d: Any = MISSING,
    e: Any = MISSING,
    limit: Any = MISSING,
) -> Any:
    from envscaler.runtime import builtins as rt

    values = {"a": a, "b": b, "c": c, "d": d, "e": e, "limit": limit}
    return {name: rt.coerce(_state, PARAMS[name], value) for name, value in values.items()}


PARAMS = s.params(
    s.Field("a", ADDRESS, description="Where."),
    s.Field("b", s.Partial(ADDRESS), default={}),
    s.Field("c", s.Union("Pay", "by", (CASH, CARD)), absent=True),
    s.Field("d", s.ListOf(ADDRESS), default=[], max_length=3),
    s.Field("e", s.Nullable(s.Enum((1, 2))), default=2),
    s.Field("limit", s.INT, ge=1, le=99, default=20, json="limit-of"),
)


class Echo(Environment):
    __slots__ = ()

    name = "echo"
    tool_table = (Tool("echo", echo, "read", description="Say it again.", params=PARAMS),)


def strict_problems(schema: Any, path: str = "") -> list[str]:
    """OpenAI's rule that JSON Schema cannot state: `required` names every property."""
    found = []
    if schema.get("type") == "object" and sorted(schema["required"]) != sorted(schema["properties"]):
        found.append(path)
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("anyOf", ()),
        *([schema["items"]] if "items" in schema else []),
    ]
    return found + [p for part in inner for p in strict_problems(part, path + "/")]


@pytest.mark.parametrize("cls", [Library, Echo])
def test_strict_tools_keep_openai_s_and_anthropic_s_rules(cls: type[Environment]) -> None:
    tools = cls.new().tools
    for tool in tools.as_openai(strict=True):
        Draft202012Validator(OPENAI_TOOL).validate(tool)
        assert tool["function"]["strict"] is True
        Draft202012Validator(OPENAI_STRICT).validate(tool["function"]["parameters"])
        assert strict_problems(tool["function"]["parameters"]) == []
    for tool in tools.as_anthropic(strict=True):
        Draft202012Validator(ANTHROPIC_TOOL).validate(tool)
        Draft202012Validator(OPENAI_STRICT).validate(tool["input_schema"])


@pytest.mark.parametrize("cls", [Library, Echo, Forms])
def test_plain_tools_keep_everyone_s_rules(cls: type[Environment]) -> None:
    tools = cls.new().tools
    for form, rules, key in (
        (tools.as_openai(), OPENAI_TOOL, "parameters"),
        (tools.as_anthropic(), ANTHROPIC_TOOL, "input_schema"),
        (tools.as_mcp(), MCP_TOOL, "inputSchema"),
    ):
        for tool in form:
            Draft202012Validator(rules).validate(tool)
            schema = tool.get("function", tool)[key]
            Draft202012Validator.check_schema(schema)
            assert "$ref" not in repr(schema)
            assert schema["additionalProperties"] is False
    assert [t["name"] for t in tools.as_mcp()] == list(tools.names)


def test_schemas_hold_declared_parameters_and_their_bounds() -> None:
    schema = Library.new().tools.schemas["find_copies"]
    assert schema == {
        "type": "object",
        "properties": {
            "words": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        },
        "required": ["words"],
        "additionalProperties": False,
    }
    strict = Library.new().tools.as_openai(strict=True)[1]["function"]["parameters"]["properties"]["limit"]
    assert strict == {"type": ["integer", "null"], "description": "(at least 1, at most 100) Null means 20."}


def test_omitted_and_null_optionals_are_the_same() -> None:
    env = Echo.new()
    short = {"a": {"street": "x"}}
    long = {
        "a": {"street": "x", "unit": None, "floor": None},
        "b": None,
        "c": None,
        "d": None,
        "e": None,
        "limit-of": None,
    }
    Draft202012Validator(env.tools.as_openai(strict=True)[0]["function"]["parameters"]).validate(long)
    first, second = env.call("echo", short), env.call("echo", long)
    assert first.value == {"a": {"street": "x", "floor": None}, "b": {}, "c": None, "d": [], "e": 2, "limit": 20}
    assert second.value == {**first.value, "e": None}
    partial = env.call("echo", {**short, "b": {"street": None, "floor": 3}})
    assert partial.value["b"] == {"floor": 3}


def test_bounds_hold_whatever_the_schema_says() -> None:
    env = Echo.new()
    for wrong in (
        {"limit-of": 0},
        {"limit-of": 100},
        {"c": {"by": "card", "digits": "12"}},
        {"d": [{"street": "x"}] * 4},
    ):
        assert env.call("echo", {"a": {"street": "x"}, **wrong}).error.code == "invalid_argument"  # type: ignore[union-attr]


def test_free_form_objects_and_huge_schemas_fall_back() -> None:
    catalogue = Forms.new().tools.catalogue("openai", strict=True)
    assert catalogue.fallbacks["set"] == "where is an object of free form, which strict schemas do not have"
    assert catalogue.tools[0]["function"]["strict"] is False
    big = s.params(*(s.Field(f"p{i}", s.Nullable(ADDRESS), default=None) for i in range(40)))

    class Big(Environment):
        tool_table = tuple(Tool(f"t{i}", echo, params=big, description="words " * 40) for i in range(250))

    catalogue = Big.new().tools.catalogue("anthropic", strict=True)
    assert "optional or nullable parts" in catalogue.fallbacks["t0"]
    assert catalogue.tokens > CATALOGUE_TOKENS
    assert catalogue.warnings[-1].startswith("250 tools take about ")
