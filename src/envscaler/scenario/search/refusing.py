"""Wishes that cannot be granted: calls that a rule or a requirement refuses, whatever else is done before."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from envscaler.runtime.prepare import Base
from envscaler.runtime.results import ToolError
from envscaler.scenario.literals import key_literal
from envscaler.scenario.model import Goal, Guard, Only
from envscaler.scenario.plan import Plan
from envscaler.scenario.search.assembling import Assembly
from envscaler.scenario.search.finding import grounded
from envscaler.scenario.search.ground import Record
from envscaler.scenario.search.lookups import Lookups
from envscaler.scenario.search.settings import SearchSettings
from envscaler.scenario.search.walk import Move, Walk, rarest
from envscaler.scenario.world import ToolInfo, World

__all__ = ["Refused", "refusals"]

_FAILURES: Final = 40
_TRIES: Final = 25  # calls among which one that is refused is looked for
_ENABLING: Final = 6  # writes that are tried as what might make the call possible
_EACH: Final = 3
_MEANT: Final = ("refused", "rule", "constraint")
_UNRULED: Final = 0.25  # the share of refusals that cite no rule and are taken all the same


@dataclass(frozen=True, slots=True)
class Refused:
    """``plan``: the reads that find the arguments, and last the call that is refused; its goal is the refusal, its guard that
    nothing changes. ``reason``: what `submit` is given, a rule's name or `not_possible`. ``message``: the call's error."""

    plan: Plan
    reason: str
    message: str


def refusals(
    world: World, base: Base, settings: SearchSettings | None = None, rng: random.Random | None = None, seed: int = 0
) -> Iterator[Refused]:
    """Refused wishes in a state, as `finding.plans` gives plans."""
    chosen, draws = settings or SearchSettings(), rng or random.Random(0)  # noqa: S311 - no secret is made
    lookups = grounded(world, base, seed)
    counts = dict(chosen.counts)
    tools = [t for t in world.writes if t.refusals and (not chosen.tools or t.name in chosen.tools)]
    met: dict[str, int] = {}
    failed = 0
    while tools and failed < _FAILURES:
        tool = rarest(tools, counts, draws)
        counts[tool.name] = counts.get(tool.name, 0) + 1
        found = _refused(lookups, chosen, draws, tool, met)
        failed = failed + 1 if found is None else 0
        if found is not None:
            met[found.reason] = met.get(found.reason, 0) + 1
            yield found


def _refused(
    lookups: Lookups, settings: SearchSettings, rng: random.Random, tool: ToolInfo, met: dict[str, int]
) -> Refused | None:
    walk = Walk(lookups.ground, replace(settings, tries=8), rng)
    found: list[tuple[Move, ToolError, Record | None]] = []
    for _ in range(_TRIES):
        move, error, focus = walk.probe(tool)
        if error is not None and error.code in _MEANT and (error.rule or rng.random() < _UNRULED):
            found.append((move, error, focus))
    found.sort(key=lambda one: met.get(one[1].rule or "not_possible", 0))
    for move, error, focus in found[:4]:
        reason = error.rule if error.rule is not None and error.rule in lookups.world.reasons else "not_possible"
        if _is_possible(lookups, settings, rng, move, focus):
            continue
        plan = Assembly(lookups, settings, rng).single(move, error.rule or error.message)
        if plan is not None and plan.calls[-1].result["error"] == error.message:
            goal = Goal(f"refusal == {key_literal(reason)}", f"the wish is refused: {reason}")
            guard = Guard(only=Only(), text="Nothing has changed.")
            tags = {**plan.tags, "reason": reason, "rule": error.rule or ""}
            return Refused(replace(plan, goals=(goal,), guards=(guard,), tags=tags), reason, error.message)
    return None


def _is_possible(
    lookups: Lookups, settings: SearchSettings, rng: random.Random, move: Move, focus: Record | None
) -> bool:
    """Whether the call goes through after some write that touches what it looks at."""
    world, env = lookups.world, lookups.ground.env
    walk = Walk(lookups.ground, replace(settings, tries=8, user_steps=False), rng)
    for name, _ in walk.arguments.vocabulary.enabling(move.tool)[:_ENABLING]:
        if world.tools[name].actor == "user":
            continue
        for _ in range(_EACH):
            env.restore(lookups.ground.start)
            walk.touched = [] if focus is None else [focus]
            if walk.reach(world.tools[name], about=True, depth=0):
                moment = env.snapshot()
                possible = env.call(move.tool, dict(move.arguments)).ok
                env.restore(moment)
                if possible:
                    return True
    return False
