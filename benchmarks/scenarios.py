"""Proved scenarios a second on one core, on the bank, of all kinds."""

from __future__ import annotations

import time

from benchmarks.report import Figure
from envscaler.resources import folder
from envscaler.scenario import World
from envscaler.scenario.chunk import Order, make_chunk, seed_of
from envscaler.scenario.data import DataSettings, make_state
from envscaler.scenario.proof.elsewhere import Elsewhere
from envscaler.scenario.states import StateStore
from envscaler.session.plugins import open_plugins
from envscaler.session.specs import sound

__all__ = ["run"]

CHUNKS = 6
EACH = 2  # scenarios of each kind in a chunk


def run() -> list[Figure]:
    """The rate, from making states to the replay of the solutions in another process, for which this one waits."""
    world = World.of(sound(folder("specs") / "bank.yaml"))
    plugins = open_plugins(third_parties=False)
    kinds = [offer.entry.name for offer in plugins.offers("generator")]
    generators = {kind: plugins.generator(kind) for kind in kinds}
    store = StateStore()
    with Elsewhere() as other:

        def made(index: int) -> tuple[int, int]:
            seed = seed_of("bench", index)
            state = make_state(world, DataSettings(), seed)
            order = Order("bank", index, dict.fromkeys(kinds, EACH))
            chunk = make_chunk(world, generators, store, state, order, seed, other)
            return len(chunk.kept), sum(chunk.tried.values())

        made(-1)  # what is made once, here and in the other process
        begin, before = time.perf_counter(), time.process_time()
        counts = [made(index) for index in range(CHUNKS)]
        seconds, own = time.perf_counter() - begin, time.process_time() - before
    kept, tried = (sum(numbers) for numbers in zip(*counts, strict=True))
    more = f"{kept} of {tried} candidates kept; {kept / own:.1f}/s of this process's own time"
    return [Figure("proved scenarios", kept / seconds, "/s", 20, True, more)]
