"""Where units are run: in this thread, in several, in one event loop, or in processes of their own."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from envscaler.errors import UsageError
from envscaler.work.problems import Problem

__all__ = ["Async", "Closing", "Done", "Ended", "Executor", "InProcess", "Processes", "Started", "Threads"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How one call ended: with a value, a problem, or ``raised``, an exception that ends the run."""

    value: Any = None
    problem: Problem | None = None
    raised: BaseException | None = None


Done = Callable[[Ended], None]


class Started(Protocol):
    """A function that is ready to be called."""

    def submit(self, value: Any, done: Done) -> None:
        """Call the function with ``value``; ``done`` hears how it ended, from any thread, before this returns or later.
        Never more than `width` are under way."""
        ...

    def stop(self) -> None:
        """End what is under way, within a second; ``done`` may or may not be called for it."""
        ...


class Executor(Protocol):
    """Runs a function many times. ``width`` is how many calls it takes at once."""

    @property
    def width(self) -> int: ...

    def start(self, function: Callable[[Any], Any], ends: tuple[type[BaseException], ...]) -> Started:
        """Get ready to call ``function``. Exceptions of the classes ``ends`` come back as they are, as `raised`.

        Where ``function`` has an `aclose`, whoever calls it in an event loop runs that there at the end.
        """
        ...


@dataclass(frozen=True, slots=True)
class Closing:
    """A coroutine function, and ``aclose`` for what belongs to its event loop, like connections."""

    function: Callable[[Any], Coroutine[Any, Any, Any]]
    aclose: Callable[[], Coroutine[Any, Any, None]]

    def __call__(self, value: Any) -> Coroutine[Any, Any, Any]:
        return self.function(value)


def called(call: Callable[[], Any], ends: tuple[type[BaseException], ...]) -> Ended:
    """How ``call()`` ends. KeyboardInterrupt passes."""
    try:
        return Ended(call())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _ended(error, ends)


def _ended(error: BaseException, ends: tuple[type[BaseException], ...]) -> Ended:
    return Ended(raised=error) if isinstance(error, ends) else Ended(problem=Problem.of(error))


def _checked(width: int) -> None:
    if width < 1:
        raise UsageError(f"an executor runs at least one unit at once, not {width}")


@dataclass(frozen=True, slots=True)
class InProcess:
    """One call after the other, in the thread that asks."""

    width: int = 1

    def start(self, function: Callable[[Any], Any], ends: tuple[type[BaseException], ...]) -> Started:
        return _Direct(function, ends)


class _Direct:
    def __init__(self, function: Callable[[Any], Any], ends: tuple[type[BaseException], ...]) -> None:
        self._function = function
        self._ends = ends

    def submit(self, value: Any, done: Done) -> None:
        done(called(partial(self._function, value), self._ends))

    def stop(self) -> None:
        """Nothing is under way."""


Call = Callable[[Any], Ended]


class Lanes:
    """Threads that take what is submitted; each makes its own way of calling, and closes it. They keep no program alive."""

    def __init__(self, width: int, lane: Callable[[], tuple[Call, Callable[[], None]]]) -> None:
        self._tasks: queue.SimpleQueue[tuple[Context, Any, Done] | None] = queue.SimpleQueue()
        self._width = width
        self._lane = lane
        self._free = threading.Semaphore(0)
        self._started = 0
        self.stopped = threading.Event()
        self._closers: list[Callable[[], None]] = []

    def submit(self, value: Any, done: Done) -> None:
        self._tasks.put((copy_context(), value, done))
        if not self._free.acquire(blocking=False) and self._started < self._width:
            self._started += 1
            threading.Thread(target=self._run, name=f"unit-{self._started}", daemon=True).start()

    def _run(self) -> None:
        call, close = self._lane()
        self._closers.append(close)
        while not self.stopped.is_set() and (task := self._tasks.get()) is not None:
            context, value, done = task
            ended = context.run(call, value)
            if self.stopped.is_set():
                return
            done(ended)
            self._free.release()

    def stop(self) -> None:
        self.stopped.set()
        for _ in range(self._started):
            self._tasks.put(None)
        for close in self._closers:
            close()


@dataclass(frozen=True, slots=True)
class Threads:
    """Calls in threads, for functions that wait. A thread cannot be ended: what it does when a run is stopped is let run
    and not written down."""

    width: int = 4

    def __post_init__(self) -> None:
        _checked(self.width)

    def start(self, function: Callable[[Any], Any], ends: tuple[type[BaseException], ...]) -> Started:
        def call(value: Any) -> Ended:
            return called(partial(function, value), (*ends, KeyboardInterrupt))

        return Lanes(self.width, lambda: (call, lambda: None))


@dataclass(frozen=True, slots=True)
class Processes:
    """Calls in processes. The function is a module's; it, its input and its result can be pickled.

    A process that dies costs the unit that it was at, and is replaced. All end with this process, even when it is killed.
    """

    width: int = 2

    def __post_init__(self) -> None:
        _checked(self.width)

    def start(self, function: Callable[[Any], Any], ends: tuple[type[BaseException], ...]) -> Started:
        from envscaler.work.processes import Worker

        def lane() -> tuple[Call, Callable[[], None]]:
            worker = Worker(function, ends)
            return worker.call, worker.kill

        return Lanes(self.width, lane)


@dataclass(frozen=True, slots=True)
class Async:
    """Calls of a coroutine function as tasks of one event loop, which runs in a thread of its own."""

    width: int = 16

    def __post_init__(self) -> None:
        _checked(self.width)

    def start(self, function: Callable[[Any], Any], ends: tuple[type[BaseException], ...]) -> Started:
        return _Loop(function, ends)


class _Loop:
    def __init__(
        self,
        function: Callable[[Any], Coroutine[Any, Any, Any]],
        ends: tuple[type[BaseException], ...],
    ) -> None:
        self._function = function
        self._ends = ends
        self._close: Callable[[], Coroutine[Any, Any, None]] | None = getattr(function, "aclose", None)
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="units", daemon=True)
        self._thread.start()

    def submit(self, value: Any, done: Done) -> None:
        def begin() -> None:
            task = self._loop.create_task(self._run(value, done))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._loop.call_soon_threadsafe(begin)

    async def _run(self, value: Any, done: Done) -> None:
        try:
            ended = Ended(await self._function(value))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            ended = Ended(problem=Problem("CancelledError", "the unit cancelled itself"))
        except BaseException as error:
            ended = _ended(error, (*self._ends, KeyboardInterrupt))
        done(ended)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        self._thread.join(0.8)
        if not self._thread.is_alive():
            self._loop.close()

    async def _end(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)
        if self._close is not None:
            with suppress(Exception):
                await asyncio.wait_for(self._close(), 0.2)
        await self._loop.shutdown_asyncgens()
        self._loop.stop()
