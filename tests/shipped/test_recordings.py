"""The ports answer recorded calls of the environments they port exactly as those did.

The recordings are not part of the repository: they are looked for in `$ENVSCALER_CORPORA`, else in `../shared/corpora`.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from envscaler.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("ENVSCALER_CORPORA", ROOT.parent / "shared" / "corpora"))
RETAIL = CORPORA / "tau_bench_retail"

pytestmark = pytest.mark.skipif(not RETAIL.is_dir(), reason=f"no recordings in {CORPORA}; set ENVSCALER_CORPORA")


def replay(*files: Path, options: tuple[str, ...] = ()) -> Any:
    return CliRunner().invoke(app, ["replay", str(ROOT / "specs/ports/retail.yaml"), *map(str, files), *options])


@pytest.mark.parametrize(("name", "last"), [
    ("cases.jsonl", "470 cases: 470 right, 0 wrong; 1121 calls: 1121 right, 0 wrong"),
    ("random.jsonl", "18 cases: 18 right, 0 wrong; 180 calls: 180 right, 0 wrong"),
])  # fmt: skip
def test_retail_answers_as_recorded(name: str, last: str) -> None:
    result = replay(RETAIL / name)
    assert result.exit_code == 0, result.output[-2000:]
    assert result.output.strip().splitlines()[-1] == last


def test_one_edited_digit_is_found(tmp_path: Path) -> None:
    shutil.copy(RETAIL / "initial_state.json", tmp_path)
    with (RETAIL / "cases.jsonl").open(encoding="utf-8") as lines:
        cases = [json.loads(line) for _, line in zip(range(20), lines, strict=False)]
    call = next(c for c in cases[7]["calls"] if '"price": ' in str(c["result"]))
    at = call["result"].index('"price": ') + len('"price": ')
    call["result"] = call["result"][:at] + str((int(call["result"][at]) + 1) % 10) + call["result"][at + 1 :]
    edited = tmp_path / "edited.jsonl"
    edited.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    result = replay(edited)
    assert result.exit_code == 1
    named = [line for line in result.output.splitlines() if line.startswith(str(edited))]
    number = cases[7]["calls"].index(call) + 1
    assert len(named) == 1
    assert f"{cases[7]['case_id']}, call {number} of {len(cases[7]['calls'])}: {call['tool']}" in named[0]
