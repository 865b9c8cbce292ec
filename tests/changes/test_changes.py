"""What changed: nothing between a spec and itself, and each of many edits under the heading of those it concerns."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest
from tests import once
from tests.once import BANK, few
from typer.testing import CliRunner, Result

from envscaler.changes import Change, compare
from envscaler.changes.kinds import covers, same
from envscaler.cli import exits
from envscaler.cli.app import app
from envscaler.errors import StateError
from envscaler.runtime import Environment
from envscaler.session.specs import sound
from envscaler.spec.check import check_text
from envscaler.spec.checked import Checked
from envscaler.spec.format import format_text
from envscaler.spec.types import Type

WHOLE = BANK.read_text(encoding="utf-8")
TEXT = re.sub(r"^    examples:\n(?:      .*\n)+", "", WHOLE, flags=re.M)  # which an edit would have to follow

AGENT, SCENARIO, RECORDING = "agent", "scenario", "recording"


@dataclass(frozen=True)
class Edit:
    """``old`` is replaced by ``new`` once (or the pairs of ``more`` too). ``expected``: whom it concerns, the subject,
    words of what is said, whether it is breaking."""

    name: str
    old: str
    new: str
    expected: tuple[tuple[str, str, str, bool], ...]
    more: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        text = TEXT
        for old, new in ((self.old, self.new), *self.more):
            assert old in text, old
            text = text.replace(old, new, 1)
        return text


LIST_CARDS = TEXT[TEXT.index("  list_cards:") : TEXT.index("  list_standing_orders:")]
CONFIRM = TEXT[TEXT.index("  confirm_amounts:") : TEXT.index("helpers:")]
EDITS = (
    Edit("introduction", "You serve customers at the desk", "You serve people at the desk", (
        (AGENT, "introduction", "reads otherwise", False),
    )),
    Edit("title", "title: Service desk of", "title: Counter of", ((AGENT, "title", "reads otherwise", False),)),
    Edit("tool gone", LIST_CARDS, "", (
        (AGENT, "tool list_cards", "is gone", True), (RECORDING, "tool list_cards", "is gone", True),
    )),
    Edit("tool new", "  list_cards:", LIST_CARDS.replace("list_cards:", "list_every_card:").replace("customer_id:", "holder_id:", 1)
         .replace("{customer_id}", "{holder_id}").replace("== customer_id", "== holder_id") + "  list_cards:", (
        (AGENT, "tool list_every_card", "is new", False),
    )),
    Edit("tool renamed", "  block_card:", "  lock_card:", (
        (AGENT, "tool block_card", "looks renamed to lock_card", True),
        (RECORDING, "tool block_card", "looks renamed to lock_card", True),
    )),
    Edit("tool's description", "Freeze an open account, so", "Freeze an account that is open, so", (
        (AGENT, "tool freeze_account", "has another description", False),
    )),
    Edit("parameter new and required", "      text: {type: str, max_length: 140}\n      express:",
         "      text: {type: str, max_length: 140}\n      purpose: str\n      express:", (
        (AGENT, "parameter purpose of tool pay_payee", "is new and required", True),
        (RECORDING, "parameter purpose of tool pay_payee", "is new and required", True),
    )),
    Edit("parameter new and optional", "      text: {type: str, max_length: 140}\n      express:",
         "      text: {type: str, max_length: 140}\n      purpose: {type: str, default: none}\n      express:", (
        (AGENT, "parameter purpose of tool pay_payee", "may be left out", False),
    )),
    Edit("parameter narrower", "      limit: {type: int, ge: 1, le: 50, default: 10}", "      limit: {type: int, ge: 1, le: 20, default: 10}", (
        (AGENT, "parameter limit of tool list_postings", "at most 20", True),
        (RECORDING, "parameter limit of tool list_postings", "at most 20", True),
    )),
    Edit("parameter wider", "      limit: {type: int, ge: 1, le: 50, default: 10}", "      limit: {type: int, ge: 1, le: 80, default: 10}", (
        (AGENT, "parameter limit of tool list_postings", "at most 80", False),
    )),
    Edit("parameter's default", "      limit: {type: int, ge: 1, le: 50, default: 10}", "      limit: {type: int, ge: 1, le: 50, default: 12}", (
        (AGENT, "parameter limit of tool list_postings", "was 10, is 12", True),
        (RECORDING, "parameter limit of tool list_postings", "was 10, is 12", True),
    )),
    Edit("parameter required now", "      since: {type: date?, default: null, description: The first date to show.}",
         "      since: {type: date, description: The first date to show.}", (
        (AGENT, "parameter since of tool list_postings", "is required now", True),
        (RECORDING, "parameter since of tool list_postings", "may no longer be null", True),
    ), (("(since is None or p.booked.date >= since)", "p.booked.date >= since"),)),
    Edit("parameter's description", "description: The first date to show.", "description: The first day to show.", (
        (AGENT, "parameter since of tool list_postings", "has another description", False),
    )),
    Edit("text of a refusal", 'f"Account {account_id} is not frozen."', 'f"Account {account_id} is not a frozen one."', (
        (AGENT, "tool unfreeze_account", "refuses with another text", False),
        (RECORDING, "tool unfreeze_account", "refuses with another text", True),
    )),
    Edit("text of a reference", 'customer_id: {ref: customers, as: customer, missing: "There is no customer {customer_id}."}',
         'customer_id: {ref: customers, as: customer, missing: "No customer {customer_id} is known."}', (
        (AGENT, "tool customer_overview", "refuses with another text", False),
        (RECORDING, "tool customer_overview", "refuses with another text", True),
    )),
    Edit("text of a refusal in a helper", 'f"Only {left:.2f} more can leave', 'f"No more than {left:.2f} can leave', (
        (AGENT, "tools transfer, pay_payee", "refuses with another text", False),
        (RECORDING, "tools transfer, pay_payee", "refuses with another text", True),
    )),
    Edit("refusal new", '      require(account.status == "open", f"Account {account_id} is {account.status} already.")',
         '      require(account.balance >= 0, "Not while it owes.")\n'
         '      require(account.status == "open", f"Account {account_id} is {account.status} already.")', (
        (AGENT, "tool freeze_account", "can refuse in a new way", True),
        (RECORDING, "tool freeze_account", "can refuse in a new way", True),
        (RECORDING, "tool freeze_account", "has other logic", True),
    )),
    Edit("result", '          "total": sum(a.balance for a in held),', '          "sum": sum(a.balance for a in held),', (
        (AGENT, "tool customer_overview", "total is gone", False),
        (RECORDING, "tool customer_overview", "total is gone", True),
    )),
    Edit("errors", 'errors: {error: "{message}"}', 'errors: {failed: "{message}"}', (
        (AGENT, "errors", "another form", True), (RECORDING, "errors", "another form", True),
    )),
    Edit("logic of a helper", "      till.running_low = till.cash < TILL_FLOOR", "      till.running_low = till.cash <= TILL_FLOOR", (
        (RECORDING, "helper watch_till", "has other logic", True),
    )),
    Edit("rule's text", "text: A cancelled card stays cancelled.", "text: A card that is cancelled stays so.", (
        (AGENT, "rule card_life", "reads otherwise", False),
    )),
    Edit("policy gone", CONFIRM, "", ((AGENT, "rule confirm_amounts", "is gone", False),)),
    Edit("rule new", "rules:\n", "rules:\n  old_enough:\n    text: Nobody was born after today.\n    each: customers\n"
         "    holds: |\n      it.born <= today\n", (
        (AGENT, "rule old_enough", "is new", False),
        (SCENARIO, "rule old_enough", "holds a new condition", True),
        (RECORDING, "rule old_enough", "holds a new condition", True),
    )),
    Edit("condition of a rule", "      it.balance + it.overdraft_limit >= 0\n", "      it.balance + it.overdraft_limit > 0\n", (
        (SCENARIO, "rule within_overdraft", "holds another condition", True),
        (RECORDING, "rule within_overdraft", "holds another condition", True),
    )),
    Edit("move gone", "moves: {open: [frozen, closed], frozen: [open], closed: []}", "moves: {open: [frozen], frozen: [open], closed: []}", (
        (SCENARIO, "rule account_life", "may no longer move open → closed", True),
        (RECORDING, "rule account_life", "may no longer move open → closed", True),
    )),
    Edit("move new", "blocked: [active, cancelled], cancelled: []}", "blocked: [active, cancelled], cancelled: [active]}", (
        (SCENARIO, "rule card_life", "may also move cancelled → active", False),
        (RECORDING, "rule card_life", "may also move cancelled → active", True),
    )),
    Edit("field new and required", "      since: date\n      contact: Contact", "      since: date\n      branch: str\n      contact: Contact", (
        (SCENARIO, "field customers.branch", "is new and required", True),
        (RECORDING, "tool register_customer", "has other logic", True),
    ), (
        ("born=born, since=today", 'born=born, branch="north", since=today'),
        ("initial_state:\n", "initial_state: {file: branches.json}\n# "),
    )),
    Edit("field new and optional", "      since: date\n      contact: Contact",
         "      since: date\n      branch: {type: str, default: main}\n      contact: Contact", (
        (SCENARIO, "field customers.branch", "may be left out", False),
    )),
    Edit("field narrower", "      name: {type: str, min_length: 1, like: name}", "      name: {type: str, min_length: 2, like: name}", (
        (SCENARIO, "field customers.name", "at least 2 characters", True),
        (RECORDING, "field customers.name", "at least 2 characters", True),
    )),
    Edit("member of an enum", "AccountKind: {enum: [current, savings]}", "AccountKind: {enum: [current, savings, youth]}", (
        (SCENARIO, "field accounts.kind", "gains youth", False),
        (AGENT, "parameter kind of tool open_account", "gains youth", False),
        (RECORDING, "tool account_details", "gains youth", False),
    )),
    Edit("unique", "unique: [[customer_id, name]]", "unique: [[name]]", (
        (SCENARIO, "state payees", "name must be unique", True), (RECORDING, "state payees", "name must be unique", True),
        (SCENARIO, "state payees", "customer_id and name need not be unique together", False),
    )),
    Edit("keys", 'key: {name: card_id, make: "K-{n:04d}"}', 'key: {name: card_id, make: "K-{n:05d}"}', (
        (SCENARIO, "state cards", "K-{n:05d}", False), (RECORDING, "state cards", "K-{n:05d}", True),
    )),
    Edit("constant", "MAX_CARDS: 2", "MAX_CARDS: 3", (
        (SCENARIO, "constant MAX_CARDS", "was 2 (int), is 3 (int)", True),
        (RECORDING, "constant MAX_CARDS", "was 2 (int), is 3 (int)", True),
        (AGENT, "rule cards_per_account", "reads otherwise", False),
    )),
    Edit("clock", "clock: 2031-05-12T10:30:00Z", "clock: 2031-05-12T11:30:00Z", (
        (SCENARIO, "clock", "11:30", True), (RECORDING, "clock", "11:30", True),
    )),
    Edit("setup", "  court_freeze:\n", "  court_order:\n", ((SCENARIO, "setup court_freeze", "looks renamed to court_order", True),)),
    Edit("initial state", "  till: {cash: 4200}", "  till: {cash: 4100}", (
        (SCENARIO, "initial state of till", "cash changed", True),
    )),
    Edit("record of the initial state", "    K-3005: {account_id: A-2010, last_four: \"0052\", daily_limit: 2500}\n", "", (
        (SCENARIO, "initial state of cards", "K-3005 gone", True),
    )),
)  # fmt: skip


@lru_cache(maxsize=64)
def checked(text: str, path: str = "bank.yaml", base: Path | None = None) -> Checked:
    found = check_text(path, text, base=base)
    assert found.ok, [d.headline() for d in found.diagnostics if d.severity == "error"]
    return found


@pytest.fixture(scope="module")
def bank() -> Checked:
    return checked(TEXT)


@pytest.mark.parametrize("path", few("file_system", "ticket_desk"))
def test_a_spec_does_not_differ_from_itself(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first, second = once.checked(path), checked(format_text(text, str(path)), str(path), path.parent)
    assert compare(first, first) == []
    assert compare(first, second) == []


@pytest.mark.parametrize(
    "edit",
    [pytest.param(e, marks=[] if n % 8 == 0 else pytest.mark.slow) for n, e in enumerate(EDITS)],
    ids=lambda e: e.name,
)
def test_an_edit_is_found_under_the_right_heading(edit: Edit, bank: Checked, tmp_path: Path) -> None:
    if "branches.json" in edit.text:  # a field that is required needs another initial state
        assert bank.spec is not None
        state = json.loads(json.dumps(bank.spec.initial_state))
        for customer in state["customers"].values():
            customer["branch"] = "north"
        (tmp_path / "branches.json").write_text(json.dumps(state), encoding="utf-8")
        text = edit.text[: edit.text.index("initial_state:")] + "initial_state: {file: branches.json}\n"
        found = compare(bank, checked(text, base=tmp_path))
    else:
        found = compare(bank, checked(edit.text))
        lines_are_there(found, edit.text)
    for audience, subject, words, breaking in edit.expected:
        assert any(
            c.audience == audience and c.subject == subject and words in c.what and c.breaking == breaking
            for c in found
        ), "\n".join(map(str, found))
    # An edit is told to those whom it concerns, and to nobody else.
    assert {c.audience for c in found} == {audience for audience, *_ in edit.expected}


def lines_are_there(found: list[Change], text: str) -> None:
    """The lines that changes name are lines of the two files."""
    old, new = TEXT.splitlines(), text.splitlines()
    for change in found:
        assert change.old is None or old[change.old - 1].strip()
        assert change.new is None or new[change.new - 1].strip()
        assert (change.old, change.new) != (None, None) or change.subject in _WITHOUT_LINE


_WITHOUT_LINE = {"title", "errors", "clock", "tools", "rules"}


def test_comments_layout_and_order_of_keys_are_no_change(bank: Checked) -> None:
    text = TEXT.replace("# The service desk", "# A service desk", 1)
    text = text.replace("      require(account.status == \"open\", f\"Account {account_id} is {account.status} already.\")",
                        "      # once\n      require(\n          account.status == \"open\",\n"
                        "          f\"Account {account_id} is {account.status} already.\",\n      )", 1)  # fmt: skip
    text = text.replace("    K-3001: {account_id: A-2001, last_four: \"4417\", daily_limit: 500}",
                        "    K-3001: {daily_limit: 500.00, last_four: '4417', account_id: A-2001, status: active}")  # fmt: skip
    assert text.count("# once") == 1
    assert compare(bank, checked(text)) == []


def test_examples_are_no_change(bank: Checked) -> None:
    assert len(WHOLE) > len(TEXT)
    assert [c for c in compare(bank, checked(WHOLE)) if c.subject != "spec"] == []


def test_breaking_changes_come_first(bank: Checked) -> None:
    text = EDITS[0].text.replace("  block_card:", "  lock_card:", 1).replace("MAX_CARDS: 2", "MAX_CARDS: 3", 1)
    order = [
        (("agent", "scenario", "recording").index(c.audience), not c.breaking) for c in compare(bank, checked(text))
    ]
    assert order == sorted(order)
    assert len(set(order)) > 3


# -- what is said of types, held against what the runtime takes

TYPES = (
    "str", "int", "float", "number", "bool", "money", "date", "int?", "str?", "{enum: [a, b]}", "{enum: [a, b, c]}",
    "{enum: [1, 2]}", "{list: int}", "{list: number}", "{dict: str}", "{ref: things}", "Small", "Large", "any",
)  # fmt: skip
VALUES: tuple[object, ...] = (
    "a", "c", "x", "T-1", "2030-01-01", 1, 2, 7, 1.5, 0.25, True, None, [], [1], [1.5], {}, {"k": "v"}, {"n": 1},
    {"n": 1, "m": "x"}, {"n": None},
)  # fmt: skip


def spec_of(of: str) -> Checked:
    """A spec with a tool whose parameter is of a type, and other parameters so that each named type is used."""
    return checked(
        "envscaler: 1\nname: probe\n"
        "types: {Small: {fields: {n: int}}, Large: {fields: {n: int, m: {type: str, default: y}}}}\n"
        "states:\n  things: {record: Thing, key: {name: thing_id}, fields: {size: {type: int, default: 0}}}\n"
        "tools:\n  probe:\n    kind: read\n    description: Probe.\n"
        f"    params: {{p: {of if of.startswith('{') else f'{{type: {of}}}'}, s: {{type: Small?}}, l: {{type: Large?}}}}\n"
        "    do: |\n      return len(things)\n"
        "initial_state: {things: {T-1: {}}}\n",
        "probe.yaml",
    )


@pytest.mark.parametrize("old", TYPES)
def test_a_type_covers_another_when_its_values_are_taken(old: str) -> None:
    before = _param(spec_of(old))
    assert covers(before, before)
    assert same(before, before)
    taken = [v for v in VALUES if _takes(spec_of(old), v)]
    for new in TYPES:
        if covers(_param(spec_of(new)), before):
            assert [v for v in taken if not _takes(spec_of(new), v)] == [], new


def _param(found: Checked) -> Type:
    assert found.spec is not None
    return found.spec.tools["probe"].params[0].field.type


_CLASSES: dict[str, type[Environment]] = {}


def _takes(found: Checked, value: object) -> bool:
    from envscaler.compiler import compile_spec, load_class

    if found.source not in _CLASSES:
        _CLASSES[found.source] = load_class(compile_spec(found))
    return bool(_CLASSES[found.source].new(policy="strict").call("probe", {"p": value}).ok)


# -- the command


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    path = tmp_path / "bank.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def edit(path: Path, *pairs: tuple[str, str]) -> Path:
    text = path.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    return path


def test_no_change(edited: Path) -> None:
    done = run("diff", BANK, edit(edited, ("# The service desk", "# A service desk")))
    assert (done.exit_code, done.output) == (exits.OK, "no change\n")


def test_changes_are_shown_with_their_lines(edited: Path) -> None:
    done = run("diff", BANK, edit(edited, ("  till: {cash: 4200}", "  till: {cash: 4100}")))
    old, new = (
        next(i for i, line in enumerate(text.splitlines(), 1) if line.startswith("  till: {cash: 4"))
        for text in (WHOLE, edited.read_text(encoding="utf-8"))
    )
    assert done.exit_code == exits.FINDINGS
    assert done.output.splitlines() == [
        "For a scenario",
        "  breaking    initial state of till: cash changed",
        f"              scenarios that begin with the spec's own state begin otherwise ({BANK}:{old} → {edited}:{new})",
        "",
        "The old initial state is accepted by the new version.",
        "1 change: 1 breaking, 0 compatible",
    ]


@pytest.mark.slow
def test_an_old_state_that_is_refused_is_said(edited: Path) -> None:
    edit(edited, ("      it.balance + it.overdraft_limit >= 0\n", "      it.balance + it.overdraft_limit >= 40\n"))
    done = json.loads(run("diff", BANK, edited, "--json").stdout)
    assert done["changed"]
    assert done["old_initial_state"]["accepted"] is False
    assert any("No account falls below" in p for p in done["old_initial_state"]["problems"])
    assert "is refused by the new version" in run("diff", BANK, edited).output


def test_json(edited: Path) -> None:
    edit(edited, ("  block_card:", "  lock_card:"))
    found = json.loads(run("diff", BANK, edited, "--json").stdout)
    assert (found["changed"], found["breaking"]) == (True, 2)
    change = found["changes"][0]
    assert (change["for"], change["subject"], change["breaking"]) == ("agent", "tool block_card", True)
    assert change["old"] == {"path": str(BANK), "line": change["old"]["line"]}
    assert found["old_initial_state"] == {"accepted": True, "problems": []}


def test_a_bad_version_is_an_error(edited: Path) -> None:
    done = run("diff", BANK, edit(edited, ("kind: read", "kind: rea")))
    assert done.exit_code == exits.SPEC
    assert run("diff", BANK, edited.parent / "none.yaml").exit_code == exits.USAGE


@pytest.mark.slow
def test_recordings_are_replayed_on_both(edited: Path, tmp_path: Path) -> None:
    state = json.loads(json.dumps(dict(sound(BANK).spec.initial_state)))  # type: ignore[union-attr]
    calls = [
        {"tool": "block_card", "arguments": {"card_id": "K-3001"}, "result": None},
        {"tool": "set_card_limit", "arguments": {"card_id": "K-3003", "daily_limit": 300}, "result": None},
        {"tool": "unfreeze_account", "arguments": {"account_id": "A-2001"}, "result": None},
    ]
    recording = tmp_path / "cases.jsonl"
    rows = [{"case_id": f"c{i}", "initial_state": state, "calls": calls[: i + 1]} for i in range(3)]
    recording.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run("diff", BANK, edited, "--recording", recording)
    assert done.exit_code == exits.OK
    assert done.output.splitlines()[0] == "3 recorded cases come out the same."

    edit(edited, ('f"Account {account_id} is not frozen."', 'f"Account {account_id} is not a frozen one."'),
         ("      card.daily_limit = daily_limit\n", "      card.daily_limit = daily_limit + 1\n"))  # fmt: skip
    found = json.loads(run("diff", BANK, edited, "--recording", recording, "--json").stdout)
    assert [(o["case"], o["call"], o["tool"]) for o in found["outcomes"]] == [
        ("c1", "state", None), ("c2", 3, "unfreeze_account"), ("c2", "state", None),
    ]  # fmt: skip
    assert found["outcomes"][1]["new"] == 'refused {"error": "Account A-2001 is not a frozen one."}'


@pytest.mark.slow
def test_a_change_of_state_is_only_said_to_be_compatible_when_old_states_are_taken(bank: Checked) -> None:
    from envscaler.compiler import compile_spec, load_class

    assert bank.spec is not None
    for one in EDITS:
        if "branches.json" in one.text or not any(s.startswith(("state ", "field ")) for _, s, *_ in one.expected):
            continue
        after = checked(one.text)
        breaking = [c for c in compare(bank, after) if c.audience == "scenario" and c.breaking]
        try:
            load_class(compile_spec(after)).prepare(bank.spec.initial_state)
        except StateError:
            assert breaking, one.name


def test_the_edits_are_of_each_kind() -> None:
    concerned = [{audience for audience, *_ in e.expected} for e in EDITS]
    assert len(EDITS) >= 15
    assert all(sum(a in c for c in concerned) >= 5 for a in (AGENT, SCENARIO, RECORDING))
