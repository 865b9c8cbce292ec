"""What an agent is told about its world: introduction, rules, policies."""

from __future__ import annotations

from collections.abc import Sequence

from envscaler.runtime.declared import Rule

__all__ = ["document"]


def document(title: str, introduction: str, rules: Sequence[Rule]) -> str:
    """The text: what is enforced as rules, what is expected of the agent as policies, in the order of the spec."""
    parts = [f"# {title}"] if title else []
    if introduction.strip():
        parts.append(introduction.strip())
    for heading, chosen in (
        ("Rules", [r for r in rules if not r.policy]),
        ("Policies", [r for r in rules if r.policy]),
    ):
        if chosen:
            parts.append(f"## {heading}\n" + "\n".join(f"- {' '.join(r.text.split())}" for r in chosen))
    return "\n\n".join(parts)
