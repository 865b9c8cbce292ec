"""Recordings run on a small environment: what is equal, what differs, and how it is named."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from envscaler import session
from envscaler.cli.app import app
from envscaler.errors import UsageError
from envscaler.replay import Difference, Report

SPEC = Path(__file__).with_name("till.yaml")
START = {
    "coins": {"C-1": {"value": 5, "label": "plain"}, "C-2": {"value": 10, "label": "worn"}},
    "drawer": {"open": False, "count": 2},
}


def call(
    tool: str, arguments: Any, result: Any = None, kind: str | None = None, error: str | None = None
) -> dict[str, Any]:
    return {
        "tool": tool,
        "arguments": arguments,
        "result": result,
        "error": error,
        "error_kind": kind,
        "changed": False,
    }


CASES: list[dict[str, Any]] = [
    {
        "case_id": "works",
        "initial_state_ref": "start.json",
        "calls": [
            call("total", {}, 15.0),
            call("total", {}, "15"),
            call("get_coin", {"coin_id": "C-2"}, '{"coin_id": "C-2", "value": 10, "label": "worn"}'),
            call("add_coin", {"value": 3}, {"coin_id": "C-3", "value": 3, "label": "plain"}),
            call("add_coin", '{"value": 4, "label": "new"}', {"coin_id": "C-4", "value": 4, "label": "new"}),
            call("total", {}, 22),
        ],
        "final_state_diff": [
            {"op": "add", "path": "/coins/C-3", "value": {"value": 3, "label": "plain"}},
            {"op": "add", "path": "/coins/C-4", "value": {"value": 4.0, "label": "new"}},
            {"op": "replace", "path": "/drawer/count", "value": 4},
        ],
    },
    {
        "case_id": "fails",
        "initial_state_ref": "start.json",
        "calls": [
            call("get_coin", {"coin_id": "C-9"}, "Error: coin C-9 not found", "returned"),
            call("get_coin", {"coin_id": "C-9"}, None, "raised", "ValueError: coin C-9 not found"),
            call("get_coin", {"coin_id": "C-9"}, "coin C-9 not found", "soft"),
            call("get_coin", {"bogus": 1}, "TypeError …", "crash", "TypeError …"),
            call("add_coin", {"value": "much"}, None, "validation", "…"),
            call("nothing", {}, "No tool nothing", "unknown_tool"),
            call("slam", {"open": True}, None, "unknown_tool", "NameError: slam"),
            call("slam", {"open": True}, "done") | {"requestor": "user"},
        ],
        "final_state_diff": [{"op": "replace", "path": "/drawer/open", "value": True}],
    },
]


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Path]:
    (tmp_path / "start.json").write_text(json.dumps(START), encoding="utf-8")

    def write(change: Callable[[list[dict[str, Any]]], None] = lambda _: None) -> Path:
        cases = copy.deepcopy(CASES)
        change(cases)
        file = tmp_path / "cases.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in cases), encoding="utf-8")
        return file

    return write


def one(report: Report) -> Difference:
    (difference,) = report.differences
    return difference


def test_everything_right(recorded: Callable[..., Path]) -> None:
    report = session.replay(SPEC, recorded())
    assert report.ok, report.differences
    assert report.summary == "2 cases: 2 right, 0 wrong; 14 calls: 14 right, 0 wrong"


@pytest.mark.parametrize(
    ("case", "number", "result"),
    [
        (0, 1, 16),
        (0, 2, "16"),
        (0, 4, {"coin_id": "C-3", "value": 3, "label": "plane"}),
        (1, 1, "Error: coin C-8 not found"),
    ],
)
def test_one_digit_edited(recorded: Callable[..., Path], case: int, number: int, result: Any) -> None:
    def edit(cases: list[dict[str, Any]]) -> None:
        cases[case]["calls"][number - 1]["result"] = result

    report = session.replay(SPEC, recorded(edit))
    difference = one(report)
    assert (difference.case, difference.call) == (CASES[case]["case_id"], number)
    assert not report.ok
    assert report.summary == "2 cases: 1 right, 1 wrong; 14 calls: 13 right, 1 wrong"


def test_a_difference_is_shown_with_its_place(recorded: Callable[..., Path]) -> None:
    def edit(cases: list[dict[str, Any]]) -> None:
        cases[0]["calls"][2]["result"] = '{"coin_id": "C-2", "value": 11, "label": "worn"}'

    file = recorded(edit)
    done = CliRunner().invoke(app, ["replay", str(SPEC), str(file)])
    assert done.exit_code == 1
    assert done.output.splitlines() == [
        f"{file}:1: works, call 3 of 6: get_coin",
        "    /value: expected 11, got 10",
        "2 cases: 1 right, 1 wrong; 14 calls: 13 right, 1 wrong",
    ]


@pytest.mark.parametrize(
    ("number", "changes", "got"),
    [
        (1, {"result": "Error: other"}, 'refused [refused] "coin C-9 not found"'),
        (2, {"error": "ValueError: other"}, 'refused [refused] "coin C-9 not found"'),
        (1, {"error_kind": None}, 'refused [refused] "coin C-9 not found"'),
        (6, {"result": "No such tool"}, 'refused [unknown_tool] "No tool nothing"'),
        (8, {"error_kind": "crash"}, '"done"'),
        (8, {"error_kind": "unknown_tool"}, '"done"'),
        (8, {"error_kind": "raised", "result": None, "error": "ValueError: no"}, '"done"'),
    ],
)
def test_errors_are_compared(recorded: Callable[..., Path], number: int, changes: dict[str, Any], got: str) -> None:
    def edit(cases: list[dict[str, Any]]) -> None:
        cases[1]["calls"][number - 1].update(changes)

    difference = one(session.replay(SPEC, recorded(edit)))
    assert (difference.case, difference.call, difference.got) == ("fails", number, got)


def test_final_state_names_the_calls_that_wrote(recorded: Callable[..., Path]) -> None:
    def edit(cases: list[dict[str, Any]]) -> None:
        cases[0]["final_state_diff"][1]["value"]["value"] = 5

    difference = one(session.replay(SPEC, recorded(edit)))
    assert difference.call == "state"
    assert difference.got == "another one; last written by call 5"
    assert str(difference.mismatches[0]) == "/coins/C-4/value: expected 5, got 4"


def test_recorded_state_that_contradicts_its_hash(recorded: Callable[..., Path]) -> None:
    def edit(cases: list[dict[str, Any]]) -> None:
        cases[1]["final_state_sha256"] = "0" * 64

    difference = one(session.replay(SPEC, recorded(edit)))
    assert (difference.case, difference.call) == ("fails", "state")


def test_initial_state_that_the_spec_refuses(recorded: Callable[..., Path]) -> None:
    def edit(cases: list[dict[str, Any]]) -> None:
        cases[0]["initial_state_patch"] = [{"op": "replace", "path": "/coins/C-1/value", "value": "five"}]
        cases[0]["final_state_diff"] = []

    report = session.replay(SPEC, recorded(edit))
    difference = one(report)
    assert (difference.case, difference.call) == ("works", "start")
    assert "C-1" in difference.got
    assert report.summary == "2 cases: 1 right, 1 wrong; 14 calls: 8 right, 6 wrong"


def test_initial_state_taken_otherwise_than_recorded(recorded: Callable[..., Path]) -> None:
    def edit(cases: list[dict[str, Any]]) -> None:
        cases[0]["initial_state_patch"] = [{"op": "remove", "path": "/coins/C-1/label"}]

    difference, final = session.replay(SPEC, recorded(edit)).differences
    assert (difference.call, str(difference.mismatches[0])) == (
        "start",
        '/coins/C-1/label: expected nothing, got "plain"',
    )
    assert final.call == "state"


def test_known_differences(recorded: Callable[..., Path], tmp_path: Path) -> None:
    def edit(cases: list[dict[str, Any]]) -> None:
        cases[0]["calls"][0]["result"] = 1
        cases[0]["final_state_diff"].pop()

    known = tmp_path / "known.yaml"
    known.write_text(
        "- {case: works, call: 1, reason: an accident}\n"
        "- {case: works, call: state, reason: another}\n"
        "- {case: fails, call: 1, reason: not so}\n"
        "- {case: elsewhere, call: 1, reason: not replayed}\n",
        encoding="utf-8",
    )
    report = session.replay(SPEC, recorded(edit), known=known)
    assert report.ok
    assert (
        report.summary == "2 cases: 1 right, 0 wrong, 1 known to differ; 14 calls: 13 right, 0 wrong, 1 known to differ"
    )
    assert [d.known for d in report.differences] == ["an accident", "another"]
    assert [str(k) for k in report.unused] == ["fails, call 1: not so"]

    done = CliRunner().invoke(app, ["replay", str(SPEC), str(tmp_path / "cases.jsonl"), "--known", str(known)])
    assert done.exit_code == 0
    assert "works, call 1 of 6: total (known: an accident)" in done.output
    assert "listed as known, but not met: fails, call 1: not so" in done.output


def test_api_option(tmp_path: Path) -> None:
    row = {
        "case_id": "two",
        "initial_state": {"Till": START, "Mail": {}},
        "calls": [call("send", {}) | {"class": "Mail"}, call("total", {}, 15) | {"class": "Till"}],
        "final_state_diff": [{"op": "add", "path": "/Mail/x", "value": 1}],
    }
    file = tmp_path / "r.jsonl"
    file.write_text(json.dumps(row), encoding="utf-8")
    report = session.replay(SPEC, file, api="Till")
    assert report.summary == "1 case: 1 right, 0 wrong; 1 call: 1 right, 0 wrong"
    with pytest.raises(UsageError, match=r"no case involves Tyll; recorded: Mail, Till; did you mean Till\?"):
        session.replay(SPEC, file, api="Tyll")


def test_json_for_programs(recorded: Callable[..., Path]) -> None:
    def edit(cases: list[dict[str, Any]]) -> None:
        cases[0]["calls"][3]["result"]["extra"] = 1

    done = CliRunner().invoke(app, ["replay", str(SPEC), str(recorded(edit)), "--json"])
    assert done.exit_code == 1
    report = json.loads(done.output)
    assert report["calls"] == {"right": 13, "wrong": 1, "known": 0}
    (difference,) = report["differences"]
    assert (difference["case"], difference["call"], difference["tool"]) == ("works", 4, "add_coin")
    assert difference["places"] == [{"path": "/extra", "expected": 1, "got": None}]


def test_nothing_to_replay(tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text("\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["replay", str(SPEC), str(file)])
    assert done.exit_code == 2
    assert "the recordings hold no case" in done.output


CLERK = """\
envscaler: 1
name: clerk
title: Clerk
description: A clerk who says more when asked to.
states:
  clerk:
    record: Clerk
    single: true
    form: flat
    fields: {asked: {type: int, default: 0}, long_context: {type: bool, absent: true}}
