"""Plans in plain English, and the rule by which a value stands in a text."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from envscaler.errors import UsageError
from envscaler.runtime import shapes as s
from envscaler.scenario.model import Fact, Source, Step
from envscaler.scenario.plan import Plan, PlannedCall
from envscaler.scenario.wording import styles, told, worded
from envscaler.scenario.wording.english import listed, names_noun, request, sentence, words_of
from envscaler.scenario.wording.leaves import Leaf, leaves
from envscaler.scenario.wording.told import tells
from envscaler.scenario.wording.values import currency, said
from envscaler.scenario.world import World
from tests.scenario.hand import world
from tests.scenario.tasks import TOLD, bank_plan, faults

KIND = s.Enum(("suspected_fraud", "current"))


def leaf(value: Any, shape: s.Shape, label: str = "thing") -> Leaf:
    return Leaf("thing", value, shape, label)


@pytest.mark.parametrize(
    ("value", "shape", "text"),
    [
        (50.0, s.MONEY, "pay 50 now"),
        (50, s.MONEY, "pay 50.00 euros."),
        (1250.5, s.FLOAT, "about 1,250.50, please"),
        (-3.5, s.FLOAT, "it shows -3.5"),
        (3, s.INT, "1. Take 3 of them."),
        ("2031-05-12", s.DATE, "on 12 May 2031"),
        ("2031-05-12", s.DATE, "on May 12, 2031"),
        ("2031-05-12", s.ANY, "on 2031-05-12."),
        ("09:00:00", s.TIME, "at 9:00"),
        ("2031-05-12T10:30:00Z", s.DATETIME, "on 12 May 2031 at 10:30 UTC"),
        ("suspected_fraud", KIND, "Suspected fraud, it seems"),
        ("A-2001", s.Ref("accounts"), "from A-2001."),
        ("Rent June", s.STR, 'text "Rent June".'),
        (True, s.BOOL, "by thing"),
        (True, s.BOOL, "thing: yes, and no thing for the other"),
        (False, s.BOOL, "without thing"),
        (False, s.BOOL, "Thing: no"),
        (None, s.Nullable(s.INT), "no thing"),
        ([], s.ListOf(s.STR), "thing: none"),
        ("", s.STR, "thing: left empty"),
    ],
)
def test_told(value: Any, shape: s.Shape, text: str) -> None:
    assert tells(text, leaf(value, shape))


@pytest.mark.parametrize(
    ("value", "shape", "text"),
    [
        (50, s.MONEY, "account A-50, 2031-05-50, 50th, 500, 1.50, room 7/50"),
        (12, s.INT, "on 12 May 2031 at 12:30"),
        (3, s.INT, "1. This\n3. That"),
        (10, s.INT, 'write "in 10 days"'),
        ("2031-05-12", s.DATE, "on 2 May 2031, or 12 May 2032"),
        ("A-2001", s.Ref("accounts"), "from A-20011 or XA-2001 or A-2001-B"),
        ("Rent June", s.STR, "rent june"),
        ("current", KIND, "currently"),
        (True, s.BOOL, "no thing at all"),
        (False, s.BOOL, "with thing"),
        (None, s.Nullable(s.INT), "some thing"),
        ("", s.STR, "thing"),
    ],
)
def test_not_told(value: Any, shape: s.Shape, text: str) -> None:
    assert not tells(text, leaf(value, shape))


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (0.1, s.MONEY), (1234567.89, s.MONEY), (1e-7, s.FLOAT), (-4, s.INT), ("2031-02-28", s.DATE), ("23:59:30", s.TIME),
        ("2031-05-12T10:30:00Z", s.DATETIME), ("2031-05-12T10:30:05", s.LOCAL_DATETIME), ("suspected_fraud", KIND),
        ('He said "no".', s.STR), ("two\nlines", s.STR), ("Europe/Paris", s.ZONE), (True, s.BOOL), (False, s.BOOL),
        (None, s.Nullable(s.INT)), ("", s.STR), ([], s.ListOf(s.INT)), ({}, s.DictOf(s.INT)),
    ],
)  # fmt: skip
def test_what_is_said_is_told(value: Any, shape: s.Shape) -> None:
    assert tells(f"Do it with thing: {said(value, shape, 'euros')}.", leaf(value, shape))


def test_parts_are_told_each() -> None:
    field = s.Field("extra", s.ANY)
    value = {"valid_until": "2031-05-12", "sizes": [1, 2]}
    assert [one.path for one in leaves("extra", value, field)] == [
        "extra/valid_until", "extra/valid_until", "extra/sizes", "extra/sizes/0", "extra/sizes/1",
    ]  # fmt: skip
    step = Step("no_such_tool", {"extra": value}, {"extra": TOLD, "extra/sizes/1": Source("free")})
    task = "extra: valid until 12 May 2031, sizes 1"
    assert told(world(), 0, step, task, {}) == []
    (missing,) = told(world(), 0, step, "extra: valid until 12 May 2031, sizes 2", {})
    assert (missing.path, missing.value, missing.where) == ("extra/sizes/0", 1, "task")


def test_a_fact_tells_its_value() -> None:
    step = Step("deposit_cash", {"amount": 50}, {"amount": Source("fact", name="sum")})
    assert told(world(), 0, step, "", {"sum": Fact("sum", 50, "It is 50.00 euros.")}) == []
    assert told(world(), 0, step, "50", {"sum": Fact("sum", 51, "It is 50.00 euros.")})[0].where == "sum"
    assert told(world(), 0, step, "50", {"sum": Fact("sum", 50, "It is fifty.")})[0].where == "sum"
    assert told(world(), 0, step, "50", {})[0].absent


@pytest.mark.parametrize("style", styles())
def test_every_style_tells_all(style: str) -> None:
    plan = bank_plan()
    for seed in range(20):
        written = worded(world(), plan, style, random.Random(seed))
        assert written == worded(world(), plan, style, random.Random(seed))
        facts = {fact.name: fact for fact in written.facts}
        for n, call in enumerate(plan.calls):
            assert told(world(), n, Step(call.tool, call.arguments, written.sources[n]), written.task, facts) == []
        for text in (written.task, written.opening, *(fact.text for fact in written.facts)):
            assert faults(text) == []


def test_what_is_withheld_is_a_fact() -> None:
    written = worded(world(), bank_plan(), "letter", random.Random(1), withheld=[(2, "amount"), (4, "customer_id")])
    assert "340.5" not in written.task + written.opening
    assert "C-1005" not in written.task + written.opening
    facts = {fact.name: fact for fact in written.facts}
    assert facts[written.sources[2]["amount"].name].value == 340.5
    assert facts[written.sources[4]["customer_id"].name].text == "The customer is C-1005."


def test_what_the_words_do_not_tell_is_told_beside() -> None:
    read = PlannedCall("find_customers", {"words": "ingrid@"}, "read", {}, (), {"words": TOLD})
    plan = bank_plan()
    written = worded(world(), Plan((read, *plan.calls[1:]), (), (), ()), "brief", random.Random(1))
    assert 'words "ingrid@"' in written.task


def test_a_folder_adds_styles_and_replaces_them(tmp_path: Path) -> None:
    folder = tmp_path / "scenarios" / "styles"
    folder.mkdir(parents=True)
    (folder / "brief.j2").write_text("{{ requests[0].ask | upper }}.")
    (folder / "shout.j2").write_text("{{ pick('Hey', 'Ho') }}! {{ sentence(requests[0].prose) }}")
    own = World(world().checked, world().environment, (str(tmp_path),))
    assert set(styles(own.templates)) == {*styles(), "shout"}
    assert worded(own, bank_plan(), "brief", random.Random(1)).task.startswith("MOVE MONEY")
    assert worded(own, bank_plan(), "shout", random.Random(1)).task.startswith("H")
    with pytest.raises(UsageError, match="no style leter; did you mean letter"):
        worded(world(), bank_plan(), "leter", random.Random(1))


@pytest.mark.parametrize(
    ("description", "wish"),
    [
        ("Move money. It is booked at once.", "move money"),
        ("Freeze an open account, so that nothing leaves it.", "freeze an open account"),
        ("Grant, change or end the overdraft.", "grant, change or end the overdraft"),
        ("Creates a ticket.", "create a ticket"),
        ("Carries a fee over; no more.", "carry a fee over"),
        ("A bed was cleaned and is free again.", "note that a bed was cleaned and is free again"),
        ("", "close ticket"),
    ],
)
def test_a_description_becomes_a_wish(description: str, wish: str) -> None:
    assert request(description, "close_ticket") == wish


def test_nouns_are_found_where_one_thing_is_spoken_of() -> None:
    for text, noun, meant in [
        ("freeze an open account", "account", "an open account"),
        ("pay one of the customer's payees", "payee", "one of the customer's payees"),
        ("move money between two accounts", "account", None),
        ("take an account from an account", "account", None),
        ("extend a permit that is about to end", "permit", None),
        ("a complete and paid application", "application", None),
        ("hand a part of a sample on", "part", None),
    ]:
        found = names_noun(text, noun)
        assert (found[0] if found else None) == meant


def test_small_words() -> None:
    assert [words_of(n) for n in ("from_account", "fanSpeed", "zip")] == ["from account", "fan speed", "zip"]
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a and b", "c"]) == "a and b; c"
    assert [sentence(t) for t in ("so", "so?", 'say "so."')] == ["So.", "So?", 'Say "so."']
    assert currency("Be kind. Amounts are in euros.") == "euros"
    assert currency("Pay in euros somewhere else.") == ""


@pytest.mark.slow  # another spec is compiled
def test_what_the_user_does_is_said_of_oneself() -> None:
    own = PlannedCall("answer_invitation", {"answer": "accepted"}, "write", {}, (), {"answer": TOLD}, actor="user")
    written = worded(world("calendar"), Plan((own,), (), (), ()), "brief", random.Random(1))
    assert written.task == "I will do this myself: answer an invitation of mine: answer accepted."
