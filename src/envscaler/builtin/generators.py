"""The generators of scenarios that ship. Naming one of them runs nothing."""

from __future__ import annotations

from envscaler.plugin.entries import GeneratorEntry

__all__ = ["generators"]


def generators() -> tuple[GeneratorEntry, ...]:
    """One for each kind."""
    from envscaler.scenario.kinds import GENERATORS

    return tuple(GeneratorEntry(name, summary, factory) for name, (summary, factory) in GENERATORS.items())