tools:
  ask:
    kind: write
    description: Ask the clerk.
    do: |
      clerk.asked += 1
      return "Yes, by all means." if "long_context" in clerk and clerk.long_context else "Yes."
initial_state: {asked: 0}
"""


def test_the_long_form_of_an_original_is_set_in_a_state_that_has_it(tmp_path: Path) -> None:
    spec, recording = tmp_path / "clerk.yaml", tmp_path / "asked.jsonl"
    spec.write_text(CLERK)
    case = {"initial_state": {"asked": 0}, "final_state_diff": [{"op": "replace", "path": "/asked", "value": 1}]}
    long = case | {"case_id": "long", "long_context": True, "calls": [call("ask", {}, "Yes, by all means.")]}
    short = case | {"case_id": "short", "long_context": False, "calls": [call("ask", {}, "Yes.")]}
    recording.write_text(f"{json.dumps(long)}\n{json.dumps(short)}\n")
    assert session.replay(spec, recording).ok
    recording.write_text(json.dumps(long | {"long_context": False}))
    assert one(session.replay(spec, recording)).call == 1


def test_the_long_form_matters_to_no_other_state(recorded: Callable[..., Path]) -> None:
    assert session.replay(SPEC, recorded(lambda cases: cases[0].update(long_context=True))).ok
