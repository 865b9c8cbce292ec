"""`envscaler play` from a pipe: what is printed, the exit code, and that it needs no library for terminals."""

from __future__ import annotations

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


LAMP = """\
envscaler: 1
name: lamp
title: A lamp
states:
  lamp:
    record: Lamp
    single: true
    fields: {lit: {type: bool, default: false}, hours: {type: int, ge: 0, default: 0}}
tools:
  switch:
    kind: write
    description: Switch the lamp on or off.
    params: {lit: bool}
    do: |
      require(lamp.lit != lit, "nothing to do")
      lamp.lit = lit
  look:
    kind: read
    actor: user
    description: See whether there is light, and for how long there was.
    do: |
      return {"lit": lamp.lit, "hours": lamp.hours, "chance": rand_int(0, 10**9)}
initial_state: {}
"""


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    file = tmp_path / "lamp.yaml"
    file.write_text(LAMP, encoding="utf-8")
    return file


def play(lines: str, *words: object, spec: Path = BANK) -> Result:
    return CliRunner().invoke(app, ["play", str(spec), *map(str, words)], input=lines)


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


def test_a_recording_to_begin_with(lamp: Path, tmp_path: Path) -> None:
    file = tmp_path / "day.jsonl"
    assert play(f"switch lit=true\n:save {file}\n", spec=lamp).exit_code == exits.OK
    again = play("switch lit=true\n", "--replay", file, spec=lamp)
    assert again.exit_code == exits.OK
    assert "  1 of 1 call as recorded; the final state is as recorded\n" in again.output
    assert again.output.endswith("error[refused] nothing to do\n" + again.output.splitlines()[-1] + "\n")
    assert play("", "--replay", file, "--case", "night", spec=lamp).exit_code == exits.FINDINGS


def test_the_exit_code_tells_lines_that_were_not_understood(lamp: Path) -> None:
    assert play('switch {"lamp": 1}\nswitch lit=false\n', spec=lamp).exit_code == exits.OK
    assert play("swich lit=true\nswitch lit=true\n", spec=lamp).exit_code == exits.FINDINGS
    assert play(":nothing\n", spec=lamp).exit_code == exits.FINDINGS
    assert play('switch {"lit": \n', spec=lamp).exit_code == exits.FINDINGS


def test_options(lamp: Path, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text('{"lamp": {"lit": true, "hours": 77}}', encoding="utf-8")
    one, two = (play("look\n", "--state", file, "--seed", n, "--actor", "user", spec=lamp).output for n in (1, 2))
    assert one.startswith('user> look\n  {"lit": true, "hours": 77, "chance": ')
    assert one != two
    file.write_text('{"lamp": {"hours": -1}}', encoding="utf-8")
    assert play("", "--state", file, spec=lamp).exit_code == exits.STATE
    assert play("", "--replay", tmp_path / "none.jsonl", spec=lamp).exit_code == exits.FINDINGS


def test_json_goes_on_over_lines(lamp: Path) -> None:
    text = 'transfer {"from_account": "A-2001",\n  "to_account": "A-2002",\n  "amount": 1}\n:diff\n'
    assert list(entries(text.splitlines(keepends=True))) == ["\n".join(text.splitlines()[:3]), ":diff"]
    assert list(entries(["t {", "a", "", "u"])) == ["t {\na", "", "u"]
    assert list(entries(["t {", "a"])) == ["t {\na"]
    done = play('switch {\n"lit": true\n}\n', spec=lamp)
    assert (done.exit_code, done.output.splitlines()[2]) == (exits.OK, "  ~ lamp  lit  false → true")


def test_as_a_program_without_a_terminal_library_and_without_colour(lamp: Path, tmp_path: Path) -> None:
    """Importing prompt_toolkit fails here; FORCE_COLOR changes nothing of what goes into a pipe."""
    (tmp_path / "prompt_toolkit.py").write_text("raise ModuleNotFoundError('prompt_toolkit')", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "envscaler", "play", str(lamp)],
        input="switch lit=true\nlook\n",
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "FORCE_COLOR": "1", "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (exits.FINDINGS, "")
    assert "\x1b" not in done.stdout
    assert "  ~ lamp  lit  false → true\n" in done.stdout


def test_the_history_file_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_file() == tmp_path / "envscaler" / "play_history"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert history_file() == tmp_path / ".local" / "state" / "envscaler" / "play_history"
