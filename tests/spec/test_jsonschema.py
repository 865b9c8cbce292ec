"""The JSON Schema for editors agrees with the reader about structure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from envscaler.session.files import spec_files
from envscaler.spec.codes import complete
from envscaler.spec.codes.structure import STRUCTURE
from envscaler.spec.entries import json_of
from envscaler.spec.forms import FORMS
from envscaler.spec.jsonschema import spec_schema
from envscaler.spec.read import parse_spec
from envscaler.spec.report import Report

SCHEMA = spec_schema()
STRUCTURAL = {"unknown-key", "missing-key", "bad-choice", "bad-name"}


def _problems(text: str) -> list[str]:
    document = parse_spec("spec.yaml", text, Report())
    assert document is not None
    data: Any = json_of(document.root)
    return [e.message for e in jsonschema.Draft202012Validator(SCHEMA).iter_errors(data)]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(FORMS) <= set(SCHEMA["$defs"])


@pytest.mark.slow
def test_specs_are_valid(shed: str) -> None:
    folder = Path(__file__).parents[2] / "specs"
    for text in (shed, *(p.read_text(encoding="utf-8") for p in spec_files([folder])[0])):
        assert _problems(text) == []


@pytest.mark.parametrize("code", [c for c in STRUCTURE if c.name in STRUCTURAL], ids=lambda c: c.name)
def test_mistakes_of_structure_are_seen(code: Any) -> None:
    assert _problems(complete(code.bad))
    assert _problems(complete(code.good)) == []


def test_good_snippets_are_valid() -> None:
    for code in STRUCTURE:
        if not code.good.startswith(("-", "%")):
            assert _problems(complete(code.good)) == [], code.name


@pytest.mark.parametrize(
    ("old", "new"),
    [("    kind: write", "    kind: write\n    bogus: 1"), ("key: {name: number,", "key: {name: number, bogus: 1,"), ("{type: int, ge: 1", "{type: int, least: 1"),
     ("title: Shed", "titel: Shed"), ("examples:\n      - {call", "examples:\n      - {cal")],
)  # fmt: skip
def test_unknown_keys_are_rejected_at_every_depth(shed: str, old: str, new: str) -> None:
    assert _problems(shed.replace(old, new, 1))
