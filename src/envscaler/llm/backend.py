"""What a backend is: one attempt at one request, without retries, budget or memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from envscaler.llm.messages import Reply, Request

__all__ = ["Backend", "Factory"]


@runtime_checkable
class Backend(Protocol):
    """Asks one model.

    ``name`` and ``model`` stand in the ledger. ``identity`` says all that decides a reply besides the request, address
    included and keys not: replies are remembered under it. ``free`` is true where nothing is paid for.
    """

    name: str
    model: str
    identity: str
    free: bool

    async def attempt(self, request: Request) -> Reply:
        """One attempt. A reply that was cut off or declined is a reply; what failed is a `CallError`.

        May be called many times at once, from one event loop at a time. Cancelling it ends the attempt.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and files."""
        ...


Factory = Callable[[Mapping[str, Any]], Backend]
"""Makes a backend from a role's settings: `model`; where they are set `base_url`, `key_env`, `timeout` and `concurrency`;
and what envscaler itself does not know. Raises UsageError for a setting that the backend does not know either."""
