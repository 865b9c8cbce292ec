"""What agents and users of an episode are made with, and what a simulated user is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from envscaler.agents import Observation
    from envscaler.llm import Models, Spent, Tool
    from envscaler.scenario.model import Scenario

__all__ = ["Part", "Said", "Setting", "UserSimulator"]

Setting = Literal["non-conversation", "conversation"]


@dataclass(frozen=True, slots=True)
class Part:
    """One part in one episode, that of the agent or that of the user.

    ``scenario`` is what is played: for users and for agents that only pretend to be one; what an agent may know it is told in
    messages. ``submit`` is the name of the tool by which an agent ends. ``seed`` is this part's own; ``sample`` counts the
    episodes of the scenario from 0. ``models`` opens the language models of the run. ``templates`` are folders that stand
    before the shipped ones. ``ask`` shows a person a text and gives the line that is typed; None where there is nobody. A user
    has ``tools`` of its own where the spec gives it some, and makes calls by ``call``: name, and arguments as JSON text.
    """

    scenario: Scenario
    setting: Setting
    submit: str = "submit"
    seed: int = 0
    sample: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    models: Callable[[], Models] | None = None
    templates: tuple[str, ...] = ()
    ask: Callable[[str], str] | None = None
    tools: tuple[Tool, ...] = ()
    call: Callable[[str, str], Observation] | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """What a user says. ``ends``: it says no more after this, and ``reason`` says why. ``spent`` is what it took."""

    text: str = ""
    ends: bool = False
    reason: str = ""
    spent: Spent | None = None


class UserSimulator(Protocol):
    """The person behind a task, for one episode."""

    async def open(self) -> Said:
        """The first message. Cancelling it ends it. What is raised is the user's fault, never the agent's."""
        ...

    async def answer(self, text: str, /) -> Said:
        """What it says to a message of the agent."""
        ...
