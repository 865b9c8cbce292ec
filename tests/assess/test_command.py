"""`envscaler assess`: what it prints, what it ends with, what it keeps, and whom it asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.app import app
from envscaler.errors import UsageError
from tests.assess.shelf import SPEC
from tests.plugin.fake import install, on_path

SETTLES = '"fine" if depot.total > 1 else "low"'
LOOPS = '"fine" if depot.level == "low" else "low"'


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.yaml"
    path.write_text(SPEC.replace(SETTLES, LOOPS), encoding="utf-8")
    return path


def run(*args: Any) -> Result:
    return CliRunner().invoke(app, ["assess", *map(str, args)])


def test_a_sound_spec_ends_with_nothing_to_report(good: Path) -> None:
    result = run(good, "--budget", "300")
    assert result.exit_code == exits.OK, result.output
    assert "sound 1.00" in result.output
    assert "1 spec: 1 passed, 0 did not" in result.output


def test_a_finding_is_shown_with_its_line_and_its_calls(bad: Path) -> None:
    result = run(bad, "--budget", "300")
    assert result.exit_code == exits.FINDINGS
    assert "error[after-each-settles]" in result.output
    assert ":37:" in result.output
    assert "to see it in `envscaler play`:" in result.output
    assert "not sound" in result.output


def test_what_is_printed_can_be_played(bad: Path) -> None:
    result = run(bad, "--budget", "300")
    lines = result.output.split("`envscaler play`:\n")[1].split("\n\n")[0]
    player = session.play(bad)
    for line in lines.splitlines():
        answer = player.handle(line.strip())
        assert answer.understood
    assert len(player.episode.steps) == len(lines.splitlines())


def test_the_threshold_decides_instead_of_the_verdict(bad: Path) -> None:
    assert run(bad, "--budget", "300", "--threshold", "0.9").exit_code == exits.OK
    assert run(bad, "--budget", "300", "--threshold", "1").exit_code == exits.FINDINGS
    assert run(bad, "--threshold", "7").exit_code == exits.USAGE


def test_a_spec_with_errors_is_named_and_left_out(good: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(SPEC.replace("kind: read", "kind: red"), encoding="utf-8")
    result = run(tmp_path, "--budget", "100")
    assert result.exit_code == exits.SPEC
    assert "wrong.yaml:" in result.output
    assert "2 specs: 1 passed, 0 did not, 1 could not be assessed" in result.output


def test_findings_weigh_more_than_specs_with_errors(bad: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(SPEC.replace("kind: read", "kind: red"), encoding="utf-8")
    assert run(tmp_path, "--budget", "100").exit_code == exits.FINDINGS


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--budget", "many"], "--budget is a number of calls, or a time like 30s or 2m"),
        (["--budget", "1.5"], "--budget is a number of calls"),
        (["--assessor", "fuz"], "did you mean fuzz?"),
        (["--set", "fuzz"], "ASSESSOR.NAME=VALUE"),
        (["--set", "fuzz.sed=1"], "did you mean seed?"),
        (["--set", "fuzz.seed=x"], "setting seed cannot be 'x'"),
        (["--set", "judge.x=1"], "not among the assessors: fuzz"),
        (["--jobs", "-1"], "--jobs is 0"),
    ],
)
def test_wrong_words_are_refused(good: Path, words: list[str], message: str) -> None:
    result = run(good, *words)
    assert result.exit_code == exits.USAGE, result.output
    assert message in result.output


def test_a_budget_of_seconds(good: Path) -> None:
    found = list(session.assess(good, settings={"fuzz": {"calls": 10**9, "seconds": 0.3}}))
    assert found[0].verdicts["fuzz"].details["complete"] is False
    assert run(good, "--budget", "0.3s").exit_code == exits.OK


def test_settings_reach_the_assessor(bad: Path) -> None:
    words = ["--budget", "200", "--set", 'fuzz.properties=["reads-write-nothing"]']
    assert run(bad, *words).exit_code == exits.OK


def test_more_processes_and_a_run_give_the_same_bytes(good: Path, bad: Path, tmp_path: Path) -> None:
    texts = []
    for number, more in enumerate(([], ["--jobs", "2"], ["--run", tmp_path / "kept"], ["--run", tmp_path / "kept"])):
        target = tmp_path / f"{number}.json"
        assert run(good, bad, "--budget", "200", "--seed", "3", "--json", target, *more).exit_code == exits.FINDINGS
        texts.append(target.read_text(encoding="utf-8"))
    assert len(dict.fromkeys(texts)) == 1
    assert json.loads(texts[0])["specs"][1]["passed"] is False


def test_a_run_goes_on_where_it_was(good: Path, bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kept"
    assert [one.path for one in session.assess([good], settings={"fuzz": {"calls": 100}}, run=folder)] == [str(good)]
    from envscaler.assess import assessor

    asked: list[str] = []
    real = assessor.fuzz

    def counted(environment: Any, *rest: Any) -> Any:
        asked.append(environment.name)
        return real(environment, *rest)

    monkeypatch.setattr(assessor, "fuzz", counted)
    settings = {"fuzz": {"calls": 100}}
    assert [one.passes() for one in session.assess([good, bad], settings=settings, run=folder)] == [True, False]
    assert len(asked) == 1
    good.write_text(SPEC.replace("A box.", "One box."), encoding="utf-8")
    assert len(list(session.assess([good, bad], settings=settings, run=folder))) == 2
    assert len(asked) == 2


def test_no_assessor_is_no_assessment(good: Path) -> None:
    with pytest.raises(UsageError, match="at least one"):
        list(session.assess(good, []))


STRICT = """
from envscaler.plugin import AssessorEntry, Finding, Verdict, hookimpl

class Strict:
    def assess(self, subject, settings):
        if settings.get("raise"):
            raise RuntimeError("on purpose")
        return Verdict(False, 0.25, (Finding("too-short", "The spec is too short"),))

@hookimpl
def envscaler_assessors():
    return [AssessorEntry("strict", "Finds every spec too short", Strict)]
"""


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[None]:
    site = tmp_path / "site"
    site.mkdir()
    install(site, "envscaler-strict", STRICT)
    with on_path(site):
        yield


@pytest.mark.usefixtures("strict")
def test_an_assessor_of_a_plugin_is_asked_beside_the_fuzzer(good: Path) -> None:
    result = run(good, "-a", "fuzz", "-a", "strict", "--budget", "100")
    assert result.exit_code == exits.FINDINGS, result.output
    assert "warning[too-short]: The spec is too short" in result.output.replace("] ", "]: ")
    assert "0.25" in result.output
    assert run(good, "-a", "strict", "--threshold", "0.2").exit_code == exits.OK


@pytest.mark.usefixtures("strict")
def test_an_assessor_that_raises_is_the_plugins_failure(good: Path) -> None:
    result = run(good, "-a", "strict", "--set", "strict.raise=true")
    assert result.exit_code == exits.PLUGIN
    assert "on purpose" in result.output
    assert "Traceback" not in result.output
