"""Hostile specs are refused with one diagnostic each, at once, without a crash, and nothing of theirs is run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cases.hostile.texts import LOGIC, YAML

_PROBE = Path(__file__).parent / "hostile" / "probe.py"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    run = subprocess.run([sys.executable, str(_PROBE)], capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, (
        f"it crashed at {run.stderr.strip().splitlines()[-1:]} with {run.returncode}: {run.stderr[-2000:]}"
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("name", [*(f"yaml-{n}" for n in YAML), *(f"logic-{n}" for n in LOGIC)])
def test_refused_once_and_at_once(results: dict[str, Any], name: str) -> None:
    result = results[name]
    assert len(result["errors"]) == 1, result["errors"]
    assert result["seconds"] < 1.5  # under a second where the machine is not shared


def test_nothing_is_executed_imported_opened_or_compiled(results: dict[str, Any]) -> None:
    assert {name: r["events"] for name, r in results.items() if r["events"]} == {}
