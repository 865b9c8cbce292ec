"""What was tried, in words: each try is noted as a small JSON object, see `near` and `ways`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["tried_words"]


def tried_words(note: Mapping[str, Any]) -> str:
    """What was tried, in words."""
    match note:
        case {"step": step, "put": put}:
            return f"step {step + 1} with " + ", ".join(f"{path} {_brief(value)}" for path, value in put.items())
        case {"also": tool, "with": arguments}:
            return f"and then {tool} {_brief(arguments)}"
        case {"until": step}:
            return f"stopped before step {step + 1}"
        case {"without": step}:
            return f"without step {step + 1}"
        case {"submit": None}:
            return "submits nothing"
        case {"submit": submitted}:
            return f"submits {_brief(submitted)}"
        case {"order": order}:
            return f"steps in the order {', '.join(str(n + 1) for n in order)}"
        case {"steps": steps}:
            return f"only steps {', '.join(str(n + 1) for n in steps)}"
        case {"reads": tools}:
            return f"also {', '.join(tools)}"
    return ", ".join(f"{name} {_brief(value)}" for name, value in note.items())


def _brief(value: Any) -> str:
    # Only where something is told: each process that proves would load agents.
    from envscaler.agents.excerpt import shown

    return shown(value, 120, 60)
