"""A question whose reply has a shape, and what it is called when there is none that can be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from envscaler.llm.client import Llm
from envscaler.llm.errors import UNUSABLE
from envscaler.llm.messages import Message

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Unusable", "ask", "one_line"]

M = TypeVar("M", bound="BaseModel")

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


def one_line(text: str) -> str:
    """A text on one line, of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _REASON else line[: _REASON - 1] + "…"
