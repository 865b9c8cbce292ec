"""What the loop plays: tools to call, a user to talk to; and a compiled environment as such an episode."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from envscaler.llm.messages import Message, Tool
from envscaler.runtime import Environment, Snapshot, Tools

__all__ = ["Calls", "EnvironmentEpisode", "Episode", "Observation", "User", "tools_of"]


@dataclass(frozen=True, slots=True)
class Observation:
    """What came of a call, or of a message to the user.

    ``text`` is what the agent is shown; ``ok`` is False for an error result, with its ``code`` and, where one refused, the
    ``rule``. ``changes`` is what the call changed of the state, as `Environment.diff` says it. ``ends``: the episode is
    over. ``broken`` says what is wrong with the world itself, where it is: then the agent is not to blame.
    """

    text: str
    ok: bool = True
    code: str = ""
    rule: str = ""
    changes: Sequence[Mapping[str, Any]] = ()
    ends: bool = False
    broken: str = ""

    @classmethod
    def error(cls, message: str, code: str) -> Observation:
        """An error result."""
        return cls(_as_json({"success": False, "error": message}), ok=False, code=code)


@runtime_checkable
class Episode(Protocol):
    """A world with one agent in it. Used from one event loop. What it raises is its own fault, never the agent's."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools on offer; the loop asks anew before each step."""
        ...

    def opening(self) -> Sequence[Message] | Awaitable[Sequence[Message]]:
        """What the agent is told first: as a rule a system's message and a user's. To be waited for where the user has to
        be asked for it."""
        ...

    def call(self, name: str, arguments: str) -> Observation:
        """Run one call; ``arguments`` is the JSON text as the agent sent it, empty for none. Ends in bounded time."""
        ...

    async def say(self, text: str) -> Observation:
        """Take a message of the agent to the user, one without calls; what the user says to it, or that it is over."""
        ...


User = Callable[[str], Awaitable[str | None]]
"""What a user answers to a message of the agent, or None: there is nothing more to say."""


class Calls:
    """Makes calls in an environment and says what came of each, with what it changed."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self._last: Snapshot = env.snapshot()

    def call(self, name: str, arguments: str, actor: Literal["agent", "user"] = "agent") -> Observation:
        """Run one call of a tool of ``actor``."""
        result = self.env.call(name, arguments, actor)
        changes: Sequence[Mapping[str, Any]] = ()
        if result.changed:
            changes = self.env.diff(self._last)
            self._last = self.env.snapshot()
        text = _as_json(result.to_json())
        if result.error is None:
            return Observation(text, changes=changes)
        error = result.error
        broken = f"{error.message} {error.cause!r}" if error.code == "internal" else ""
        return Observation(text, ok=False, code=error.code, rule=error.rule or "", broken=broken)


def tools_of(offered: Tools) -> tuple[Tool, ...]:
    """An environment's tools of one actor, as models are offered them."""
    docs, schemas = offered.docs, offered.schemas
    return tuple(Tool(name, docs[name], schemas[name]) for name in offered.names)


@dataclass
class EnvironmentEpisode:
    """A compiled environment as an episode: its agent's tools, its documentation, a task, and a user if there is one.

    Without a user the first message without calls is the agent's last.
    """

    env: Environment
    task: str
    user: User | None = None
    _calls: Calls = field(init=False, repr=False)
    _tools: tuple[Tool, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._calls = Calls(self.env)
        self._tools = tools_of(self.env.tools)

    @property
    def tools(self) -> Sequence[Tool]:
        return self._tools

    def opening(self) -> Sequence[Message]:
        return [Message("system", self.env.doc), Message("user", self.task)]

    def call(self, name: str, arguments: str) -> Observation:
        return self._calls.call(name, arguments)

    async def say(self, text: str) -> Observation:
        answer = None if self.user is None else await self.user(text)
        return Observation("", ends=True) if answer is None else Observation(answer)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
