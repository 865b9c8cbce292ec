"""An episode of the bank in which suites try agents and users."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from envscaler.plugin.roles import Part, Setting

if TYPE_CHECKING:
    from envscaler.rollout.stage import Stage
    from envscaler.scenario import Scenario

__all__ = ["part", "run", "scenario", "stage"]

T = TypeVar("T")


@cache
def stage() -> Stage:
    """The shipped bank, made once."""
    from envscaler.rollout.stage import Stage
    from envscaler.scenario import World
    from envscaler.testing.base import shipped, subject_of

    subject = subject_of(shipped("bank"))
    return Stage(World(subject.checked, subject.environment))


@cache
def scenario() -> Scenario:
    """A small scenario: money is moved between two accounts of a customer who knows three facts."""
    from envscaler.scenario import Fact, Goal, Scenario, Source, Step, User

    return Scenario(
        kind="example",
        spec=stage().world.ref,
        task="Move 40 euros from my account A-2001 to my account A-2002.",
        goals=(Goal('final.accounts["A-2002"].balance == initial.accounts["A-2002"].balance + money(40)'),),
        guards=(),
        solution=(
            Step(
                "transfer",
                {"from_account": "A-2001", "to_account": "A-2002", "amount": 40},
                {"from_account": Source("task"), "to_account": Source("task"), "amount": Source("task")},
            ),
        ),
        user=User(
            facts=(
                Fact("source_account", "A-2001", "It comes from A-2001."),
                Fact("target_account", "A-2002", "It goes to A-2002."),
                Fact("amount", 40, "It is 40 euros."),
            ),
            stop_when="the money has been moved",
            opening="I'd like to move some money between my accounts.",
        ),
    ).named()


def part(setting: Setting, **more: Any) -> Part:
    """A part in it."""
    return Part(scenario(), setting, stage().submit, templates=stage().templates, **more)


def run(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives."""
    return asyncio.run(work)
