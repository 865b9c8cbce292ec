"""`envscaler play` from a pipe: what is printed, the exit code, and that it needs no library for terminals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.app import app
from envscaler.cli.play import entries, history_file

BANK = Path(__file__).parents[2] / "specs" / "bank.yaml"


def play(lines: str, *words: object) -> Result:
    return CliRunner().invoke(app, ["play", str(BANK), *map(str, words)], input=lines)


def test_a_scripted_session(tmp_path: Path) -> None:
    file = tmp_path / "day.jsonl"
    done = play(f"# the morning\n\nblock_card card_id=K-3001\n:undo\n:redo\n:save {file}\n:quit\ncount_till\n")
    assert done.exit_code == exits.OK
    assert done.output == (
        "agent> # the morning\n"
        "agent> block_card card_id=K-3001\n"
        "  Card K-3001 ending in 4417 is blocked.\n"
        "  ~ cards K-3001  status  active → blocked\n"
        "agent> :undo\n"
        "  taken back block_card card_id=K-3001\n"
        "agent> :redo\n"
        "agent> block_card card_id=K-3001\n"
        "  Card K-3001 ending in 4417 is blocked.\n"
        "  ~ cards K-3001  status  active → blocked\n"
        f"agent> :save {file}\n"
        f"  1 call saved as {file}\n"
        "agent> :quit\n"
    )
    assert session.replay(BANK, file).ok
    again = play("", "--replay", file)
    assert again.exit_code == exits.OK
    assert again.output.endswith("  1 of 1 call as recorded; the final state is as recorded\n")
    assert play("", "--replay", file, "--case", "night").exit_code == exits.FINDINGS


def test_the_exit_code_tells_lines_that_were_not_understood() -> None:
    assert play('transfer {"amount": 1}\n').exit_code == exits.OK
    assert play("transfr amount=1\ncount_till\n").exit_code == exits.FINDINGS
    assert play(":nothing\n").exit_code == exits.FINDINGS
    assert play('transfer {"amount": \n').exit_code == exits.FINDINGS


def test_options(tmp_path: Path) -> None:
    state = session.load(BANK).new().state
    state["till"]["cash"] = 77
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state), encoding="utf-8")
    done = play("count_till\n:seed\n", "--state", file, "--seed", 3)
    assert '{"cash": 77.0, "order_cash": false}' in done.output
    assert "The seed is 3." in done.output
    assert play("", "--actor", "user").exit_code == exits.OK
    assert play("open_app email=x\n", "--actor", "user").output.startswith("user> open_app email=x\n  error[refused]")
    file.write_text('{"till": {"cash": -1}}', encoding="utf-8")
    assert play("", "--state", file).exit_code == exits.STATE


def test_json_goes_on_over_lines() -> None:
    text = 'transfer {"from_account": "A-2001",\n  "to_account": "A-2002",\n  "amount": 1}\n:diff\n'
    assert list(entries(text.splitlines(keepends=True))) == ["\n".join(text.splitlines()[:3]), ":diff"]
    assert list(entries(["t {", "a", "", "u"])) == ["t {\na", "", "u"]
    assert list(entries(["t {", "a"])) == ["t {\na"]
    done = play(text)
    assert done.exit_code == exits.OK
    assert '  {"posting_id": "P-000020", "balance": 1839.55}' in done.output


def test_as_a_program_without_a_terminal_library_and_without_colour(tmp_path: Path) -> None:
    """Importing prompt_toolkit fails here; FORCE_COLOR changes nothing of what goes into a pipe."""
    (tmp_path / "prompt_toolkit.py").write_text("raise ModuleNotFoundError('prompt_toolkit')", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "envscaler", "play", str(BANK)],
        input="block_card card_id=K-3001\nopen_app\n",
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "FORCE_COLOR": "1", "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (exits.FINDINGS, "")
    assert "\x1b" not in done.stdout
    assert "  ~ cards K-3001  status  active → blocked\n" in done.stdout


def test_the_history_file_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_file() == tmp_path / "envscaler" / "play_history"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert history_file() == tmp_path / ".local" / "state" / "envscaler" / "play_history"
