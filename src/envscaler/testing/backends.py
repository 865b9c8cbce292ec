"""What every LLM backend must do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ClassVar, TypeVar

from envscaler.errors import EnvscalerError
from envscaler.llm.backend import Backend
from envscaler.llm.messages import Reply, Request, as_messages
from envscaler.testing.base import Conformance, not_run, want

__all__ = ["BackendConformance"]

T = TypeVar("T")


class BackendConformance(Conformance):
    """Subclass it with ``make`` and ``settings``, with which it must answer without a network: from a server on loopback, a
    recording, a script. ``answers = False`` leaves out the tests that ask for a reply."""

    make: Callable[[Mapping[str, Any]], Backend]
    settings: ClassVar[Mapping[str, Any]] = {"model": "test"}
    answers: ClassVar[bool] = True

    def _made(self) -> Backend:
        try:
            return self.make(dict(self.settings))
        except EnvscalerError as error:
            if self.answers:
                raise
            not_run(f"needs settings: {error}")

    def _ask(self, *texts: str) -> list[Reply]:
        """The replies of one backend to several questions asked at once."""
        if not self.answers:
            not_run("asks a model, which `envscaler llm check` does")

        async def asked() -> list[Reply]:
            backend = self._made()
            try:
                return await asyncio.gather(*(backend.attempt(Request(as_messages(text))) for text in texts))
            finally:
                await backend.aclose()

        return _run(asked())

    def test_says_what_it_is(self) -> None:
        """`name`, `model` and `identity` are text, `free` is true or false; `attempt` and `aclose` are there."""
        made = self._made()
        want(isinstance(made, Backend), f"{type(made).__name__} is no Backend; see envscaler.llm.backend")
        for name in ("name", "model", "identity"):
            want(isinstance(getattr(made, name), str) and getattr(made, name), f"{name} must be text")
        want(isinstance(made.free, bool), "free must be true or false")

    def test_being_made_asks_nobody(self) -> None:
        """Making one and closing it needs no network; closing twice is allowed."""

        async def closed() -> None:
            made = self._made()
            await made.aclose()
            await made.aclose()

        _run(closed())

    def test_replies(self) -> None:
        """`attempt` gives a Reply with an assistant's message that is not empty."""
        for reply in self._ask("Say hello."):
            want(isinstance(reply, Reply), f"attempt must give a Reply, not {type(reply).__name__}")
            want(reply.message.role == "assistant", f"the message's role is {reply.message.role}")
            want(reply.content or reply.tool_calls, "the reply is empty; raise EmptyReplyError")

    def test_counts_tokens_or_says_none(self) -> None:
        """Tokens are whole numbers from 0, or None where nobody counted."""
        for reply in self._ask("Say hello."):
            counts: list[object] = [reply.usage.tokens_in, reply.usage.tokens_out]
            for count in counts:
                want(count is None or (isinstance(count, int) and count >= 0), f"a count of tokens is {count!r}")

    def test_many_at_once(self) -> None:
        """Four questions asked at once get four replies."""
        want(len(self._ask("one", "two", "three", "four")) == 4, "a reply is missing")


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)
