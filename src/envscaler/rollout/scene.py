"""A scenario as an episode that an agent plays: its tools and `submit`, what is revealed when, and the user if there is one."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from envscaler.agents import Calls, Observation
from envscaler.llm.client import Spent
from envscaler.llm.messages import Message, Tool
from envscaler.plugin.roles import Said, Setting, UserSimulator
from envscaler.rollout.stage import Prepared, Stage
from envscaler.rollout.submission import Refusal
from envscaler.scenario.model import Reveal, Scenario
from envscaler.scenario.scoring import Mode, Score

__all__ = ["ScenarioEpisode"]

_OVER = "The episode is over; this call was not run."

MakeUser = Callable[[Callable[[str, str], Observation]], UserSimulator]
"""Makes the user of an episode from the way in which it makes calls."""


class ScenarioEpisode:
    """One episode of a scenario, as `agents.Episode`. With a ``user`` it is a conversation; without one the whole task is said
    at once, and the first message without calls ends it, but for what is still to be revealed then.

    ``submitted`` is what the agent ended with, ``ended`` why the episode is over, ``user_calls`` what the user did, the first
    ``opened`` of them before it said anything, ``spent`` what the user took.
    """

    def __init__(self, stage: Stage, scenario: Scenario, user: MakeUser | None = None) -> None:
        self.prepared: Prepared = stage.prepared(scenario)
        self.scenario = scenario
        self.setting: Setting = "non-conversation" if user is None else "conversation"
        self.env = stage.start(scenario)
        self.submitted: Mapping[str, Any] | None = None
        self.ended = ""
        self.spent = Spent()
        self.user_calls: list[dict[str, Any]] = []
        self.opened = 0
        self._brief = stage.brief(self.setting)
        self._submit = stage.submit
        self._calls = Calls(self.env)
        self._user = None if user is None else user(self._call_of_user)
        self._said = 0  # messages to the user
        self._left: list[Reveal] = list(scenario.reveal)
        self._offer()

    def _offer(self) -> None:
        hidden = {name for reveal in self._left for name in reveal.tools}
        self._tools = tuple(tool for name, tool in self.prepared.tools.items() if name not in hidden)
        self._names = {tool.name for tool in self._tools}

    # -- as the agent sees it

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools on offer now; the same object until they change."""
        return self._tools

    def opening(self) -> Sequence[Message] | Awaitable[Sequence[Message]]:
        """The documentation and how an episode goes; the task, or what the user says first."""
        if self._user is None:
            return self._opened(self.scenario.task)
        return self._asked(self._user)

    async def _asked(self, user: UserSimulator) -> Sequence[Message]:
        said = self._took(await user.open())
        self.opened = len(self.user_calls)
        return self._opened(said.text)

    def _opened(self, text: str) -> Sequence[Message]:
        return [Message("system", self._brief), Message("user", text)]

    def call(self, name: str, arguments: str) -> Observation:
        """Run one call of the agent. Only its declared tools and `submit` can be called."""
        if self.ended:
            return Observation.error(_OVER, "over")
        if name == self._submit:
            return self._submitting(arguments)
        if name in self.prepared.tools and name not in self._names:
            return Observation.error(self.env.unknown_tool.replace("{name}", name), "unknown_tool")
        return self._calls.call(name, arguments)

    def _submitting(self, arguments: str) -> Observation:
        try:
            submitted = self.prepared.submission.read(arguments)
        except Refusal as refusal:
            return Observation.error(str(refusal), "invalid_argument")
        if self._user is None and (revealed := self._reveal()) is not None:
            return Observation(_success(revealed))
        self.submitted = submitted
        self.ended = f"the agent submitted {next(iter(submitted))}"
        return Observation(_success("Submitted. The task is over."), ends=True)

    async def say(self, text: str) -> Observation:
        """Take a message of the agent to the user; without one it is the agent's last, unless something is revealed then."""
        if self._user is None:
            revealed = self._reveal()
            if revealed is not None:
                return Observation(revealed)
            self.ended = "the agent answered"
            return Observation("", ends=True)
        self._said += 1
        said = self._took(await self._user.answer(text))
        revealed = self._reveal()
        if revealed is not None:  # whoever is told of new tools is not left at the same moment
            return Observation("\n\n".join(part for part in (said.text, revealed) if part))
        if said.ends:
            self.ended = said.reason or "the user has nothing more to say"
        return Observation(said.text, ends=said.ends)

    def _reveal(self) -> str | None:
        """What the agent is told of tools that it is offered from now on; None where there are none."""
        due = [r for r in self._left if r.after <= self._said] if self._user is not None else self._left[:1]
        if not due:
            return None
        self._left = [reveal for reveal in self._left if reveal not in due]
        self._offer()
        return " ".join(reveal.text or f"You can now use: {', '.join(reveal.tools)}." for reveal in due)

    # -- the user

    def _call_of_user(self, name: str, arguments: str) -> Observation:
        seen = self._calls.call(name, arguments, "user")
        call: dict[str, Any] = {"tool": name, "arguments": arguments, "ok": seen.ok, "result": seen.text}
        if seen.changes:
            call["changes"] = [dict(change) for change in seen.changes]
        self.user_calls.append(call)
        if seen.broken:
            raise RuntimeError(f"{name}: {seen.broken}")
        return seen

    def _took(self, said: Said) -> Said:
        if said.spent is not None:
            self.spent += said.spent
        return said

    # -- the end

    def score(self, mode: Mode = "guarded") -> Score:
        """The reward of the episode as it stands. It is no tool."""
        return self.prepared.scorer.score(self.env, self.submitted, mode)


def _success(text: str) -> str:
    return json.dumps({"success": True, "data": text}, ensure_ascii=False)
