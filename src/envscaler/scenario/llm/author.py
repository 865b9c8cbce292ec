"""A model writes a task from the state, the tools and the rules, as in the paper (section 4, Figure 21)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from envscaler.agents.excerpt import excerpt
from envscaler.llm import Llm
from envscaler.runtime import MISSING, Environment
from envscaler.scenario.llm.asking import Unusable, ask, messages
from envscaler.scenario.model import Fact, User
from envscaler.scenario.world import ToolInfo, World

__all__ = ["Wish", "write_wish"]

_NAME = re.compile(r"[^a-z0-9]+")
_FACTS = 24


class _FactReply(BaseModel):
    name: str
    value: Any = None
    text: str


class _TaskReply(BaseModel):
    """The task."""

    model_config = ConfigDict(title="Task")

    task: str = Field(min_length=20, max_length=4000)
    facts: list[_FactReply] = Field(default_factory=list, max_length=_FACTS)
    stop_when: str = ""

    @field_validator("task", "stop_when", mode="before")
    @classmethod
    def _stripped(cls, value: Any) -> Any:
        return value.strip() if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Wish:
    """A task as its author wrote it, and the person behind it."""

    task: str
    user: User


async def write_wish(
    world: World,
    env: Environment,
    llm: Llm,
    *,
    changes: tuple[int, int] = (1, 4),
    avoid: Sequence[str] = (),
    refused: str = "",
    turn: int = 0,
) -> Wish:
    """A task in the state of ``env``, of so many changes.

    ``avoid``: tasks that there are; ``refused``: why the last one was not kept; ``turn`` moves the excerpt of the state on.
    Raises Unusable, LlmError.
    """
    question = messages(
        "author",
        world.templates,
        least=changes[0],
        most=changes[1],
        doc=env.doc,
        tools=[_tool(tool) for tool in (*world.reads, *world.writes)],
        state=excerpt(env, world.states, turn),
        avoid=list(avoid),
        refused=refused,
    )
    reply = await ask(llm, _TaskReply, question, sample=turn)
    facts = tuple(_facts(reply.facts))
    if not reply.task:
        raise Unusable("llm-empty", "the task is empty")
    return Wish(reply.task, User(facts, stop_when=reply.stop_when or "Everything asked for is done."))


def _facts(said: Sequence[_FactReply]) -> list[Fact]:
    found: dict[str, Fact] = {}
    for fact in said:
        name = _NAME.sub("_", fact.name.lower()).strip("_") or "fact"
        name = next(n for n in itertools.chain([name], (f"{name}_{i}" for i in itertools.count(2))) if n not in found)
        if fact.text.strip():
            found[name] = Fact(name, fact.value, fact.text.strip())
    return list(found.values())


def _tool(tool: ToolInfo) -> str:
    names = [
        name + ("" if field.default is MISSING and not field.absent else "?") for name, field in tool.params.items()
    ]
    first = tool.description.strip().split("\n")[0]
    return f"{tool.name}({', '.join(names)}) [{'reads' if tool.kind == 'read' else 'writes'}] {first}"
