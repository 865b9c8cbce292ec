"""What replies took, in tokens and dollars: a line for each role and model, and their sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from envscaler.llm.prices import NANO

if TYPE_CHECKING:
    from envscaler.llm.exchanges import Exchange

__all__ = ["spent", "sums", "taken"]


def spent(made: Sequence[Exchange]) -> list[dict[str, Any]]:
    """What replies took, by role and model; ``cost`` in billionths of a dollar, None where a part of it is not known."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in made:
        line = found.setdefault(
            (one.role, one.model),
            {"role": one.role, "model": one.model, "replies": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0},
        )
        line["replies"] += 1
        line["tokens_in"] += one.tokens_in
        line["tokens_out"] += one.tokens_out
        line["cost"] = None if line["cost"] is None or one.cost is None else line["cost"] + one.cost
    return [found[key] for key in sorted(found)]


def sums(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Replies and tokens of all lines, and US dollars (None where a part of them is not known)."""
    costs = [line["cost"] for line in lines]
    return {
        **{key: sum(line[key] for line in lines) for key in ("replies", "tokens_in", "tokens_out")},
        "cost": None if None in costs else sum(costs) / NANO,
    }


def taken(lines: Sequence[Mapping[str, Any]]) -> tuple[int, float | None]:
    """Tokens in and out together, and US dollars."""
    found = sums(lines)
    return found["tokens_in"] + found["tokens_out"], found["cost"]
