"""No key in any file, output or error, whatever happened; and nothing of providers where no model is asked."""

from __future__ import annotations

import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from typer.testing import CliRunner

from envscaler.cli.app import app
from envscaler.errors import LlmError
from envscaler.llm import read_key, redact
from tests.llm.conftest import KEY, Open
from tests.llm.server import Server, Step, status, text

ROOT = Path(__file__).resolve().parent.parent.parent


def holding(folder: Path, needle: str) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and needle.encode() in p.read_bytes()]


def test_a_canary_is_found_nowhere(
    models: Open,
    server: Server,
    protocol: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Success, 401, 500, garbage, and a server that puts the key that it got into whatever it says."""
    caplog.set_level("DEBUG")
    monkeypatch.setenv("MY_KEY", KEY)
    server.key = KEY
    options = {"key_env": "MY_KEY", "attempts": 1, "backoff": 0.01}
    told: list[str] = []

    def ask(question: str) -> None:
        opened = models(
            server.llm(protocol, **options),
            cache=str(tmp_path / "cache"),
            record=tmp_path / "run" / "talk.jsonl",
            tell=told.append,
        )
        try:
            told.append(repr(opened.run(opened.role("agent").chat(question))))
        except LlmError as error:
            told.extend(traceback.format_exception(error))
        opened.close()

    ask("hello")
    server.steps = [
        text(f"your key is {KEY}", calls=(("find", f'{{"key": "{KEY}"}}'),), reasoning=KEY),
        status(500, error=f"bad key {KEY}"),
        status(429, error=f"key {KEY} has no quota"),
        Step(fault="garbage"),
        Step(fault="drop"),
    ]
    for number in range(5):
        ask(f"question {number}")
    server.key = "rotated"
    ask("wrong")
    assert server.seen == 7
    assert all(KEY in (h.get("x-api-key") or h["authorization"]) for h in server.headers)
    assert holding(tmp_path, "hello") != []  # the search finds what is there
    assert holding(tmp_path, KEY) == []
    assert KEY not in "\n".join(told)
    assert "[key]" in "\n".join(told)
    assert KEY not in caplog.text


def test_a_canary_in_the_output_of_commands(
    server: Server, protocol: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    server.key = KEY
    runner = CliRunner()
    good = runner.invoke(
        app, ["llm", "check", "--llm", server.llm(protocol, key_env="MY_KEY"), "--record", str(tmp_path / "r")]
    )
    server.key = "rotated"
    bad = runner.invoke(app, ["llm", "check", "--llm", server.llm(protocol, key_env="MY_KEY")])
    assert "set MY_KEY to a valid key" in bad.output
    assert bad.exit_code == 1
    assert KEY not in good.output + bad.output
    assert holding(tmp_path, KEY) == []


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (f"key {KEY}!", "key [key]!"),
        ("Incorrect API key provided: sk-proj-abc***xyz.", "Incorrect API key provided: [key]"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer [key]"),
        ("http://me:secret@host/v1", "http://host/v1"),
        ("sk- is how keys begin", "sk- is how keys begin"),
        ("nothing to hide, key_env", "nothing to hide, key_env"),
    ],
)
def test_what_is_taken_out(said: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    assert read_key("MY_KEY") == KEY
    assert redact(said) == shown


def test_a_stand_in_is_not_taken_for_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "none")
    read_key("MY_KEY")
    assert redact("none of it") == "none of it"


PROVIDERS = ("anthropic", "openai", "instructor", "tenacity", "httpx", "httpx2", "genai_prices")
NETWORK = ("ssl", "http.client", "urllib.request", "socketserver", "asyncio")


TILL = "tests/replay/till.yaml"


def test_nothing_of_providers_where_no_model_is_asked(tmp_path: Path) -> None:
    commands = [
        ["--help"],
        ["llm", "--help"],
        ["fmt", "--check", TILL],
        ["check", TILL],
        ["describe", TILL],
        ["compile", TILL, "-o", f"{tmp_path}/till.py"],
        ["call", TILL, "total", "{}"],
    ]
    script = f"""
import sys
from envscaler.cli.app import app
for command in {commands!r}:
    try:
        app(command, prog_name="envscaler")
    except SystemExit as end:
        assert end.code == 0, command
    found = [m for m in {(*PROVIDERS, *NETWORK, "envscaler.llm.client")!r} if m in sys.modules]
    assert not found, (command, found)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_cost_of_a_run_asks_no_provider(tmp_path: Path, models: Open, server: Server) -> None:
    opened = models(server.llm())
    opened.run(opened.role("agent").chat("hello"))
    script = f"""
import sys
from envscaler.session.llm import cost
assert cost({str(tmp_path / "run")!r}).total.attempts == 1
sys.exit(str([m for m in {PROVIDERS!r} if m in sys.modules] or ""))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
