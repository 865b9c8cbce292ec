"""A scenario written by models: a task, a solution found by playing, goals from the task; kept only where these agree.

The author is shown the state, the tools and the rules; the solver the task; the checker the task and the state before. None
sees what another wrote besides the task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from envscaler.llm import Models, labelled
from envscaler.scenario.goals import derive
from envscaler.scenario.llm.asking import Unusable
from envscaler.scenario.llm.author import Wish, write_wish
from envscaler.scenario.llm.checks import write_goals
from envscaler.scenario.llm.solution import needed, replayed, solution
from envscaler.scenario.llm.solver import Call, solve
from envscaler.scenario.model import Goal, Scenario, Step
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.world import World

__all__ = ["AUTHORED", "AuthorSettings", "author"]

AUTHORED = "authored"
"""The kind of scenarios whose task a model wrote."""


@dataclass(frozen=True, slots=True)
class AuthorSettings:
    """``changes``: how many the task is to need, at least and at most. ``goals``: `derived` from what the solution changed,
    with the checker's points as a second opinion; or `written`, the checker's points themselves, as in the paper. ``tries``:
    how often a task is asked for before it is given up."""

    changes: tuple[int, int] = (1, 4)
    goals: Literal["derived", "written"] = "derived"
    tries: int = 2


async def author(
    world: World,
    state: Mapping[str, Any] | None,
    models: Models,
    settings: AuthorSettings | None = None,
    *,
    seed: int = 0,
    turn: int = 0,
    avoid: Sequence[str] = (),
) -> Scenario:
    """A scenario in a state, not yet proved; roles planner (author), agent (solver), coder (checker).

    ``turn`` sets this one apart from others in the same state; ``avoid``: tasks that there are. Raises Unusable with the
    reason why the last try was not kept, LlmError when a model cannot be asked.
    """
    settings = settings or AuthorSettings()
    refused = ""
    for attempt in range(settings.tries):
        try:
            return await _once(world, state, models, settings, seed, turn + attempt, avoid, refused)
        except Unusable as problem:
            if attempt == settings.tries - 1:
                raise
            refused = str(problem)
    raise AssertionError("at least one try is made")


async def _once(
    world: World,
    state: Mapping[str, Any] | None,
    models: Models,
    settings: AuthorSettings,
    seed: int,
    turn: int,
    avoid: Sequence[str],
    refused: str,
) -> Scenario:
    start = world.environment.new(world.base(state), seed)
    with labelled("task"):
        wish = await write_wish(
            world, start, models.role("planner"), changes=settings.changes, avoid=avoid, refused=refused, turn=turn
        )
    calls, goals = await _both(
        _solved(world, state, models, wish, seed, turn), _checked(world, state, models, wish, turn)
    )
    steps = solution(world, start.fork(), wish, needed(world, start, calls))
    return _scenario(world, state, wish, steps, goals, settings, seed)


async def _both(
    solving: Coroutine[Any, Any, list[Call]], checking: Coroutine[Any, Any, tuple[Goal, ...]]
) -> tuple[list[Call], tuple[Goal, ...]]:
    """Solver and checker at once; what either raises is raised when both have ended."""
    solver, checker = asyncio.create_task(solving), asyncio.create_task(checking)
    try:
        await asyncio.wait((solver, checker))
        return solver.result(), checker.result()
    finally:
        solver.cancel()
        checker.cancel()


async def _solved(
    world: World, state: Mapping[str, Any] | None, models: Models, wish: Wish, seed: int, turn: int
) -> list[Call]:
    with labelled("solution"):
        env = world.environment.new(world.base(state), seed)
        return (await solve(world, env, wish, models.role("agent"), sample=turn))[0]


async def _checked(
    world: World, state: Mapping[str, Any] | None, models: Models, wish: Wish, turn: int
) -> tuple[Goal, ...]:
    with labelled("checks"):
        env = world.environment.new(world.base(state))
        return await write_goals(world, env, wish, models.role("coder"), turn=turn)


def _scenario(
    world: World,
    state: Mapping[str, Any] | None,
    wish: Wish,
    steps: tuple[Step, ...],
    points: tuple[Goal, ...],
    settings: AuthorSettings,
    seed: int,
) -> Scenario:
    env = world.environment.new(world.base(state), seed)
    changes = replayed(env, steps)
    found = derive(env, changes)
    made = Scenario(
        AUTHORED,
        world.ref,
        wish.task,
        points,
        found.guards,
        steps,
        seed=seed,
        user=wish.user,
        tags={
            "steps": len(steps),
            "writes": len(changes),
            "tools": sorted({step.tool for step in steps}),
            "points": [goal.text or goal.expr for goal in points],
        },
    )
    _agreed(world, made, env)
    return made if settings.goals == "written" else replace(made, goals=found.goals)


def _agreed(world: World, made: Scenario, env: Any) -> None:
    """The checker's points hold where the solver stopped."""
    score = Scorer.of(world, made).score(env)
    unmet = [goal.text or goal.expr for goal, met in zip(made.goals, score.goals, strict=True) if not met]
    if unmet:
        raise Unusable("checks-disagree", f"after the solution this is not so: {unmet[0]}")
