"""The executor: a unit is a task of Ray, which does it again elsewhere when its worker dies."""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any

import ray
from ray.exceptions import RayError, TaskCancelledError, WorkerCrashedError

from envscaler.work import Done, Ended, Problem, WorkError, answered, packed, unpacked
from envscaler_ray.cluster import joined, room
from envscaler_ray.settings import Settings

__all__ = ["RayExecutor"]

Call = tuple[Callable[[Any], Any], tuple[type[BaseException], ...]]


class RayExecutor:
    """Does units on a cluster, which is joined when it is first needed."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.settings = Settings.of(given)

    @property
    def width(self) -> int:
        """How many units are done at once."""
        if not self.settings.width:
            joined(self.settings)
        return self.settings.width or room(self.settings.cpus)

    def start(self, function: Callable[[Any], Any], ends: tuple[type[BaseException], ...]) -> _Started:
        """Join the cluster."""
        call = packed((function, ends))
        return _Started(self.settings, 0 if joined(self.settings) else self.settings.cpus, call)


class _Started:
    """Hands in tasks; a thread of its own tells how they ended."""

    def __init__(self, settings: Settings, cpus: float, call: bytes) -> None:
        # Workers keep what they need for the next unit, and are kept for it as long as the cluster has room.
        task = ray.remote(_answer)
        self._task = task.options(num_cpus=cpus, max_retries=settings.again, name="envscaler unit")
        self._again = settings.again
        self._call = ray.put(call)
        self._told = {name: value for name, value in os.environ.items() if name.startswith("ENVSCALER_")}
        self._running: set[Any] = set()
        self._lock = threading.Lock()
        self._news: queue.SimpleQueue[tuple[Any, Done] | None] = queue.SimpleQueue()
        threading.Thread(target=self._tell, name="ray-units", daemon=True).start()

    def submit(self, value: Any, done: Done) -> None:
        """Hand in a unit."""
        task = self._task.remote(self._call, packed(value), self._told)
        with self._lock:
            self._running.add(task)
        task.future().add_done_callback(lambda _: self._news.put((task, done)))

    def _tell(self) -> None:
        while (news := self._news.get()) is not None:
            task, done = news
            with self._lock:
                self._running.discard(task)
            ended = self._ended(task)
            if ended is not None:
                done(ended)

    def _ended(self, task: Any) -> Ended | None:
        try:
            return unpacked(ray.get(task))
        except TaskCancelledError:
            return None
        except WorkerCrashedError:
            return Ended(problem=Problem("WorkerDied", f"the worker of this unit died {self._again + 1} times"))
        except RayError as error:  # such as a worker without what is installed here; what units raise is answered
            said = str(error).strip().splitlines() or [type(error).__name__]
            return Ended(raised=WorkError(f"Ray could not do a unit: {said[-1][:500]}"))

    def stop(self) -> None:
        """Cancel what is under way."""
        with self._lock:
            running, self._running = list(self._running), set()
        for task in running:
            ray.cancel(task, force=True)
        self._news.put(None)


def _answer(call: bytes, value: bytes, told: Mapping[str, str]) -> bytes:
    """One unit, in a worker."""
    os.environ.update(told)
    function, ends = pickle.loads(call)  # noqa: S301 - from who asked for the work
    return answered(function, value, ends)
