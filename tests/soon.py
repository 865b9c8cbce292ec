"""How long a test waits for what should come at once: a busy machine may stall for seconds, what is guarded against never ends."""

from __future__ import annotations

SOON = 20.0
"""Seconds. What a test tells it from would last for a minute at least."""
