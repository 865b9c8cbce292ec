"""A model puts a proved task into other words; what it must still tell is looked for, as the proof does it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from envscaler.llm import Llm
from envscaler.scenario.llm.asking import Unusable, ask, messages
from envscaler.scenario.model import Scenario
from envscaler.scenario.wording.leaves import leaves, source_of
from envscaler.scenario.wording.told import told_in
from envscaler.scenario.world import World

__all__ = ["MANNERS", "reword"]

MANNERS: Final = (
    "as a short message between colleagues",
    "as a friendly e-mail with a word on why it matters",
    "as somebody in a hurry would type it on a phone",
    "as a formal request",
    "as a person would say it at a counter",
)
_TRIES: Final = 3


class _TextReply(BaseModel):
    """The text."""

    model_config = ConfigDict(title="Text")

    text: str = Field(min_length=10, max_length=6000)


async def reword(
    world: World,
    scenario: Scenario,
    llm: Llm,
    rng: random.Random,
    *,
    manners: Sequence[str] = MANNERS,
    tries: int = _TRIES,
) -> Scenario:
    """The scenario with its task in other words; every value that the task told is told still. Not proved again.

    What is missing goes back to the model, ``tries`` times in all. Raises Unusable, LlmError.
    """
    manner = rng.choice(list(manners))
    missing: list[str] = []
    for attempt in range(tries):
        question = messages(
            "reword",
            world.templates,
            task=scenario.task,
            values=list(dict.fromkeys(_values(world, scenario))),
            manner=manner,
            missing=missing,
        )
        reply = await ask(llm, _TextReply, question, sample=attempt)
        made = replace(scenario, task=reply.text.strip(), proof=None, tags={**scenario.tags, "reworded": manner})
        missing = [f"{untold.path.replace('_', ' ')}: {untold.value}" for untold in told_in(world, made)]
        if not missing:
            return made.named()
    raise Unusable("reworded-untold", f"the new text does not say {missing[0]}")


def _values(world: World, scenario: Scenario) -> list[str]:
    """The values that the task tells, as texts."""
    found: list[str] = []
    for step in scenario.solution:
        tool = world.tools[step.tool]
        for name, value in step.arguments.items():
            for leaf in leaves(name, value, tool.params.get(name)):
                if source_of(step.sources, leaf.path).kind == "task" and leaf.value not in (None, "", [], {}):
                    found.append(_shown(leaf.value, leaf.label))
    return found


def _shown(value: Any, label: str) -> str:
    return f"{label}: {'yes' if value else 'no'}" if isinstance(value, bool) else str(value)
