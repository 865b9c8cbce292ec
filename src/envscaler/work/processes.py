"""A process that calls a function again and again; when it dies, the call says so and the next one gets a new process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from envscaler.errors import UsageError
from envscaler.work.carrying import answered, packed, unpacked
from envscaler.work.errors import WorkError
from envscaler.work.executors import Ended
from envscaler.work.problems import Problem

__all__ = ["Worker"]

# Spawned, not forked: this process has threads.
_SPAWN = multiprocessing.get_context("spawn")


class Worker:
    """One process at a time. `call` is for one thread; `kill` may come from any."""

    def __init__(self, function: Callable[[Any], Any], ends: tuple[type[BaseException], ...]) -> None:
        self._begin = (function, ends)
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._lock = threading.Lock()
        self._killed = False

    def call(self, value: Any) -> Ended:
        """How the function ends in the process."""
        try:
            message = packed(value)
            pipe = self._open()
        except (UsageError, WorkError) as error:
            return Ended(raised=error)
        except Exception as error:
            return Ended(raised=UsageError(f"what is run in processes must be a module's and be picklable: {error}"))
        try:
            pipe.send_bytes(message)
            return unpacked(pipe.recv_bytes())
        except (EOFError, OSError):
            return self._died()

    def _open(self) -> Connection:
        if self._pipe is not None:
            return self._pipe
        with self._lock:
            if self._killed:
                raise WorkError("the run was stopped")
            ours, theirs = _SPAWN.Pipe()
            process = _SPAWN.Process(target=_serve, args=(theirs, *self._begin), daemon=True)
            try:
                process.start()
            finally:
                theirs.close()
            self._process, self._pipe = process, ours
        try:
            self._pipe.recv_bytes()
        except (EOFError, OSError):
            self._pipe = None
            raise WorkError(
                "no process could be started for the run; its own words are above, and a script that starts processes runs "
                "its work under `if __name__ == '__main__':`"
            ) from None
        return self._pipe

    def _died(self) -> Ended:
        process, self._process, self._pipe = self._process, None, None
        assert process is not None
        process.join(5)
        code = process.exitcode
        if code is not None and -code in (signal.SIGINT, signal.SIGTERM):
            name = signal.Signals(-code).name
            return Ended(raised=WorkError(f"a process of the run was ended by {name}; run the same again to go on"))
        how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        return Ended(problem=Problem("WorkerDied", f"the process of this unit ended {how}"))

    def kill(self) -> None:
        """End the process at once."""
        with self._lock:
            self._killed = True
            process = self._process
        if process is not None:
            process.kill()


def _serve(pipe: Connection, function: Callable[[Any], Any], ends: tuple[type[BaseException], ...]) -> None:
    """The life of a process: calls until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; who asked for the work ends it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pipe.send_bytes(b"ready")
    while True:
        try:
            message = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(answered(function, message, ends))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
