"""Writing a spec by a model: what is kept, what is refused, and that nothing that a model sends makes the program fail."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest

from envscaler.diagnostics import Diagnostic
from envscaler.draft.parts import Parts
from envscaler.draft.replies import PartsReply, schema_of
from envscaler.draft.writing import Draft, Grown, WriteSettings, write
from envscaler.errors import UsageError
from envscaler.llm import Message, Reply, Request, Usage
from envscaler.llm.asking import Unusable
from envscaler.spec.check import check_text
from envscaler.spec.format import format_text
from envscaler.spec.forms import FORMS
from tests.assess.models import SHELF, replied, scripted
from tests.draft.mender import Mending, planned, sections

SPEC = sections(SHELF)


def written(coder: Any, spec: dict[str, Any] = SPEC, *, tell: Any = None, note: str = "", **settings: Any) -> Draft:
    with scripted(coder=coder) as (models, _):
        task = "Lend me Emma.\n# &anchor *alias"
        made = planned(spec, task=task, origin={"file": "tasks.jsonl", "line": 7, "source": "jsonl"})
        return models.run(write(made, models.role("coder"), WriteSettings(**settings), tell=tell, note=note))


def changed(path: str, value: Any) -> dict[str, Any]:
    """The spec with another value at a path."""
    made: Any = copy.deepcopy(SPEC)
    *steps, last = path.split(".")
    at = made
    for step in steps:
        at = at[step]
    at[last] = value
    return dict(made)


def test_a_sound_spec_comes_out_as_it_was_sent_and_says_where_it_is_from() -> None:
    grown: list[Grown] = []
    draft = written(Mending(SPEC), tell=grown.append, note="planned by another")
    assert (draft.problems, draft.missing, draft.taken) == ((), (), ())
    assert set(draft.parts.values()) == {1}
    assert draft.text.splitlines()[:5] == [
        "# Drafted by coder.",
        "# From the task: Lend me Emma. # &anchor *alias",
        "# Read from tasks.jsonl:7 as jsonl.",
        "# planned by another",
        "envscaler: 1",
    ]
    assert sections(draft.text)["tools"] == SPEC["tools"]
    assert format_text(draft.text) == draft.text
    assert [g.done for g in grown] == ["states and rules", "helpers", "tools: find, lend, give_back"]
    assert [g.written for g in grown] == [0, 0, 3]
    assert Draft.model_validate_json(draft.model_dump_json()) == draft


def test_a_wrong_expected_value_is_taken_from_the_run_by_the_models_word_only() -> None:
    spec = changed("tools.find.examples", [{"call": {"words": "Emma"}, "returns": ["Anna"]}])
    kept = written(lambda r: replied("Parts", {}) if "not right" in r.messages[-1].content else Mending(spec)(r), spec)
    assert [d.code for d in kept.problems] == ["example-differs"]
    assert "[Anna]" in kept.text

    def says(request: Request) -> Reply:
        if "not right" in request.messages[-1].content:
            return replied("Parts", {"as_run": ["tools.find.examples[0]", "lend.0", "nothing.7", "find.99999"]})
        return Mending(spec)(request)

    taken = written(says, spec)
    assert (taken.problems, taken.taken) == ((), ("tools.find.0",))
    assert "returns: [Emma]" in taken.text
    assert "# example 1: what is expected is what a run gave, by the model's word" in taken.text


def test_only_what_was_asked_for_is_taken() -> None:
    spec = changed("tools.lend.do", SPEC["tools"]["lend"]["do"].replace("lent +=", "lend +="))

    def meddles(request: Request) -> Reply:
        if "not right" not in request.messages[-1].content:
            return Mending(spec)(request)
        other = {
            **SPEC["tools"],
            "find": {"kind": "read", "do": "return []"},
            "extra": {"kind": "read", "do": "return 1"},
        }
        return replied(
            "Parts", {"tools": other, "states": {"books": {}}, "title": "Mine", "initial_state": {"books": {}}}
        )

    draft = written(meddles, spec)
    made = sections(draft.text)
    assert made["tools"] == SPEC["tools"]
    assert made["states"] == SPEC["states"]
    assert made["title"] == "A desk"
    assert draft.problems == ()


def test_a_part_may_come_back_under_another_name_and_bring_a_helper() -> None:
    spec = changed("helpers", {"sum": SPEC["helpers"]["left"]})

    def renames(request: Request) -> Reply:
        text = request.messages[-1].content
        if "helpers.sum:" in text:
            return replied("Parts", {"helpers": {"left": SPEC["helpers"]["left"]}})
        return Mending(spec)(request)

    draft = written(renames, spec)
    assert list(sections(draft.text)["helpers"]) == ["left"]
    assert draft.problems == ()
    assert draft.parts["helpers.left"] == 2

    bare = {k: v for k, v in SPEC.items() if k != "helpers"}

    def brings(request: Request) -> Reply:
        if "not right" in request.messages[-1].content:
            return replied("Parts", {"helpers": SPEC["helpers"], "tools": {"lend": SPEC["tools"]["lend"]}})
        return Mending(bare)(request)

    assert written(brings, bare).problems == ()


def test_tools_that_were_left_out_are_asked_for_again_and_then_named() -> None:
    def forgets(request: Request) -> Reply:
        text = request.messages[-1].content
        if "Write these tools" in text:
            return replied("Parts", {"tools": {"find": SPEC["tools"]["find"]}})
        if "Not written yet" in text:
            return replied("Parts", {"tools": {"Lend": SPEC["tools"]["lend"]}})
        return Mending(SPEC)(request)

    draft = written(forgets)
    assert draft.missing == ("tools.give_back",)
    assert list(sections(draft.text)["tools"]) == ["find", "lend"]


def test_an_initial_state_that_was_left_out_is_asked_for() -> None:
    bare = {k: v for k, v in SPEC.items() if k != "initial_state"}

    def forgets(request: Request) -> Reply:
        if "initial_state.books: two to four records" in request.messages[-1].content:
            return replied("Parts", {"initial_state": SPEC["initial_state"]})
        return Mending(bare)(request)

    draft = written(forgets, bare)
    assert sections(draft.text)["initial_state"] == SPEC["initial_state"]
    assert draft.problems == ()


def test_rules_under_other_names_are_not_missing_and_fewer_are() -> None:
    renamed = {**SPEC, "rules": {"at_most": SPEC["rules"]["few"]}}
    draft = written(lambda r: Mending(renamed)(r))
    assert (draft.missing, draft.problems) == ((), ())
    none = {**SPEC, "rules": {}}
    draft = written(lambda r: replied("Parts", {}) if "Not written yet" in r.messages[-1].content else Mending(none)(r))
    assert draft.missing == ("rules.few",)


def test_what_nothing_uses_is_left_out_and_said() -> None:
    spec = {**SPEC, "helpers": {**SPEC["helpers"], "idle": {"do": "return 1"}}}
    draft = written(Mending(spec), spec)
    assert "# Left out, since nothing used them: helpers.idle." in draft.text
    assert draft.problems == ()


def test_a_reply_that_is_cut_off_is_asked_for_in_halves() -> None:
    asked: list[int] = []

    def short(request: Request) -> Reply:
        text = request.messages[-1].content
        if "Write these tools" in text:
            asked.append(count := text.count(" (read): ") + text.count(" (write): "))
            if count > 1:
                return Reply(Message("assistant", '{"tools": {"fi'), "length", Usage(10, 10))
        return Mending(SPEC)(request)

    draft = written(short)
    assert set(asked) == {3, 2, 1}
    assert (draft.problems, draft.missing) == ((), ())


# -- replies that are not what they should be

NAMES = [
    "x(): import os #",
    "__class__",
    "a: b",
    "*x",
    "&x",
    "<<",
    "'",
    "\n",
    "x" * 500,
    "",
    "null",
    "- a",
    "#",
]
TEXTS = [
    '"""',
    "'''\nimport os",
    "&a *b <<: {x} !tag",
    "%YAML 1.1\n---\n",
    "\t- x\x00\x07\u2028",
    "{{ 7 * 7 }} {% raw %}",
]


