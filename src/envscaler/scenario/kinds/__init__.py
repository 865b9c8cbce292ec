"""The generators that ship, one for each kind of task. What they yield is not proved; whoever asked does that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from envscaler.plugin.records import Generator
from envscaler.scenario.kinds.answer import Answer
from envscaler.scenario.kinds.complete import Complete
from envscaler.scenario.kinds.distractors import Distractors
from envscaler.scenario.kinds.long_context import LongContext
from envscaler.scenario.kinds.missing_parameter import MissingParameter
from envscaler.scenario.kinds.missing_tool import MissingTool
from envscaler.scenario.kinds.refusal import Refusal

__all__ = ["GENERATORS"]

_ALL: Final = (Complete, MissingParameter, MissingTool, LongContext, Refusal, Answer, Distractors)

GENERATORS: Final[Mapping[str, tuple[str, Callable[[], Generator]]]] = {one.name: (one.summary, one) for one in _ALL}
"""By name a line on the kind, and what makes its generator."""
