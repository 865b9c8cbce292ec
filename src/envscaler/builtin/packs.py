"""The specs that ship, as packs, and the templates. Naming one of them loads no plugin."""

from __future__ import annotations

from envscaler.plugin.entries import SpecsEntry, TemplatesEntry
from envscaler.resources import folder

__all__ = ["packs", "templates"]


def packs() -> tuple[SpecsEntry, ...]:
    """The environments of our own, and the ports of others'."""
    specs = folder("specs")
    return (
        SpecsEntry("envscaler", "Environments to use and to imitate", specs),
        SpecsEntry("ports", "Environments of published benchmarks, held to their recordings", specs / "ports"),
    )


def templates() -> tuple[TemplatesEntry, ...]:
    """The templates that stand behind all others."""
    return (TemplatesEntry("shipped", "Generated modules, pages and starters", folder("templates")),)
