"""What the classes for TRL have in common: an episode at a time, begun by `reset`, played by tools, ended by `get_reward`."""

from __future__ import annotations

import asyncio
import copyreg
import json
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from envscaler import UsageError

if TYPE_CHECKING:
    from envscaler_trl.environments import Environments

__all__ = ["SpecEnvironment", "outcome"]

T = TypeVar("T")

_LAST: Final = "I am done."
"""Stands for the model's last message, which TRL does not tell an environment. What it says changes nothing."""

_OVER: Final = json.dumps({"success": False, "error": "The episode is over; this call was not run."})


class Made(type):
    """The kind of the classes. One that is sent to another process is made there again, of the same files."""

    _source: Environments
    _spec: str


class SpecEnvironment(metaclass=Made):
    """One environment of a batch; TRL makes as many as it needs and resets them again and again.

    Every public method but `reset` and `get_reward` is a tool, and no other name is public. Not for several threads at once.
    """

    _source: ClassVar[Environments]
    _spec: ClassVar[str]
    _say: ClassVar[str]  # the tool by which the user is talked to

    def __init__(self) -> None:
        self._episode: Any = None
        self._reward: float | None = None
        self._info: dict[str, Any] = {}

    def reset(self, **row: Any) -> str | None:
        """Begin the episode of a row, which has the `id` of a scenario or a whole `scenario` as JSON text; other columns are
        not looked at. What is to be added to the prompt, if anything. Raises SpecError, StateError, UsageError."""
        self._episode, self._reward, self._info = None, None, {}
        self._episode, seen = _apart(lambda: self._source._begin(self._spec, row))
        return self._source._added(seen, prompted=bool(row.get("prompt")))

    def get_reward(self) -> float:
        """The reward of the episode, which it ends: of the state that was reached, by the scenario's goals and guards. NaN,
        which TRL leaves out, where the episode broke through no fault of the model. The same however often it is asked for."""
        if self._episode is None:
            raise UsageError("there is no reward before reset")
        while not self._episode.done:
            self._step(_LAST)
        return math.nan if self._reward is None else self._reward

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Run a call of the model; what it is shown."""
        if self._episode is None:
            raise UsageError("an episode begins with reset")
        if self._episode.done:
            return _OVER
        if tool == self._say:
            seen = self._step(str(arguments.get("message") or ""))
            return str(seen.text or self._info.get("reason") or "")
        return str(self._step({"name": tool, "arguments": dict(arguments)}).text)

    def _step(self, action: Any) -> Any:
        episode = self._episode
        seen, reward, done, info = _apart(lambda: episode.step(action))
        self._info = info
        if done:
            self._reward = reward
        return seen


def outcome(environment: SpecEnvironment) -> dict[str, Any]:
    """How the episode of an environment stands: `status` and `reason`, the last `calls`, and once it is over the `goals` and
    `guards` that decide its reward. For reward functions, which TRL gives the `environments` of a batch."""
    return dict(environment._info)


def _reduced(cls: Made) -> Any:
    """How pickle names a class: the bare one by its name, as any; a made one by what it can be made of."""
    return cls._source._remade(cls._spec) if hasattr(cls, "_source") else cls.__qualname__


copyreg.pickle(Made, _reduced)


@cache
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="envscaler-trl")


def _apart(act: Callable[[], T]) -> T:
    """What ``act`` gives, which runs an event loop of its own: in another thread where one is running, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return act()
    return _worker().submit(act).result()
