"""A user without a model: says the opening, answers from the facts by the words of a question, and knows no more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from envscaler.plugin.roles import Part, Said
from envscaler.rollout.settings import read_settings
from envscaler.scenario.model import Fact

__all__ = ["FactsUser"]

_WORD: Final = re.compile(r"[^\W_]+")
_SAY_ON: Final = frozenset(
    {"detail", "information", "more", "else", "everything", "help", "need", "request", "task", "want"}
)
_DONE: Final = re.compile(
    r"\b(done|completed?|finished|all set|taken care of|anything else|anything more|have a (nice|good|great))\b",
    re.IGNORECASE,
)
_TOO_COMMON: Final = frozenset(
    {
        "a",
        "an",
        "and",
        "do",
        "for",
        "i",
        "id",
        "in",
        "is",
        "it",
        "me",
        "my",
        "of",
        "on",
        "or",
        "please",
        "that",
        "the",
        "this",
    }
    | {"to", "what", "which", "you", "your"}
)
_UNKNOWN: Final = "I don't know."
_GO_ON: Final = "Please go on."


class FactsUser:
    """Reveals what it is asked for, a few facts at a time, or the next where the question is about no fact in particular.

    Ends when the agent says that it is done, and after ``patience`` messages that got nothing new out of it. Steps of the
    solution that are the user's it makes when a message names the tool.
    """

    def __init__(self, part: Part) -> None:
        settings = read_settings("facts", part.settings, {"patience": 8})
        self._part = part
        self._left = settings["patience"]
        self._told: set[str] = set()
        self._steps = [step for step in part.scenario.solution if step.actor == "user"]

    async def open(self) -> Said:
        """The opening, or the whole task where there is none."""
        scenario = self._part.scenario
        return Said(scenario.user.opening or scenario.task)

    async def answer(self, text: str) -> Said:
        """What it says to a message; `ends` when it is content or has heard enough."""
        told = len(self._told) - len(self._steps)
        said = self._answer(text)
        if len(self._told) - len(self._steps) == told:
            self._left -= 1
        if self._left < 0 and not said.ends:
            return Said(ends=True, reason="the user ran out of patience")
        return said

    def _answer(self, text: str) -> Said:
        if self._steps and self._steps[0].tool in text:
            return Said(self._act())
        asked = _words(text)
        facts = _nearest(asked, text, self._part.scenario.user.facts)
        fresh = [fact for fact in facts if fact.name not in self._told]
        if _DONE.search(text) and not fresh:
            return Said(ends=True, reason="the user is content")
        if facts:
            return self._tell(fresh or facts)
        if any(_words(name) & asked for name in self._part.scenario.user.unknown):
            return Said(_UNKNOWN)
        if asked & _SAY_ON and (more := self._untold()):
            return self._tell(more[:1])
        return Said(_UNKNOWN if "?" in text else _GO_ON)

    def _tell(self, facts: Iterable[Fact]) -> Said:
        found = list(facts)
        self._told |= {fact.name for fact in found}
        return Said(" ".join(fact.text for fact in found))

    def _untold(self) -> list[Fact]:
        return [fact for fact in self._part.scenario.user.facts if fact.name not in self._told]

    def _act(self) -> str:
        step = self._steps.pop(0)
        assert self._part.call is not None
        seen = self._part.call(step.tool, json.dumps(dict(step.arguments)))
        return "I did that." if seen.ok else f"That did not work: {json.loads(seen.text)['error']}"


def _words(text: str) -> set[str]:
    found = {word.lower() for word in _WORD.findall(text)}
    return {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found} - _TOO_COMMON


def _nearest(asked: set[str], text: str, facts: Iterable[Fact]) -> list[Fact]:
    """The facts whose names, or whose values, the text speaks of most; none where it speaks of none."""
    scores: list[tuple[float, Fact]] = []
    for fact in facts:
        name = _words(fact.name)
        value = str(fact.value)
        score = len(name & asked) / len(name) if name else 0.0
        if len(value) > 2 and value in text:
            score = max(score, 0.5)
        if score:
            scores.append((score, fact))
    best = max((score for score, _ in scores), default=0.0)
    return [fact for score, fact in scores if score == best]
