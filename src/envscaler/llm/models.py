"""The models of a run: one for each role, over shared ledger, cache, budget and gates; and how to ask many at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeVar

from envscaler.errors import LlmError, UsageError
from envscaler.llm.backend import Backend
from envscaler.llm.budget import Budget
from envscaler.llm.cache import Cache
from envscaler.llm.client import Llm
from envscaler.llm.gate import Gate
from envscaler.llm.ledger import Ledger
from envscaler.llm.prices import Prices
from envscaler.llm.settings import Layer, RoleSettings, lay

__all__ = ["Entry", "Models", "in_order"]

T = TypeVar("T")


class Entry(Protocol):
    """What a backend is found as: its name, and how it is made from a role's settings."""

    @property
    def name(self) -> str: ...

    def make(self, settings: dict[str, Any], /) -> Backend: ...


class Models:
    """Makes each role's `Llm` when it is first asked for.

    ``find`` gives the backend of a name, or raises UsageError. ``tell`` hears what is to be said once (an unknown
    price). ``record``: a file that every exchange is appended to.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        find: Callable[[str], Entry],
        *,
        ledger: Ledger | None = None,
        cache: Cache | None = None,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        record: Path | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.ledger = ledger or Ledger(None)
        self._layers = layers
        self._find = find
        self._cache = cache
        self._budget = Budget(self.ledger, max_cost, max_tokens)
        self._record = record
        self._tell = tell
        self._told: set[str] = set()
        self._roles: dict[str, Llm] = {}
        self._gates: dict[str, Gate] = {}
        self._runner: asyncio.Runner | None = None
        self._home: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def settings(self, role: str) -> RoleSettings | None:
        """A role's settings, None where no model is named for it."""
        return lay(self._layers, role)

    def role(self, role: str) -> Llm:
        """The role's model. Raises UsageError when none is named, or when the limit on cost could not be kept."""
        if role not in self._roles:
            self._roles[role] = self._made(role)
        return self._roles[role]

    def _made(self, role: str) -> Llm:
        settings = self.settings(role)
        if settings is None:
            raise UsageError(
                f"no model for the role {role}: give --llm {role}=BACKEND/MODEL, set ENVSCALER_LLM_{role.upper()}, or "
                f"write [llm.{role}] into envscaler.toml"
            )
        return self.around(self._find(settings.backend).make(settings.for_backend()), settings)

    def around(self, backend: Backend, settings: RoleSettings) -> Llm:
        """A backend as a role's is: over the ledger, cache and limits of this run. Raises UsageError when the limit on cost
        could not be kept."""
        prices = Prices(
            settings.backend,
            settings.model_name,
            settings.base_url,
            settings.price_in,
            settings.price_out,
            backend.free,
            self._once,
        )
        if self._budget.max_cost is not None and not prices.known():
            raise UsageError(
                f"{prices.unknown()}. Until then --max-cost cannot be kept for the role {settings.role}; --max-tokens can"
            )
        if self._record is not None:
            from envscaler.llm.backends.replay import RecordingBackend

            backend = RecordingBackend(backend, self._record)
        gate = self._gates.setdefault(backend.identity, Gate(settings.concurrency))
        gate.width = max(gate.width, settings.concurrency)
        return Llm(
            backend, settings, ledger=self.ledger, cache=self._cache, budget=self._budget, prices=prices, gate=gate
        )

    def _once(self, line: str) -> None:
        if self._tell is not None and line not in self._told:
            self._told.add(line)
            self._tell(line)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine, for callers that are not asynchronous. Ctrl-C cancels what is under way."""
        if self._closed:  # a thread that nobody waits for any more
            work.close()
            raise CancelledError
        if self._home is not None:
            return asyncio.run_coroutine_threadsafe(work, self._home).result()
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(work, context=copy_context())  # by itself it would keep the first caller's labels

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Within the block, many threads may `run` at once, over the same gates and connections: what they run is done in one
        event loop, in a thread of its own. At the end what is under way is cancelled: its callers get
        `concurrent.futures.CancelledError`."""
        home = self._home = asyncio.new_event_loop()
        thread = threading.Thread(target=home.run_forever, name="models", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._home = None
            asyncio.run_coroutine_threadsafe(self._wind_up(), home)
            thread.join(1.0)
            if not thread.is_alive():
                home.close()

    async def _wind_up(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=0.5)
        with suppress(Exception):
            await asyncio.wait_for(self.aclose(), 0.2)
        asyncio.get_running_loop().stop()

    async def aclose(self) -> None:
        """Let go of all connections; for those who brought their own event loop."""
        for model in self._roles.values():
            await model.aclose()

    def close(self) -> None:
        """Let go of connections and files."""
        self._closed = True
        if self._runner is not None:
            self._runner.run(self.aclose())
            self._runner.close()
            self._runner = None
        self.ledger.close()
        if self._cache is not None:
            self._cache.close()

    def __enter__(self) -> Models:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def in_order(
    calls: Iterable[Awaitable[T]], done: Callable[[int, T | LlmError], None] | None = None
) -> list[T | LlmError]:
    """What many calls give, in the order of the calls, however they end; failures of models stand in their places.

    ``done`` hears of each as it ends, with its place: what it keeps stays, should the rest be interrupted. Any other
    exception, Ctrl-C included, cancels the rest and is raised.
    """

    async def one(place: int, call: Awaitable[T]) -> T | LlmError:
        result: T | LlmError
        try:
            result = await call
        except LlmError as error:
            result = error
        if done is not None:
            done(place, result)
        return result

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(place, call)) for place, call in enumerate(calls)]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
