"""From the calls that a solver made to a reference solution: the writes that count, the reads that find their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from envscaler.runtime import Environment
from envscaler.scenario.essence import essence
from envscaler.scenario.llm.asking import Unusable
from envscaler.scenario.llm.author import Wish
from envscaler.scenario.llm.solver import Call
from envscaler.scenario.model import Goal, Scenario, Source, Step
from envscaler.scenario.proof.grounds import origin
from envscaler.scenario.proof.trial import Trial
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.wording.told import told
from envscaler.scenario.world import World

__all__ = ["needed", "replayed", "solution"]


def needed(world: World, env: Environment, calls: Sequence[Call]) -> list[Call]:
    """The calls without the writes that the end does not need; the reads stay. ``env`` is at the start, and stays there.

    Raises Unusable when the calls do not come to the same once more.
    """
    wanted = _end(world, env, calls)
    if not wanted:
        raise Unusable("solver-changed-nothing", "what the solver did changes nothing in the end")
    left = list(calls)
    while (less := _less(world, env, left, wanted)) is not None:
        left = less
    return left


def _less(world: World, env: Environment, calls: Sequence[Call], wanted: tuple[str, ...]) -> list[Call] | None:
    """The calls without two writes, or one, that come to the same; None where there are none such."""
    writes = [place for place, call in enumerate(calls) if world.tools[call.tool].kind == "write"]
    for many in (2, 1):
        for out in combinations(writes, many):
            rest = [call for place, call in enumerate(calls) if place not in out]
            if _end(world, env, rest) == wanted:
                return rest
    return None


def _end(world: World, env: Environment, calls: Sequence[Call]) -> tuple[str, ...] | None:
    made = env.fork()
    if not all(made.call(call.tool, dict(call.arguments)).ok for call in calls):
        return None
    return essence(world, made.diff())


def replayed(env: Environment, steps: Sequence[Step]) -> list[tuple[int, list[dict[str, Any]]]]:
    """Play steps on ``env``: for each that changes something its index and its operations."""
    changes = []
    for number, step in enumerate(steps):
        before = env.snapshot()
        if env.call(step.tool, dict(step.arguments)).changed:
            changes.append((number, env.diff(before)))
    return changes


def solution(world: World, env: Environment, wish: Wish, calls: Sequence[Call]) -> tuple[Step, ...]:
    """Steps with the source of each argument; reads that find nothing for a later call are left out.

    Raises Unusable for an argument that is neither told nor found.
    """
    steps = [Step(call.tool, call.arguments) for call in calls]
    bench = Scenario("authored", world.ref, wish.task, (Goal("True"),), (), tuple(steps), user=wish.user)
    trial = Trial(world, bench, env, Scorer.of(world, bench))
    sourced = [replace(step, sources=_sources(trial, number)) for number, step in enumerate(steps)]
    return _without_idle(world, sourced)


def _sources(trial: Trial, number: int) -> dict[str, Source]:
    step = trial.scenario.solution[number]
    facts = {fact.name: fact for fact in trial.scenario.user.facts}
    found: dict[str, Source] = {}
    for untold in told(trial.world, number, step, trial.scenario.task, facts):
        source = origin(trial, number, untold.path, untold.value)
        if source is None:
            raise Unusable(
                "argument-untold", f"{step.tool}: {untold.path} is {untold.value!r}, which is neither told nor found"
            )
        found[untold.path] = source
    return found


def _without_idle(world: World, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps that write or that a kept step takes something from, with their indices set right."""
    kept = {number for number, step in enumerate(steps) if world.tools[step.tool].kind == "write"}
    for number in range(len(steps) - 1, -1, -1):
        if number in kept:
            kept |= {source.step for source in steps[number].sources.values() if source.kind == "found"}
    place = {number: n for n, number in enumerate(sorted(kept))}
    return tuple(replace(steps[number], sources=_moved(steps[number].sources, place)) for number in sorted(kept))


def _moved(sources: Mapping[str, Source], place: Mapping[int, int]) -> dict[str, Source]:
    return {
        name: replace(source, step=place[source.step]) if source.kind == "found" else source
        for name, source in sources.items()
    }
