"""What every executor must do."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, cast

from envscaler.errors import BudgetError
from envscaler.plugin.entries import Entry, ExecutorEntry
from envscaler.testing.base import Conformance, not_run, refused, want
from envscaler.work import Ended, Executor, Run, Started

__all__ = ["ExecutorConformance", "coroutine", "function"]

_ENDS = (BudgetError,)
_UNITS = 20
_STOPS = 2.0  # seconds: one, and as much again for a machine with other work


class ExecutorConformance(Conformance):
    """Subclass it with ``make``. ``settings`` are given to it beside `width`; ``takes = "coroutines"`` for one that is given
    coroutine functions; ``seconds`` is how long it may take to begin, and to do twenty short units."""

    make: Callable[[Mapping[str, Any]], Executor]
    settings: ClassVar[Mapping[str, Any]] = {}
    takes: ClassVar[Literal["functions", "coroutines"]] = "functions"
    seconds: ClassVar[float] = 60.0

    @classmethod
    def of(cls, entry: Entry) -> type[Self]:
        made = super().of(entry)
        made.takes = cast(ExecutorEntry, entry).takes
        return made

    @property
    def _function(self) -> Callable[[Any], Any]:
        return coroutine if self.takes == "coroutines" else function

    def _started(self, width: int = 2) -> Started:
        return self.make({**self.settings, "width": width}).start(self._function, _ENDS)

    def _ends(self, values: Sequence[Any], width: int = 2) -> list[Ended]:
        """How the calls with ``values`` end, each once; no more than ``width`` are under way."""
        started, heard = self._started(width), _Heard(len(values))
        try:
            for place, value in enumerate(values):
                heard.wait(self.seconds, place + 1 - width)
                started.submit(value, heard.of(place))
            heard.wait(self.seconds, len(values))
            time.sleep(0.05)  # for what is said twice
        finally:
            started.stop()
        want(
            all(len(ends) == 1 for ends in heard.ends), f"done was called {heard.counts} times for the units, not once"
        )
        return [ends[0] for ends in heard.ends]

    def test_does_every_unit_once(self) -> None:
        """Of twenty units each is called once, and its done hears its value, in whatever order."""
        ends = self._ends([{"value": n} for n in range(_UNITS)])
        want([one.value for one in ends] == list(range(_UNITS)), f"the units gave {_shown(ends)}")

    def test_has_the_width_it_was_given(self) -> None:
        """`width` is the number it was given, and so many units are under way at once; with 0 it chooses, 1 at least."""
        want(self.make({**self.settings, "width": 3}).width == 3, "width is not the one it was given")
        want(self.make({**self.settings, "width": 0}).width >= 1, "width is less than 1")
        with tempfile.TemporaryDirectory() as folder:
            met = [{"meet": folder, "name": str(n), "many": 3, "seconds": self.seconds / 2} for n in range(3)]
            ends = self._ends(met, 3)
        values = [one.value for one in ends]
        want(values == [True] * 3, f"three units were not under way at once: {_shown(ends)}")

    def test_carries_values_as_they_are(self) -> None:
        """What goes in comes out: lone surrogates, long integers, nested values, None."""
        values = ["\ud800\u0000é", 10**400, {"a": [None, {"b": (1, 2.5, True)}]}, None, ""]
        ends = self._ends([{"value": value} for value in values])
        want([one.value for one in ends] == values, f"the units gave {_shown(ends)}")

    def test_an_error_is_a_problem_of_its_unit(self) -> None:
        """What a unit raises becomes its problem, with class and message; the other units go on."""
        one, other = self._ends([{"fail": "it is broken"}, {"value": 1}])
        want(one.problem is not None and one.raised is None, f"an error must be a problem, not {one}")
        assert one.problem is not None
        want((one.problem.error, one.problem.message) == ("ValueError", "it is broken"), f"it is {one.problem}")
        want(other.value == 1 and other.problem is None, "the unit after it has no value")

    def test_what_ends_the_run_comes_back(self) -> None:
        """An exception of the classes `ends` is what was `raised`, as it is."""
        (one,) = self._ends([{"end": "no money is left"}])
        want(isinstance(one.raised, BudgetError), f"a BudgetError must be raised, not {one}")
        want(str(one.raised) == "no money is left", f"its message is {one.raised}")

    def test_stops(self) -> None:
        """`stop` returns within a second while units are under way."""
        with tempfile.TemporaryDirectory() as folder:
            started, heard = self._started(2), _Heard(2)
            for place in range(2):
                started.submit({"sleep": 60, "note": str(Path(folder, str(place)))}, heard.of(place))
            begun = _until(lambda: len(list(Path(folder).iterdir())) == 2, self.seconds)
            began = time.monotonic()
            started.stop()
            took = time.monotonic() - began
        want(begun, f"two units did not begin within {self.seconds:.0f} s")
        want(took < _STOPS, f"stop took {took:.1f} s")

    def test_outlives_a_killed_worker(self) -> None:
        """A unit whose process is killed under it ends in a problem or is done elsewhere; all others are done once."""
        if self.takes == "coroutines":
            not_run("its units run in this process")
        with tempfile.TemporaryDirectory() as folder:
            kill = {"kill": str(Path(folder, "killed")), "here": os.getpid()}
            ends = self._ends([{"value": 0}, kill, *({"value": n} for n in range(1, 8))])
        if ends[1].value == "here":
            not_run("its units run in this process")
        dead = ends.pop(1)
        want(dead.raised is None, f"a killed worker must not end the run: {dead.raised}")
        want(dead.problem is not None or dead.value == "elsewhere", f"the unit of the killed worker gave {dead}")
        want([one.value for one in ends] == list(range(8)), f"the others gave {_shown(ends)}")

    def test_does_the_units_of_a_run(self) -> None:
        """A run of it has all outcomes in order, and has nothing to do the second time."""
        inputs = [{"value": n} for n in range(_UNITS)]
        with tempfile.TemporaryDirectory() as folder:
            for fresh in (True, False):
                executor = self.make({**self.settings, "width": 4})
                with Run.open(folder) as run:
                    outcomes = list(run.map("unit", self._function, inputs, executor=executor))
                want([one.result for one in outcomes] == list(range(_UNITS)), "the outcomes are not those of the units")
                want(
                    all(one.fresh is fresh for one in outcomes),
                    "a unit was done twice" if not fresh else "not all is new",
                )

    def test_refuses_unknown_settings(self) -> None:
        """A setting that it does not know is a UsageError."""
        refused("an executor with an unknown setting", self.make, {**self.settings, "width": 1, "no_such_setting": 1})


def _shown(ends: Sequence[Ended]) -> str:
    return str([one.raised or (str(one.problem) if one.problem else one.value) for one in ends])[:2000]


# -- the units


def function(given: Mapping[str, Any]) -> Any:
    """A unit that does what it is told, by the one key that it is given."""
    if "sleep" in given:
        Path(given["note"]).touch()
        time.sleep(given["sleep"])
    if "meet" in given:
        return _met(given)
    if "kill" in given:
        return _killed(given)
    return _said(given)


async def coroutine(given: Mapping[str, Any]) -> Any:
    """The same for executors that are given coroutine functions."""
    if "sleep" in given:
        Path(given["note"]).touch()
        await asyncio.sleep(given["sleep"])
    if "meet" in given:
        return await asyncio.to_thread(_met, given)
    await asyncio.sleep(0)
    return _said(given)


def _said(given: Mapping[str, Any]) -> Any:
    if "fail" in given:
        raise ValueError(given["fail"])
    if "end" in given:
        raise BudgetError(given["end"])
    return given.get("value")


def _met(given: Mapping[str, Any]) -> bool:
    """Whether so many of these units were there at one time."""
    Path(given["meet"], given["name"]).touch()
    return _until(lambda: len(list(Path(given["meet"]).iterdir())) >= given["many"], given["seconds"])


def _killed(given: Mapping[str, Any]) -> str:
    """Where it is run in another process, the first that gets here kills it."""
    if os.getpid() == given["here"]:
        return "here"
    try:
        Path(given["kill"]).touch(exist_ok=False)
    except FileExistsError:
        return "elsewhere"
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


class _Heard:
    """What was said of each unit, from whichever thread."""

    def __init__(self, units: int) -> None:
        self.ends: list[list[Ended]] = [[] for _ in range(units)]
        self._news = threading.Condition()

    def of(self, place: int) -> Callable[[Ended], None]:
        def done(ended: Ended) -> None:
            with self._news:
                self.ends[place].append(ended)
                self._news.notify_all()

        return done

    @property
    def counts(self) -> list[int]:
        return [len(ends) for ends in self.ends]

    def wait(self, seconds: float, units: int) -> None:
        """Until so many ``units`` have ended."""
        with self._news:
            done = self._news.wait_for(lambda: sum(map(bool, self.ends)) >= units, seconds)
        want(done, f"after {seconds:.0f} s done was called {self.counts} times for the units")


def _until(true: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()
