"""Kills a run of 200 units again and again: `python -m tests.work.kills FOLDER THREADS KILLS` prints what came of it as JSON.

A small program with one thread, which forks: a life begins within a millisecond, so that kills hit the run and not the start
of an interpreter.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from envscaler.work import Run, Threads

COUNT = 200
MOST = 6  # units that a life may finish: the run is to last until the last kill


def outcomes(folder: Path) -> Counter[str]:
    """How many successes each unit has, read past the code under test."""
    if not (folder / "work.sqlite").exists():
        return Counter()
    with sqlite3.connect(folder / "work.sqlite", timeout=10) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        try:
            return Counter(key for (key,) in connection.execute("SELECT key FROM outcomes WHERE state = 'done'"))
        except sqlite3.OperationalError:  # killed before the tables were made
            return Counter()


def life(folder: Path, threads: int) -> None:
    """A forked child: works until it is killed."""
    begun = 0

    def square(number: int) -> int:
        nonlocal begun
        begun += 1
        time.sleep(0.003 if begun <= MOST else 60)
        return number * number

    try:
        with Run.open(folder) as run:
            for _ in run.map("square", square, range(COUNT), executor=Threads(threads) if threads > 1 else None):
                pass
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main(folder: Path, threads: int, kills: int) -> None:
    chance = random.Random(20310512 + threads)
    known: Counter[str] = Counter()
    longest, at_work, moments = 0.02, 0, Counter[int]()
    for kill in range(kills):
        child = os.fork()
        if child == 0:
            life(folder, threads)
        time.sleep(chance.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"kill {kill} came too late"
        at_work += 1
        found = outcomes(folder)
        assert found >= known, f"kill {kill} lost a finished unit"
        assert set(found.values()) <= {1}, f"kill {kill}: a unit is done twice"
        moments[len(found) - len(known)] += 1
        known = found
        longest *= 0.8 if len(known) > kill * 0.8 * COUNT / kills else 1.1
    with Run.open(folder) as run:
        results = list(run.map("square", lambda n: n * n, range(COUNT)))
    assert [o.result for o in results] == [n * n for n in range(COUNT)]
    assert sum(not o.fresh for o in results) == len(known)
    assert outcomes(folder) == Counter({o.key: 1 for o in results})
    print(json.dumps({"kills": at_work, "done": len(known), "finished in a life": dict(sorted(moments.items()))}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
