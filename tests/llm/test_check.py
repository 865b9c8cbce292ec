"""`envscaler llm check`: a line for each ability, and an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from envscaler.cli.app import app
from tests.llm.server import Server, Step, call, status, text

ACCOUNT = '{"owner": "Ann", "balance": 12.5, "tags": ["savings", "new"]}'
GOOD = [text("Paris"), call("Account", ACCOUNT), call("get_balance", '{"account": "ann"}')]


def check(server: Server, protocol: str, *more: str, steps: list[Step] | None = None) -> tuple[int, list[str]]:
    server.steps = list(GOOD if steps is None else steps)
    result = CliRunner().invoke(
        app, ["llm", "check", "--llm", server.llm(protocol, attempts=1, price_in=1, price_out=1), *more]
    )
    return result.exit_code, result.stdout.splitlines()


def test_everything_works(server: Server, protocol: str) -> None:
    code, lines = check(server, protocol)
    assert code == 0
    assert lines[0].startswith(f"{protocol}/tiny at http://127.0.0.1:")
    assert lines[0].endswith("(all roles)")
    starts = [
        "  chat            works: it said 'Paris'",
        '  structured call works: it gave {"owner":"Ann","balance":12.5,"tags":["savings","new"]}',
        '  tool call       works: it called get_balance({"account": "ann"})',
        "  usage           works: 300 tokens in, 30 out, $0.0003",
    ]
    assert [line[: len(start)] for line, start in zip(lines[1:], starts, strict=True)] == starts


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ([status(500)], "  chat            fails: .*HTTP 500"),
        ([text("hi"), *[text("no")] * 3], "  structured call fails: no Account in 3 replies"),
        (
            [*GOOD[:2], text("It is 5."), GOOD[2]],
            "  tool call       fails: no tool call, but text: 'It is 5.'; told to call it, it does, and agents",
        ),
        ([*GOOD[:2], text("It is 5."), status(500)], ".*; told to call it, it does not either"),
        (
            [*GOOD[:2], text('<tool_call>{"name": "get_balance"}</tool_call>')],
            "  tool call       fails: no tool call, but text that asks for one",
        ),
        ([*GOOD[:2], call("get_balance", "{}")], "  tool call       fails: no right tool call, but get_balance"),
    ],
)
def test_what_does_not_work(server: Server, protocol: str, steps: list[Step], line: str) -> None:
    import re

    code, lines = check(server, protocol, steps=steps)
    assert code == 1
    assert any(re.match(line, found) for found in lines), lines


def test_a_correction_is_told(server: Server) -> None:
    _, lines = check(server, "openai", steps=[GOOD[0], text("{}"), *GOOD[1:]])
    assert "after 1 correction" in lines[2]


def test_as_json(server: Server) -> None:
    code, lines = check(server, "openai", "--json")
    assert code == 0
    (found,) = json.loads("\n".join(lines))
    assert [v["name"] for v in found["verdicts"]] == ["chat", "structured call", "tool call", "usage"]
    assert all(v["ok"] for v in found["verdicts"])


def test_each_model_is_asked_once(server: Server) -> None:
    server.steps = [*GOOD, *GOOD]
    other = server.llm("anthropic").replace("tiny", "small")
    result = CliRunner().invoke(
        app, ["llm", "check", "--llm", server.llm(), "--llm", f"judge={other}", "--llm", f"user={other}"]
    )
    assert result.exit_code == 0
    heads = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert [head.rpartition("(")[2] for head in heads] == ["planner, coder, tester, writer, agent)", "judge, user)"]
    assert server.seen == 6


def test_no_model_is_set() -> None:
    result = CliRunner().invoke(app, ["llm", "check"])
    assert result.exit_code == 2
    assert "no model for the role agent: give --llm agent=BACKEND/MODEL" in result.output


def test_a_recording_can_be_checked(server: Server, tmp_path: Path) -> None:
    recording = str(tmp_path / "talk.jsonl")
    assert check(server, "openai", "--record", recording)[0] == 0
    result = CliRunner().invoke(app, ["llm", "check", "--llm", f"replay/{recording}"])
    assert result.exit_code == 0
    assert "works: it said 'Paris'" in result.stdout
    assert server.seen == 3
