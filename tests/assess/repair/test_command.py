"""`envscaler repair` on the command line: the difference, what is written, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from envscaler.cli.app import app
from tests.assess.models import SHELF

BROKEN = SHELF.replace("book.lent += 1", "book.lend += 1")
FIX = {
    "edits": [
        {
            "path": "tools.lend.do",
            "text": 'require(left(book) > 0, f"All copies of {book.title} are lent.")\nbook.lent += 1\nreturn book.lent\n',
        }
    ]
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENVSCALER_CACHE", "off")
    Path("shelf.yaml").write_text(BROKEN, encoding="utf-8")
    return tmp_path


def run(*words: str, script: list[Any] | None = None) -> Result:
    Path("script.json").write_text(json.dumps([json.dumps(s) if "edits" in s else s for s in script or []]))
    return CliRunner().invoke(app, ["repair", *words, "--calls", "200", "--llm", "coder=scripted/script.json"])


def test_it_shows_the_difference_and_writes_nothing() -> None:
    done = run("shelf.yaml", script=[FIX])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:2] == ["--- shelf.yaml", "+++ shelf.yaml (repaired)"]
    assert "-      book.lend += 1\n+      book.lent += 1\n" in done.stdout
    assert "not written, for want of --write" in done.stderr
    assert Path("shelf.yaml").read_text(encoding="utf-8") == BROKEN


def test_it_writes_when_asked() -> None:
    done = run("shelf.yaml", "--write", script=[FIX])
    assert done.exit_code == 0
    assert Path("shelf.yaml").read_text(encoding="utf-8") == SHELF
    assert "wrote shelf.yaml" in done.stderr


def test_a_spec_that_still_has_errors_is_3() -> None:
    done = run("shelf.yaml", "--rounds", "1", script=[{"edits": []}])
    assert done.exit_code == 3
    assert done.stdout == ""
    assert "unknown-field" in done.stderr


def test_a_spec_whose_examples_fail_is_1() -> None:
    Path("shelf.yaml").write_text(SHELF.replace("returns: 1}", "returns: 2}"), encoding="utf-8")
    assert run("shelf.yaml", "--rounds", "1", script=[{"edits": []}]).exit_code == 1


def test_a_model_that_cannot_be_asked_is_5_and_what_was_better_is_written() -> None:
    Path("shelf.yaml").write_text(BROKEN.replace("{MOST}", "{MOAST}"), encoding="utf-8")
    done = run("shelf.yaml", "--write", script=[FIX])
    assert done.exit_code == 5
    assert "the script has no further reply" in done.stderr
    assert Path("shelf.yaml").read_text(encoding="utf-8") == SHELF.replace("{MOST}", "{MOAST}")


def test_a_limit_is_6() -> None:
    text = {"message": {"content": json.dumps({"edits": []})}, "usage": {"tokens_in": 90, "tokens_out": 20}}
    done = run("shelf.yaml", "--max-tokens", "100", script=[text, text])
    assert done.exit_code == 6
    assert "the limit of 100 tokens is reached" in done.stderr


def test_without_a_model_it_says_what_to_give() -> None:
    done = CliRunner().invoke(app, ["repair", "shelf.yaml"])
    assert done.exit_code == 2
    assert "no model for the role coder: give --llm coder=" in done.stderr


def test_a_sound_spec_needs_no_model() -> None:
    Path("shelf.yaml").write_text(SHELF, encoding="utf-8")
    done = CliRunner().invoke(app, ["repair", "shelf.yaml", "--calls", "200"])
    assert (done.exit_code, done.stdout) == (0, "")


def test_an_installed_spec_is_not_written_to() -> None:
    done = run("bank", "--write", script=[FIX])
    assert done.exit_code == 2
    assert "copy" in done.stderr


def test_the_run_has_an_account() -> None:
    text = {"message": {"content": json.dumps(FIX)}, "usage": {"tokens_in": 90, "tokens_out": 20}}
    run("shelf.yaml", "--run", "run", script=[text])
    done = CliRunner().invoke(app, ["cost", "run"])
    assert done.exit_code == 0
    assert "coder" in done.stdout
    assert "Construction" in done.stdout
