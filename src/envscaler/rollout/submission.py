"""The tool by which an agent ends an episode: it submits its answer, or that it refuses, with a reason."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from envscaler.llm.messages import Tool
from envscaler.runtime import shapes as s
from envscaler.runtime.reading import decode, reader
from envscaler.runtime.schemas import parameters
from envscaler.runtime.values import kind
from envscaler.runtime.writing import writer

__all__ = ["Refusal", "Submission"]

_TEXT: Final = (
    "End the task. Give `answer` when what was asked for is done{slots}; give `refusal` with the reason when it must not or "
    "cannot be done. Nothing can be done after this."
)


class Refusal(Exception):
    """What was sent cannot be submitted; the message says what is wrong."""


class Submission:
    """The tool for one scenario. ``slots``: those of the answer. ``reasons``: those of a refusal."""

    def __init__(self, name: str, slots: Mapping[str, s.Field], reasons: Collection[str], policy: str) -> None:
        self._slots = bool(slots)
        answer = s.Struct("answer", tuple(slots.values()))
        refusal = s.Enum(tuple(reasons))
        self._fields = (
            s.Field("answer", s.Nullable(answer), default=None),
            s.Field("refusal", s.Nullable(refusal), default=None),
        )
        whole = s.Struct(name, self._fields)
        self._read = reader(whole, "strict" if policy == "strict" else "lenient")
        self._write = writer(whole)
        text = _TEXT.format(slots=", with its parts" if slots else "")
        self.tool = Tool(name, text, parameters({"answer": self._answer(answer), "refusal": self._refusal(refusal)}))

    @staticmethod
    def _answer(answer: s.Struct) -> s.Field:
        return s.Field("answer", answer, description="What was asked for.", absent=True)

    @staticmethod
    def _refusal(refusal: s.Enum) -> s.Field:
        return s.Field("refusal", refusal, description="The rule that forbids it, or why it cannot be.", absent=True)

    def read(self, arguments: str) -> Mapping[str, Any]:
        """`{"answer": {…}}` or `{"refusal": "reason"}`. Raises Refusal."""
        try:
            given = decode(arguments) if arguments.strip() else {}
        except ValueError as error:
            raise Refusal(f"The arguments are not a JSON object: {str(error)[:200]}.") from None
        if given is None:
            given = {}
        if not isinstance(given, dict):
            raise Refusal(f"The arguments must be a JSON object, not {kind(given)}.")
        problems: list[str] = []
        found = self._read(given, "", problems)
        if problems:
            raise Refusal("; ".join(problems[:5]))
        plain: dict[str, Any] = {name: value for name, value in self._write(found).items() if value is not None}
        if len(plain) == 2:
            raise Refusal("Give either answer or refusal, not both.")
        if not plain and self._slots:
            raise Refusal("answer: is missing; or give refusal with the reason.")
        return plain or {"answer": {}}
