"""The shipped executors pass the suite that plugins' pass, and each test of it finds what it is for."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any
from unittest import SkipTest

import pytest

from envscaler.builtin.executors import EXECUTORS
from envscaler.errors import UsageError
from envscaler.plugin.entries import ExecutorEntry
from envscaler.testing import ExecutorConformance
from envscaler.testing.run import suite
from envscaler.work import Done, Ended, Problem, Processes, Threads

TESTS = list(ExecutorConformance.wanted())
SHIPPED = [
    pytest.param(entry, test, id=f"{entry.name}-{test}", marks=[pytest.mark.slow] * (entry.name == "processes"))
    for entry in EXECUTORS
    for test in TESTS
    if entry.takes == "functions" or test != "test_outlives_a_killed_worker"
]


@pytest.mark.parametrize(("entry", "test"), SHIPPED)
def test_what_ships(entry: ExecutorEntry, test: str) -> None:
    getattr(suite("executor").of(entry)(), test)()


# -- executors of threads, and what is wrong with them


class Good:
    """Calls in threads."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        if set(settings) - {"width"}:
            raise UsageError("there are no settings")
        self.width = settings["width"] or 4

    def start(self, function: Any, ends: Any) -> Any:
        self.started = Threads(self.width).start(function, ends)
        return self

    def submit(self, value: Any, done: Done) -> None:
        self.started.submit(value, done)

    def stop(self) -> None:
        self.started.stop()


class Twice(Good):
    def submit(self, value: Any, done: Done) -> None:
        def heard(ended: Ended) -> None:
            done(ended)
            done(ended)

        super().submit(value, heard)


class Narrow(Good):
    def start(self, function: Any, ends: Any) -> Any:
        self.started = Threads(1).start(function, ends)
        return self


class AsText(Good):
    def submit(self, value: Any, done: Done) -> None:
        super().submit(value, lambda ended: done(Ended(str(ended.value))))


class Swallowing(Good):
    def submit(self, value: Any, done: Done) -> None:
        super().submit(value, lambda ended: done(Ended(ended.value)))


class Tolerant(Good):
    def start(self, function: Any, ends: Any) -> Any:
        return super().start(function, ())


class Patient(Good):
    def stop(self) -> None:
        threading.Event().wait(2.2)
        super().stop()


class Fragile(Good):
    """Ends the run when a process dies."""

    def start(self, function: Any, ends: Any) -> Any:
        self.started = Processes(2).start(function, ends)
        return self

    def submit(self, value: Any, done: Done) -> None:
        def heard(ended: Ended) -> None:
            dead = ended.problem is not None and ended.problem.error == "WorkerDied"
            done(Ended(raised=UsageError("dead")) if dead else ended)

        self.started.submit(value, heard)


class Failing(Good):
    def submit(self, value: Any, done: Done) -> None:
        done(Ended(problem=Problem("X", "not today")))


class Lenient(Good):
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.width = settings["width"] or 4


BROKEN = {
    "test_does_every_unit_once": Twice,
    "test_has_the_width_it_was_given": Narrow,
    "test_carries_values_as_they_are": AsText,
    "test_an_error_is_a_problem_of_its_unit": Swallowing,
    "test_what_ends_the_run_comes_back": Tolerant,
    "test_stops": Patient,
    "test_outlives_a_killed_worker": Fragile,
    "test_does_the_units_of_a_run": Failing,
    "test_refuses_unknown_settings": Lenient,
}


def of(make: Any) -> Any:
    return type("Suite", (ExecutorConformance,), {"make": staticmethod(make), "seconds": 2.0})()


def test_every_test_has_something_that_breaks_it() -> None:
    assert list(BROKEN) == sorted(TESTS, key=list(BROKEN).index)


WAITING = (
    "test_has_the_width_it_was_given",
    "test_stops",
)  # for two seconds, whether what is wrong will still come right


@pytest.mark.parametrize("test", [pytest.param(test, marks=[pytest.mark.slow] * (test in WAITING)) for test in BROKEN])
def test_it_refuses_what_breaks_it(test: str) -> None:
    if test == "test_outlives_a_killed_worker":
        with pytest.raises(SkipTest):
            getattr(of(Good), test)()
    else:
        getattr(of(Good), test)()
    with pytest.raises(AssertionError):
        getattr(of(BROKEN[test]), test)()
