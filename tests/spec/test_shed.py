"""A spec that uses every form, read whole."""

from __future__ import annotations

import time

import pytest

from envscaler.spec.model import Spec
from envscaler.spec.read import read_spec
from envscaler.spec.types import (
    DATE,
    DATETIME,
    INT,
    MISSING,
    MONEY,
    STR,
    Const,
    DictOf,
    Enum,
    Key,
    ListOf,
    Nullable,
    Struct,
    Union,
)  # fmt: skip


@pytest.fixture(scope="module")
def spec(shed: str) -> Spec:
    spec, diagnostics = read_spec("shed.yaml", shed)
    assert spec is not None
    assert [d.headline() for d in diagnostics] == []
    return spec


def test_the_head(spec: Spec) -> None:
    assert (spec.name, spec.class_name, spec.version, spec.title) == (
        "tool_shed",
        "ToolShed",
        "0.1.0",
        "Shed in Elm Street",
    )
    assert (spec.clock, spec.zoned) == ("2030-03-04T08:00:00Z", True)
    assert spec.errors == {"error": "{message}"}
    assert spec.unknown_tool is not None
    assert spec.policy == "lenient"
    assert spec.description.value.endswith("A late day costs {LATE_FEE}.")


def test_constants_are_in_internal_form(spec: Spec) -> None:
    found = {name: (c.type, c.value) for name, c in spec.constants.items()}
    assert found["MAX_LOANS"] == (INT, 5)
    assert found["LATE_FEE"] == (MONEY, 25)
    assert found["OPENING_HOURS"] == (ListOf(INT), [9, 17])
    assert found["DEPOSITS"][1] == {"small": 1.5, "large": 3.0}


def test_types(spec: Spec) -> None:
    assert spec.types["Standing"] == Enum(("active", "suspended", "no"), "Standing")
    assert spec.types["Size"] == Enum((1, 2, 3), "Size")
    payment = spec.types["Payment"]
    assert isinstance(payment, Union)
    assert [m.name for m in payment.members] == ["Cash", "Card"]
    assert payment.members[0].fields["by"].type == Const("cash")
    assert payment.members[0].fields["by"].default == "cash"
    contact = spec.types["Contact"]
    assert isinstance(contact, Struct)
    assert contact.fields["from_"].json == "from"
    assert contact.fields["from_"].type == Nullable(DATE)
    assert contact.fields["phone"].absent
    assert contact.fields["phone"].default is MISSING


def test_states(spec: Spec) -> None:
    neighbours = spec.states["neighbours"]
    assert neighbours.key is not None
    assert (neighbours.key.make, neighbours.key.in_record, neighbours.form) == ("M-{n:04d}", True, "map")
    assert neighbours.unique == (("email",), ("name", "standing"))
    fields = neighbours.record.fields
    assert (fields["balance"].ge, fields["balance"].default) == (0, 0)
    assert fields["email"].default is None
    assert (neighbours.record.collection, neighbours.record.key_name) == ("neighbours", "neighbour_id")
    loans = spec.states["loans"].record.fields
    assert loans["number"].type == Key("tools_", INT)
    assert loans["returned"].type == Nullable(DATETIME)
    assert spec.states["tools_"].record.fields["sizes"].type == DictOf(INT, INT)
    tree = spec.states["folders"].tree
    assert tree is not None
    assert (tree.parent, tree.name, tree.nested) == ("parent", "name", "contents")
    assert spec.states["desk"].single
    assert spec.states["desk"].form == "flat"


def test_rules(spec: Spec) -> None:
    assert spec.rules["loan_limit"].each == "neighbours"
    assert spec.rules["loan_limit"].holds is not None
    assert spec.rules["lost_is_final"].field == ("tools_", "state")
    assert spec.rules["lost_is_final"].moves == {
        "in_shed": ("on_loan", "lost"),
        "on_loan": ("in_shed", "lost"),
        "lost": (),
    }
    assert spec.rules["ask_first"].policy
    assert not spec.rules["active_only"].policy


def test_tools(spec: Spec) -> None:
    lend = spec.tools["lend"]
    member, item, note, days = lend.params
    assert (member.as_name, member.field.type) == ("neighbour", Key("neighbours", STR))
    assert member.missing is not None
    assert item.as_name == "item"
    assert note.field.default is None
    assert (days.name, days.field.json, days.field.ge, days.field.default) == ("days_", "days", 1, 7)
    assert spec.tools["pay"].errors == "Error: {message}"
    assert spec.tools["pay"].actor == "user"
    assert spec.tools["pay"].params[1].field.gt == 0


def test_blocks_know_their_place(spec: Spec, shed: str) -> None:
    lines = shed.split("\n")
    for block in (spec.tools["lend"].do, spec.tools["pay"].do, spec.helpers["open_loans"].do):
        for number, line in enumerate(block.source.rstrip("\n").split("\n")):
            assert lines[block.line - 1 + number][block.column - 1 :] == line
    assert spec.tools["lend"].do.source.split("\n")[1] == ""


def test_examples(spec: Spec) -> None:
    first, second, third = spec.tools["lend"].examples
    assert first.call == {"neighbour_id": "M-0001", "number": 8}
    assert first.returns == "Saw"
    assert first.then == {"tools_": {"8": {"state": "on_loan"}}}
    assert second.call["days"] == 99
    assert second.given == {"neighbours": {"M-0001": None}}
    assert (second.returns, second.error) == (MISSING, "x")
    assert third.rule == "active_only"


def test_the_initial_state_is_json(spec: Spec) -> None:
    state = spec.initial_state
    ann, bo = state["neighbours"].values()
    assert ann["neighbour_id"] == "M-0001"
    assert ann["balance"] == 1.5
    assert ann["contact"]["postcode"] == "08540"
    assert ann["paid"] == [{"by": "card", "last_four": "0042"}]
    assert bo["standing"] == "no"
    assert bo["contact"]["from"] == "2030-02-28"
    assert state["tools_"]["9"] == {"title": "no", "state": "lost"}
    assert state["loans"][0]["loan_id"] == "00ff00ff"
    assert state["folders"] == {"home": {"contents": {"letters": {"text": "hi"}, "work": {"contents": {}}}}}
    assert state["open"] is True


def test_layout_and_comments_do_not_change_the_hash(spec: Spec, shed: str) -> None:
    changed = shed.replace("version\n", "version  # ok\n").replace("name: Ann,", 'name:   "Ann",').replace("\n", "\r\n")
    other, _ = read_spec("other.yaml", "\ufeff" + changed)
    assert other is not None
    assert other.hash == spec.hash
    third, _ = read_spec("third.yaml", shed.replace("MAX_LOANS: 5", "MAX_LOANS: 6"))
    assert third is not None
    assert third.hash != spec.hash
    assert spec.hash.startswith("sha256:")


def test_seven_hundred_lines_read_fast(shed: str) -> None:
    records = "".join(
        f"    M-{n:04d}: {{name: Ann {n}, contact: {{street: Elm 1, postcode: 08540}}}}\n" for n in range(100, 700)
    )
    text = shed.replace("  tools_:\n    8:", records + "  tools_:\n    8:")
    start = time.process_time()
    spec, diagnostics = read_spec("big.yaml", text)
    assert spec is not None
    assert not diagnostics
    assert time.process_time() - start < 2  # a third of a second on an idle machine
