"""Proved scenarios a second on one core, on the bank, of all kinds: a whole batch, and what comes after it."""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.report import Figure
from envscaler.resources import folder
from envscaler.scenario import World
from envscaler.scenario.batch import Batch, Subject
from envscaler.scenario.chunk import Chunk, Order, make_chunk, seed_of
from envscaler.scenario.data import DataSettings, make_state
from envscaler.scenario.proof.elsewhere import Elsewhere
from envscaler.scenario.states import StateStore
from envscaler.session.plugins import open_plugins
from envscaler.session.specs import sound

__all__ = ["run"]

COUNT = 200  # scenarios of the batch
CHUNKS = 6  # after it,
EACH = 2  # with so many scenarios of each kind


def run() -> list[Figure]:
    """Scenarios by the processor time of this process and of the other, which replays while this one waits: what else the
    machine does counts for little. The batch begins with the spec's text; the start of the other process is a part of it."""
    with Elsewhere() as other:
        begin = _spent(other)
        made, kinds = _maker(other)
        batch = _batch(made, kinds)
        whole = _spent(other) - begin
        begin = _spent(other)
        chunks = [made(Order("bank", 1000 + n, dict.fromkeys(kinds, EACH))) for n in range(CHUNKS)]
        warm = _spent(other) - begin
    tried = sum(batch.tried.values())
    kept, more = sum(len(chunk.kept) for chunk in chunks), sum(sum(chunk.tried.values()) for chunk in chunks)
    return [
        Figure("a whole batch", len(batch.kept) / whole, "/s", 20, True, f"{COUNT} scenarios of {tried} candidates"),
        Figure("those after it", kept / warm, "/s", 25, True, f"{kept} scenarios of {more} candidates"),
    ]


def _maker(other: Elsewhere) -> tuple[Callable[[Order], Chunk], list[str]]:
    """What carries out an order in a state of its own, and the kinds there are."""
    world = World.of(sound(folder("specs") / "bank.yaml"))
    plugins = open_plugins(third_parties=False)
    generators = {offer.entry.name: plugins.generator(offer.entry.name) for offer in plugins.offers("generator")}
    store = StateStore()

    def made(order: Order) -> Chunk:
        seed = seed_of("bench", order.index)
        return make_chunk(world, generators, store, make_state(world, DataSettings(), seed), order, seed, other)

    return made, list(generators)


def _batch(made: Callable[[Order], Chunk], kinds: list[str]) -> Batch:
    batch = Batch([Subject("bank", ())], kinds, COUNT)
    while orders := batch.round():
        for order in orders:
            batch.take(order, made(order))
    return batch


def _spent(other: Elsewhere) -> float:
    """The processor seconds of both processes so far; another's clock is numbered as clock_getcpuclockid does on Linux."""
    return time.process_time() + (0.0 if other.pid is None else time.clock_gettime(~other.pid << 3 | 2))
