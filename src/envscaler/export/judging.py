"""A judge says of a trajectory whether its task could be done at all; it sees what was asked and done, never the solution."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from envscaler.llm import Llm, Message
from envscaler.llm.asking import Unusable, ask, one_line
from envscaler.llm.errors import ContextError
from envscaler.llm.messages import Tool
from envscaler.rollout.trajectory import Trajectory

__all__ = ["CAUSES", "Verdict", "judge", "question"]

CAUSES: Final[Mapping[str, str]] = {
    "no-tool": "it asks for something that no tool does, and that cannot be declined",
    "no-value": "a value that is needed was told nowhere, no tool gives it, and it cannot be declined",
    "contradiction": "what it asks for excludes itself",
    "broken-world": "tools fail for no reason of the world's own, or what they say contradicts itself",
    "other": "something else that the record shows",
}
"""Why a task is impossible, and what that means."""

_TEXT: Final = 1500  # characters of one text of the record
_TOLD: Final = 8000  # of what the agent was told of the world
_TOOL: Final = 300  # of a tool's description
_RECORD: Final = 48_000  # of the record


class _Reply(BaseModel):
    """Whether the task could be done."""

    model_config = ConfigDict(title="Verdict")

    reason: str = Field(min_length=1, description="a sentence or two")  # first, so that a model thinks before it judges
    verdict: Literal["possible", "impossible"]
    cause: Literal["none", "no-tool", "no-value", "contradiction", "broken-world", "other"] = Field(
        default="none", description="none for a possible task"
    )

    @field_validator("verdict", "cause", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.strip().lower().replace("_", "-") if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a question. ``verdict`` is `possible`, `impossible` or `unusable`; ``cause`` is one of `CAUSES`, what was
    wrong with the reply, or empty."""

    verdict: Literal["possible", "impossible", "unusable"]
    cause: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict, "cause": self.cause, "reason": self.reason}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Verdict:
        return cls(plain["verdict"], plain["cause"], plain["reason"])


async def judge(llm: Llm, asked: Sequence[Message]) -> Verdict:
    """The verdict; `unusable` for a reply that is none. Raises LlmError when the model cannot be asked."""
    try:
        reply = await ask(llm, _Reply, asked)
    except Unusable as problem:
        return Verdict("unusable", problem.code, str(problem))
    except ContextError as error:
        return Verdict("unusable", "llm-context-exceeded", one_line(str(error)))
    if reply.verdict == "possible":
        return Verdict("possible", "", one_line(reply.reason))
    return Verdict("impossible", "other" if reply.cause == "none" else reply.cause, one_line(reply.reason))


def question(
    one: Trajectory, task: str, tools: Sequence[Tool], folders: Sequence[str] = (), submit: str = "submit"
) -> list[Message]:
    """What the judge is asked about a trajectory. ``task``: all of it, where a user told it bit by bit; "" where nobody knows
    more than the user said. ``tools``: all that were on offer at some time."""
    from envscaler.compiler.templates import render

    system = next((m.content for m in one.messages if m.role == "system"), "")
    values: dict[str, Any] = {
        "task": _cut(task or "\n\n".join(_said(one)), _TOLD),
        "told": _cut(system, _TOLD),
        "tools": [_tool(tool, submit) for tool in tools],
        "record": _bounded(list(_record(one, bool(task)))),
        "ended": one.status.replace("_", " "),
        "causes": CAUSES,
        "submit": submit,
    }
    parts = (("system", "prompts/export/impossible.system.j2"), ("user", "prompts/export/impossible.j2"))
    return [Message(role, render(name, folders, **values).strip()) for role, name in parts]  # type: ignore[arg-type]


def _said(one: Trajectory) -> list[str]:
    return [m.content for m in one.messages if m.role == "user"]


def _tool(tool: Tool, submit: str) -> str:
    about = " ".join(tool.description.split())
    form = f" {json.dumps(tool.parameters, ensure_ascii=False)}" if tool.name == submit else ""
    return f"{tool.name}: {_cut(about, _TOOL)}{_cut(form, _TOLD)}"


def _record(one: Trajectory, task_told: bool) -> Iterator[str]:
    """The conversation after its documentation, a text for each message, call and result."""
    first = next((m for m in one.messages if m.role == "user"), None)
    names = {call.id: call.name for m in one.messages for call in m.tool_calls}
    for message in one.messages:
        if message.role == "system" or (message is first and task_told and one.setting == "non-conversation"):
            continue
        who = {"user": "user", "assistant": "agent"}.get(message.role, "")
        if message.role == "tool":
            who = f"result of {names[message.tool_call_id]}" if message.tool_call_id in names else "told"
        if message.content:
            yield f"[{who}] {_cut(message.content, _TEXT)}"
        for call in message.tool_calls:
            yield f"[agent calls {call.name}] {_cut(call.arguments or '{}', _TEXT)}"


def _bounded(lines: list[str]) -> list[str]:
    """The lines, but for those in the middle where they are too long together: beginning and end tell most."""
    room, first, last = _RECORD, list[str](), list[str]()
    left = list(lines)
    while left and room > 0:
        taken = left.pop(0) if len(first) <= len(last) else left.pop()
        room -= len(taken)
        (first if len(first) <= len(last) else last).append(taken)
    between = [f"… {len(left)} more messages, calls and results are left out here …"] if left else []
    return [*first, *between, *reversed(last)]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} … ({len(text):,} characters)"
