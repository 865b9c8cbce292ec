"""What stands between a task and a plan: where it was read, whether it needs a world, and which world that is."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from envscaler.plugin.records import Task
from envscaler.spec.names import is_name

__all__ = ["Origin", "Sieved", "Text", "Theme"]


def _stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_stripped), Field(min_length=1)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Origin(_Record):
    """Where a task was read: the file, a line or row of it from 1, and the name of the source that read it."""

    file: str
    line: int = Field(ge=1)
    source: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Sieved(_Record):
    """A task, and whether it presupposes a world that holds things; why, in a line."""

    task: Text
    origin: Origin | None = None
    stateful: bool
    reason: str = ""

    @classmethod
    def of(cls, task: Task, source: str, stateful: bool, reason: str) -> Sieved:
        """What was said of a task that ``source`` read."""
        origin = Origin(file=task.file, line=task.line, source=source)
        return cls(task=task.text, origin=origin, stateful=stateful, reason=reason)


class Theme(_Record):
    """An environment that nobody has written yet.

    ``name`` can be a spec's; ``summary`` is one line; ``introduction`` says what it holds and what is done with it.
    ``usefulness`` (is it worth training agents on) and ``modelability`` (can states, rules and tools say all of it) go from
    1 to 10. ``task`` and ``origin``: what it was inferred from.
    """

    name: str
    title: Text
    summary: Text
    introduction: Text
    usefulness: int = Field(ge=1, le=10)
    modelability: int = Field(ge=1, le=10)
    task: str | None = None
    origin: Origin | None = None

    @field_validator("name")
    @classmethod
    def _name(cls, value: str) -> str:
        if not is_name(value, "lower"):
            raise ValueError(
                "a name is lower-case letters, digits and _, beginning with a letter, and no keyword of Python"
            )
        return value

    @field_validator("summary", mode="before")
    @classmethod
    def _one_line(cls, value: Any) -> Any:
        return " ".join(value.split()) if isinstance(value, str) else value
