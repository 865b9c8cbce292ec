"""The shipped specs are examples to follow: no warnings, every example comes out, each success and refusal is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.once import BANK, checked, few, loaded

from envscaler.replay.examples import verify
from envscaler.spec.refusals import tool_refusals

QUICK = ("bank", "file_system", "tau2_mock", "ticket_desk")


@pytest.mark.parametrize("path", few(*QUICK))
def test_examples_come_out(path: Path) -> None:
    found = checked(path)
    assert [d.headline() for d in found.diagnostics if d.severity != "note"] == []
    assert found.spec is not None
    assert verify(found.spec, loaded(path)) == []


@pytest.mark.parametrize("path", few(*QUICK))
def test_each_success_and_each_refusal_has_an_example(path: Path) -> None:
    """Every tool shows how it succeeds, and every refusal that the logic can give is shown by one of the tools."""
    found = checked(path)
    assert found.spec is not None
    tools = found.spec.tools.values()
    shown = [example.error for tool in tools for example in tool.examples if example.error is not None]
    missing = {f"tool {tool.name} succeeds" for tool in tools if all(e.error is not None for e in tool.examples)}
    for refusal in (refusal for tool in tools for refusal in tool_refusals(found, tool)):
        if not any(_says(refusal.message, text) for text in shown):
            missing.add(f"{refusal.owner}, line {refusal.line}: {refusal.message}")
    assert sorted(missing) == []


def _says(message: str, text: str) -> bool:
    """Whether a text is a refusal's message with its `{expressions}` filled in."""
    parts, depth = [""], 0
    for letter in message:
        if letter == "{":
            depth += 1
            parts += [""] * (depth == 1)
        elif letter == "}" and depth:
            depth -= 1
        elif not depth:
            parts[-1] += letter
    return re.fullmatch(".*".join(map(re.escape, parts)), text, re.S) is not None


def test_the_bank_has_its_size() -> None:
    spec = checked(BANK).spec
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
    env = loaded(BANK).new()
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
