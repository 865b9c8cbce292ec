"""Trajectories are kept once, whoever is killed when, and read while others write."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from envscaler.errors import UsageError
from envscaler.llm.messages import Message, Tool
from envscaler.rollout import Player, Select, Trajectories, Trajectory
from envscaler.rollout.store import ASIDE, INDEX, TRAJECTORIES


def trajectory(number: int = 0, **more: object) -> Trajectory:
    plain = Trajectory(
        id=f"bank-{number}",
        scenario=f"s-{number % 3}",
        kind="complete",
        spec={"name": "bank", "hash": "sha256:0"},
        setting="non-conversation",
        agent=Player("reference", seed=7),
        user=None,
        sample=0,
        status="finished",
        messages=(Message("user", "Do it \u2028 \x1b[31m \ud800 now."),),
        steps=(),
        reward=number / 10,
        usage={"agent": {"tokens_in": 10, "tokens_out": None, "cost": 5}},
        timing={"seconds": 0.5},
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    with Trajectories.writing(tmp_path) as store:
        assert all(store.add(trajectory(n)) for n in range(5))
    lines = (tmp_path / TRAJECTORIES).read_bytes().splitlines()
    assert len(lines) == 5, "no text breaks a line"
    with Trajectories.open(tmp_path) as kept:
        assert list(kept.each()) == [trajectory(n) for n in range(5)]
        assert kept.one("bank-3") == trajectory(3)
        assert [row.reward for row in kept.rows()] == [0.0, 0.1, 0.2, 0.3, 0.4]
        assert kept.totals()._asdict() == {
            "done": 5, "scored": 5, "mean": pytest.approx(0.2), "aside": 0, "cost": 25, "unpriced": 0, "tokens": 50,
        }  # fmt: skip
        assert [r.hash for r in kept.rows()] == [json.loads(line)["hash"] for line in lines]


def test_choosing(tmp_path: Path) -> None:
    with Trajectories.writing(tmp_path) as store:
        for n in range(10):
            store.add(trajectory(n, status="finished" if n % 2 else "step_limit"))
        assert [r.id for r in store.rows(Select(least=0.3, most=0.5))] == ["bank-3", "bank-4", "bank-5"]
        assert [r.id for r in store.rows(Select(scenario="s-0", status="finished"))] == ["bank-3", "bank-9"]
        assert [one.id for one in store.each(Select(ids=("bank-1", "bank-7")))] == ["bank-1", "bank-7"]
        assert store.rows(Select(ids=())) == []
        with pytest.raises(UsageError, match="may mean 10 trajectories"):
            store.one("bank")
        with pytest.raises(UsageError, match="no trajectory till"):
            store.one("till")


def test_an_id_is_kept_once_and_what_is_set_aside_is_not_counted(tmp_path: Path) -> None:
    broken = trajectory(1, status="infra_error", reward=None)
    with Trajectories.writing(tmp_path) as store:
        assert store.add(broken)
        assert "bank-1" not in store
        assert store.totals().aside == 1
        assert store.attempts("bank-1") == 1
        assert store.add(trajectory(1, attempt=2))
        assert not store.add(trajectory(1, attempt=3))
        assert not store.add(replace(broken, attempt=4))
        assert (store.totals().aside, store.totals().mean) == (0, 0.1)
        assert [row.attempt for row in store.rows(Select(aside=True))] == [1]
        assert store.one("bank-1").status == "finished"
    assert len((tmp_path / ASIDE).read_bytes().splitlines()) == 1


@pytest.mark.parametrize("left", ["a whole line", "half a line", "no index"])
def test_a_kill_between_line_and_index(tmp_path: Path, left: str) -> None:
    with Trajectories.writing(tmp_path) as store:
        store.add(trajectory(1))
    file = tmp_path / TRAJECTORIES
    line = trajectory(2).written()[0] + "\n"
    with file.open("a", encoding="ascii") as lines:
        lines.write(line if left != "half a line" else line[:50])
    if left == "no index":
        for path in tmp_path.glob(f"{INDEX}*"):
            path.unlink()
    with Trajectories.writing(tmp_path) as store:
        assert store.ids() == ({"bank-1"} if left == "half a line" else {"bank-1", "bank-2"})
        assert store.add(trajectory(2)) is (left == "half a line")
        assert store.add(trajectory(3))
        assert [one.id for one in store.each()] == ["bank-1", "bank-2", "bank-3"]
    assert [json.loads(one)["id"] for one in file.read_text().splitlines()] == ["bank-1", "bank-2", "bank-3"]


def test_reading_a_folder_without_an_index_and_one_without_anything(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no trajectories there"):
        Trajectories.open(tmp_path)
    (tmp_path / TRAJECTORIES).write_text(trajectory(1).written()[0] + "\n", encoding="ascii")
    with Trajectories.open(tmp_path) as kept:
        assert [one.id for one in kept.each()] == ["bank-1"]
    (tmp_path / TRAJECTORIES).write_text("", encoding="ascii")
    with pytest.raises(UsageError, match="was cut"):
        Trajectories.writing(tmp_path)


def test_a_line_that_is_none(tmp_path: Path) -> None:
    (tmp_path / TRAJECTORIES).write_text('{"format": 9}\n', encoding="ascii")
    with pytest.raises(UsageError, match=r"byte 0: no trajectory of format 1: its format is 9"):
        Trajectories.writing(tmp_path)


def test_what_was_on_offer_is_kept_once(tmp_path: Path) -> None:
    tools = (Tool("a", "does it", {"type": "object", "properties": {}}), Tool("b"))
    with Trajectories.writing(tmp_path) as store, Trajectories.writing(tmp_path) as other:
        name = store.catalogue(tools)
        assert name == store.catalogue(list(tools)) == other.catalogue(tools)
    assert len((tmp_path / "tools.jsonl").read_bytes().splitlines()) == 1
    with Trajectories.open(tmp_path) as kept:
        assert kept.tools(name) == tools
        with pytest.raises(UsageError, match="no tools sha256:x"):
            kept.tools("sha256:x")


def test_a_reader_sees_what_is_written_meanwhile(tmp_path: Path) -> None:
    with Trajectories.writing(tmp_path) as store:
        store.add(trajectory(1))
        with Trajectories.open(tmp_path) as kept:
            assert kept.totals().done == 1
            store.add(trajectory(2))
            assert kept.totals().done == 2
            assert [one.id for one in kept.each()] == ["bank-1", "bank-2"]


def _write(folder: str, first: int) -> None:
    with Trajectories.writing(folder) as store:
        for n in range(first, first + 60):
            store.add(trajectory(n))


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=_write, args=(str(tmp_path), first)) for first in (0, 30)]
    for one in both:
        one.start()
    for one in both:
        one.join(60)
    ids = [json.loads(line)["id"] for line in (tmp_path / TRAJECTORIES).read_text().splitlines()]
    assert sorted(ids) == sorted({f"bank-{n}" for n in range(90)})
    with Trajectories.open(tmp_path) as kept:
        assert len(list(kept.each())) == 90


def test_the_hash_is_of_what_happened_and_not_of_how_long_it_took() -> None:
    one = trajectory(1)
    same = replace(one, id="other", attempt=3, reason="in other words", timing={"seconds": 9}, usage={})
    assert one.content_hash == same.content_hash
    for change in ({"reward": 0.5}, {"status": "step_limit"}, {"sample": 1}, {"agent": Player("noop")}):
        assert replace(one, **change).content_hash != one.content_hash  # type: ignore[arg-type]
    line, found = one.written()
    assert json.loads(line) == one.to_json()
    assert found == one.content_hash == one.to_json()["hash"]
    assert Trajectory.from_json(json.loads(line)) == one
