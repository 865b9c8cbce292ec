"""How many requests a backend gets at once, and when it is left alone because it said so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

__all__ = ["Gate"]


class Gate:
    """At most ``width`` requests at once. After `hold_until` nobody begins before that moment."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        self._closed_until = 0.0

    def hold(self, seconds: float) -> None:
        """Let nobody begin for ``seconds``: what a server asks of one request, it asks of all."""
        self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    @asynccontextmanager
    async def passing(self) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        semaphore = self._semaphores.setdefault(loop, asyncio.Semaphore(self.width))
        async with semaphore:
            while (wait := self._closed_until - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            yield
