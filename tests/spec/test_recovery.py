"""One slip of the pen in a whole spec is one message, at its place: what it stands for is read as it was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from envscaler.diagnostics import Diagnostic
from envscaler.spec.check import check_text
from envscaler.spec.report import Report

BANK = (Path(__file__).parents[2] / "specs" / "bank.yaml").read_text(encoding="utf-8")
ACCOUNT = '    record: Account\n    key: {name: account_id, make: "A-{n:04d}"}\n    fields:'
TAKES = "      customer_id: {ref: customers, as: customer, missing"

SLIPS = {
    "state-key": (ACCOUNT, ACCOUNT.replace("key:", "kei:"), "kei:"),
    "state-record": (ACCOUNT, ACCOUNT.replace("record:", "recrod:"), "recrod:"),
    "state-fields": (ACCOUNT, ACCOUNT.replace("fields:", "feilds:"), "feilds:"),
    "state-name": ("  accounts:\n    record", "  Accounts:\n    record", "Accounts:\n"),
    "key-name": (ACCOUNT, ACCOUNT.replace("name:", "nmae:"), "nmae:"),
    "key-as-text": ('key: {name: account_id, make: "A-{n:04d}"}', "key: account_id", "account_id\n    fields"),
    "key-make": ('"A-{n:04d}"', '"A-{m:04d}"', '"A-{m'),
    "field-type": ("balance: {type: money,", "balance: {typ: money,", "typ: money,"),
    "field-default": ("default: open}", "default: opne}", "opne}"),
    "field-ref": ("customer_id: {ref: customers}\n      kind", "customer_id: {ref: customer}\n      kind", "customer}\n      kind"),
    "single": ("single: true", "single: yes", "yes\n"),
    "rule-field": ("field: accounts.status", "field: accounts.state", "accounts.state\n"),
    "rule-each": ("    each: accounts\n    holds: |\n      it.bal", "    each: account\n    holds: |\n      it.bal", "account\n"),
    "rule-text": ("text: No account falls", "txet: No account falls", "txet:"),
    "tool-kind": ("  find_customers:\n    kind", "  find_customers:\n    knid", "knid:"),
    "tool-do": ("do: |\n      wanted", "od: |\n      wanted", "od: |\n      wanted"),
    "tool-params": ("params:\n      words", "parms:\n      words", "parms:"),
    "param-ref": (TAKES, TAKES.replace("customers,", "costumers,"), "costumers,"),
    "param-form": (TAKES, TAKES.replace("ref:", "fer:"), "fer:"),
    "helper-params": ("params: {account: Account}", "parms: {account: Account}", "parms:"),
    "helper-type": ("params: {account: Account}", "params: {account: Acount}", "Acount}"),
    "helper-name": ("  check_funds:\n", "  check-funds:\n", "check-funds:"),
    "type-name": ("  AccountKind: {enum", "  accountKind: {enum", "accountKind:"),
    "union-tag": ("tag: bank}", "tga: bank}", "tga:"),
    "constant-value": ("DAILY_LIMIT: {type: money, value", "DAILY_LIMIT: {type: money, valeu", "valeu:"),
    "section": ("\nstates:\n", "\nstate:\n", "state:\n"),
    "data-field": ("A-2003: {customer_id", "A-2003: {custmer_id", "custmer_id"),
    "data-key": ("    A-2007: {cust", "    A-2077: {cust", None),
}  # fmt: skip


FEW = ("state-key", "field-default", "tool-kind", "helper-type", "data-field")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FEW else pytest.mark.slow) for n in SLIPS])
def test_one_slip_is_one_message(name: str) -> None:
    right, wrong, place = SLIPS[name]
    assert BANK.count(right) >= 1
    text = BANK.replace(right, wrong, 1)
    (found,) = check_text("bank.yaml", text).diagnostics
    assert found.severity == "error"
    line = text.split("\n")[found.span.line - 1]
    if place is not None:
        assert line[found.span.column - 1 :].startswith(place.split("\n")[0])


def test_many_problems_of_one_cause_are_one_with_the_places_of_the_others() -> None:
    text = BANK.replace("      balance: {type", "      balence: {type")
    (found,) = check_text("bank.yaml", text).diagnostics
    assert found.title == "Account has no field 'balance'"
    assert found.help == "did you mean 'balence'?"
    assert [word for _, word in found.related[:2]] == ["the same again"] * 2
    assert "more places" in found.related[2][1]


def test_unlike_problems_stay_apart() -> None:
    report = Report()
    spec = check_text("s", "envscaler: 1\n").diagnostics[0].span
    report.extend(Diagnostic("unknown-name", spec, f"nothing here is called '{name}'") for name in "abcd")
    assert len(report.items) == 4
