"""What transformers makes of the classes of all shipped specs, held against the specs' own schemas."""

import inspect
import json
from typing import Any

import pytest
from envscaler_trl import Environments

SHIPPED = (
    "bank", "calendar", "court_registry", "hospital_ward", "laboratory", "permit_office", "warehouse", "file_system",
    "mathematics", "messages", "posting_service", "retail", "tau2_mock", "ticket_desk", "trading_bot", "travel_agency",
    "vehicle",
)  # fmt: skip
BOUNDS = (
    "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems",
    "minProperties", "maxProperties", "pattern",
)  # fmt: skip

TASK = {
    "kind": "none", "task": "None.", "outcome": "refusal", "goals": [{"expr": 'refusal == "not_found"'}], "guards": [],
    "solution": [], "seed": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def get_json_schema() -> Any:
    pytest.importorskip("transformers", reason="transformers is not installed: pip install '.[trl]'")
    from transformers.utils import get_json_schema

    return get_json_schema


def sayable(schema: dict[str, Any]) -> dict[str, Any]:
    """What is left of a schema that must be said by type hints, in the form that transformers has for it."""
    if "anyOf" in schema or isinstance(schema.get("type"), list):
        options = schema.get("anyOf") or [{**schema, "type": one} for one in schema["type"]]
        kept = [sayable(one) for one in options if one.get("type") != "null"]
        kept = [one for n, one in enumerate(kept) if one not in kept[:n]]
        if len(kept) > 1 and all(set(one) == {"type"} for one in kept):
            kept = [{"type": sorted(one["type"] for one in kept)}]
        found = kept[0] if len(kept) == 1 else {"anyOf": kept}
        return {**found, "nullable": True} if len(options) > sum(o.get("type") != "null" for o in options) else found
    found = {key: schema[key] for key in ("type", "enum") if key in schema}
    if schema.get("items"):
        found["items"] = sayable(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        found["additionalProperties"] = sayable(schema["additionalProperties"])
    return found


def told(schema: dict[str, Any], text: str) -> bool:
    """Whether the text of an argument says what type hints do not."""
    top = next((o for o in schema.get("anyOf", ()) if "anyOf" in schema and o != {"type": "null"}), schema)
    whole = json.dumps({k: v for k, v in schema.items() if k not in ("description", "default")}, ensure_ascii=False)
    lost = any(word in whole for word in ('"properties"', '"propertyNames"'))
    bounds = all(str(top[key]) in text or whole in text for key in BOUNDS if key in top)
    default = schema.get("default")
    return (
        (schema.get("description", "") in text)
        and (not lost or whole in text)
        and bounds
        and (default is None or json.dumps(default, ensure_ascii=False) in text)
    )


@pytest.mark.parametrize("spec", SHIPPED)
def test_schemas_are_the_specs_own(spec: str, get_json_schema: Any) -> None:
    made = Environments(names=[spec])
    environment = made.classes[spec]()
    assert made.notes[spec] == ()
    names = [name for name, _ in inspect.getmembers(type(environment), inspect.isfunction)]
    names = [name for name in names if name not in ("reset", "get_reward") and not name.startswith("_")]
    *offered, _ = made._episodes.begin({**TASK, "spec": {"name": spec, "hash": ""}})[1].tools
    assert sorted(names) == sorted([*(tool.name for tool in offered), "submit"])
    for tool in offered:
        name, own = tool.name, tool.parameters
        function = get_json_schema(getattr(environment, name))["function"]
        assert function["name"] == name
        assert function["description"] == tool.description.strip()
        found = function["parameters"]
        assert list(found["properties"]) == list(own["properties"])
        assert found.get("required", []) == own.get("required", [])
        for param, schema in own["properties"].items():
            plain = {key: value for key, value in found["properties"][param].items() if key != "description"}
            assert plain == sayable(schema), (name, param)
            assert told(schema, found["properties"][param]["description"]), (name, param)
    submit = get_json_schema(environment.submit)["function"]["parameters"]
    assert submit["properties"]["answer"]["type"] == "object"
    assert {"not_found", "not_possible", "missing_information"} <= set(submit["properties"]["refusal"]["enum"])
