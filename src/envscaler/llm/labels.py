"""What a call is for: the stage and the unit of work that the ledger files it under, carried by context variables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["STAGES", "current", "labelled"]

_stage: ContextVar[str] = ContextVar("envscaler_stage", default="")
_unit: ContextVar[str] = ContextVar("envscaler_unit", default="")

# The stages of the paper's Table 8, with its names; other stages are listed after them.
STAGES = {
    "discovery": "Discovery",
    "construction": "Construction",
    "assessment": "Assessment",
    "data": "Gen Database",
    "task": "Gen Task",
    "checks": "Check Func",
}


@contextmanager
def labelled(stage: str | None = None, unit: str | None = None) -> Iterator[None]:
    """Within the block, calls belong to ``stage`` and ``unit``; what is None stays as it was. Tasks inherit it."""
    tokens = []
    if stage is not None:
        tokens.append((_stage, _stage.set(stage)))
    if unit is not None:
        tokens.append((_unit, _unit.set(unit)))
    try:
        yield
    finally:
        for variable, token in reversed(tokens):
            variable.reset(token)


def current() -> tuple[str, str]:
    """Stage and unit of a call made here; empty where nobody said."""
    return _stage.get(), _unit.get()
