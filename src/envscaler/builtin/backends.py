"""The LLM backends that ship."""

from __future__ import annotations

from envscaler.plugin.entries import BackendEntry

__all__ = ["BACKENDS"]

BACKENDS: tuple[BackendEntry, ...] = ()
