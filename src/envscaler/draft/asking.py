"""Questions to models about drafts: prompts from templates; replies of a shape are `llm/asking.py`'s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envscaler.llm import Message
from envscaler.llm.asking import Unusable, ask, one_line

__all__ = ["Unusable", "ask", "messages", "one_line"]


def messages(name: str, folders: Sequence[str], **values: Any) -> list[Message]:
    """The question `prompts/draft/NAME`: a system's message and a user's."""
    from envscaler.compiler.templates import render

    system = render(f"prompts/draft/{name}.system.j2", tuple(folders), **values)
    user = render(f"prompts/draft/{name}.j2", tuple(folders), **values)
    return [Message("system", system.strip()), Message("user", user.strip())]
