"""The agents and simulated users that ship. Naming one of them runs nothing."""

from __future__ import annotations

from typing import Any

from envscaler.plugin.entries import AgentEntry, UserEntry
from envscaler.plugin.roles import Part, UserSimulator

__all__ = ["AGENTS", "USERS"]


def _llm(part: Part) -> Any:
    from envscaler.rollout.agents.model import native_agent

    return native_agent(part)


def _llm_text(part: Part) -> Any:
    from envscaler.rollout.agents.model import text_agent

    return text_agent(part)


def _reference(part: Part) -> Any:
    from envscaler.rollout.agents.simple import ReferenceAgent

    return ReferenceAgent(part)


def _random(part: Part) -> Any:
    from envscaler.rollout.agents.random import RandomAgent

    return RandomAgent(part)


def _noop(part: Part) -> Any:
    from envscaler.rollout.agents.simple import NoopAgent

    return NoopAgent(part)


def _scripted(part: Part) -> Any:
    from envscaler.rollout.agents.simple import scripted_agent

    return scripted_agent(part)


def _human(part: Part) -> Any:
    from envscaler.rollout.agents.simple import HumanAgent

    return HumanAgent(part)


def _facts(part: Part) -> UserSimulator:
    from envscaler.rollout.users.facts import FactsUser

    return FactsUser(part)


def _llm_user(part: Part) -> UserSimulator:
    from envscaler.rollout.users.model import LlmUser

    return LlmUser(part)


AGENTS: tuple[AgentEntry, ...] = (
    AgentEntry("reference", "Plays the scenario's own solution", _reference),
    AgentEntry("random", "Calls tools at random, with arguments that fit", _random),
    AgentEntry("noop", "Does nothing", _noop),
    AgentEntry("scripted", "Plays the moves of a file", _scripted),
    AgentEntry("human", "A person at the terminal", _human),
    AgentEntry("llm", "A language model with tool calls of its own", _llm, ("agent",)),
    AgentEntry("llm-text", "A language model that writes its calls as text", _llm_text, ("agent",)),
)

USERS: tuple[UserEntry, ...] = (
    UserEntry("facts", "Answers from the scenario's facts; asks no model", _facts),
    UserEntry("llm", "A language model in the role of the user", _llm_user, ("user",)),
)
