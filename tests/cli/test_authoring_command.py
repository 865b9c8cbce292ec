"""`envscaler scenarios author` and `reword`: end to end with scripted models, resumed, and with one that misbehaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from envscaler.cli.app import app

BANK = Path(__file__).resolve().parents[2] / "specs" / "bank.yaml"
TASK = (
    "My name is Ingrid Solberg, my e-mail is ingrid@example.com. Please move 340.55 from my current account to my savings "
    'account that holds 12500, and write "Put by" on it.'
)
WORDS = (
    "Hi, Ingrid Solberg here (ingrid@example.com). Could you move 340.55 over to my savings, the account with 12500 on it, "
    'from my current one? Mark it "Put by".'
)
POINT = {"text": "the savings have grown", "expr": 'final.accounts["A-2002"].balance == 12840.55'}


def call(tool: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': tool, 'arguments': arguments})}</tool_call>"


SOLVING = [
    call("find_customers", words="ingrid@example.com"),
    call("customer_overview", customer_id="C-1001"),
    call("transfer", from_account="A-2001", to_account="A-2002", amount=340.55, text="Put by"),
    "It is done.",
]


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENVSCALER_CACHE", "off")


def script(role: str, replies: list[Any]) -> None:
    Path(f"{role}.json").write_text(json.dumps([r if isinstance(r, str) else json.dumps(r) for r in replies]))


def author(*more: str, planner: Any = (), agent: Any = (), coder: Any = ()) -> Result:
    script("planner", list(planner))
    script("agent", list(agent))
    script("coder", list(coder))
    roles = [word for role in ("planner", "agent", "coder") for word in ("--llm", f"{role}=scripted/{role}.json")]
    arguments = [
        "scenarios",
        "author",
        str(BANK),
        "--states",
        "own",
        "-o",
        "out.jsonl",
        "--concurrency",
        "1",
        *roles,
        *more,
    ]
    return CliRunner().invoke(app, arguments)


def written(name: str = "out.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


@pytest.mark.slow
def test_what_models_write_is_proved_and_passes_the_check() -> None:
    result = author("-n", "1", planner=[{"task": TASK}], agent=SOLVING, coder=[{"points": [POINT]}])
    assert result.exit_code == 0, result.output
    [made] = written()
    assert made["kind"] == "authored"
    assert made["task"] == TASK
    assert made["tags"]["points"] == ["the savings have grown"]
    checked = CliRunner().invoke(app, ["scenarios", "check", "out.jsonl", "--specs", str(BANK.parent)])
    assert checked.exit_code == 0, checked.output


@pytest.mark.slow
def test_it_goes_on_where_it_was_and_makes_up_for_what_was_dropped() -> None:
    first = author(
        "-n", "1",
        planner=[{"task": TASK}] * 2, agent=["I cannot."] * 2, coder=[{"points": [POINT]}] * 2,
    )  # fmt: skip
    assert first.exit_code == 5, first.output  # the scripts have come to their end
    again = author("-n", "1", planner=[{"task": TASK}], agent=SOLVING, coder=[{"points": [POINT]}])
    assert again.exit_code == 0, again.output
    manifest = json.loads(Path("out.manifest.json").read_text())
    assert manifest["dropped"] == {"solver-changed-nothing": 1}
    assert manifest["tried"] == 2
    assert len(written()) == 1


def test_a_model_that_only_talks_loses_nothing_and_says_why() -> None:
    result = author("-n", "1", planner=["Sure! Here you are."] * 60)
    assert result.exit_code == 1
    assert "0 scenarios of the 1 wanted; 3 were tried and 3 not taken:" in result.output
    assert "llm-invalid-reply" in result.output


@pytest.mark.slow
def test_other_words_are_proved_too_and_else_the_old_ones_stay() -> None:
    author("-n", "1", planner=[{"task": TASK}], agent=SOLVING, coder=[{"points": [POINT]}])
    script("words", [{"text": WORDS}])
    base = ["scenarios", "reword", "out.jsonl", "--specs", str(BANK.parent), "--llm", "planner=scripted/words.json"]
    good = CliRunner().invoke(app, [*base, "-o", "good.jsonl"])
    assert good.exit_code == 0, good.output
    assert written("good.jsonl")[0]["task"] == WORDS
    script("words", [{"text": "Please put something by for Ingrid."}] * 3)
    bad = CliRunner().invoke(app, [*base, "-o", "bad.jsonl"])
    assert bad.exit_code == 1
    assert "reworded-untold" in bad.output
    assert written("bad.jsonl")[0]["task"] == TASK


def test_one_mistake_gives_one_line() -> None:
    result = author("-n", "1", "--changes", "4:1")
    assert result.exit_code == 2
    assert "--changes is two numbers like 1:4, not 4:1" in result.output
