"""Whatever ends a process, and whenever: what was finished is kept, and nothing is done twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from envscaler.work import Run
from tests.soon import SOON
from tests.work.kills import outcomes

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}


@posix
@pytest.mark.slow
@pytest.mark.parametrize(("threads", "kills"), [(1, 200), (3, 60)])
def test_two_hundred_kills(tmp_path: Path, threads: int, kills: int, record_property: Any) -> None:
    """SIGKILL at 200 random moments of a run of 200 units: opening, claiming, working, writing."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.work.kills", str(tmp_path), str(threads), str(kills)],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    record_property("figures", figures)
    assert figures["kills"] == kills
    assert 0 < figures["done"] < 200, "the kills were to hit a run under way"


def start(folder: Path, executor: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.work.life", str(folder), executor, str(count)],
        env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def times_called(folder: Path) -> Counter[int]:
    return Counter(map(int, (folder / "log").read_text().split()))


@posix
@pytest.mark.parametrize("executor", [pytest.param("processes", marks=pytest.mark.slow), "threads"])
def test_killed_programs(tmp_path: Path, executor: str) -> None:
    """Whole programs, with processes of their own, which end with them."""
    chance, count = random.Random(7), 150
    for _ in range(3):
        program = start(tmp_path, executor, count)
        assert program.stdout is not None
        assert program.stdout.readline() == "open\n"
        time.sleep(chance.uniform(0.1, 0.4))
        program.kill()
        program.communicate()
    before = outcomes(tmp_path / "run")
    program = start(tmp_path, executor, count)
    output, errors = program.communicate(timeout=60)
    assert (program.returncode, output) == (0, "open\nfinished\n"), errors
    assert outcomes(tmp_path / "run") >= before
    assert set(outcomes(tmp_path / "run").values()) == {1}
    assert len(outcomes(tmp_path / "run")) == count
    called = times_called(tmp_path)
    assert set(called) == set(range(count))
    assert sum(called.values()) <= count + 3 * 4, "a kill costs at most the units under way"


def test_two_programs_share_a_run(tmp_path: Path) -> None:
    programs = [start(tmp_path, executor, 120) for executor in ("process", "threads")]
    for program in programs:
        output, errors = program.communicate(timeout=60)
        assert (program.returncode, output) == (0, "open\nfinished\n"), errors
    assert times_called(tmp_path) == Counter(range(120))


@posix
def test_one_of_two_programs_is_killed(tmp_path: Path) -> None:
    """The other takes over what it had claimed, at once and not after the lease."""
    victim, heir = (start(tmp_path, "threads", 150) for _ in range(2))
    assert victim.stdout is not None
    victim.stdout.readline()
    time.sleep(0.05)
    victim.kill()
    began = time.monotonic()
    output, errors = heir.communicate(timeout=60)
    assert (heir.returncode, output) == (0, "open\nfinished\n"), errors
    assert time.monotonic() - began < SOON
    victim.communicate()
    assert set(outcomes(tmp_path / "run").values()) == {1}
    assert len(outcomes(tmp_path / "run")) == 150


@posix
@pytest.mark.parametrize("executor", ["process", pytest.param("threads", marks=pytest.mark.slow), "processes", "async"])
def test_ctrl_c(tmp_path: Path, executor: str) -> None:
    """Stops at once, keeps what is done, gives back what was under way."""
    program = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path), executor],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert program.stdout is not None
    assert program.stdout.readline() == "0.01\n"
    time.sleep(0.2)
    began = time.monotonic()
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does it: to all processes of the group
    _, errors = program.communicate(timeout=60)
    seconds = time.monotonic() - began
    assert program.returncode == 130, errors
    assert errors == ""
    assert seconds < SOON
    with Run.open(tmp_path) as run:
        assert [u.state for u in run.units()] == ["done", "pending", "pending", "pending"]


INTERRUPTED = """
import sys
from tests.work import units
from tests.work.life import EXECUTORS
from envscaler.work import Run

if __name__ == "__main__":
    executor = EXECUTORS[sys.argv[2]]
    function = units.dozy if sys.argv[2] == "async" else units.sleepy
    try:
        with Run.open(sys.argv[1]) as run:
            for outcome in run.map("sleep", function, [0.01, 60, 61, 62], executor=executor):
                print(outcome.result, flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
"""


HOLDING = """
import sys, time
from envscaler.work import Run

with Run.open(sys.argv[1], lease=float(sys.argv[2])) as run:
    for outcome in run.map("sleep", time.sleep, [float(sys.argv[3])], listen=lambda event: print(event.what, flush=True)):
        pass
"""


def holder(folder: Path, lease: float, seconds: float) -> subprocess.Popen[str]:
    """A program that is at a unit of so many seconds."""
    program = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(folder), str(lease), str(seconds)],
        env=ENVIRONMENT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert program.stdout is not None
    assert [program.stdout.readline() for _ in range(2)] == ["started\n", "claimed\n"]
    return program


@posix
def test_a_process_that_stands_still_loses_its_claims(tmp_path: Path) -> None:
    """After a lease without a heartbeat another process takes the unit; whoever finishes second is not counted."""
    program = holder(tmp_path, 0.4, 1.5)
    program.send_signal(signal.SIGSTOP)
    try:
        with Run.open(tmp_path, lease=0.4) as run:
            began = time.monotonic()
            [outcome] = run.map("sleep", lambda _: "taken over", [1.5])
            assert (outcome.result, outcome.fresh) == ("taken over", True)
            assert time.monotonic() - began > 0.3
    finally:
        program.send_signal(signal.SIGCONT)
    assert program.communicate(timeout=60)[0] == "skipped\nfinished\n"
    with Run.open(tmp_path) as run:
        [unit] = run.units()
        assert (unit.state, unit.attempts) == ("done", 1)
        kept = run.kept("sleep", 1.5)
        assert kept is not None
        assert kept.value == "taken over"


@posix
@pytest.mark.slow
def test_a_process_that_lives_keeps_its_claims(tmp_path: Path) -> None:
    """A unit may take much longer than the lease, as long as its process beats."""
    program = holder(tmp_path, 1.0, 2.5)
    with Run.open(tmp_path, lease=1.0) as run:
        [outcome] = run.map("sleep", lambda _: "taken over", [2.5])
        assert (outcome.result, outcome.fresh) == (None, False)
    program.communicate(timeout=60)
