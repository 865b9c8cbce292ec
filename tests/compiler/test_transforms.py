"""Every transform's examples: a body of a small spec before and after."""

from __future__ import annotations

import textwrap

import pytest

from envscaler.compiler.naming import Naming
from envscaler.compiler.transforms import ALL_CASES, Case, lower
from envscaler.spec.check import check_text

_SPEC = """\
envscaler: 1
name: library
clock: 2030-03-04T09:00:00Z
constants:
  MAX_LOANS: 5
types:
  Standing: {enum: [active, suspended]}
  Cash: {fields: {by: {const: cash}}}
  Card: {fields: {by: {const: card}, last_four: str}}
  Payment: {union: [Cash, Card], tag: by}
states:
  members:
    record: Member
    key: {name: member_id, make: "M-{n:04d}"}
    fields:
      name: str
      status: Standing
      balance: {type: money, ge: 0, default: 0}
      paid_by: {list: Payment, default: []}
  copies:
    record: Copy
    key: {name: barcode, make: "B-{n:05d}"}
    fields: {title: str, state: {enum: [on_shelf, on_loan, lost]}}
  loans:
    record: Loan
    key: {name: loan_id, make: "L-{n:05d}"}
    fields: {member_id: {ref: members}, barcode: {ref: copies}, due: date, returned: date?}
  desk:
    record: Desk
    single: true
    fields: {notes: {list: str, default: []}}
rules:
  active_only: {text: Suspended members cannot borrow.}
helpers:
  open_loans:
    params: {member: Member}
    do: |
      return [l for l in loans.values() if l.member_id == member.member_id and l.returned is None]
"""


def _spec(case: Case) -> str:
    section = {"tool": "tools", "setup": "setup", "helper": "helpers"}[case.kind]
    kind = "    kind: write\n" if case.kind == "tool" else ""
    tool = "" if case.kind == "tool" else "tools:\n  noop:\n    kind: read\n    do: |\n      return 1\n"
    body = textwrap.indent(case.before, "      ")
    head = _SPEC + tool + ("" if case.kind == "helper" else f"{section}:\n")
    return f"{head}  sample:\n{kind}    params: {case.params}\n    do: |\n{body}\n"


@pytest.mark.parametrize(("module", "case"), ALL_CASES, ids=[f"{m}-{i}" for i, (m, _) in enumerate(ALL_CASES)])
def test_before_becomes_after(module: str, case: Case) -> None:
    checked = check_text("sample.yaml", _spec(case))
    problems = [d.headline() for d in checked.diagnostics if d.severity == "error"]
    assert problems == []
    assert checked.spec is not None
    body = {"tool": checked.tools, "setup": checked.setup, "helper": checked.helpers}[case.kind]["sample"]
    lowered = lower(body, Naming(checked, checked.spec), case.kind)
    assert textwrap.dedent(lowered.code) == case.after