def hostile(name: str, text: str) -> dict[str, Any]:
    tool = {"kind": "read", "description": text, "params": {name: {"type": "str", "description": text}}, "do": text,
            "examples": [{"call": {name: text}, "returns": text}]}  # fmt: skip
    return {
        "description": text, "clock": text, "constants": {name: text}, "types": {name: {"enum": [text]}}, "tools": {name: tool},
        "states": {**SPEC["states"], name: {"record": name, "key": {"name": name}, "fields": {name: {"type": text}}}},
        "rules": {name: {"text": text, "each": name, "holds": text}}, "helpers": {name: {"do": text}},
        "initial_state": {name: {name: {name: text}}}, "after_each": [name, text], "as_run": [name, text],
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_and_texts_are_data(name: str) -> None:
    text = TEXTS[NAMES.index(name) % len(TEXTS)]
    spec = hostile(name, text)
    draft = written(lambda _: replied("Parts", json.dumps(spec)), spec, tries=2, run_examples=False)
    found = check_text("draft.yaml", draft.text)
    assert not {"yaml-syntax", "tag", "anchor", "directive", "merge-key"} & {d.code for d in found.diagnostics}
    assert [(d.code, d.span.line) for d in found.diagnostics if d.severity == "error"] == [
        (d.code, d.span.line) for d in draft.errors
    ]
    assert format_text(draft.text) == draft.text


DEEP: Any = "x"
for _ in range(60):
    DEEP = {"a": DEEP}
MISBEHAVING: dict[str, Any] = {
    "not JSON": "{nope",
    "empty": "",
    "an empty object": "{}",
    "a list": "[1, 2]",
    "the wrong kinds": json.dumps({"states": 3, "tools": [1, None, {"x": 1}], "initial_state": "x", "rules": True}),
    "nested": json.dumps({"states": SPEC["states"], "initial_state": {"books": DEEP}, "tools": {"find": DEEP}}),
    "nested beyond JSON": '{"states": ' + '{"a":' * 5000 + "1" + "}" * 5000 + "}",
    "huge": json.dumps(
        {"states": SPEC["states"], "description": "x" * 400_000, "tools": {"find": {"do": "x = 1\n" * 60_000}}}
    ),
    "many": json.dumps({"states": SPEC["states"], "constants": {f"C{i}": "x" * 7000 for i in range(90)}}),
    "null": json.dumps(dict.fromkeys(SPEC)),
    "half a character": json.dumps({"states": SPEC["states"], "description": "a \ud800 b"}),
    "numbers as keys": json.dumps({"states": {"1": {"record": 2, "fields": {"3": 4}, "key": 5}}}),
}


@pytest.mark.parametrize("text", MISBEHAVING.values(), ids=MISBEHAVING)
def test_misbehaving_replies_are_a_loss_or_problems(text: str) -> None:
    draft = None
    with suppress(Unusable):
        draft = written(lambda _: replied("Parts", text), tries=2, run_examples=False)
    if draft is None:
        return
    assert len(draft.text) < 600_000
    assert draft.missing
    assert all(isinstance(d, Diagnostic) for d in draft.problems)


def test_a_model_that_goes_on_misbehaving_keeps_what_it_gave() -> None:
    turn = iter(range(99))

    def tires(request: Request) -> Reply:
        return Mending(SPEC)(request) if next(turn) < 2 else replied("Parts", "{nope")

    draft = written(tires, run_examples=False)
    assert draft.missing == ("tools.find", "tools.lend", "tools.give_back")
    assert sections(draft.text)["states"] == SPEC["states"]


# -- other shapes of the same

SHAPES: list[tuple[dict[str, Any], str, Any]] = [
    ({"spec": {"tools": {"a": {"do": "return 1"}}}}, "tools.a", {"do": "return 1"}),
    ({"tools": [{"name": "a", "kind": "query", "parameters": {}, "code": ["x = 1", "return x"]}]}, "tools.a",
     {"kind": "read", "do": "x = 1\nreturn x"}),
    ({"tools": {"tools.a": {"do": "```python\nreturn 1\n```", "errors": ["no such"], "returns": ""}}}, "tools.a", {"do": "return 1"}),
    ({"helpers": {"a": {"do": "def a(b):\n    c = b\n    return c"}}}, "helpers.a", {"do": "c = b\nreturn c"}),
    ({"helpers": {"a": "|\n  return 1\n"}}, "helpers.a", {"do": "return 1"}),
    ({"rules": {"a": "No."}}, "rules.a", {"text": "No."}),
    ({"rules": {"a": {"text": "No.", "holds": None, "policy": False, "moves": {}}}}, "rules.a", {"text": "No."}),
    ({"states": {"a": {"record": "A", "key": "a_id", "fields": [{"name": "b", "type": "string"}]}}}, "states.a",
     {"record": "A", "key": {"name": "a_id"}, "fields": {"b": "str"}}),
    ({"types": {"A": {"type": "string", "enum": ["x", "y"]}}}, "types.A", {"enum": ["x", "y"]}),
    ({"types": {"A": {"fields": {"b": "List[str]", "c": "Optional[int]", "d": "ref(books)", "e": "enum(x, y)"}}}}, "types.A",
     {"fields": {"b": {"list": "str"}, "c": "int?", "d": {"ref": "books"}, "e": {"enum": ["x", "y"]}}}),
    ({"types": {"A": {"fields": {"b": {"type": "array", "items": {"type": "integer"}}, "c": {"type": "ref", "collection": "books"}}}}},
     "types.A", {"fields": {"b": {"list": "int"}, "c": {"ref": "books"}}}),
    ({"tools": {"a": {"params": {"b": {"type": "integer", "required": False}, "c": {"type": "str", "required": True}}}}}, "tools.a",
     {"params": {"b": {"type": "int", "null": True, "default": None}, "c": "str"}}),
    ({"tools": {"a": {"examples": [{"args": {}, "result": 1, "error": None}, {"input": {}, "error": "no", "returns": None}]}}}, "tools.a",
     {"examples": [{"call": {}, "returns": 1}, {"call": {}, "error": "no"}]}),
    ({"states": {"record": "CarPark", "fields": {"b": "int"}}}, "states.car_parks", {"record": "CarPark", "fields": {"b": "int"}}),
    ({"tools": {"name": "a", "kind": "read", "do": "return 1"}}, "tools.a", {"kind": "read", "do": "return 1"}),
    ({"properties": {"tools": {"a": {"do": "return 1"}}}}, "tools.a", {"do": "return 1"}),
    ({"rules": {"text": "A rule that is called text."}}, "rules.text", {"text": "A rule that is called text."}),
    ({"states": {"record": {"record": "A", "fields": {"b": "int"}}}}, "states.record", {"record": "A", "fields": {"b": "int"}}),
]  # fmt: skip


@pytest.mark.parametrize(("given", "path", "value"), SHAPES, ids=[str(n) for n in range(len(SHAPES))])
def test_harmless_other_shapes_are_read_as_what_they_mean(given: dict[str, Any], path: str, value: Any) -> None:
    assert PartsReply.model_validate(given).parts()[path] == value


def test_the_schema_of_replies_is_the_languages_own() -> None:
    for name in ("state", "rule", "helper", "tool", "example", "key", "tree"):
        made = schema_of(name)
        assert set(made["properties"]) <= set(FORMS[name].names)
        assert made.get("required", []) == [k.key for k in FORMS[name].keys if k.required]


def test_every_shipped_spec_is_what_its_parts_say() -> None:
    """Taken apart and laid out again, a spec holds the same."""
    from envscaler.resources import folder

    text = (folder("specs") / "bank.yaml").read_text(encoding="utf-8")
    spec = sections(text)
    parts = Parts("bank")
    for path, value in PartsReply.model_validate(spec).parts().items():
        parts.put(path, value)
    laid = parts.laid()
    assert format_text(laid.text) == laid.text
    again = sections(laid.text)
    for section in ("constants", "types", "states", "rules", "helpers", "tools", "initial_state"):
        assert again[section] == spec[section], section
    assert all(laid.owner(first) == path for first, _, path in laid.places)


@pytest.mark.parametrize("settings", [{"batch": 0}, {"tries": 0}])
def test_settings_have_bounds(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="is at least 1"):
        WriteSettings(**settings)
