"""`envscaler export` on folders of runs and files of scenarios: whole or not at all, and what it says of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from envscaler.cli.app import app
from envscaler.llm.messages import Message
from envscaler.rollout.store import Trajectories
from envscaler.rollout.trajectory import Trajectory
from envscaler.testing.exporters import sample

CARD = """\
spec: bank
task: Card K-3003 was stolen from me. Please block it.
goals:
  - final.cards["K-3003"].status == "blocked"
guards:
  - only: {fields: {cards: {K-3003: [status]}}}
solution:
  - tool: block_card
    arguments: {card_id: K-3003}
    sources: {card_id: {from: task}}
"""


def export(*words: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["export", *map(str, words)])
    return done.exit_code, done.output


def good(name: str, environment: str = "bank", **more: Any) -> Trajectory:
    """A trajectory without a malformed reply, with a text of its own for each name."""
    one = sample(environment).trajectory
    messages = (*one.messages[:5], *one.messages[7:10], Message("assistant", name))
    steps = ({"number": 1, "message": 2}, {"number": 2, "message": 5}, {"number": 3, "message": 8})
    return replace(one, id=name, scenario=more.pop("scenario", name), messages=messages, steps=steps, **more)


def run(folder: Path, trajectories: Sequence[Trajectory]) -> Path:
    tools = dict(sample().offers)
    with Trajectories.writing(folder) as kept:
        offers = tuple((step, kept.catalogue(of)) for step, of in tools.items())
        for one in trajectories:
            kept.add(replace(one, offers=offers))
    return folder


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.chdir(tmp_path)
    many = [good(f"{name}-{n}", name) for name in ("bank", "shop", "clinic") for n in range(2)]
    odd = [
        replace(good("bank-5"), reward=0.25),
        replace(good("bank-6"), status="step_limit"),
        replace(sample().trajectory, id="bank-7", scenario="bank-7"),
        replace(good("bank-8", scenario="bank-0"), sample=1),
    ]
    run(tmp_path / "one", many)
    run(tmp_path / "two", [*many[:1], *odd])
    return [Path("one"), Path("two")]


def manifest(folder: str) -> Any:
    return json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))


def lines(file: str) -> list[Any]:
    return [json.loads(line) for line in Path(file).read_text(encoding="ascii").splitlines()]


def test_what_is_left_out_is_counted(runs: list[Path]) -> None:
    code, output = export(*runs, "-o", "out", "--min-reward", "0.5", "--turns", "3:29", "--best", "1")
    assert code == 0, output
    said = manifest("out")
    assert (said["read"], said["kept"]) == (11, 6)
    assert said["dropped"] == {
        "the same episode twice": 1, "status": 1, "format": 1, "turns": 0, "reward": 1, "duplicate": 1, "not the best": 0,
    }  # fmt: skip
    assert {row["id"] for row in lines("out/train.jsonl")} == {
        f"{n}-{i}" for n in ("bank", "shop", "clinic") for i in (0, 1)
    }
    for words in ("read", "11", "left out: duplicate", "-1", "kept", "train: 6 from 3 environments", "6 rows"):
        assert words in output
    assert "left out: turns" not in output


def test_all_of_it(runs: list[Path]) -> None:
    assert export(*runs, "-o", "out", "--status", "any", "--malformed", "--duplicates")[0] == 0
    assert manifest("out")["kept"] == 10


def test_no_environment_is_in_both_parts(runs: list[Path]) -> None:
    assert export(*runs, "-o", "out", "--split", "env:0.4", "--seed", "3", "-f", "trl")[0] == 0
    parts = {part: {row["environment"] for row in lines(f"out/{part}.jsonl")} for part in ("train", "test")}
    assert not parts["train"] & parts["test"]
    assert parts["train"] | parts["test"] == {"bank", "shop", "clinic"}
    said = manifest("out")["splits"]
    assert {part: set(one["environments"]) for part, one in said.items()} == parts
    assert {part: one["samples"] for part, one in said.items()} == {p: len(lines(f"out/{p}.jsonl")) for p in parts}


def test_the_same_bytes_again(runs: list[Path]) -> None:
    for name in ("a", "b"):
        assert export(*runs, "-o", name, "-f", "llama-factory", "--split", "env:0.4")[0] == 0
    first, second = ({p.name: p.read_bytes() for p in Path(name).iterdir()} for name in ("a", "b"))
    assert first == second
    assert set(first) == {"train.jsonl", "test.jsonl", "dataset_info.json", "train.yaml", "manifest.json"}


def test_reasoning(runs: list[Path]) -> None:
    for kept, wanted in (("all", [2]), ("last", []), ("none", [])):
        assert export(*runs, "-o", kept, "--reasoning", kept, "-f", "trl")[0] == 0
        row = lines(f"{kept}/train.jsonl")[0]
        assert [n for n, m in enumerate(row["messages"]) if "reasoning_content" in m] == wanted


@pytest.mark.slow
def test_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    Path("card.yaml").write_text(CARD, encoding="utf-8")
    code, output = export("card.yaml", "card.yaml", "-f", "rl-parquet", "-o", "out")
    assert code == 0, output
    assert manifest("out")["dropped"] == {"not to be read": 0, "duplicate": 1}
    assert parquet.read_table("out/train.parquet")["spec_hash"][0].as_py().startswith("sha256:")
    (row,) = parquet.read_table("out/train.parquet").to_pylist()
    assert [m["role"] for m in row["prompt"]] == ["system", "user"]
    assert row["prompt"][1]["content"] == row["task"] == "Card K-3003 was stolen from me. Please block it."
    assert json.loads(row["goals"])[0]["expr"] == 'final.cards["K-3003"].status == "blocked"'
    assert {"block_card", "submit"} <= {tool["name"] for tool in json.loads(row["tools"])}
    state = json.loads(Path("out/states", row["state"].removeprefix("sha256:") + ".json").read_text(encoding="utf-8"))
    assert state["cards"]["K-3003"]["status"] == "active"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("one", "-f", "opnai"), "did you mean openai?"),
        (("one", "--set", "reasonin=all"), "jsonl has no setting reasonin; did you mean reasoning?"),
        (("one", "--set", "reasoning=some"), "reasoning is last, all, none, not 'some'"),
        (("one", "--set", "x"), "--set is NAME=VALUE, not 'x'"),
        (("one", "--turns", "3-29"), "like 3:29 or 3:29,5:39, not '3-29'"),
        (("one", "--turns", "3:29,"), "like 3:29 or 3:29,5:39, not '3:29,'"),
        (("one", "--turns", "3:29,39:5"), "no number of turns lies between 39 and 5"),
        (("one", "--turns", "29:3"), "no number of turns lies between 29 and 3"),
        (("one", "--turns", ":"), "like 3:29"),
        (("one", "--best", "0"), "give 1 or more"),
        (("one", "--split", "0.1"), "like env:0.1, not '0.1'"),
        (("one", "--split", "env:2"), "like env:0.1"),
        (("one", "--min-reward", "2"), "nothing is left to export of 6 read (left out for reward: 6)"),
        (("none",), "none: no trajectories there"),
        (("card.yaml", "-f", "rl-parquet", "--best", "1"), "filters trajectories"),
        (("one", "-f", "llama-factory", "--set", "model=1"), "model is a text in one line, not 1"),
    ],
)
def test_one_line_and_nothing_written(runs: list[Path], words: tuple[str, ...], told: str) -> None:
    if "rl-parquet" in words:
        pytest.importorskip("pyarrow")
    Path("card.yaml").write_text(CARD, encoding="utf-8")
    before = sorted(Path().iterdir())
    code, output = export(*words, "-o", "out")
    assert (code, len(output.splitlines())) == (2, 1)
    assert told in output
    assert sorted(Path().iterdir()) == before


def test_a_disk_that_is_full(runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    assert export("one", "-o", "out")[0] == 0
    before = Path("out/manifest.json").read_bytes()
    monkeypatch.setattr("envscaler.export.plain.lines_of", full)
    code, output = export("one", "-o", "out", "--force")
    assert (code, output) == (2, "envscaler: out: no space left on device; nothing was written\n")
    assert Path("out/manifest.json").read_bytes() == before
    assert not list(Path().glob(".out*"))


def test_what_is_in_the_way(runs: list[Path]) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years", encoding="utf-8")
    for force in ((), ("--force",)):
        code, output = export(*runs, "-o", "mine", *force)
        assert (code, "mine exists and is no export; nothing was written" in output) == (2, True)
    Path("empty").mkdir()
    assert export(*runs, "-o", "empty")[0] == 0
    code, output = export(*runs, "-o", "empty", "-f", "openai")
    assert (code, "--force replaces it" in output) == (2, True)
    assert manifest("empty")["exporter"] == "jsonl"
    assert export(*runs, "-o", "empty", "-f", "openai", "--force")[0] == 0
    assert manifest("empty")["exporter"] == "openai"
    assert not list(Path().glob(".empty*"))
    assert Path("mine/thesis.txt").read_text(encoding="utf-8") == "years"
