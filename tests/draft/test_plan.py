"""Planning: two calls, each held against itself; what is wrong goes back, and what stays wrong is kept and said."""

from __future__ import annotations

from typing import Any

import pytest

from envscaler.draft.planning import plan
from envscaler.draft.plans import Plan, Size
from envscaler.draft.themes import Theme
from envscaler.llm import Request
from envscaler.llm.asking import Unusable
from envscaler.llm.backends.scripted import Script
from tests.assess.models import replied, scripted

THEME = Theme(
    name="shelf", title="A shelf", summary="Books are lent.", introduction="Books.", usefulness=6, modelability=9
)
SIZE = Size(collections=2, fields=4, rules=2, tools=3, reading=0.34)
STATES: list[dict[str, Any]] = [
    {"name": "books", "record": "Book", "fields": [{"name": "book_id", "type": "str"}, {"name": "title", "type": "str"}]},
    {"name": "loans", "record": "Loan", "fields": [{"name": "loan_id", "type": "str"}, {"name": "book_id", "type": "ref(books)"}]},
]  # fmt: skip
RULES: list[dict[str, Any]] = [
    {"name": "one_each", "text": "A book is lent once at a time.", "states": ["loans"]},
    {"name": "polite", "text": "Greet whoever wants a book.", "enforced": False},
]
TOOLS: list[dict[str, Any]] = [
    {"name": "find", "kind": "read", "description": "Find books.", "states": ["books"], "params": {"words": "str"}},
    {
        "name": "lend",
        "kind": "write",
        "description": "Lend one.",
        "states": ["books", "loans"],
        "effects": "adds a loan",
    },
    {
        "name": "give_back",
        "kind": "write",
        "description": "Take one back.",
        "states": ["loans"],
        "effects": "ends a loan",
    },
]


def made(planner: Script, size: Size = SIZE) -> tuple[Plan, list[Request]]:
    with scripted(planner=planner) as (models, backends):
        found = models.run(plan(THEME, models.role("planner"), size))
        return found, backends["planner"].requests


def states(**more: Any) -> Any:
    return replied("States", {"states": STATES, "rules": RULES, **more})


def tools(given: list[Any] = TOOLS, **more: Any) -> Any:
    return replied("Tools", {"tools": given, **more})


def test_a_sound_plan_takes_two_calls() -> None:
    found, requests = made([states(), tools()])
    assert found.problems == ()
    assert [t.name for t in found.tools] == ["find", "lend", "give_back"]
    assert [len(r.messages) for r in requests] == [2, 2]
    assert requests[0].messages[0] == requests[1].messages[0]
    assert Plan.model_validate_json(found.model_dump_json()) == found


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("states", {"name": "Loan List", "record": "loan"}, "the state 'Loan List' has a name that cannot be used: loan_list would do"),
    ("states", {"name": "x(): import os #"}, "the state 'x(): import os #' has a name that cannot be used: x_import_os would do"),
    ("states", {"name": "state"}, "the state 'state' has a name that is taken by the language"),
    ("states", {"name": "notes", "record": "Note", "fields": []}, "the state notes has no fields"),
    ("states", {"name": "fines", "record": "Fine", "fields": {"who": "ref(member)"}}, "fines.who refers to 'member', which is not planned"),
    ("rules", {"name": "sky", "text": "It is blue."}, "the rule sky is about nothing that is kept"),
    ("rules", {"name": "gone", "text": "No.", "states": ["lones"]}, "'lones', which is not planned: did you mean 'loans'?"),
    ("tools", {"name": "idle", "kind": "read"}, "the tool idle names no state that it reads or changes"),
    ("tools", {"name": "mend", "kind": "write", "states": ["books"]}, "its `effects` do not say what"),
    ("tools", {"name": "sum", "kind": "read", "states": ["book"]}, "the tool 'sum' has a name that is taken by the language"),
    ("tools", {"name": "look", "kind": "read", "states": ["books"], "params": {"a b": "int"}}, "the parameter 'a b' of look has a name"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "entry", "said"), WRONG, ids=[said[:40] for _, _, said in WRONG])
def test_what_is_wrong_goes_back_and_is_dropped(where: str, entry: dict[str, Any], said: str) -> None:
    drop = replied("Tools" if where == "tools" else "States", {"drop": [entry["name"]]})
    if where == "tools":
        script = [states(), tools([*TOOLS, entry]), drop]
    else:
        added = {
            where: [*(STATES if where == "states" else RULES), {"record": "Extra", "fields": {"a": "str"}, **entry}]
        }
        script = [states(**added), drop, tools()]
    found, requests = made(script)
    told = requests[2 if where == "tools" else 1].messages
    assert said in told[-1].content
    assert [m.role for m in told] == ["system", "user", "assistant", "user"]
    assert found.problems == ()
    assert (len(found.states), len(found.rules), len(found.tools)) == (2, 2, 3)


def test_too_few_are_added_to_those_that_there_are() -> None:
    found, requests = made([states(), tools(TOOLS[:2]), tools(TOOLS[2:])])
    assert "3 tools are wanted, 1 of them reading; there are 2, 1 reading: add 1" in requests[2].messages[-1].content
    assert [t.name for t in found.tools] == ["find", "lend", "give_back"]


def test_what_stays_wrong_is_kept_and_said() -> None:
    found, requests = made([states(), *[tools(TOOLS[:2])] * 3])
    assert len(requests) == 4
    assert found.problems == ("3 tools are wanted, 1 of them reading; there are 2, 1 reading: add 1",)
    assert len(found.tools) == 2


def test_harmless_other_shapes_are_understood() -> None:
    mapping = {
        s["name"]: {"record": s["record"], "fields": {f["name"]: f["type"] for f in s["fields"]}} for s in STATES
    }
    listed = [
        {**TOOLS[0], "params": [{"name": "words", "type": "str", "description": "in the title"}], "kind": "query"},
        {**TOOLS[1], "effects": ["adds a loan", "marks the book"], "states": "Loan", "confidence": 0.9},
        {**TOOLS[2], "kind": "change", "errors": "no such loan"},
    ]
    found, _ = made(
        [replied("States", {"states": mapping, "rules": {r["name"]: r["text"] for r in RULES}}), tools(listed)]
    )
    assert [s.record for s in found.states] == ["Book", "Loan"]
    assert found.tools[1].states == ("loans",)
    assert found.tools[0].params == {"words": "str, in the title"}
    assert found.tools[1].effects == "adds a loan; marks the book"
    assert found.tools[2].errors == ("no such loan",)
    assert [f.type for f in found.states[1].fields] == ["str", "ref(books)"]


def test_a_planner_that_plans_nothing_is_unusable() -> None:
    with pytest.raises(Unusable, match="the plan has no states"):
        made([replied("States", {})] * 9)
    with pytest.raises(Unusable):
        made([replied("States", "not JSON")] * 9)
