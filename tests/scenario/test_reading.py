"""Scenarios from files: what is read, what is refused where, and that what is written is read as the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.diagnostics import Diagnostic
from envscaler.errors import UsageError
from envscaler.scenario.checking import check_scenario
from envscaler.scenario.codes import CODES, SPEC, complete
from envscaler.scenario.model import (
    Answer,
    Fact,
    Goal,
    Guard,
    Only,
    Reveal,
    Scenario,
    Source,
    SpecRef,
    Step,
    User,
)
from envscaler.scenario.reading import Bad, read_scenarios, read_text
from envscaler.scenario.world import World
from envscaler.scenario.yamlform import to_yaml
from envscaler.spec.check import check_text
from envscaler.spec.codes import CODES as OF_SPECS
from tests.scenario.hand import transfer, world

CASES = Path(__file__).resolve().parents[1] / "cases" / "scenarios" / "reading"


@cache
def kiosk() -> World:
    return World.of(check_text("kiosk.yaml", SPEC))


def problems(path: str, text: str, of: World | None = None) -> list[Diagnostic]:
    """All that is said of the scenarios of a text, held against a spec."""
    found: list[Diagnostic] = []
    for read in read_text(path, text):
        found += read.diagnostics
        if read.scenario is not None:
            found += check_scenario(of or kiosk(), read.scenario, read.places)
    return found


# -- codes


@pytest.mark.parametrize("name", sorted(CODES))
def test_each_code_is_shown_by_its_snippets(name: str) -> None:
    path = "a.jsonl" if CODES[name].bad.startswith("{") else "a.yaml"
    assert name in {d.code for d in problems(path, complete(CODES[name].bad))}
    assert [d.headline() for d in problems(path, complete(CODES[name].good))] == []


def test_every_problem_that_is_said_has_a_page() -> None:
    assert CODES.keys().isdisjoint(OF_SPECS)
    package = Path(__file__).resolve().parents[2] / "src" / "envscaler" / "scenario"
    said = {
        part.split('"')[0]
        for file in ("checking", "fields", "guards", "reading", "scoring")
        for part in (package / f"{file}.py").read_text(encoding="utf-8").split('"')
        if part.startswith("scenario-")
    }
    assert said == CODES.keys()


# -- places

YAML = """\
# An order of a paper
spec: kiosk
task: Order 10 copies of the Herald.
goals:
  - expr: |
      # as many as were ordered
      final.papers["herald"].stock == (
          initial.papers["herald"].stok + 10
      )
    text: stock of the Herald
  - 'final.papers["globe"].stck == 9'
guards:
  - only:
      fields:
        papers:
          herald: [stock, titel]
        tll: {"": [open]}
solution:
  - tool: ordr
    arguments: {}
  - tool: order
    arguments:
      paper_id: herald
      copis: 10
    sources:
      paper_id: {from: found, step: 4}
