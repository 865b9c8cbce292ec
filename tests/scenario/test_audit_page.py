"""The audit page shows what a person needs, needs nothing else, and lets no text of a scenario become markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from envscaler.scenario.model import Guard, Only, Scenario
from envscaler.scenario.pages import audit_page, report_page
from envscaler.scenario.proof import GATES, ProofSettings, prove
from envscaler.scenario.report import report
from tests.scenario import hand
from tests.scenario.hand import world

HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\u202e"


def proved(scenario: Scenario) -> Scenario:
    return replace(scenario, proof=prove(world(), scenario, None, ProofSettings(elsewhere=False)).to_json())


class Page(HTMLParser):
    """Tags and text; it is an error to leave a tag open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.mark.parametrize("make", hand.ALL, ids=lambda make: make.__name__)
def test_everything_is_on_the_page(make: Callable[[], Scenario]) -> None:
    scenario = proved(make())
    page = Page(audit_page(world(), scenario, back="index.html"))
    assert " ".join(scenario.task.split()) in page.text
    for goal in scenario.goals:
        assert goal.expr in page.text
    for step in scenario.solution:
        assert step.tool in page.text
    for gate in GATES.values():
        assert gate in page.text
    assert "script" not in page.tags
    assert page.links == ["index.html"]


def test_what_the_solution_changes_stands_beside_what_was_there() -> None:
    text = Page(audit_page(world(), proved(hand.transfer()))).text
    assert "1840.55 1500.0" in text
    assert "P-000020 new" in text
    assert "found in step 2 at /accounts/1/account_id" in text
    assert "told in the task" in text
    assert re.search("fails (alone|with others): (and then|without) step 3", text)
    assert "a write left out without step 3 goals 1, 2, 3, 4 not met" in text


def test_a_refusal_names_its_rule() -> None:
    text = Page(audit_page(world(), proved(hand.refusal()))).text
    assert "rule only_open_accounts_pay as it is meant to be" in text
    assert "ends with a refusal" in text


def test_texts_are_escaped() -> None:
    scenario = hand.asked()
    fact = replace(scenario.user.facts[0], text=f"350 {HOSTILE}", name=HOSTILE)
    goals = tuple(replace(goal, text=HOSTILE) for goal in scenario.goals)
    user = replace(scenario.user, facts=(fact,), unknown=(HOSTILE,), stop_when=HOSTILE, opening=HOSTILE)
    wild = replace(scenario, task=HOSTILE, goals=goals, user=user, tags={HOSTILE: HOSTILE}, kind=HOSTILE, id=HOSTILE)
    text = audit_page(world(), proved(wild))
    assert "script" not in Page(text).tags
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    listed = report_page(HOSTILE, report([proved(wild)]), [""])
    assert "<script>" not in listed


def test_what_is_wrong_is_shown_and_not_raised() -> None:
    broken = proved(replace(hand.transfer(), guards=(Guard(only=Only()),)))
    assert "guard-broken-by-solution" in Page(audit_page(world(), broken)).text
    unknown = replace(hand.transfer(), solution=(replace(hand.transfer().solution[0], tool="no_such_tool"),))
    assert "no_such_tool" in Page(audit_page(world(), unknown)).text
    bad = replace(hand.transfer(), state={"accounts": {"A-1": {}}})
    assert "A-1" in Page(audit_page(world(), proved(bad))).text
    assert "not proved" in Page(audit_page(world(), hand.transfer())).text


def test_the_report_counts() -> None:
    scenarios = [proved(make()) for make in hand.ALL]
    scenarios.append(proved(replace(hand.transfer(), guards=())))
    scenarios.append(hand.transfer())
    found = report(scenarios)
    plain = found.to_json()
    assert json.loads(json.dumps(plain)) == plain
    assert (plain["scenarios"], plain["proved"], plain["unproved"]) == (9, 7, 1)
    assert plain["reasons"]["near-miss-accepted"] >= 1
    assert sum(kind["accepted"] for kind in plain["near"].values()) == plain["reasons"]["near-miss-accepted"]
    assert plain["gates"]["near"] == {"passed": 7, "failed": 1}
    lines = list(found.text())
    assert lines[0] == "9 scenarios: 7 proved, 2 not"
    assert any("no proof" in line for line in lines)
    page = Page(report_page("All", found, [f"{n}.html" for n in range(9)]))
    assert page.links == [f"{n}.html" for n in range(9)]
