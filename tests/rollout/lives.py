"""Rollouts that are killed: `python -m tests.rollout.lives SCENARIOS RUN KILLS SEED` prints what came of them as JSON.

A small program that forks, so that kills hit the run and not the start of an interpreter. Each life begins at most a few
units of episodes and then waits, so that the run lasts until the last kill.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from envscaler.session import rollout_units, rollouts
from envscaler.session.rollouts import RolloutOptions

MOST = 3  # units that a life keeps
UNIT = 2  # episodes of a unit, which are written down together


def samples(kills: int) -> int:
    """Episodes of each of the five scenarios, more than all lives together can keep."""
    return 4 + kills * MOST * UNIT // 4


def life(scenarios: str, folder: str, most: int, count: int, first: int) -> None:
    """A forked child: plays until it is killed, and says so by the pipe ``first`` when one is kept."""
    play, begun = rollout_units.Ready.play_unit, 0

    async def slowly(self: rollout_units.Ready, unit: Any, together: bool = False) -> dict[str, Any]:
        nonlocal begun
        begun += 1
        mine = begun
        if mine > most:
            await asyncio.sleep(60)
        came = await play(self, unit, together)
        if mine == 1:
            os.write(first, b"x")
        return came

    rollout_units.Ready.play_unit = slowly  # type: ignore[method-assign]
    rollouts.rollout(scenarios, folder, RolloutOptions(samples=count), concurrency=64)


def main(scenarios: str, folder: str, kills: int, seed: int) -> None:
    os.chdir(Path(scenarios).parent)
    chance = random.Random(seed)
    killed = 0
    rollouts._BATCH = UNIT  # type: ignore[misc]
    rollouts.rollout(scenarios, f"{folder}-first")  # all is imported before the first life
    for number in range(kills):
        seen, said = os.pipe()
        child = os.fork()
        if not child:
            try:
                life(scenarios, folder, chance.randint(1, MOST), samples(kills), said)
            finally:
                os._exit(0)
        os.close(said)
        if number % 4 != 3:  # some are killed before they have played anything
            os.read(seen, 1)
        os.close(seen)
        time.sleep(chance.uniform(0.0, 0.1))
        os.kill(child, signal.SIGKILL)
        killed += os.waitpid(child, 0)[1] == signal.SIGKILL
    rolled = rollouts.rollout(scenarios, folder, RolloutOptions(samples=samples(kills)), concurrency=64)
    lines = [json.loads(line) for line in (Path(folder) / "trajectories.jsonl").read_text().splitlines()]
    print(
        json.dumps(
            {"killed": killed, "kept": rolled.kept, "wanted": rolled.wanted, "failed": dict(rolled.failed),
             "found": [[line["id"], line["hash"]] for line in lines]}
        )
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
