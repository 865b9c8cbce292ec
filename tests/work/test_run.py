"""A run does each unit once, keeps what it did, and says what happens."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from envscaler.errors import BudgetError, UsageError
from envscaler.work import Async, Closing, Event, Executor, InProcess, Processes, Run, Threads, WorkError
from tests.soon import SOON
from tests.work import units

EXECUTORS = [InProcess(), Threads(4), Processes(2), Async(4)]
each_executor = pytest.mark.parametrize("executor", EXECUTORS, ids=lambda e: type(e).__name__)


def function_for(executor: Executor) -> Any:
    return units.later_square if isinstance(executor, Async) else units.square


@each_executor
def test_results_in_input_order(tmp_path: Path, executor: Executor) -> None:
    inputs = [7, 1, 5, 1, 9, 3, 0, 12, 8]
    with Run.open(tmp_path) as run:
        outcomes = list(run.map("square", function_for(executor), inputs, executor=executor))
    assert [o.input for o in outcomes] == inputs
    assert [o.result for o in outcomes] == [n * n for n in inputs]
    assert all(o.ok and o.fresh for o in outcomes)


@each_executor
def test_resume_is_the_default(tmp_path: Path, executor: Executor) -> None:
    with Run.open(tmp_path) as run:
        list(run.map("square", units.square, [1, 2, 3]))
    with Run.open(tmp_path) as run:
        outcomes = list(run.map("square", function_for(executor), [2, 3, 4], executor=executor))
    assert [(o.result, o.fresh) for o in outcomes] == [(4, False), (9, False), (16, True)]


def test_a_kind_is_part_of_a_unit(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        [one] = run.map("square", units.square, [5])
        [other] = run.map("same", lambda n: n, [5])
        assert (one.result, other.result) == (25, 5)
        assert [(u.kind, u.state, u.inputs) for u in run.units()] == [("square", "done", 5), ("same", "done", 5)]
        assert [u.kind for u in run.units("same")] == ["same"]
        kept = run.kept("square", 5)
        assert kept is not None
        assert (kept.state, kept.value) == ("done", 25)
        assert run.kept("square", 6) is None


def test_equal_inputs_are_one_unit(tmp_path: Path) -> None:
    calls: list[Any] = []
    with Run.open(tmp_path) as run:
        inputs = [{"a": 1, "b": [1, 2]}, {"b": (1, 2), "a": 1}, {"a": 1.0, "b": [1, 2]}]
        outcomes = list(run.map("one", lambda given: calls.append(given), inputs))
    assert len(calls) == 2
    assert outcomes[0].key == outcomes[1].key != outcomes[2].key


@each_executor
def test_a_failure_is_kept_with_its_error(tmp_path: Path, executor: Executor) -> None:
    if isinstance(executor, Async):

        async def picky(number: int) -> int:
            return units.picky(number)

        function: Any = picky
    else:
        function = units.picky
    with Run.open(tmp_path) as run:
        outcomes = list(run.map("picky", function, [1, 2, 3, 4], executor=executor))
    assert [o.state for o in outcomes] == ["done", "done", "failed", "done"]
    problem = outcomes[2].problem
    assert problem is not None
    assert (problem.error, problem.message) == ("ValueError", "no 3")
    assert problem.frames[-1].startswith("units.py:")
    assert outcomes[2].result is None


def test_failures_are_tried_again_by_choice(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        list(run.map("picky", units.picky, [3, 4]))
    calls: list[int] = []

    def healed(number: int) -> int:
        calls.append(number)
        return number

    with Run.open(tmp_path) as run:
        [three, four] = run.map("picky", healed, [3, 4])
        assert (three.state, three.fresh, four.state, calls) == ("failed", False, "done", [])
        [three, four] = run.map("picky", healed, [3, 4], retry_failed=True)
        assert (three.state, three.fresh, four.fresh, calls) == ("done", True, False, [3])
        [unit, _] = run.units("picky")
        assert (unit.state, unit.attempts) == ("done", 2)


def test_a_failure_that_fails_again_is_tried_once_a_map(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        list(run.map("picky", units.picky, [3]))
        [outcome] = run.map("picky", units.picky, [3, 3][:1], retry_failed=True)
        assert outcome.state == "failed"
        [unit] = run.units()
        assert unit.attempts == 2


@each_executor
def test_an_exception_that_ends_the_work(tmp_path: Path, executor: Executor) -> None:
    """What was finished is kept, the unit that could not go on is not marked as failed."""
    if isinstance(executor, Async):

        async def broke(number: int) -> int:
            return units.broke(number)

        function: Any = broke
    else:
        function = units.broke
    seen: list[Event] = []
    with Run.open(tmp_path) as run:
        with pytest.raises(BudgetError, match="the limit is reached"):
            list(run.map("broke", function, range(50), executor=executor, listen=seen.append))
        states = Counter(u.state for u in run.units())
    assert set(states) == {"done", "pending"}
    assert states["pending"] <= 50 - 1
    assert seen[-1].what == "interrupted"
    with Run.open(tmp_path) as run:
        assert [o.result for o in run.map("broke", lambda n: n, range(50))] == list(range(50))


def test_a_result_that_is_not_json_is_a_failure(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        [outcome] = run.map("set", lambda n: {"found": {n}}, [1])
    assert str(outcome.problem) == (
        "UsageError: the result of the unit is not JSON: the value.found is an object of set, which is not JSON"
    )


@pytest.mark.parametrize("bad", [{1, 2}, {1: 2}, object(), b"x"])
def test_inputs_that_are_not_json_are_refused_before_anything_is_done(tmp_path: Path, bad: Any) -> None:
    with Run.open(tmp_path) as run:
        with pytest.raises(UsageError, match="JSON"):
            run.map("square", units.square, [1, bad])
        assert list(run.units()) == []


def test_a_process_that_dies_costs_its_unit(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        outcomes = list(run.map("deadly", units.deadly, range(8), executor=Processes(2)))
    assert [o.state for o in outcomes] == ["done"] * 3 + ["failed"] + ["done"] * 4
    assert str(outcomes[3].problem) == "WorkerDied: the process of this unit ended by signal 9"


def test_what_processes_cannot_take(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        with pytest.raises(UsageError, match="picklable"):
            list(run.map("lambda", lambda n: n, [1], executor=Processes(2)))
        outcomes = list(run.map("unpicklable", units.unpicklable, [1, 2], executor=Processes(2)))
    assert [o.state for o in outcomes] == ["failed", "done"]
    assert "cannot be pickled" in str(outcomes[0].problem)


@each_executor
def test_events_are_consistent(tmp_path: Path, executor: Executor) -> None:
    with Run.open(tmp_path) as run:
        list(run.map("square", units.square, [1, 2]))
        seen: list[Event] = []
        list(
            run.map(
                "square", function_for(executor), [1, 2, 3, 4, 5, 5, 6], executor=executor, listen=seen.append,
                label=lambda n: f"number {n}",
            )
        )  # fmt: skip
    assert seen[0].what == "started"
    assert seen[-1].what == "finished"
    assert Counter(e.what for e in seen[1:-1]) == {"skipped": 2, "claimed": 4, "done": 4}
    assert seen[-1].counts.ended == seen[-1].counts.total == 6
    for before, event in pairwise(seen):
        counts = event.counts
        assert counts.total == 6
        assert 0 <= counts.running <= executor.width
        assert counts.ended + counts.running <= counts.total
        assert counts.ended - before.counts.ended == (event.what in ("done", "failed", "skipped"))
    claimed = {e.key for e in seen if e.what == "claimed"}
    assert claimed == {e.key for e in seen if e.what == "done"}
    assert {e.label for e in seen if e.what == "claimed"} == {f"number {n}" for n in (3, 4, 5, 6)}
    assert {e.label for e in seen if not e.key} == {""}


def test_failed_events_carry_the_problem(tmp_path: Path) -> None:
    seen: list[Event] = []
    with Run.open(tmp_path) as run:
        list(run.map("picky", units.picky, [3], listen=seen.append))
    assert [(e.what, str(e.problem)) for e in seen if e.problem] == [("failed", "ValueError: no 3")]


@each_executor
def test_a_listener_that_raises_ends_the_work(tmp_path: Path, executor: Executor) -> None:
    def listen(event: Event) -> None:
        if event.what == "done":
            raise RuntimeError("the screen is gone")

    with Run.open(tmp_path) as run:
        with pytest.raises(RuntimeError, match="the screen is gone"):
            list(run.map("square", function_for(executor), range(20), executor=executor, listen=listen))
        assert any(u.state == "done" for u in run.units())


@pytest.mark.parametrize("executor", [Threads(3), Async(3), Processes(3)], ids=lambda e: type(e).__name__)
def test_concurrency_is_bounded_and_used(tmp_path: Path, executor: Executor) -> None:
    function: Any = units.dozy if isinstance(executor, Async) else units.sleepy
    seen: list[Event] = []
    with Run.open(tmp_path) as run:
        list(run.map("sleep", function, [0.05 + n / 1000 for n in range(9)], executor=executor, listen=seen.append))
    assert max(e.counts.running for e in seen) == 3


def test_a_finished_unit_is_written_down_while_the_caller_is_busy(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        outcomes = run.map("square", units.square, range(3), executor=Threads(3))
        next(outcomes)
        time.sleep(0.2)  # the caller does something else
        with Run.open(tmp_path) as other:
            assert [u.state for u in other.units()] == ["done"] * 3


@pytest.mark.parametrize(
    ("executor", "function"),
    [(Threads(2), units.sleepy), (Async(2), units.dozy), (Processes(2), units.sleepy)],
    ids=["Threads", "Async", "Processes"],
)
def test_closing_the_iterator_gives_back_what_is_under_way(tmp_path: Path, executor: Executor, function: Any) -> None:
    with Run.open(tmp_path) as run:
        outcomes = run.map("sleep", function, [0.0, 60.0, 61.0, 62.0], executor=executor)
        assert next(outcomes).result == 0.0
        began = time.monotonic()
        outcomes.close()  # type: ignore[attr-defined]
        assert time.monotonic() - began < SOON
        assert [u.state for u in run.units()] == ["done", "pending", "pending", "pending"]


def test_two_runs_of_one_process_share_the_work(tmp_path: Path) -> None:
    log = tmp_path / "log"
    inputs = [{"log": str(log), "number": n} for n in range(40)]
    results: list[list[int]] = []

    def work() -> None:
        with Run.open(tmp_path / "run") as run:
            results.append([o.result for o in run.map("noted", units.noted, inputs)])

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == [list(range(40))] * 2
    assert sorted(map(int, log.read_text().split())) == list(range(40))


@each_executor
def test_work_that_builds_on_what_came_before(tmp_path: Path, executor: Executor) -> None:
    """In order: a unit begins when the outcomes before it were given out, in two runs that share the work as well."""
    started: list[tuple[int, int]] = []
    results: list[list[int]] = []

    def work() -> None:
        given = 0

        def listen(event: Event) -> None:
            if event.what == "claimed":
                started.append((int(event.label), given))

        with Run.open(tmp_path) as run:
            mine = []
            for outcome in run.map(
                "chain", function_for(executor), range(12), executor=executor, in_order=True, label=str, listen=listen
            ):
                mine.append(outcome.result)
                given += 1
            results.append(mine)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == [[n * n for n in range(12)]] * 2
    assert started == [(n, n) for n in range(12)]


def test_what_belongs_to_the_event_loop_is_closed_in_it(tmp_path: Path) -> None:
    loops: list[Any] = []

    async def work(number: int) -> int:
        loops.append(asyncio.get_running_loop())
        return number

    async def close() -> None:
        loops.append(asyncio.get_running_loop())

    with Run.open(tmp_path) as run:
        list(run.map("close", Closing(work, close), [1, 2], executor=Async(2)))
    assert len(loops) == 3
    assert loops[0] is loops[1] is loops[2]
    assert loops[0].is_closed()


def test_context_goes_with_the_units(tmp_path: Path) -> None:
    """So that tokens are filed under the stage that the caller is at."""
    stage: ContextVar[str] = ContextVar("stage", default="none")
    stage.set("assessment")

    async def where(_: int) -> str:
        return stage.get()

    with Run.open(tmp_path) as run:
        assert [o.result for o in run.map("a", lambda _: stage.get(), [1], executor=Threads(2))] == ["assessment"]
        assert [o.result for o in run.map("b", where, [1], executor=Async(2))] == ["assessment"]


def test_a_width_below_one_is_refused() -> None:
    for kind in (Threads, Processes, Async):
        with pytest.raises(UsageError, match="at least one"):
            kind(0)


def test_a_kind_is_a_name(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        for kind in ("", "\ud800"):
            with pytest.raises(UsageError, match="name"):
                run.map(kind, units.square, [1])


def test_no_work_is_no_error(tmp_path: Path) -> None:
    seen: list[Event] = []
    with Run.open(tmp_path) as run:
        assert list(run.map("square", units.square, [], listen=seen.append)) == []
    assert [e.what for e in seen] == ["started", "finished"]


def test_text_that_no_file_can_hold(tmp_path: Path) -> None:
    """Lone surrogates in inputs, labels, results and errors."""

    def mirror(text: str) -> str:
        if text == "\udfff":
            raise ValueError(text)
        return text

    seen: list[Event] = []
    with Run.open(tmp_path) as run:
        [one, two] = run.map("mirror", mirror, ["\ud800", "\udfff"], label=str, listen=seen.append)
    assert one.result == "\ud800"
    assert two.problem is not None
    assert two.problem.message == "\udfff"
    assert seen[1].label == "\\ud800"


def test_work_errors_are_expected_errors() -> None:
    assert WorkError("x").exit_code == 1
