"""A run: a folder in which units of work are done once, whoever is interrupted, killed, or works on it at the same time."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Literal, TypeVar

from envscaler.errors import BudgetError, EnvscalerError, UsageError
from envscaler.work import errors
from envscaler.work.canonical import digest, dumps
from envscaler.work.events import Counts, Event, Listener, What
from envscaler.work.executors import Ended, Executor, InProcess, Started
from envscaler.work.journal import Journal, Kept, Unit
from envscaler.work.owners import Presence
from envscaler.work.problems import Problem

__all__ = ["Outcome", "Run"]

T = TypeVar("T")

_LEASE: Final = 30.0
_LOOKED_AT: Final = 64  # units looked at in one transaction
_FIRST_LOOK, _LAST_LOOK = 0.02, 0.5  # seconds between looks at units of other processes
_TICK: Final = 0.2  # seconds after which a wait looks for Ctrl-C


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What came of one input.

    ``result`` is the function's, as JSON carries it (tuples are lists); ``problem`` stands in its place when it failed.
    ``fresh``: it was done by this `map`, and not before or by another process. ``seconds`` is how long the call took.
    """

    key: str
    label: str
    input: T
    state: Literal["done", "failed"]
    result: Any
    problem: Problem | None
    fresh: bool
    seconds: float

    @property
    def ok(self) -> bool:
        return self.state == "done"


