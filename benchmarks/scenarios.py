"""Proved scenarios a second on one core, on the bank; and scores a second, of 14 goals on a state with 200 accounts."""

from __future__ import annotations

import resource
import time

from benchmarks.report import Figure, seconds
from envscaler.resources import folder
from envscaler.scenario import Goal, Guard, Only, Scenario, World
from envscaler.scenario.chunk import Order, make_chunk, seed_of
from envscaler.scenario.data import DataSettings, make_state
from envscaler.scenario.proof.elsewhere import Elsewhere
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.states import StateStore
from envscaler.session.plugins import open_plugins
from envscaler.session.specs import sound

__all__ = ["run"]

CHUNKS = 6
EACH = 2  # scenarios of each kind in a chunk
ACCOUNTS = 200


def run() -> list[Figure]:
    """Both rates."""
    world = World.of(sound(folder("specs") / "bank.yaml"))
    return [_proved(world), *_scored(world)]


def _proved(world: World) -> Figure:
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
        before = time.process_time()
        counts = [made(index) for index in range(CHUNKS)]
        spent = time.process_time() - before
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    spent += (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - children) * CHUNKS / (CHUNKS + 1)
    kept, tried = (sum(numbers) for numbers in zip(*counts, strict=True))
    return Figure("proved scenarios", kept / spent, "/s", 20, True, f"{kept} of {tried} candidates kept, all kinds")


def _scored(world: World) -> list[Figure]:
    state = make_state(world, DataSettings(sizes={"accounts": ACCOUNTS}), 1)
    keys = [key for key, account in state["accounts"].items() if account["status"] == "open"][:14]
    scenario = Scenario(
        "complete", world.ref, "Freeze them all.",
        tuple(Goal(f'final.accounts["{key}"].status == "frozen"') for key in keys),
        (Guard(Only(fields={"accounts": dict.fromkeys(keys, ("status", "frozen_for"))})),), (), state=state,
    ).named()  # fmt: skip
    scorer, env = Scorer.of(world, scenario), world.start(scenario)
    figures = [_rate("scores, nothing done", scorer, env, 0.0)]
    for key in keys:
        env.call("freeze_account", {"account_id": key, "reason": "customer_request"}).unwrap()
    return [*figures, _rate("scores, all done", scorer, env, 1.0)]


def _rate(name: str, scorer: Scorer, env: object, reward: float) -> Figure:
    if (found := scorer.score(env).reward) != reward:  # type: ignore[arg-type]
        raise AssertionError(f"the reward is {found}, not {reward}")
    least = min(seconds(lambda: scorer.score(env), 500) for _ in range(5))  # type: ignore[arg-type]
    return Figure(name, 1 / least / 1000, "k/s", 10, True, f"{len(scorer.goals)} goals, {ACCOUNTS} accounts")
