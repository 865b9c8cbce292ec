"""Who plays: a language model, or a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from envscaler.agents.parsing import tagged
from envscaler.agents.rendering import WRITTEN, as_native, as_text
from envscaler.errors import UsageError
from envscaler.llm.client import Llm, Spent
from envscaler.llm.messages import Finish, Message, Reply, Tool, ToolCall

__all__ = ["LlmPolicy", "Move", "Policy", "ScriptedPolicy", "Turn"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What a policy answers: an assistant's message, whose content is parsed unless it has calls; how the reply ended; what
    it took; and how many tokens the conversation is long with it, 0 where nobody counted."""

    message: Message
    finish: Finish = "stop"
    spent: Spent = field(default_factory=Spent)
    context: int = 0


class Policy(Protocol):
    """An agent: an answer to what was said so far, with tools on offer."""

    @property
    def name(self) -> str: ...

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Turn:
        """The next turn. Cancelling it ends it. Errors of models are `LlmError`; anything else raised is a bug of the
        policy. Neither is the agent's fault."""
        ...


class LlmPolicy:
    """A role's model. ``form``: `native` for models with calls of their own, `text` for those that write them.

    ``bare``: calls that are written without tags are run, too. ``reasoning``: whether the model is shown what it thought
    before; what its provider wants back unread is sent all the same. ``sample`` tells runs apart that are to get replies of
    their own from the cache.
    """

    def __init__(
        self,
        llm: Llm,
        *,
        form: Literal["native", "text"] = "native",
        max_tokens: int | None = None,
        temperature: float | None = None,
        reasoning: bool = False,
        bare: bool = False,
        sample: int = 0,
    ) -> None:
        if form not in ("native", "text"):
            raise UsageError(f"the form of calls is native or text, not {form}")
        self._llm = llm
        self._form = form
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._reasoning = reasoning
        self._bare = bare
        self._sample = sample

    @property
    def name(self) -> str:
        return self._llm.backend.identity

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Turn:
        native = self._form == "native"
        answer = await self._llm.chat(
            as_native(messages, self._reasoning) if native else as_text(messages, tools, self._reasoning),
            tools=tools if native else (),
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            sample=self._sample,
        )
        message = answer.message
        if not native:
            written = message.content
            content = tagged(written) if self._bare else written
            message = replace(message, content=content, opaque={**message.opaque, WRITTEN: written})
        usage = answer.reply.usage
        return Turn(message, answer.reply.finish, answer.spent, (usage.tokens_in or 0) + (usage.tokens_out or 0))


Move = str | Message | Reply | Turn | Mapping[str, Any] | Sequence[tuple[str, Mapping[str, Any]]] | BaseException
"""A move of a script: a text, a message or reply (or its JSON), calls as pairs of name and arguments, an exception to raise."""


class ScriptedPolicy:
    """Plays moves in order, or what a function of the messages says. ``asked`` holds what it was told, turn by turn."""

    def __init__(self, moves: Iterable[Move] | Callable[[Sequence[Message]], Move], name: str = "scripted") -> None:
        self.name = name
        self.asked: list[tuple[Message, ...]] = []
        self._move = moves if callable(moves) else _in_order(iter(moves), name)

    async def reply(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Turn:
        self.asked.append(tuple(messages))
        return _turn(self._move(messages))


def _in_order(moves: Iterator[Move], name: str) -> Callable[[Sequence[Message]], Move]:
    def move(_: Sequence[Message]) -> Move:
        for one in moves:
            return one
        raise UsageError(f"{name}: the script has no further move")

    return move


def _turn(move: Move) -> Turn:
    if isinstance(move, BaseException):
        raise move
    if isinstance(move, Turn):
        return move
    if isinstance(move, str):
        return Turn(Message("assistant", move))
    if isinstance(move, Message):
        return Turn(move)
    if isinstance(move, Mapping):
        move = Reply.from_json(move if "message" in move else {"message": move})
    if isinstance(move, Reply):
        return Turn(move.message, move.finish, Spent(move.usage))
    calls = (ToolCall(f"call_{n}", name, json.dumps(arguments)) for n, (name, arguments) in enumerate(move, 1))
    return Turn(Message("assistant", "", tool_calls=tuple(calls)))
