"""`envscaler plugin new` writes a distribution that works: its tests pass offline, envscaler finds it."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from envscaler.cli.app import app
from envscaler.session.plugins import open_plugins
from tests.plugin.fake import declare, install, on_path

KINDS = [
    "agent",
    "assessor",
    "checker",
    "backend",
    "embedder",
    "executor",
    "exporter",
    "generator",
    "source",
    "specs",
    "user",
]


def new(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["plugin", "new", *words])
    return done.exit_code, done.output


def pytest_in(folder: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([*map(str, paths), *(str(Path(p).resolve()) for p in sys.path)])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": ""},
    )


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> Path:
    """The folder of a new distribution."""
    monkeypatch.chdir(tmp_path)
    code, output = new("tea-time", "--kind", kind)
    assert code == 0, output
    folder = tmp_path / "envscaler-tea-time"
    written = {str(p.relative_to(tmp_path)) for p in folder.rglob("*") if p.is_file()}
    assert set(output.splitlines()) == written
    assert {f"envscaler-tea-time/{name}" for name in ("pyproject.toml", "README.md", "tox.ini")} <= written
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_its_tests_pass(made: Path, site: Path) -> None:
    install(site, "envscaler-bad", "raise SystemExit")  # installed beside it
    done = pytest_in(made, site)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_envscaler_finds_it(made: Path, site: Path, kind: str) -> None:
    install(site, "envscaler-bad", "raise SystemExit")
    project = tomllib.loads((made / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "envscaler-tea-time"
    tox = configparser.ConfigParser()
    tox.read(made / "tox.ini", encoding="utf-8")
    assert "testenv" in tox
    source = made / "src"
    declare(source, project["name"], project["entry-points"]["envscaler"], project["version"])
    told: list[str] = []
    with on_path(source):
        plugins = open_plugins(disabled=["bad"], tell=lambda problem: told.append(str(problem)))
        offer = plugins.find(kind, "tea-time")
    assert (offer.origin.distribution, offer.origin.version) == ("envscaler-tea-time", "0.1.0")
    assert told == []


def test_another_folder_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert new("envscaler-tea", "--kind", "checker", "-o", "here")[0] == 0
    assert (tmp_path / "here" / "src" / "envscaler_tea" / "__init__.py").is_file()
    for wrong in ("Tea", "tea_time", "2nd", "tea--time", "class", "", "x(): import os #"):
        code, output = new(wrong, "--kind", "checker", "-o", "there")
        assert (code, "cannot name a plugin" in output) == (2, True), wrong
    assert not (tmp_path / "there").exists()
    assert new("tea", "--kind", "importer")[0] == 2


def test_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "envscaler-tea").mkdir()
    assert new("tea", "--kind", "specs")[0] == 0
    code, output = new("tea", "--kind", "checker")
    assert code == 2
    assert output == "envscaler: envscaler-tea exists and is not empty; nothing was written\n"
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert new("tea", "--kind", "checker", "-o", "file")[0] == 2
