"""Repair: what is wrong reaches the model as a person sees it, what makes it better is kept, nothing else is touched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from envscaler.assess.repair import Attack, Repaired, RepairSettings, repair
from envscaler.assess.repair.standing import judge
from envscaler.errors import UsageError
from envscaler.llm import Request
from envscaler.llm.backends.scripted import Script
from envscaler.llm.errors import AccessError
from envscaler.plugin.records import Finding, Subject
from envscaler.resources import folder
from tests.assess.models import SHELF, replied, scripted
from tests.assess.repair.fixer import fix


def mended(
    text: str, coder: Script = fix, *, attacks: Sequence[Attack] = (), rounds: int = 10, **more: Any
) -> Repaired:
    with scripted(coder=coder, **more) as (models, _):
        return repair(text, "shelf.yaml", models, RepairSettings(rounds=rounds), attacks=attacks)


def edits(*given: dict[str, Any]) -> Any:
    return replied("Edits", {"edits": list(given)})


BROKEN = {
    "a field": ("book.lent += 1", "book.lend += 1"),
    "a placeholder": ("At most {MOST}", "At most {MOAST}"),
    "a kind": ("kind: write\n    description: Lend", "kind: read\n    description: Lend"),
    "a key": ("initial_state:", "initial_sate:"),
    "a helper": ("require(left(book)", "require(lefd(book)"),
    "a result": ("{call: {book_id: B-1}, returns: 1}", "{call: {book_id: B-1}, returns: 2}"),
}


@pytest.mark.parametrize(("right", "wrong"), BROKEN.values(), ids=BROKEN)
def test_the_spec_as_it_was(right: str, wrong: str) -> None:
    done = mended(SHELF.replace(right, wrong, 1))
    assert done.after == SHELF
    assert (done.stopped, len(done.rounds)) == ("sound", 1)


def test_text_that_is_no_yaml() -> None:
    done = mended(SHELF.replace("A shelf of", "A shelf: of"))
    assert done.stopped == "sound"
    assert done.after == SHELF.replace("A shelf of books", '"A shelf: of books"')


def test_many_at_once() -> None:
    text = SHELF
    for right, wrong in BROKEN.values():
        text = text.replace(right, wrong, 1)
    done = mended(text)
    assert done.after == SHELF
    assert done.began.stage < done.rounds[0].standing.stage


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("p.booked.date == today", "p.boked.date == today"),
        ("check_funds(from_account, amount)", "check_found(from_account, amount)"),
        ('rule="within_overdraft"', 'rule="within_overdrawn"'),
    ],
)
def test_a_shipped_spec_with_its_comments(right: str, wrong: str) -> None:
    text = (folder("specs") / "bank.yaml").read_text(encoding="utf-8")
    assert right in text
    done = mended(text.replace(right, wrong, 1))
    assert done.after == text


def test_the_difference_is_what_was_wrong_and_no_more() -> None:
    done = mended(SHELF.replace("book.lent += 1", "book.lend += 1"))
    assert [line for line in done.diff().splitlines() if line[:1] in "+-"] == [
        "--- shelf.yaml",
        "+++ shelf.yaml (repaired)",
        "-      book.lend += 1",
        "+      book.lent += 1",
    ]


# -- what the model sees


def test_the_model_sees_what_a_person_sees() -> None:
    seen: list[Request] = []

    def coder(request: Request) -> Any:
        seen.append(request)
        return fix(request)

    mended(SHELF.replace("book.lent += 1", "book.lend += 1"), coder)
    system, user = seen[0].messages
    assert "tools.transfer.do" in system.content
    assert "# The spec language on one page" in system.content
    assert user.content.startswith(
        "The spec shelf.yaml does not pass the check.\n\n"
        "shelf.yaml:44:12: error[unknown-field] Book has no field 'lend'\n"
        "   44 |       book.lend += 1\n"
        "      |            ^^^^\n"
        "  fields of Book: book_id, title, copies, lent\n"
        "  help: did you mean 'lent'?\n"
    )
    assert "\n   44|       book.lend += 1\n" in user.content


def test_of_a_long_spec_it_sees_the_part() -> None:
    seen: list[Request] = []

    def coder(request: Request) -> Any:
        seen.append(request)
        return edits()

    text = (folder("specs") / "bank.yaml").read_text(encoding="utf-8").replace("p.booked.date", "p.boked.date", 1)
    mended(text, coder, rounds=1)
    lines = seen[0].messages[1].content.partition("\nThe lines:\n")[2].splitlines()
    assert 5 < len(lines) < 20
    assert any("|   sent_today:" in line for line in lines)


def test_of_a_state_that_breaks_a_rule_it_sees_the_record_and_the_rule() -> None:
    seen: list[Request] = []

    def coder(request: Request) -> Any:
        seen.append(request)
        return edits()

    text = (folder("specs") / "bank.yaml").read_text(encoding="utf-8")
    mended(
        text.replace(
            "A-2003: {customer_id: C-1001, kind: savings, balance: 40,",
            "A-2003: {customer_id: C-1001, kind: savings, balance: 41,",
        ),
        coder,
        rounds=1,
    )
    shown = seen[0].messages[1].content
    assert "does not do what it says" in shown
    assert "|   books_balance:" in shown
    assert "|     A-2003: {" in shown


def test_findings_reach_it_with_their_calls() -> None:
    def attack(subject: Subject) -> list[Finding]:
        env = subject.environment.new()
        if env.call("lend", {"book_id": "B-1"}).value == 1:
            return []
        span = subject.checked.spec.tools["lend"].span if subject.checked.spec else None
        return [Finding("lends_too_many", "lend lends two", span, severity="error", script="lend book_id=B-1")]

    wrong = SHELF.replace("book.lent += 1", "book.lent += 2").replace(
        "{call: {book_id: B-1}, returns: 1}", "{call: {book_id: B-1}}"
    )
    done = mended(wrong, attacks=[attack])
    assert done.began.summary() == "has findings (1 problem)"
    assert [r.refused for r in done.rounds] == [()]
    assert done.after == wrong.replace("book.lent += 2", "book.lent += 1")
    assert done.stopped == "sound"


# -- what is kept


def test_no_progress_stops_it_and_leaves_the_text() -> None:
    wrong = SHELF.replace("book.lent += 1", "book.lend += 1")
    seen: list[Request] = []

    def coder(request: Request) -> Any:
        seen.append(request)
        return edits({"first": 44, "last": 44, "text": f"      book.lend += {len(seen) + 1}"})

    done = mended(wrong, coder)
    assert (done.stopped, len(done.rounds), done.changed) == ("no progress", 3, False)
    assert done.after == wrong
    assert "Your last edits" not in seen[0].messages[1].content
    assert (
        "Your last edits were not kept:\n- the spec then does not pass the check (1 problem), which is no better"
        in (seen[1].messages[1].content)
    )


def test_rounds_are_bounded() -> None:
    done = mended(SHELF.replace("book.lent += 1", "book.lend += 1"), lambda _: edits(), rounds=2)
    assert (done.stopped, len(done.rounds)) == ("rounds", 2)
    assert done.rounds[0].refused == ("no edit was given",)


def test_good_edits_are_kept_when_others_are_bad() -> None:
    wrong = SHELF.replace("book.lent += 1", "book.lend += 1").replace("{MOST}", "{MOAST}")
    good = {"first": 44, "last": 44, "text": "      book.lent += 1"}
    bad = {"path": "rules.fewer.text", "text": "At most {MOST}."}
    done = mended(wrong, [edits(good, bad)], rounds=1)
    assert done.after == SHELF.replace("{MOST}", "{MOAST}")
    assert done.rounds[0].kept == ("line 44",)
    assert [r.split(":")[0] for r in done.rounds[0].refused] == ["all edits together", "rules.fewer.text by itself"]


def test_an_error_that_hid_others_may_show_them() -> None:
    wrong = SHELF.replace("require(left(book) > 0,", "require(lefd(book) > ,").replace(
        "book.lent += 1", "book.lend += 1"
    )
    done = mended(
        wrong,
        [
            edits(
                {
                    "first": 43,
                    "last": 43,
                    "text": '      require(lefd(book) > 0, f"All copies of {book.title} are lent.")',
                }
            )
        ],
        rounds=1,
    )
    assert (len(done.began.problems), len(done.ended.problems)) == (1, 2)
    assert done.rounds[0].kept == ("line 43",)


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ({"path": "tools.lend", "text": None}, "tools.lend would be gone; mend it instead"),
        ({"path": "rules.few", "text": None}, "rules.few would be gone"),
        ({"path": "tools.lend.examples.0", "text": None}, "an example of lend would be gone"),
        ({"first": 37, "last": 37, "text": "  lend:"}, "a comment would be lost; keep it: # one copy at a time"),
        (
            {"path": "helpers.left.do", "text": "return book.copies"},
            "a comment would be lost; keep it: # what stands on the shelf",
        ),
        ({"first": 400, "last": 400, "text": "x"}, "the spec has 65 lines"),
        ({"first": 44, "last": 44, "text": "  book: [1"}, "the spec could not be parsed afterwards"),
        ({"path": "tools.lend.cost", "text": "a: [1"}, "the new text is not YAML"),
        ({"path": "tools.land.kind", "text": "write"}, "tools.land is not there"),
        ({"path": "name", "text": "shelf"}, "it changes nothing"),
    ],
)
def test_edits_that_are_not_applied(edit: dict[str, Any], why: str) -> None:
    wrong = SHELF.replace("book.lent += 1", "book.lend += 1")
    done = mended(wrong, [edits(edit)], rounds=1)
    assert done.after == wrong
    assert why in done.rounds[0].refused[0]


def test_a_reply_that_cannot_be_used_is_a_round() -> None:
    done = mended(SHELF.replace("book.lent += 1", "book.lend += 1"), ["no", "no", "no"], rounds=1)
    assert "invalid_reply" in done.rounds[0].refused[0]


def test_a_limit_and_a_model_that_fails_keep_what_was_better() -> None:
    wrong = SHELF.replace("book.lent += 1", "book.lend += 1").replace("{MOST}", "{MOAST}")
    first = edits({"first": 44, "last": 44, "text": "      book.lent += 1"})
    better = SHELF.replace("{MOST}", "{MOAST}")
    limited = mended(wrong, [first, first], max_tokens=50)
    assert (limited.stopped, limited.after) == ("limit", better)
    failed = mended(wrong, [first, AccessError("revoked")])
    assert (failed.stopped, failed.after) == ("model", better)
    assert str(failed.error) == "revoked"


def test_tokens_are_counted() -> None:
    done = mended(SHELF.replace("book.lent += 1", "book.lend += 1"))
    assert (done.tokens.tokens_in, done.tokens.tokens_out) == (100, 10)


def test_a_sound_spec_asks_nobody() -> None:
    done = mended(SHELF, [])
    assert (done.stopped, done.rounds, done.diff()) == ("sound", (), "")


def test_settings_have_bounds() -> None:
    with pytest.raises(UsageError, match="rounds is at least 1, not 0"):
        RepairSettings(rounds=0)


def test_a_name_that_is_wrong_in_several_parts_is_mended_one_by_one() -> None:
    """The check names a function that is not there where it is first called; the next call is another problem."""
    wrong = SHELF.replace("  left:\n", "  leff:\n").replace(
        "      require(book.lent > 0,", "      require(left(book) >= 0 and book.lent > 0,"
    )
    done = mended(wrong)
    assert done.stopped == "sound"
    assert done.after == wrong.replace("left(", "leff(")


def test_an_initial_state_in_a_file_beside_the_spec(tmp_path: Path) -> None:
    head, _, data = SHELF.partition("initial_state:\n")
    (tmp_path / "shelf.json").write_text(json.dumps(YAML(typ="safe").load(data)), encoding="utf-8")
    text = f"{head}initial_state: {{file: shelf.json}}\n"
    assert judge(text, str(tmp_path / "shelf.yaml")).sound
    assert not judge(text, str(tmp_path / "other" / "shelf.yaml")).sound
