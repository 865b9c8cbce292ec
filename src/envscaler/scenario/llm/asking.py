"""Questions to models about scenarios: prompts from templates, replies of a shape, and what it is called when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from envscaler.llm import Llm, Message
from envscaler.llm.errors import UNUSABLE

__all__ = ["Unusable", "ask", "messages", "one_line"]

M = TypeVar("M", bound=BaseModel)

_REASON = 300  # characters of a reason that are kept


class Unusable(Exception):
    """A model gave nothing that can be used. ``code`` is what it is counted under, `str()` says more."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(one_line(reason))
        self.code = code


async def ask(llm: Llm, shape: type[M], question: Sequence[Message], *, sample: int = 0) -> M:
    """A reply of a shape. Raises Unusable for one that has not got it, LlmError when the model cannot be asked."""
    try:
        answer = await llm.structured(shape, list(question), sample=sample)
    except UNUSABLE as error:
        raise Unusable(f"llm-{error.kind.replace('_', '-')}", str(error)) from error
    return answer.value


def messages(name: str, folders: Sequence[str], **values: Any) -> list[Message]:
    """The question `prompts/scenario/NAME`: a system's message and a user's."""
    from envscaler.compiler.templates import render

    system = render(f"prompts/scenario/{name}.system.j2", tuple(folders), **values)
    user = render(f"prompts/scenario/{name}.j2", tuple(folders), **values)
    return [Message("system", system.strip()), Message("user", user.strip())]


def one_line(text: str) -> str:
    """A text on one line, of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _REASON else line[: _REASON - 1] + "…"
