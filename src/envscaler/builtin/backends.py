"""The LLM backends that ship."""

from __future__ import annotations

from envscaler.llm.backends import BACKENDS as SHIPPED
from envscaler.plugin.entries import BackendEntry

__all__ = ["BACKENDS"]

BACKENDS = tuple(BackendEntry(backend.name, backend.summary, backend.make) for backend in SHIPPED.values())
