"""`envscaler state` as it is called: the file, the figures, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from envscaler.cli.app import app

ROOT = Path(__file__).parents[2]
SPEC = str(ROOT / "specs" / "ports" / "retail.yaml")


def test_a_state_is_written_and_told_in_figures(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    done = CliRunner().invoke(app, ["state", SPEC, "--size", "20", "--seed", "3", "-o", str(file), "--json"])
    assert done.exit_code == 0, done.output
    state = json.loads(file.read_text(encoding="utf-8"))
    figures = json.loads(done.stdout)
    assert figures["size"] == 20 == sum(len(state[name]) for name in ("orders", "products", "users"))
    again = tmp_path / "again.json"
    more = ["state", SPEC, "--mutate", "--from", str(file), "--of", "users=4", "--seed", "1", "-o", str(again)]
    done = CliRunner().invoke(app, more)
    assert done.exit_code == 0, done.output
    assert "4 users" in done.stdout
    assert json.loads(again.read_text(encoding="utf-8"))["users"].keys() & state["users"].keys()


def test_what_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    file.write_text('{"orders": {"#W1": {}}}', encoding="utf-8")
    for arguments, code, text in (
        (["--from", str(file)], 4, "own.json: "),
        (["--of", "users"], 2, "expected COLLECTION=N"),
        (["--of", "usrs=3"], 2, "did you mean users?"),
        (["--share", "orders.status=pending"], 2, "expected COLLECTION.FIELD=VALUE:SHARE"),
        (["--edges", "7"], 2, "between 0 and 1"),
        (["-o", str(tmp_path / "none" / "x.json")], 2, "x.json"),
    ):
        done = CliRunner().invoke(app, ["state", SPEC, *arguments])
        assert (done.exit_code, text in done.output) == (code, True), done.output
