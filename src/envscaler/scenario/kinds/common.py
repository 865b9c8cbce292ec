"""What all kinds share: plans found in a state, a scenario from a plan and its words."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from envscaler.scenario.model import Scenario, Source, Step, User
from envscaler.scenario.plan import Plan
from envscaler.scenario.search import Question, Refused, SearchSettings, plans, questions, refusals
from envscaler.scenario.wording import Worded, styles
from envscaler.scenario.world import World

__all__ = [
    "Found", "episode_seed", "found_plans", "found_questions", "found_refusals", "made_of", "mixed", "rng_of", "scenario_of",
    "steps_of",
]  # fmt: skip


_MISSES: Final = 25


@dataclass(frozen=True, slots=True)
class Found:
    """A plan, the style that its task is written in, what else is drawn for it, and the seed of its episodes."""

    plan: Plan
    style: str
    rng: random.Random
    seed: int


def rng_of(world: World, kind: str, seed: int, *more: object) -> random.Random:
    """Random numbers that depend on the spec, the kind, the seed and ``more``, and on nothing else."""
    return random.Random(":".join(map(str, (world.spec.hash, kind, seed, *more))))  # noqa: S311


def found_plans(
    world: World,
    state: Mapping[str, Any],
    kind: str,
    seed: int,
    tools: Sequence[str] = (),
    settings: SearchSettings | None = None,
) -> Iterator[Found]:
    """Plans that begin in a state, as long as there are some, each with a style."""
    settings = replace(settings or SearchSettings(), tools=tuple(tools))
    draws = rng_of(world, kind, seed, "plans")
    for n, plan in enumerate(plans(world, world.base(state), settings, draws, episode_seed(world, seed))):
        yield _found(world, plan, kind, seed, n)


def made_of(
    found: Iterable[Found], make: Callable[[Found], Scenario | None], misses: int = _MISSES
) -> Iterator[Scenario]:
    """What ``make`` makes of each plan; it ends where so many in a row give nothing."""
    missed = 0
    for one in found:
        made = make(one)
        missed = missed + 1 if made is None else 0
        if made is not None:
            yield made
        elif missed == misses:
            return


def mixed(usual: Iterator[Scenario], other: Iterator[Scenario], share: float, rng: random.Random) -> Iterator[Scenario]:
    """Both, with that ``share`` of the ``other``; where one ends, the rest of the second."""
    while True:
        first, second = (other, usual) if rng.random() < share else (usual, other)
        made = next(first, None) or next(second, None)
        if made is None:
            return
        yield made


def episode_seed(world: World, seed: int) -> int:
    """The seed of the episodes of scenarios made with ``seed``: one for all where no tool draws, so that kinds share what is
    known of a state."""
    return seed if any(tool.effects.draws for tool in world.tools.values()) else 0


def found_refusals(
    world: World, state: Mapping[str, Any], kind: str, seed: int, tools: Sequence[str] = ()
) -> Iterator[tuple[Found, Refused]]:
    """Wishes that are refused in a state, as `found_plans` gives plans."""
    draws, settings = rng_of(world, kind, seed, "plans"), SearchSettings(tools=tuple(tools))
    for n, one in enumerate(refusals(world, world.base(state), settings, draws, episode_seed(world, seed))):
        yield _found(world, one.plan, kind, seed, n), one


def found_questions(world: World, state: Mapping[str, Any], kind: str, seed: int) -> Iterator[tuple[Found, Question]]:
    """Questions that a state answers, as `found_plans` gives plans."""
    draws = rng_of(world, kind, seed, "plans")
    for n, one in enumerate(questions(world, world.base(state), SearchSettings(), draws, episode_seed(world, seed))):
        yield _found(world, one.plan, kind, seed, n), one


def _found(world: World, plan: Plan, kind: str, seed: int, number: int) -> Found:
    rng = rng_of(world, kind, seed, number)
    return Found(plan, rng.choice(styles(world.templates)), rng, episode_seed(world, seed))


def steps_of(plan: Plan, sources: Mapping[int, Mapping[str, Source]]) -> tuple[Step, ...]:
    """The calls of a plan as steps of a solution."""
    return tuple(
        Step(call.tool, call.arguments, dict(sources.get(n, call.sources)), call.refused, call.actor)
        for n, call in enumerate(plan.calls)
    )


def scenario_of(world: World, kind: str, found: Found, told: Worded, **more: Any) -> Scenario:
    """A scenario without an id; ``more`` are further fields of `Scenario`, tags are joined."""
    plan = found.plan
    tags = {
        "style": found.style,
        "steps": len(plan.calls),
        "writes": len(plan.writes),
        "tools": sorted({call.tool for call in plan.calls}),
        **plan.tags,
        **more.pop("tags", {}),
    }
    return Scenario(
        kind,
        world.ref,
        told.task,
        more.pop("goals", plan.goals),
        more.pop("guards", plan.guards),
        steps_of(plan, told.sources),
        seed=found.seed,
        user=more.pop("user", None) or User(told.facts, told.unknown, told.stop_when),
        tags=tags,
        **more,
    )
