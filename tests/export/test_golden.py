"""Small files of each form, byte for byte. `python -m tests.export.test_golden` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envscaler.builtin.exporters import EXPORTERS
from envscaler.testing.exporters import sample

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "jsonl": ("jsonl", {}),
    "openai": ("openai", {"reasoning": "last"}),
    "trl": ("trl", {}),
    "trl-dict": ("trl", {"arguments": "dict", "reasoning": "all"}),
    "llama-factory": ("llama-factory", {}),
    "llama-factory-whole": ("llama-factory", {"turns": "whole", "model": "m", "template": "hermes", "name": "mine"}),
}


def write(case: str, folder: Path) -> None:
    name, settings = CASES[case]
    (entry,) = (one for one in EXPORTERS if one.name == name)
    entry.factory(settings).write({"train": lambda: iter([sample()]), "test": lambda: iter([sample("other")])}, folder)


@pytest.mark.parametrize("case", CASES)
def test_the_same_bytes(case: str, tmp_path: Path) -> None:
    write(case, tmp_path)
    wanted = {p.name: p.read_bytes() for p in (GOLDEN / case).iterdir()}
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == wanted


def test_of_the_agents_turns_one_row_each() -> None:
    rows = [json.loads(line) for line in (GOLDEN / "llama-factory" / "train.jsonl").read_text().splitlines()]
    assert [row["conversations"][-1]["from"] for row in rows] == ["gpt", "function_call", "gpt"]
    assert [len(json.loads(row["tools"])) for row in rows] == [1, 2, 2]
    info = json.loads((GOLDEN / "llama-factory" / "dataset_info.json").read_text())
    assert list(info) == ["envscaler_train", "envscaler_test"]


if __name__ == "__main__":
    for one in CASES:
        (GOLDEN / one).mkdir(parents=True, exist_ok=True)
        write(one, GOLDEN / one)
