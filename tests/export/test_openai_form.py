"""Lines for OpenAI's fine-tuning, held against a schema of that form, written down here from its reference."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.export.openai import OpenAI
from envscaler.export.sample import Sample
from envscaler.testing.exporters import sample
from tests.export.made import samples

NAME = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
TEXT = {"type": "string"}


def closed(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


CALL = closed(
    {
        "id": {"type": "string", "minLength": 1},
        "type": {"const": "function"},
        "function": closed({"name": NAME, "arguments": TEXT}),
    }
)
ASSISTANT = closed(
    {
        "role": {"const": "assistant"},
        "content": {"type": ["string", "null"]},
        "tool_calls": {"type": "array", "items": CALL, "minItems": 1, "maxItems": 128},
        "weight": {"enum": [0, 1]},
    },
    "content", "tool_calls", "weight",
)  # fmt: skip
LINE = closed(
    {
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "oneOf": [
                    closed({"role": {"enum": ["system", "developer", "user"]}, "content": TEXT}),
                    {**ASSISTANT, "anyOf": [{"required": ["content"]}, {"required": ["tool_calls"]}]},
                    closed({"role": {"const": "tool"}, "content": TEXT, "tool_call_id": TEXT}),
                ]
            },
        },
        "tools": {
            "type": "array",
            "minItems": 1,
            "maxItems": 128,
            "items": closed(
                {
                    "type": {"const": "function"},
                    "function": closed(
                        {"name": NAME, "description": TEXT, "parameters": {"type": "object"}, "strict": {"type": "boolean"}},
                        "description", "parameters", "strict",
                    ),
                }
            ),
        },
        "parallel_tool_calls": {"type": "boolean"},
    },
    "tools", "parallel_tool_calls",
)  # fmt: skip


def hold(line: dict[str, Any]) -> None:
    """What the schema says, and what one cannot say in it: results follow the calls that they answer, names are on offer, and
    something is learnt at the end."""
    jsonschema.validate(line, LINE)
    offered = {tool["function"]["name"] for tool in line["tools"]}
    open_: list[str] = []
    for message in line["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in open_
            open_.remove(message["tool_call_id"])
            continue
        assert not open_, "a call has no result"
        for call in message.get("tool_calls", ()):
            assert call["function"]["name"] in offered
            open_.append(call["id"])
    assert line["messages"][-1]["role"] == "assistant"


@settings(max_examples=40, deadline=None)
@given(samples(), st.sampled_from(["last", "all", "none"]))
def test_every_line_is_of_the_form(one: Sample, kept: str) -> None:
    hold(json.loads(json.dumps(OpenAI({"reasoning": kept}).row(one))))


def test_the_sample() -> None:
    line = json.loads(json.dumps(OpenAI({}).row(sample())))
    hold(line)
    learnt = [m.get("weight", 1) for m in line["messages"] if m["role"] == "assistant"]
    assert learnt == [1, 0, 1, 1]
    arguments = [json.loads(c["function"]["arguments"]) for m in line["messages"] for c in m.get("tool_calls", ())]
    assert arguments == [{"account": "A-1"}, {"account": "A-2", "on": None}, {}]


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": []},
        {"messages": [{"role": "assistant"}]},
        {"messages": [{"role": "assistant", "content": "a", "weight": 2}]},
        {"messages": [{"role": "user", "content": "a", "weight": 1}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}]}]},
    ],
)  # fmt: skip
def test_the_schema_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, LINE)
