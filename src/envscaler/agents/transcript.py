"""What an episode leaves behind: how it ended, what was said, and every step with its calls, changes and costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from envscaler.agents.episode import Observation
from envscaler.errors import UsageError
from envscaler.llm.client import Spent
from envscaler.llm.messages import Finish, Message, ToolCall

__all__ = ["CallRecord", "Limits", "Status", "Step", "Transcript"]

Status = Literal[
    "running", "finished", "step_limit", "token_limit", "context_exceeded", "agent_error", "deadline", "infra_error",
    "cancelled",
]  # fmt: skip

_SCORED: Final = ("finished", "step_limit", "token_limit", "context_exceeded", "agent_error")


@dataclass(frozen=True, slots=True)
class Limits:
    """How far an episode may go.

    ``steps``: replies. ``calls``: in one reply; those after them are error results. ``tokens``: read and written in all,
    each reply reading the conversation anew; ``context``: of the conversation, as it is after a reply; None for no limit.
    ``call_seconds``: for one reply of the agent or the user. ``seconds``: for the episode. ``faults``: replies in a row of
    which nothing could be read.
    """

    steps: int = 30
    calls: int = 16
    tokens: int | None = None
    context: int | None = None
    call_seconds: float = 120.0
    seconds: float = 1800.0
    faults: int = 3

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not value > 0:
                raise UsageError(f"the limit {name} is a number above 0, not {value}")


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call and what came of it."""

    call: ToolCall
    observation: Observation

    def to_json(self) -> dict[str, Any]:
        return {**self.call.to_json(), "result": _observation(self.observation)}


@dataclass(slots=True)
class Step:
    """One reply and what followed from it.

    ``message`` is the reply in its parts, None where none came. ``problems`` say what of it could not be read. ``answer`` is
    the user's, where the reply was a message to the user. ``spent`` counts failed attempts at a reply too.
    """

    number: int
    message: Message | None = None
    finish: Finish = "stop"
    problems: Sequence[str] = ()
    calls: list[CallRecord] = field(default_factory=list)
    answer: Observation | None = None
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "message": None if self.message is None else self.message.to_json(),
            "finish": self.finish,
            "problems": list(self.problems),
            "calls": [call.to_json() for call in self.calls],
            "answer": None if self.answer is None else _observation(self.answer),
            "spent": asdict(self.spent),
            "seconds": self.seconds,
        }


@dataclass(slots=True)
class Transcript:
    """An episode as it went. ``messages`` is the conversation as the agent was told it, its own replies included; ``reason``
    says more of a ``status`` than its name does."""

    agent: str
    limits: Limits
    status: Status = "running"
    reason: str = ""
    messages: list[Message] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def scored(self) -> bool:
        """Whether the outcome says something of the agent, and may be rewarded. What failed or was too slow around it, and a
        context that its first message did not fit into, do not."""
        if self.status == "context_exceeded":
            return any(step.message is not None for step in self.steps)
        return self.status in _SCORED

    @property
    def spent(self) -> Spent:
        """What all replies took. The cost is None where a part of it is not known."""
        total = Spent()
        for step in self.steps:
            total += step.spent
        return total

    def to_json(self) -> dict[str, Any]:
        """A JSON object; ``scored`` tells readers whether a reward may be given."""
        return {
            "agent": self.agent,
            "limits": asdict(self.limits),
            "status": self.status,
            "reason": self.reason,
            "scored": self.scored,
            "messages": [message.to_json() for message in self.messages],
            "steps": [step.to_json() for step in self.steps],
            "spent": asdict(self.spent),
            "seconds": self.seconds,
        }


def _observation(seen: Observation) -> dict[str, Any]:
    plain: dict[str, Any] = {"text": seen.text, "ok": seen.ok}
    plain |= {name: value for name in ("code", "rule", "broken") if (value := getattr(seen, name))}
    if seen.changes:
        plain["changes"] = [dict(change) for change in seen.changes]
    if seen.ends:
        plain["ends"] = True
    return plain