class Run:
    """A folder with a journal. `with Run.open(folder) as run:`; several processes may have it open and work on it."""

    def __init__(self, folder: Path, lease: float) -> None:
        if not lease > 0:
            raise UsageError(f"a lease is a number of seconds above 0, not {lease}")
        self.folder = folder
        self._lease = lease
        self._journal = Journal(folder, lease)
        self._presence: Presence | None = None
        self._closed = threading.Event()

    @classmethod
    def open(cls, folder: Path | str, *, lease: float = _LEASE) -> Run:
        """The run of a folder, which is made where there is none.

        ``lease``: seconds after which the units of a process that has stopped (not ended: that is seen at once) are
        somebody else's. Raises JournalError and the classes below it.
        """
        return cls(Path(folder), lease)

    # -- what is known

    def units(self, kind: str | None = None) -> Iterator[Unit]:
        """All units, or those of a kind, as they stand."""
        return self._journal.units(kind)

    def kept(self, kind: str, input: Any) -> Kept | None:  # noqa: A002 - what a unit gets is called so everywhere
        """What came of an input, None while nothing has."""
        return self._journal.kept(digest(kind, input))

    # -- work

    def map(
        self,
        kind: str,
        function: Callable[[T], Any],
        inputs: Iterable[T],
        *,
        executor: Executor | None = None,
        retry_failed: bool = False,
        in_order: bool = False,
        label: Callable[[T], str] | None = None,
        listen: Listener | None = None,
        ends: tuple[type[BaseException], ...] = (BudgetError,),
    ) -> Iterator[Outcome[T]]:
        """The outcomes of ``function`` for ``inputs``, in their order, each as soon as it and those before it are there.

        A unit is ``kind`` and an input, which is JSON; what the journal has an outcome for is not run again, but for
        failures with ``retry_failed``. With ``in_order`` a unit begins when the outcomes of those before it were given out,
        whoever did them: for work that builds on what came before.

        A result is written down before its outcome is given. What ``function`` raises is a failed outcome; but the classes
        of ``ends`` end the work, as Ctrl-C and closing the iterator do: what was finished is kept, what was under way is
        given back. Raises UsageError for inputs that are not JSON, JournalError.
        """
        if not kind or _clean(kind) != kind:
            raise UsageError(f"a kind of units is a name, not {ascii(kind)[:40]}")
        task = _Map(self, self._journal, kind, list(inputs), label, listen, in_order)
        return task.outcomes(function, executor or InProcess(), retry_failed, ends)

    def owner(self) -> str:
        """The name under which this process claims units; from now on it is known to be working."""
        if self._presence is None:
            try:
                self._presence = Presence(self._journal.presences)
            except OSError as error:
                raise errors.of(self._journal.presences, error) from None
            self._journal.beat(self._presence.id)
            threading.Thread(target=self._beat, args=(self._presence.id,), name="heartbeat", daemon=True).start()
        return self._presence.id

    def _beat(self, owner: str) -> None:
        while not self._closed.wait(self._lease / 4):
            with suppress(Exception):  # what is wrong is met by those who write results
                self._journal.beat(owner)

    def close(self) -> None:
        """Give back what is claimed, and let go of the files."""
        self._closed.set()
        if self._presence is not None:
            with suppress(EnvscalerError):
                self._journal.leave(self._presence.id)
            self._presence.leave()
            self._presence = None
        self._journal.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Map(Generic[T]):
    """One `map`: which units are left, which are running, and what may be given out next."""

    def __init__(
        self,
        run: Run,
        journal: Journal,
        kind: str,
        inputs: list[T],
        label: Callable[[T], str] | None,
        listen: Listener | None,
        in_order: bool,
    ) -> None:
        self._in_order = in_order
        self._run = run
        self._journal = journal
        self._kind = kind
        self._inputs = inputs
        self._keys = [digest(kind, one) for one in inputs]
        self._first: dict[str, T] = {}
        for key, one in zip(self._keys, inputs, strict=True):
            self._first.setdefault(key, one)
        self._labels = {key: _clean(label(one)) if label else key[:12] for key, one in self._first.items()}
        self._counts = Counts(len(self._first))
        self._listen = listen
        self._lock = threading.RLock()
        self._left: deque[str] = deque()
        self._running: dict[str, float] = {}
        self._settled: set[str] = set()
        self._fresh: set[str] = set()
        self._stopped = False
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._error: BaseException | None = None

    def outcomes(
        self,
        function: Callable[[T], Any],
        executor: Executor,
        retry_failed: bool,
        ends: tuple[type[BaseException], ...],
    ) -> Iterator[Outcome[T]]:
        again = self._begin(retry_failed)
        started = executor.start(function, ends)
        finished = False
        try:
            place, pause = 0, _FIRST_LOOK
            while place < len(self._keys):
                self._hear(None)
                if self._error is not None:
                    raise self._error
                if self._keys[place] in self._settled:
                    yield self._outcome(place)
                    place += 1
                    continue
                moved = self._fill(started, 1 if self._in_order else executor.width, again)
                pause = _FIRST_LOOK if moved or self._running else min(pause * 1.5, _LAST_LOOK)
                if self._keys[place] not in self._settled:
                    self._hear(pause if self._left and len(self._running) < executor.width else _TICK)
            finished = True
        finally:
            self._end(started, finished)

    def _hear(self, seconds: float | None) -> None:
        """Forget the news, or wait for some.

        A queue and no event: Ctrl-C during `Event.wait` can fall between the release of its lock and taking it again, and
        comes out as a `RuntimeError` about an unlocked lock.
        """
        try:
            if seconds is None:
                while True:
                    self._news.get_nowait()
            self._news.get(timeout=seconds)
        except queue.Empty:
            pass

    def _begin(self, retry_failed: bool) -> Mapping[str, int]:
        """Note the units, take over what is known; those to try again, with how often they have failed."""
        self._journal.add((key, self._kind, self._labels[key], dumps(one)) for key, one in self._first.items())
        self._tell("started")
        attempts = self._journal.attempts(self._kind)
        again = {key: attempts[key] for key in self._first if attempts.get(key)} if retry_failed else {}
        for key in self._first:
            if key in attempts and key not in again:
                self._settle("skipped", key)
            else:
                self._left.append(key)
        return again

    def _fill(self, started: Started, width: int, again: Mapping[str, int]) -> bool:
        """Begin units until ``width`` are running, or all that are left are held by others; whether anything moved.

        At most ``width`` begin, so that what ends at once is given out before the next begins.
        """
        moved, held, left, begun = False, list[str](), self._left, 0
        while left and len(self._running) < width and begun < width and self._error is None:
            looked = [left.popleft() for _ in range(1 if self._in_order else min(_LOOKED_AT, len(left)))]
            claim = self._journal.claim(looked, self._run.owner(), again)
            for key in claim.known:
                self._settle("skipped", key)
            held += claim.held
            moved = moved or len(claim.held) < len(looked)
            seen = len(claim.known) + len(claim.held) + (claim.key is not None)
            left.extendleft(reversed(looked[seen:]))
            if claim.key is not None:
                begun += 1
                self._submit(claim.key, started)
            if self._in_order:
                break
        left.extendleft(reversed(held))
        return moved

    def _submit(self, key: str, started: Started) -> None:
        with self._lock:
            self._running[key] = time.monotonic()
            self._tell("claimed", key)
        started.submit(self._first[key], lambda ended: self._ended(key, ended))

    def _ended(self, key: str, ended: Ended) -> None:
        """Write down how a unit ended; called by the executor, from any thread."""
        try:
            if ended.raised is not None:
                raise ended.raised
            if not self._stopped:
                self._write(key, ended)
        except BaseException as error:
            if self._error is None:
                self._error = error
        finally:
            self._news.put(None)

    def _write(self, key: str, ended: Ended) -> None:
        seconds = time.monotonic() - self._running[key]
        problem, value = ended.problem, ""
        if problem is None:
            try:
                value = dumps(ended.value)
            except UsageError as error:
                problem = Problem("UsageError", f"the result of the unit is not JSON: {error}")
        if problem is not None:
            value = dumps(problem.to_json())
        state: Literal["done", "failed"] = "done" if problem is None else "failed"
        new = self._journal.finish(key, self._run.owner(), state, value, seconds)
        with self._lock:
            del self._running[key]
            if new:
                self._fresh.add(key)
                self._settle(state, key, seconds, problem)
            else:  # this process stood still for so long that another one took the unit: see what came of it
                self._left.appendleft(key)

    def _settle(
        self, what: Literal["done", "failed", "skipped"], key: str, seconds: float = 0.0, problem: Problem | None = None
    ) -> None:
        with self._lock:
            self._settled.add(key)
            self._counts = self._counts.and_one(what)
            self._tell(what, key, seconds, problem)

    def _tell(self, what: What, key: str = "", seconds: float = 0.0, problem: Problem | None = None) -> None:
        if self._listen is not None and (not self._stopped or what == "interrupted"):
            counts = replace(self._counts, running=len(self._running))
            self._listen(Event(what, self._kind, counts, key, self._labels.get(key, ""), seconds, problem))

    def _outcome(self, place: int) -> Outcome[T]:
        key = self._keys[place]
        kept = self._journal.kept(key)
        assert kept is not None
        problem = Problem.from_json(kept.value) if kept.state == "failed" else None
        return Outcome(
            key, self._labels[key], self._inputs[place], kept.state, None if problem else kept.value, problem,
            key in self._fresh, kept.seconds,
        )  # fmt: skip

    def _end(self, started: Started, finished: bool) -> None:
        if finished:
            self._tell("finished")
        self._stopped = True
        started.stop()
        with self._lock:
            running, self._running = list(self._running), {}
            for key in running:
                with suppress(EnvscalerError):
                    self._journal.release(key, self._run.owner())
            if not finished:
                self._tell("interrupted")


def _clean(label: str) -> str:
    return label.encode("utf-8", "backslashreplace").decode()