answers: {n: integr}
"""


def test_problems_of_yaml_stand_where_they_are() -> None:
    assert sorted((d.span.line, d.span.column, d.code) for d in problems("a.yaml", YAML)) == [
        (8, 36, "unknown-field"),
        (11, 28, "unknown-field"),
        (16, 27, "scenario-unknown-field"),
        (17, 9, "scenario-unknown-state"),
        (19, 11, "scenario-unknown-tool"),
        (21, 5, "scenario-argument"),
        (24, 7, "scenario-argument"),
        (26, 7, "scenario-source"),
        (27, 1, "unknown-type"),
    ]


def test_problems_of_json_stand_in_their_line() -> None:
    (read,) = read_text("a.yaml", YAML)
    assert read.scenario is not None
    good = {"spec": "kiosk", "task": "Shut.", "goals": ["not final.till.open"], "solution": [{"tool": "shut"}]}
    text = "\n".join([json.dumps(good), "", json.dumps(read.scenario.to_json()), "{", '["no"]', json.dumps(good)])
    found = problems("a.jsonl", text)
    assert {d.span.line for d in found} == {3, 4, 5, 6}
    assert sorted(d.code for d in found if d.span.line == 3) == sorted(d.code for d in problems("a.yaml", YAML))
    assert [d.code for d in found if d.span.line > 3] == [
        "scenario-not-json",
        "scenario-wrong-type",
        "scenario-duplicate-id",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"task": "x", "spec": "kiosk", "seed": NaN}', "NaN is no JSON number"),
        ('{"task": "x", "spec": "kiosk", "seed": 1e999}', "not finite"),
        ('{"task": "x", "spec": "kiosk", "seed": ' + "9" * 5000 + "}", "line is not JSON"),
        ('{"task": "x", "spec": "kiosk", "seed": 9007199254740993}', "outside ±2^53"),
        ('{"task": "x", "spec": "kiosk", "tags": ' + "[" * 90 + "]" * 90 + "}", "nests deeper than 64"),
        ("[" * 100_000, "line is not JSON"),
        ('{"task": "\\ud800", "spec": "kiosk"}', "not valid Unicode"),
        ('{"task": "x", "spec": "kiosk", "\\u001b[31mred": 1}', "no key '\\x1b[31mred'"),
        ("null", "expected a scenario as an object"),
    ],
)
def test_hostile_lines_are_problems_of_their_line(line: str, said: str) -> None:
    reads = list(read_text("a.jsonl", f'{line}\n{{"task": "x", "spec": "kiosk"}}'))
    assert [read.scenario is None for read in reads] == [True, False]
    assert any(said in d.headline() for d in reads[0].diagnostics), [d.headline() for d in reads[0].diagnostics]


def test_files(tmp_path: Path) -> None:
    jsonl, yaml = tmp_path / "a.jsonl", tmp_path / "a.yaml"
    jsonl.write_text(json.dumps(transfer().to_json()) + "\n{\n", encoding="utf-8")
    yaml.write_text("\ufeff" + to_yaml([transfer()]).replace("\n", "\r\n"), encoding="utf-8")
    first, second = read_scenarios(jsonl)
    assert first == transfer()
    assert isinstance(second, Bad)
    assert second.line == 2
    assert list(read_scenarios(yaml)) == [transfer()]
    with pytest.raises(UsageError, match="No such file"):
        list(read_scenarios(tmp_path / "b.jsonl"))
    yaml.write_bytes(b"task: \xff")
    (bad,) = read_scenarios(yaml)
    assert isinstance(bad, Bad)


def test_short_forms_for_people() -> None:
    (read,) = read_text("a.yaml", complete("submitted: {refusal: shelf}\nanswers: {n: int}\n"))
    found = read.scenario
    assert found is not None
    assert (found.kind, found.outcome, found.seed) == ("complete", "refusal", 0)
    assert found.id.startswith("kiosk-")
    assert found.answers == (Answer("n", "int"),)
    assert found.spec == SpecRef("kiosk", "")


# -- the spec


def test_a_changed_spec_is_refused_unless_asked_for() -> None:
    (read,) = read_text("a.yaml", complete('spec: {name: kiosk, hash: "sha256:0000"}\n'))
    assert read.scenario is not None
    (refused,) = check_scenario(kiosk(), read.scenario, read.places)
    assert refused.code == "scenario-spec"
    assert "sha256:0000" in refused.title
    assert kiosk().spec.hash in refused.title
    (noted,) = check_scenario(kiosk(), read.scenario, read.places, changed=True)
    assert (noted.severity, noted.title) == ("warning", refused.title)
    (other,) = check_scenario(world(), read.scenario, read.places, changed=True)
    assert "for the spec kiosk, this is bank" in other.title


@pytest.mark.parametrize(
    "change",
    [
        {"goals": ()},
        {"task": "Move 77.77 somewhere."},
        {"user": User((Fact("a", 1, "One."),))},
        {"submitted": {"refusal": "no_such_rule"}, "outcome": "refusal"},
        {"submitted": {"refusal": "daily_limit"}},
        {"outcome": "refusal"},
        {"reveal": (Reveal(("transfr",)),)},
        {"answers": (Answer("n", "int"),)},
        {"state": "sha256:nowhere"},
        {"setup": (Step("court_freez", {}),)},
        {"solution": (Step("transfer", {"from_account": "A-2001", "to_account": "A-2002", "amount": -1}),)},
        {"solution": (Step("pay_by_card", {"card_id": "K-3001", "amount": 1, "shop": "x"}),)},
    ],
)  # fmt: skip
def test_one_thing_wrong_is_one_problem(change: dict[str, Any]) -> None:
    from envscaler.scenario.located import InLine
    from envscaler.scenario.states import StateStore

    good = replace(transfer(), goals=tuple(replace(goal, steps=()) for goal in transfer().goals))
    places, states = InLine("a.jsonl", 1), StateStore()
    assert check_scenario(world(), good, places, states=states) == []
    assert len(check_scenario(world(), replace(good, **change), places, states=states)) == 1


def cases() -> Iterator[Any]:
    for path in sorted(CASES.glob("*.yaml")):
        yield pytest.param(path, id=path.stem)


@pytest.mark.parametrize("path", list(cases()))
def test_cases(path: Path) -> None:
    """Faults of the field as files: the first line of each says what is found, and where."""
    text = path.read_text(encoding="utf-8")
    wanted = text.split("\n", 1)[0].removeprefix("# ").split()
    found = problems(path.name, text, world() if "spec: bank" in text else None)
    assert [f"{d.span.line}:{d.code}" for d in found] == wanted


# -- writing

NAME = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
TEXT = st.text(max_size=30) | st.sampled_from(
    ["yes", "no", "null", "~", "true", "1", "1e3", "0655", "- a", "a: b", "a #b", " a", "a ", "", "\n", "a\n", "a\nb", "a\n\nb",
     " a\nb", "a\n b\n  c", "# a\nb", "\x85\u2028", "\ufeff", "'", '"', "\\", "it's", "a\tb", "%a", "@a", "{a}", "[a", "a,b", "=", "<<",
     "2031-05-12", "10:30", ".5", "+1", "0x1f", "\U0001f600", "|", ">", "? a", "a:", "-", "---\na", "a\n...", "*a", "&a", "!a"]
)  # fmt: skip
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
OBJECT = st.dictionaries(TEXT, VALUE, max_size=3)
SOURCE = st.one_of(
    st.sampled_from([Source("task"), Source("fixed"), Source("free")]),
    st.builds(lambda name: Source("fact", name), TEXT),
    st.builds(lambda step, path: Source("found", step=step, path=path), st.integers(0, 9), TEXT),
)
STEP = st.builds(
    Step, TEXT, OBJECT, st.dictionaries(TEXT, SOURCE, max_size=2), TEXT, st.sampled_from(["agent", "user"])
)
EXPR = TEXT.map(str.strip)
ONLY = st.builds(
    Only,
    st.dictionaries(TEXT, st.dictionaries(TEXT, st.lists(TEXT, max_size=2).map(tuple), max_size=2), max_size=2),
    st.dictionaries(TEXT, st.integers(0, 9), max_size=2),
    st.dictionaries(TEXT, st.lists(TEXT, max_size=2).map(tuple), max_size=2),
)
SCENARIO = st.builds(
    Scenario,
    kind=TEXT,
    spec=st.builds(SpecRef, TEXT, TEXT),
    task=TEXT,
    goals=st.lists(st.builds(Goal, EXPR, TEXT, st.lists(st.integers(0, 9), max_size=2).map(tuple)), max_size=2).map(tuple),
    guards=st.lists(
        st.builds(lambda only, text: Guard(only, "", text), ONLY, TEXT)
        | st.builds(lambda expr, text: Guard(None, expr, text), EXPR.filter(bool), TEXT),
        max_size=2,
    ).map(tuple),
    solution=st.lists(STEP, max_size=2).map(tuple),
    seed=st.integers(0, 9),
    state=st.none() | TEXT.filter(bool) | OBJECT.filter(bool),
    setup=st.lists(STEP, max_size=1).map(tuple),
    user=st.builds(
        User,
        st.dictionaries(TEXT, st.tuples(VALUE, TEXT), max_size=2).map(lambda f: tuple(Fact(n, v, t) for n, (v, t) in f.items())),
        st.lists(TEXT, max_size=2).map(tuple), TEXT, TEXT,
    ),
    reveal=st.lists(st.builds(Reveal, st.lists(TEXT, max_size=2).map(tuple), st.integers(0, 3), TEXT), max_size=1).map(tuple),
    answers=st.dictionaries(TEXT, st.tuples(VALUE, TEXT), max_size=2).map(
        lambda a: tuple(Answer(n, t, d) for n, (t, d) in a.items())
    ),
    outcome=st.sampled_from(["answer", "refusal"]),
    submitted=st.none() | st.builds(lambda answer: {"answer": answer}, OBJECT) | st.builds(lambda r: {"refusal": r}, TEXT),
    tags=OBJECT,
    proof=st.none() | OBJECT.filter(bool),
    id=st.from_regex(r"[a-z0-9-]{1,12}", fullmatch=True),
)  # fmt: skip


@settings(max_examples=10)
@given(st.lists(SCENARIO, min_size=1, max_size=2, unique_by=lambda s: s.id))
def test_what_is_written_is_read_as_the_same(scenarios: list[Scenario]) -> None:
    wanted = [one.to_json() for one in scenarios]
    lines = "".join(json.dumps(one) + "\n" for one in wanted)
    for path, text in (("a.jsonl", lines), ("a.yaml", to_yaml(scenarios))):
        reads = list(read_text(path, text))
        assert [read.diagnostics for read in reads] == [()] * len(scenarios), text
        assert [json.dumps(read.scenario.to_json()) for read in reads if read.scenario] == list(map(json.dumps, wanted))


PARTS = """\
spec: bank
task: Add a payee.
goals: ['count(k for k in final.payees if k not in initial.payees) == 1']
solution:
  - tool: add_payee
    arguments: {customer_id: C-1001, name: Landlord, to: {bank: northgate, account_id: A-2004}}
    sources: {to/account_id: {from: task}, two/account_id: {from: task}}
"""


def test_a_part_of_a_parameter_has_a_source_of_its_own() -> None:
    found = [d for d in problems("a.yaml", PARTS, world()) if d.code == "scenario-source"]
    assert [d.title for d in found] == ["sources: add_payee has no parameter 'two/account_id'"]
