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
from envscaler.replay import read_known
from envscaler.session import spec_files

ROOT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("ENVSCALER_CORPORA", ROOT.parent / "shared" / "corpora"))
PORTS = ROOT / "specs/ports"
RETAIL = CORPORA / "tau_bench_retail"

pytestmark = pytest.mark.skipif(not CORPORA.is_dir(), reason=f"no recordings in {CORPORA}; set ENVSCALER_CORPORA")


def replay(*files: Path, options: tuple[str, ...] = ()) -> Any:
    return CliRunner().invoke(app, ["replay", str(ROOT / "specs/ports/retail.yaml"), *map(str, files), *options])


@pytest.fixture(scope="module")
def table() -> list[str]:
    """The rows of the ports' table, replayed now."""
    result = CliRunner().invoke(app, ["replay", str(PORTS), str(CORPORA), "--markdown", "--jobs", "2"])
    assert result.exit_code == 0, result.output[-2000:]
    return result.stdout.splitlines()


@pytest.mark.slow
def test_the_table_in_the_reference_is_what_a_replay_gives(table: list[str]) -> None:
    page = (ROOT / "docs/reference/ports.md").read_text(encoding="utf-8").splitlines()
    assert table == [line for line in page if line.startswith("|")]


@pytest.mark.slow
def test_every_port_has_recordings(table: list[str]) -> None:
    assert {row.split(" | ")[0].removeprefix("| ") for row in table[2:]} == {p.stem for p in spec_files([PORTS])[0]}


@pytest.mark.slow
def test_what_differs_is_little_and_listed(table: list[str]) -> None:
    known = [row.rsplit(" | ", 1)[1] for row in table[2:]]
    assert len([k for k in known if k != "nothing |"]) <= 3
    for listing in sorted((PORTS / "known").glob("*.yaml")):
        assert all(entry.reason for entry in read_known(listing))


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
