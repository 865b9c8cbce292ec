"""Another time and other random numbers for the code that runs within, each the same whenever it is asked for."""

from __future__ import annotations

import datetime
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

__all__ = ["Elsewhere"]

_REAL_DATE, _REAL_DATETIME, _REAL_URANDOM = datetime.date, datetime.datetime, os.urandom
_TIMES = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "localtime", "gmtime", "strftime", "ctime")
_REAL = {name: getattr(time, name) for name in _TIMES}
_BEGIN = 1_893_456_000.25  # seconds of the epoch; number n is n times 400 days and some hours later
_APART = 400 * 86_400 + 5 * 3600 + 17 * 60


class _Kind(type):
    """Dates that were made before count as dates."""

    real: Any

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.real)


class Elsewhere:
    """For one environment class: `at(time, numbers)` is a context in which clocks and random numbers are those of that time
    and those numbers, for whoever asks `time`, `datetime`, `random`, `os.urandom` and what stands on them.

    Names that modules of the class, or of envscaler, took from those modules are replaced too. Other threads, such as one that
    keeps a journal alive, are told the real ones. ``asked`` says afterwards which were asked for: `clock`, `numbers`.
    """

    def __init__(self, environment: type[Any]) -> None:
        self._now = _BEGIN
        self._thread = 0
        self._bits = random.Random(0)  # noqa: S311
        self.asked: frozenset[str] = frozenset()
        self._asked: set[str] = set()
        replaced = self._replacements()
        places: list[tuple[dict[str, Any], str]] = [(vars(time), name) for name in _TIMES]
        places += [
            (vars(datetime), "date"),
            (vars(datetime), "datetime"),
            (vars(os), "urandom"),
            (vars(random), "_urandom"),
        ]
        for module in _modules(environment):
            names = vars(module)
            places += [(names, name) for name, value in list(names.items()) if _known(value, replaced)]
        self._places = [(names, name, names[name], replaced[id(names[name])]) for names, name in places]

    def _replacements(self) -> dict[int, Any]:
        def now() -> float:
            self._now += 1e-6
            self._asked.add("clock")
            return self._now

        def here() -> bool:
            return get_ident() == self._thread

        def told(name: str) -> Callable[..., Any]:
            real, other = _REAL[name], times[name]
            return lambda *given: other(*given) if here() else real(*given)

        def urandom(size: int) -> bytes:
            if not here():
                return _REAL_URANDOM(size)
            self._asked.add("numbers")
            return self._bits.randbytes(size)

        def shown(at: Any) -> float:
            return now() if at is None else at

        class Date(datetime.date, metaclass=_Kind):
            real = _REAL_DATE

            @classmethod
            def today(cls) -> Any:
                return _REAL_DATETIME.fromtimestamp(now()).date() if here() else _REAL_DATE.today()

        class DateTime(datetime.datetime, metaclass=_Kind):
            real = _REAL_DATETIME

            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return _REAL_DATETIME.fromtimestamp(now() if here() else _REAL["time"](), tz)

            @classmethod
            def utcnow(cls) -> Any:
                return cls.now(datetime.UTC).replace(tzinfo=None)

            @classmethod
            def today(cls) -> Any:
                return cls.now()

        times: dict[str, Any] = {
            "time": now,
            "time_ns": lambda: int(now() * 1e9),
            "monotonic": now,
            "monotonic_ns": lambda: int(now() * 1e9),
            "perf_counter": now,
            "localtime": lambda at=None: _REAL["localtime"](shown(at)),
            "gmtime": lambda at=None: _REAL["gmtime"](shown(at)),
            "strftime": lambda form, at=None: _REAL["strftime"](form, _REAL["localtime"](now()) if at is None else at),
            "ctime": lambda at=None: _REAL["ctime"](shown(at)),
        }
        found = {id(_REAL[name]): told(name) for name in times}
        found[id(_REAL_DATE)], found[id(_REAL_DATETIME)] = Date, DateTime
        found[id(_REAL_URANDOM)] = urandom
        return found

    @contextmanager
    def at(self, number: int, numbers: int) -> Iterator[None]:
        """Time ``number`` and the random numbers that begin at ``numbers``."""
        self._now = _BEGIN + _APART * number
        self._bits.seed(numbers)
        self._thread = get_ident()
        before = random.getstate()
        for names, name, _, shifted in self._places:
            names[name] = shifted
        random.seed(numbers)
        seeded = random.getstate()
        self._asked.clear()
        try:
            yield
        finally:
            self.asked = frozenset(self._asked | ({"numbers"} if random.getstate() != seeded else set()))
            for names, name, real, _ in self._places:
                names[name] = real
            random.setstate(before)


def _known(value: Any, replaced: dict[int, Any]) -> bool:
    return id(value) in replaced


def _modules(environment: type[Any]) -> list[Any]:
    names = dict.fromkeys(cls.__module__ for cls in environment.__mro__)
    for tool in getattr(environment, "tool_table", ()):
        names[getattr(tool.run, "__module__", "")] = None
    runtime = sorted(n for n in sys.modules if n.startswith("envscaler.runtime"))
    wanted = dict.fromkeys((*names, *runtime))
    return [sys.modules[n] for n in wanted if n in sys.modules and n not in ("builtins", "typing")]
