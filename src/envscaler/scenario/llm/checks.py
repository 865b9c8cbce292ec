"""A model takes a task apart into points and writes an expression for each, as in the paper (section 4, Figures 22 and 23).

It is shown the task and the state before, never how the task was solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from envscaler.agents.excerpt import excerpt
from envscaler.errors import SpecError
from envscaler.llm import Llm
from envscaler.runtime import Environment
from envscaler.scenario.llm.asking import Unusable, ask, messages, one_line
from envscaler.scenario.llm.author import Wish
from envscaler.scenario.model import Goal, Scenario
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.world import World
from envscaler.spec.types import Enum, Struct, Type, Union, strip_null

__all__ = ["write_goals"]

_TRIES = 3
_POINTS = 24


class _PointReply(BaseModel):
    text: str = ""
    expr: str = Field(min_length=1, max_length=2000)

    @field_validator("text", "expr", mode="before")
    @classmethod
    def _stripped(cls, value: Any) -> Any:
        return value.strip().strip("`") if isinstance(value, str) else value


class _PointsReply(BaseModel):
    """The points."""

    model_config = ConfigDict(title="Points")

    points: list[_PointReply] = Field(min_length=1, max_length=_POINTS)


async def write_goals(
    world: World, env: Environment, wish: Wish, llm: Llm, *, tries: int = _TRIES, turn: int = 0
) -> tuple[Goal, ...]:
    """Goals from the task alone. ``env`` is at the start, where each of them is false.

    Points with problems go back to the model with what the checker of the language says of them, ``tries`` times in all; then
    those without are kept. Raises Unusable when there are none, LlmError.
    """
    problems: list[str] = []
    good: tuple[Goal, ...] = ()
    for _ in range(tries):
        question = messages(
            "checks",
            world.templates,
            task=wish.task,
            facts=[fact.text for fact in wish.user.facts],
            data=list(_data(world)),
            state=excerpt(env, world.states, turn),
            problems=problems,
        )
        reply = await ask(llm, _PointsReply, question, sample=turn)
        good, problems = _judged(world, env, reply.points)
        if not problems:
            return good
    if not good:
        raise Unusable("checks-unusable", problems[0])
    return good


def _judged(world: World, env: Environment, points: Sequence[_PointReply]) -> tuple[tuple[Goal, ...], list[str]]:
    """The points that can be goals, and what is wrong with the others."""
    good: list[Goal] = []
    problems: list[str] = []
    for number, point in enumerate(points, 1):
        goal = Goal(" ".join(point.expr.split()), one_line(point.text))
        problem = _problem(world, env, goal)
        if problem:
            problems.append(f"{number}. `{one_line(point.expr)}`: {problem}")
        else:
            good.append(goal)
    return tuple(good), problems


def _problem(world: World, env: Environment, goal: Goal) -> str:
    alone = Scenario("authored", world.ref, "", (goal,), (), ())
    try:
        score = Scorer.of(world, alone).score(env)
    except SpecError as error:
        first = error.diagnostics[0]
        return one_line("; ".join(part for part in (first.title, first.detail, first.help) if part))
    if score.errors:
        return score.errors[0]
    return "it is true already, before anything is done" if score.goals[0] else ""


def _data(world: World) -> Iterator[str]:
    """The states as a reader of the spec would list them: fields with their types."""
    for state in world.spec.states.values():
        kind = "one record" if state.name not in world.collections else f"records by {_key(world, state.name)}"
        yield f"{state.name} ({kind}): {_fields(state.record)}"
    for name, declared in world.spec.types.items():
        yield f"{name}: {_declared(declared)}"


def _key(world: World, name: str) -> str:
    return world.collections[name].key.name


def _fields(of: Struct) -> str:
    return ", ".join(f"{name}: {field.type}" for name, field in of.fields.items())


def _declared(of: Type) -> str:
    match strip_null(of):
        case Struct() as struct:
            return _fields(struct)
        case Union(members=members, tag=tag):
            return f"told apart by {tag}: " + " or ".join(f"{{{_fields(member)}}}" for member in members)
        case Enum(values=values):
            return " | ".join(map(str, values))
    return str(of)
