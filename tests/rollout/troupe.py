"""Episodes played in tests, without a run around them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from envscaler.agents import Move, ScriptedPolicy
from envscaler.llm import Llm, RoleSettings
from envscaler.llm.backends.scripted import Script, ScriptedBackend
from envscaler.plugin.roles import Part, UserSimulator
from envscaler.rollout.playing import Cast, Company
from envscaler.rollout.stage import Stage
from envscaler.rollout.trajectory import Trajectory
from envscaler.rollout.users.facts import FactsUser
from envscaler.runtime.canonical import digest
from envscaler.scenario.model import Scenario

Agent = Callable[[Part], Any]
User = Callable[[Part], UserSimulator]


class Models:
    """Stands for the models of a run: the same script for each role."""

    def __init__(self, **scripts: Script) -> None:
        self.backends = {role: ScriptedBackend(script) for role, script in scripts.items()}

    def role(self, name: str) -> Llm:
        return Llm(self.backends[name], RoleSettings(name, "scripted/x", attempts=1, backoff=0.0))


def played(
    stage: Stage,
    scenario: Scenario,
    agent: Agent,
    user: User | None = None,
    *,
    models: Models | None = None,
    **more: Any,
) -> list[Trajectory]:
    """All trajectories of one episode, those that were set aside first."""
    cast = Cast("x", None if user is None else "y", "non-conversation" if user is None else "conversation", **more)
    company = Company(
        cast, agent, user, lambda tools: digest([t.to_json() for t in tools]), None if models is None else lambda: models  # type: ignore[arg-type,return-value]
    )  # fmt: skip
    return asyncio.run(company.play(stage, scenario, 0))


def played_once(stage: Stage, scenario: Scenario, agent: Agent, user: User | None = None, **more: Any) -> Trajectory:
    """The trajectory of an episode in which nothing failed."""
    (one,) = played(stage, scenario, agent, user, **more)
    return one


def moves(*script: Move) -> Agent:
    """An agent that plays these moves."""
    return lambda part: ScriptedPolicy(script)


def facts(**settings: Any) -> User:
    """The user without a model."""
    from dataclasses import replace

    return lambda part: FactsUser(replace(part, settings=settings))


def results(one: Trajectory) -> list[str]:
    """What the agent was shown of its calls."""
    return [message.content for message in one.messages if message.role == "tool"]


def said(one: Trajectory, role: str) -> list[str]:
    """What was said by one side."""
    return [message.content for message in one.messages if message.role == role and message.content]
