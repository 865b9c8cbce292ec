"""A theme becomes a plan: states and rules first, then the tools over them, each held against itself and corrected."""

from __future__ import annotations

from collections.abc import Sequence

from envscaler.draft.plans import Plan, Size
from envscaler.draft.themes import Theme
from envscaler.llm import Llm

__all__ = ["plan"]


async def plan(
    theme: Theme, llm: Llm, size: Size | None = None, *, tries: int = 3, folders: Sequence[str] = (), sample: int = 0
) -> Plan:
    """The plan of an environment, by a model of the role `planner`. Calls are filed under `plan`.

    What is wrong with a reply goes back to the model, at most ``tries`` times for either half; what is wrong then is kept in the
    plan's problems. Raises Unusable when the model gives no plan at all, LlmError when it cannot be asked.
    """
    raise NotImplementedError
