"""The shipped specs are examples to follow: no diagnostics, every example comes out, each tool shows a success and a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from envscaler.compiler import compile_spec, load_class
from envscaler.replay.examples import verify
from envscaler.session.files import spec_files
from envscaler.spec.check import check_text

SPECS = Path(__file__).parents[2] / "specs"
PATHS = spec_files([SPECS])[0]
CANNOT_FAIL = {("retail", "list_all_product_types"), ("retail", "think"), ("retail", "transfer_to_human_agents")}


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_examples_come_out(path: Path) -> None:
    checked = check_text(path.name, path.read_text(encoding="utf-8"))
    assert checked.diagnostics == []
    assert checked.spec is not None
    assert verify(checked.spec, load_class(compile_spec(checked))) == []


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_each_tool_shows_a_success_and_a_failure(path: Path) -> None:
    spec = check_text(path.name, path.read_text(encoding="utf-8")).spec
    assert spec is not None
    for tool in spec.tools.values():
        failed = {example.error is not None for example in tool.examples}
        assert failed == ({False} if (spec.name, tool.name) in CANNOT_FAIL else {False, True}), tool.name


def test_the_bank_has_its_size() -> None:
    spec = check_text("bank.yaml", (SPECS / "bank.yaml").read_text(encoding="utf-8")).spec
    assert spec is not None
    collections = [state for state in spec.states.values() if not state.single]
    kinds = {
        "each": sum(rule.each is not None for rule in spec.rules.values()),
        "moves": sum(rule.moves is not None for rule in spec.rules.values()),
        "policy": sum(rule.policy for rule in spec.rules.values()),
    }
    assert len(spec.tools) >= 18
    assert {tool.actor for tool in spec.tools.values()} == {"agent", "user"}
    assert len(collections) >= 4
    assert all(kinds.values())
    assert len(spec.rules) - sum(kinds.values()) >= 1, "some rules are only cited"


def test_the_bank_can_be_set_up_otherwise() -> None:
    path = SPECS / "bank.yaml"
    bank = load_class(compile_spec(check_text(path.name, path.read_text(encoding="utf-8"))))
    env = bank.new()
    for name, arguments in [
        ("credit_interest", {"months": 3}),
        ("run_standing_orders", {}),
        ("steal_card", {"card_id": "K-3001"}),
        ("court_freeze", {"account_id": "A-2001"}),
    ]:
        assert env.setup(name, arguments).ok, name
    assert env.state["accounts"]["A-2002"]["balance"] == 12565.63
    assert env.state["standing_orders"]["S-0002"]["next_due"] == "2031-06-12"
    refused = env.setup("court_freeze", {"account_id": "A-2008"})
    assert refused.error is not None
    assert refused.error.rule == "account_life"
