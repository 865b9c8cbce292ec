"""`envscaler plugins` and `plugin new`, and the commands that load nothing of third parties."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from envscaler.cli.app import app
from tests.plugin.fake import HEAD, checker, install

BROKEN = "open('loaded', 'w').close()\nimport there_is_no_such_module"
BROKEN_LINE = (
    "envscaler: warning: plugin bad (envscaler-bad 1.0): cannot be imported: "
    "ModuleNotFoundError: No module named 'there_is_no_such_module' (plugin_bad.py:2)\n"
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.delenv("ENVSCALER_DISABLE_PLUGINS", raising=False)


def envscaler(site: Path, *commands: list[str]) -> subprocess.CompletedProcess[str]:
    """The commands in a process of their own, with what is installed in ``site``; it ends with the first that ends otherwise
    than with 0."""
    path = os.pathsep.join([str(site), *(str(Path(p).resolve()) for p in sys.path)])
    script = f"""
import sys
from envscaler.cli import main
for words in {commands!r}:
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    finally:
        open('modules', 'w').write(' '.join(sys.modules))
"""
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


COMMANDS = ["--help"], ["check", "shop.yaml"], ["fmt", "shop.yaml"], ["compile", "shop.yaml"], ["compile", "tau2_mock"]


def test_nothing_of_third_parties_is_loaded(site: Path) -> None:
    install(site, "envscaler-bad", BROKEN)
    assert CliRunner().invoke(app, ["new", "shop"]).exit_code == 0
    done = envscaler(site, *COMMANDS)
    assert (done.returncode, done.stderr) == (0, "")
    assert not Path("loaded").exists()
    assert "pluggy" not in Path("modules").read_text(encoding="utf-8").split()


def test_a_broken_plugin_costs_one_line(site: Path) -> None:
    install(site, "envscaler-bad", BROKEN)
    install(site, "envscaler-good", checker("quiet"))
    unknown = ["--disable-plugin", "bda", "--disable-plugin", "envscaler-bad"]
    done = envscaler(site, ["plugins"], ["--disable-plugin", "bad", "plugins"], [*unknown, "plugins"])
    told = "envscaler: warning: no installed plugin is called bda, so that disabling it does nothing\n"
    assert (done.returncode, done.stderr) == (0, BROKEN_LINE + told)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["checker", "quiet", "Says", "nothing", "envscaler-good", "1.0", "ok"] in rows
    assert [row[-1] for row in rows if row[:2] == ["plugin", "bad"]] == ["failed", "disabled", "disabled"]


def test_a_warning_of_another_command_is_one_line(site: Path) -> None:
    install(site, "envscaler-bad", BROKEN)
    done = envscaler(site, ["check", "bnak", "bnak"])
    assert done.returncode == 2
    assert done.stderr == BROKEN_LINE + "envscaler: bnak: neither a file nor an installed spec; did you mean bank?\n"


def test_as_json(site: Path) -> None:
    install(site, "envscaler-bad", "x = 1")
    install(site, "envscaler-good", checker("quiet"), version="2.3")
    done = CliRunner().invoke(app, ["plugins", "--json"])
    rows = json.loads(done.stdout)
    assert {
        "kind": "checker", "name": "quiet", "summary": "Says nothing", "plugin": "good", "distribution": "envscaler-good",
        "version": "2.3", "status": "ok", "reason": "",
    } in rows  # fmt: skip
    (failed,) = [row for row in rows if row["status"] == "failed"]
    assert (failed["plugin"], failed["kind"]) == ("bad", "")
    assert failed["reason"].startswith("has no hook; there are ")
    shipped = {row["name"] for row in rows if row["distribution"] == "envscaler"}
    assert {"envscaler", "ports"} <= shipped


def test_text_of_plugins_is_escaped(site: Path) -> None:
    install(site, "envscaler-odd", checker("quiet").replace("Says nothing", "a\\x1b[31mred"))
    install(site, "envscaler-worse", "raise ValueError('\\x1b[2J gone')")
    done = CliRunner().invoke(app, ["plugins"])
    assert "\x1b" not in done.output
    assert "\\x1b[31mred" in done.output
    assert "\\x1b[2J gone" in done.output


def test_check_runs_the_suites(site: Path) -> None:
    install(site, "envscaler-good", checker("quiet"))
    bad = checker("loud").replace("return None", "return 'loud'")
    install(site, "envscaler-loud", bad)
    done = CliRunner().invoke(app, ["plugins", "--check", "quiet"])
    lines = done.output.splitlines()
    assert "checker quiet (envscaler-good 1.0) test_judges_every_event: passed" in lines
    refuses = "checker quiet (envscaler-good 1.0) test_refuses_unknown_settings: failed: a checker with an unknown setting must raise UsageError, but nothing was raised"
    assert refuses in lines
    done = CliRunner().invoke(app, ["plugins", "--check", "--json", "envscaler-loud"])
    assert done.exit_code == 1
    results = {(r["name"], r["test"]): r for r in json.loads(done.stdout)}
    judged = results["loud", "test_judges_every_event"]
    assert (judged["outcome"], judged["reason"]) == ("failed", "a checker must give a Judgement or None, not str")
    assert judged["wanted"].startswith("Calls that work, that fail, of no tool")


def test_check_with_a_plugin_that_cannot_be_used(site: Path) -> None:
    install(site, "envscaler-bad", "x = 1")
    done = CliRunner().invoke(app, ["plugins", "--check", "shipped"])
    assert done.exit_code == 1
    assert "1 of the plugins' parts not in use" in done.output


def test_a_plugin_that_ends_the_program_does_not_end_the_check(site: Path) -> None:
    body = "class Bye:\n    def assess(self, subject, settings): exit(9)\n"
    body += "@hookimpl\ndef envscaler_assessors(): return [AssessorEntry('bye', 'x', Bye)]\n"
    install(site, "envscaler-bye", HEAD + body)
    done = CliRunner().invoke(app, ["plugins", "--check", "bye"])
    assert done.exit_code == 1
    assert "assessor bye (envscaler-bye 1.0) test_gives_a_verdict: failed: SystemExit: 9" in done.output
    assert done.output.splitlines()[-1].endswith("of the plugins' parts not in use")


def test_only_what_is_named(site: Path) -> None:
    install(site, "envscaler-good", checker("quiet"), name="calm")
    for name in ("quiet", "calm", "envscaler-good"):
        (row,) = json.loads(CliRunner().invoke(app, ["plugins", name, "--json"]).stdout)
        assert row["name"] == "quiet"
    for words in (["plugins", "quite"], ["plugins", "--check", "quite"]):
        done = CliRunner().invoke(app, words)
        assert (done.exit_code, "no plugin or part of one is called 'quite'; did you mean quiet?" in done.output) == (
            2,
            True,
        )
