"""What an episode costs: the reference agent's, beside its calls made bare and beside the same with its trajectory kept."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.memory import resident
from benchmarks.report import Figure, paired
from envscaler.agents import Loop
from envscaler.plugin.roles import Part
from envscaler.rollout.agents.simple import ReferenceAgent
from envscaler.rollout.playing import Cast, Company
from envscaler.rollout.scene import ScenarioEpisode
from envscaler.rollout.stage import Stage
from envscaler.rollout.store import Trajectories
from envscaler.rollout.trajectory import Trajectory
from envscaler.scenario.model import Goal, Guard, Only, Scenario, Step
from envscaler.scenario.world import World
from envscaler.session.rollouts import RolloutOptions, rollout
from envscaler.spec.check import check_text

__all__ = ["run"]

SPEC = Path(__file__).resolve().parents[1] / "specs" / "bank.yaml"
CAST = Cast("reference")
UNIT = 32  # episodes that are kept together, as a rollout does
WARM, MANY = 1_000, 10_000


def run() -> list[Figure]:
    """Episodes a second and the two ratios, and what is in memory after 1,000 and 10,000 kept episodes."""
    world = World.of(check_text(str(SPEC), SPEC.read_text(encoding="utf-8")))
    stage, scenario = Stage(world), _scenario(world)
    with tempfile.TemporaryDirectory() as folder, Trajectories.writing(folder) as store:
        company = Company(CAST, ReferenceAgent, None, store.catalogue)
        samples = count()

        def play() -> None:
            asyncio.run(_unit(stage, scenario))

        def keep() -> None:
            assert store.add_all(asyncio.run(_kept_unit(company, stage, scenario, samples))) == UNIT

        bare, played, above = paired(lambda: _bare(stage, scenario), play, 1, 60, clock=time.process_time)
        alone, kept, ratio = paired(play, keep, 1, 60, clock=time.process_time)
    first, last = _resident(scenario)
    return [
        Figure("episodes", UNIT / played, "/s", 500, True, f"of {len(scenario.solution)} calls, scored, not recorded"),
        Figure("an episode to its calls made bare", above, "x", 40, False, f"{UNIT / bare:,.0f}/s bare"),
        Figure(
            "recording, added", ratio - 1, "x", 0.5, False, f"{UNIT / kept:,.0f}/s recorded, {UNIT / alone:,.0f}/s not"
        ),
        Figure(
            f"{MANY:,} episodes of a rollout", last - first, "MB", 8, False,
            f"resident: {first:.1f} MB after {WARM:,}, {last:.1f} MB at the end",
        ),
    ]  # fmt: skip


async def _unit(stage: Stage, scenario: Scenario) -> None:
    """Episodes that leave nothing but their reward."""
    for _ in range(UNIT):
        episode = ScenarioEpisode(stage, scenario, None)
        agent = ReferenceAgent(Part(scenario, "non-conversation", stage.submit, templates=stage.templates))
        await Loop(episode, agent, CAST.limits).run()
        assert episode.score("guarded").reward == 1.0


async def _kept_unit(company: Company, stage: Stage, scenario: Scenario, samples: Any) -> list[Trajectory]:
    return [one for _ in range(UNIT) for one in await company.play(stage, scenario, next(samples))]


def _bare(stage: Stage, scenario: Scenario) -> None:
    for _ in range(UNIT):
        env = stage.start(scenario)
        for step in scenario.solution:
            assert env.call(step.tool, step.arguments).ok


def _resident(scenario: Scenario) -> tuple[float, float]:
    """Megabytes after the first and the last of the episodes of one `rollout`, which is what users call."""
    seen: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "scenarios.jsonl")
        file.write_text(json.dumps(scenario.to_json()) + "\n", encoding="utf-8")
        rolled = rollout(
            file, Path(name, "run"), RolloutOptions(samples=MANY), specs=SPEC.parent,
            progress=lambda at: seen.append((at.ended, resident() / 1024)),
        )  # fmt: skip
    assert rolled.played == MANY
    return next(size for ended, size in seen if ended >= WARM), seen[-1][1]


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
