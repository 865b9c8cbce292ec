"""An episode in which all is text, for those whose models read and write nothing else: tools are written out, calls are read
out of replies, and what came of them is a message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from envscaler.agents import as_text, render_call, render_more, render_reply
from envscaler.errors import UsageError
from envscaler.llm.messages import Message, Tool, ToolCall
from envscaler.plugin.roles import Part
from envscaler.rollout.agents.simple import ReferenceAgent
from envscaler.rollout.episode import Episode, Seen, waited
from envscaler.scenario.model import Scenario

__all__ = ["TextEpisode", "without_end"]

_ENDS: Final = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>", "<|return|>", "<end_of_turn>",
    "<eos>", "</s>", "<｜end▁of▁sentence｜>",
)  # fmt: skip


class TextEpisode:
    """An `Episode` as text.

    `reset` gives the first messages: the system's, with the documentation, the tools and how they are called, and the
    user's. `step` takes what a model wrote, as it was decoded, and gives what it is told, "" at the end. ``scenario`` is the
    id of what is played.
    """

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.scenario = ""
        self._known: tuple[Tool, ...] = ()
        self._reference: ReferenceAgent | None = None

    def reset(self, scenario: Scenario, *, seed: int = 0) -> list[Message]:
        """Begin an episode. Raises as `Episode.reset` does."""
        seen = self.episode.reset(scenario, seed=seed)
        self.scenario = scenario.id
        self._known = seen.tools
        self._reference = ReferenceAgent(Part(scenario, "non-conversation", self.episode.submit))
        return as_text(seen.messages, seen.tools)

    def step(self, text: str) -> tuple[str, float | None, bool, dict[str, Any]]:
        """What the model is told, the reward, whether the episode is over, and more, as `Episode.step` gives them."""
        seen, reward, done, info = self.episode.step(without_end(text))
        return "" if done else self._told(seen), reward, done, info

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools on offer."""
        return tuple(tool.name for tool in self._known)

    @staticmethod
    def call_text(name: str, arguments: Mapping[str, Any]) -> str:
        """A call as a model writes it."""
        return render_call(ToolCall("", name, json.dumps(arguments)))

    def reference(self) -> str:
        """What the reference solution writes now: with it a trainer's path is tried out without a model."""
        if self._reference is None:
            raise UsageError("an episode begins with reset(scenario)")
        return render_reply(waited(self._reference.reply((), self._known)).message)

    def _told(self, seen: Seen) -> str:
        parts = [message.content for message in as_text(seen.messages)]
        if seen.tools is not self._known:
            known = {tool.name for tool in self._known}
            parts.append(render_more([tool for tool in seen.tools if tool.name not in known]))
            self._known = seen.tools
        return "\n\n".join(part for part in parts if part)


def without_end(text: str) -> str:
    """A reply without the marks by which models end theirs: trainers decode replies with them."""
    while True:
        text = text.rstrip()
        end = next((mark for mark in _ENDS if text.endswith(mark)), "")
        if not end:
            return text
        text = text[: -len(end)]
