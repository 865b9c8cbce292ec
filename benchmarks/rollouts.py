"""What an episode costs: the reference agent's, beside its calls made bare and beside the same with its trajectory kept."""

from __future__ import annotations

import asyncio
import gc
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.memory import resident
from benchmarks.report import Figure, paired
from envscaler.rollout.agents.simple import ReferenceAgent
from envscaler.rollout.playing import Cast, Company
from envscaler.rollout.stage import Stage
from envscaler.rollout.store import Trajectories
from envscaler.rollout.trajectory import Trajectory
from envscaler.scenario.model import Goal, Guard, Only, Scenario, Step
from envscaler.scenario.world import World
from envscaler.spec.check import check_text

__all__ = ["run"]

SPEC = Path(__file__).resolve().parents[1] / "specs" / "bank.yaml"
UNIT = 16  # episodes that are kept together, as a rollout does
WARM, MANY = 1_000, 10_000


def run() -> list[Figure]:
    """Episodes a second and the two ratios, and what 10,000 kept episodes leave in memory."""
    world = World.of(check_text(str(SPEC), SPEC.read_text(encoding="utf-8")))
    stage, scenario = Stage(world), _scenario(world)
    with tempfile.TemporaryDirectory() as folder, Trajectories.writing(folder) as store:
        company = Company(Cast("reference"), ReferenceAgent, None, store.catalogue)
        samples = count()

        def play() -> list[Trajectory]:
            return asyncio.run(_unit(company, stage, scenario, samples))

        def keep() -> None:
            assert store.add_all(play()) == UNIT

        assert {one.reward for one in play()} == {1.0}
        played, bare, _ = paired(play, lambda: _bare(stage, scenario), 1, 60)
        alone, kept, ratio = paired(play, keep, 1, 60)
        grown = _grown(keep)
    return [
        Figure("episodes", UNIT / played, "/s", 500, True, f"of {len(scenario.solution)} calls, scored, not kept"),
        Figure("an episode to its calls made bare", played / bare, "x", 40, False, f"{UNIT / bare:,.0f}/s bare"),
        Figure(
            "keeping them, added", ratio - 1, "x", 0.5, False, f"{UNIT / kept:,.0f}/s kept, {UNIT / alone:,.0f}/s not"
        ),
        Figure(f"{MANY:,} kept episodes", grown, "MB", 8, False, "added to the resident memory"),
    ]


async def _unit(company: Company, stage: Stage, scenario: Scenario, samples: Any) -> list[Trajectory]:
    return [one for _ in range(UNIT) for one in await company.play(stage, scenario, next(samples))]


def _bare(stage: Stage, scenario: Scenario) -> None:
    for _ in range(UNIT):
        env = stage.start(scenario)
        for step in scenario.solution:
            assert env.call(step.tool, step.arguments).ok


def _grown(keep: Any) -> float:
    for _ in range(WARM // UNIT):
        keep()
    gc.collect()
    before = resident()
    for _ in range(MANY // UNIT):
        keep()
    gc.collect()
    return (resident() - before) / 1024


def _scenario(world: World) -> Scenario:
    moved = {"A-2001": ("balance",), "A-2002": ("balance",)}
    return Scenario(
        kind="complete",
        spec=world.ref,
        task="Move 40 euros from my account A-2001 to my account A-2002.",
        goals=(
            Goal('final.accounts["A-2001"].balance == initial.accounts["A-2001"].balance - money(40)'),
            Goal('final.accounts["A-2002"].balance == initial.accounts["A-2002"].balance + money(40)'),
        ),
        guards=(Guard(only=Only(fields={"accounts": moved, "till": {"": ("running_low",)}}, added={"postings": 2})),),
        solution=(
            Step("account_details", {"account_id": "A-2001"}),
            Step("transfer", {"from_account": "A-2001", "to_account": "A-2002", "amount": 40}),
        ),
    ).named()
