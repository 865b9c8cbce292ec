"""A process that works on a run until it is done or killed: `python life.py FOLDER EXECUTOR COUNT`."""

from __future__ import annotations

import sys
from pathlib import Path

from envscaler.work import Async, Executor, InProcess, Processes, Run, Threads
from tests.work import units

EXECUTORS: dict[str, Executor] = {
    "process": InProcess(),
    "threads": Threads(4),
    "processes": Processes(2),
    "async": Async(4),
}


def main() -> None:
    folder, executor, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    inputs = [{"log": str(folder / "log"), "number": n} for n in range(count)]
    folder.mkdir(exist_ok=True)
    with Run.open(folder / "run") as run:
        print("open", flush=True)
        for outcome in run.map("noted", units.noted, inputs, executor=EXECUTORS[executor]):
            assert outcome.result == outcome.input["number"]
    print("finished", flush=True)


if __name__ == "__main__":
    main()
