"""A language model as the user: it knows the task and the facts, plays its role, and says when it has nothing more to ask."""

from __future__ import annotations

from typing import Any, Final

from envscaler.compiler.templates import render
from envscaler.errors import UsageError
from envscaler.llm.client import Spent
from envscaler.llm.messages import Message
from envscaler.plugin.roles import Part, Said
from envscaler.rollout.settings import read_settings

__all__ = ["DEFAULTS", "MARKER", "LlmUser"]

MARKER: Final = "[[END]]"
"""What the model writes when it has nothing more to ask."""

DEFAULTS: Final[dict[str, Any]] = {"temperature": None, "max_tokens": 1024, "patience": 20, "role": "user"}
"""``patience``: messages of the agent that it answers. ``role``: the role whose model is asked."""

_CALLS: Final = 5  # replies with calls before it has to say something
_FIRST: Final = "(The desk is yours: say what brings you here.)"


class LlmUser:
    """Its own tools, where it has some, it calls as models do. Only what it says reaches the agent."""

    def __init__(self, part: Part) -> None:
        self._settings = read_settings("llm", part.settings, DEFAULTS)
        if part.models is None:
            raise UsageError("the user llm asks a language model, and there is none in this run")
        self._llm = part.models().role(self._settings["role"])
        self._part = part
        self._left: int = self._settings["patience"]
        scenario = part.scenario
        prompt = render(
            "prompts/rollout/user.j2",
            part.templates,
            task=scenario.task,
            facts=[fact.text for fact in scenario.user.facts],
            unknown=scenario.user.unknown,
            stop_when=scenario.user.stop_when,
            tools=part.tools,
            marker=MARKER,
        )
        self._messages = [Message("system", prompt.strip())]

    async def open(self) -> Said:
        """The scenario's opening; where it has none, what the model makes up."""
        self._messages.append(Message("user", _FIRST))
        opening = self._part.scenario.user.opening
        if opening:
            self._messages.append(Message("assistant", opening))
            return Said(opening)
        return await self._reply()

    async def answer(self, text: str) -> Said:
        self._left -= 1
        if self._left < 0:
            return Said(ends=True, reason="the user ran out of patience")
        self._messages.append(Message("user", text))
        return await self._reply()

    async def _reply(self) -> Said:
        spent = Spent()
        for number in range(_CALLS + 1):
            answer = await self._llm.chat(
                self._messages,
                tools=self._part.tools if number < _CALLS else (),
                max_tokens=self._settings["max_tokens"],
                temperature=self._settings["temperature"],
                sample=self._part.sample,
            )
            spent += answer.spent
            self._messages.append(answer.message)
            if not answer.tool_calls:
                break
            for call in answer.tool_calls:
                assert self._part.call is not None
                seen = self._part.call(call.name, call.arguments)
                self._messages.append(Message("tool", seen.text, tool_call_id=call.id, is_error=not seen.ok))
        text = answer.content
        ends = MARKER in text
        return Said(text.replace(MARKER, "").strip(), ends, "the user is content" if ends else "", spent)
