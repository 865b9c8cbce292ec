"""Scenarios for the tests, made and exported by the command line as its users do."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def envscaler() -> Callable[..., None]:
    """Runs a command of envscaler, which must succeed."""

    def run(*arguments: Any) -> None:
        words = [sys.executable, "-m", "envscaler", *map(str, arguments)]
        done = subprocess.run(words, capture_output=True, text=True)  # noqa: S603
        assert done.returncode == 0, done.stderr

    return run


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trl")


@pytest.fixture(scope="session")
def tasks(folder: Path, envscaler: Callable[..., None]) -> Path:
    """Scenarios of two shipped specs, of all kinds."""
    envscaler("scenarios", "make", "tau2_mock", "bank", "-n", 12, "--seed", 3, "-o", folder / "tasks.jsonl")
    return folder / "tasks.jsonl"


@pytest.fixture(scope="session")
def scenarios(tasks: Path) -> dict[str, dict[str, Any]]:
    """Their JSON, by id."""
    found = map(json.loads, tasks.read_text(encoding="utf-8").splitlines())
    return {one["id"]: one for one in found}


@pytest.fixture(scope="session")
def calls_of() -> Callable[[dict[str, Any]], list[tuple[str, dict[str, Any]]]]:
    """Gives the reference solution of a scenario as calls."""

    def calls(scenario: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        found = [(step["tool"], step["arguments"]) for step in scenario["solution"]]
        return [*found, ("submit", scenario["submitted"])] if scenario.get("submitted") else found

    return calls
