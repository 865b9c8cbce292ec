"""What every exporter must do."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

from envscaler.plugin.entries import Entry, ExporterEntry
from envscaler.plugin.records import Exporter
from envscaler.testing.base import Conformance, not_run, refused, want

if TYPE_CHECKING:
    from envscaler.export.sample import Sample, TaskSample

__all__ = ["ExporterConformance", "sample", "task_sample"]


class ExporterConformance(Conformance):
    """Subclass it with ``make``. ``settings`` are given to it; ``takes = "scenarios"`` for one that is given tasks."""

    make: Callable[[Mapping[str, Any]], Exporter]
    settings: ClassVar[Mapping[str, Any]] = {}
    takes: ClassVar[Literal["trajectories", "scenarios"]] = "trajectories"

    @classmethod
    def of(cls, entry: Entry) -> type[Self]:
        made = super().of(entry)
        made.takes = cast(ExporterEntry, entry).takes
        return made

    def _samples(self) -> list[Any]:
        return [sample(), sample("other")] if self.takes == "trajectories" else [task_sample()]

    def _written(self, read: list[str] | None = None, **settings: Any) -> tuple[Mapping[str, int], dict[str, bytes]]:
        """What it says of its files, and all files that it wrote."""

        def part(name: str) -> Callable[[], Iterator[Any]]:
            def samples() -> Iterator[Any]:
                yield from self._samples()
                if read is not None:
                    read.append(name)

            return samples

        exporter = self.make({**self.settings, **settings})
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rows: Any = exporter.write({"train": part("train"), "test": part("test")}, folder)
            want(isinstance(rows, Mapping), f"write must give rows by file, not {type(rows).__name__}")
            files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        return rows, files

    def test_writes_what_it_says(self) -> None:
        """Each file that it names is there, with a number of rows; there is at least one, with at least one row."""
        rows, files = self._written()
        for name, count in rows.items():
            want(name in files, f"there is no file {name}")
            want(type(count) is int and count >= 0, f"rows are counted, and {count!r} is no count")
        want(any(rows.values()), "no row was written")

    def test_reads_every_part_to_its_end(self) -> None:
        """The samples of each part are read, all of them."""
        read: list[str] = []
        self._written(read)
        want({"train", "test"} <= set(read), f"of train and test only {', '.join(read) or 'none'} was read to its end")

    def test_writes_the_same_twice(self) -> None:
        """The same samples give the same bytes."""
        want(self._written()[1] == self._written()[1], "the same samples give other files the second time")

    def test_takes_reasoning(self) -> None:
        """An exporter of trajectories can be told which turns keep their reasoning: last, all, none."""
        if self.takes != "trajectories":
            not_run("is given no trajectories")
        for kept in ("last", "all", "none"):
            self._written(reasoning=kept)

    def test_refuses_unknown_settings(self) -> None:
        """A setting that it does not know is a UsageError."""
        refused("an exporter with an unknown setting", self.make, {**self.settings, "no_such_setting": 1})


def sample(environment: str = "bank") -> Sample:
    """A trajectory with all that an exporter may meet: text beside calls, several calls in a turn, a reply that could not be
    read, reasoning, empty content, text that is not ASCII, tools that come later."""
    from envscaler.export.sample import Sample
    from envscaler.llm.messages import Message, Tool, ToolCall
    from envscaler.rollout.trajectory import Player, Trajectory

    messages = (
        Message("system", "You serve the customers of a bank."),
        Message("user", "Wie viel ist auf A-1 und A-2? \u00a0\u65e5\u672c <b>&</b>"),
        Message(
            "assistant", "I look.", "Both at once.",
            (ToolCall("a", "balance", '{"account": "A-1"}'), ToolCall("b", "balance", '{"account":"A-2","on":null}')),
        ),
        Message("tool", '{"success": true, "data": 1}', tool_call_id="a"),
        Message("tool", '{"success": false, "error": "no"}', tool_call_id="b", is_error=True),
        Message("assistant", "<tool_call>{</tool_call>"),
        Message("tool", '{"success": false, "error": "This is no call."}', is_error=True),
        Message("assistant", "", "", (ToolCall("c", "close", ""),)),
        Message("tool", '{"success": true, "data": {}}', tool_call_id="c"),
        Message("user", "And now?"),
        Message("assistant", "Done \u2014 \U0001f4b6.", "That was all."),
    )  # fmt: skip
    steps: tuple[dict[str, Any], ...] = (
        {"number": 1, "message": 2},
        {"number": 2, "message": 5, "problems": ["This is no call."]},
        {"number": 3, "message": 7},
        {"number": 4, "message": 10},
    )
    place = {"type": "object", "properties": {"account": {"type": "string"}, "on": {"type": ["string", "null"]}}}
    balance, close = Tool("balance", "What is on an account.", place), Tool("close", "Close the books.")
    one = Trajectory(
        id=f"{environment}-1", scenario=f"{environment}-1", kind="complete", setting="conversation", sample=0,
        spec={"name": environment, "hash": "sha256:0"}, agent=Player("llm", "model"), user=Player("facts"),
        status="finished", messages=messages, steps=steps, offers=((1, "x"), (3, "y")), reward=1.0, goals=(True,),
    )  # fmt: skip
    return Sample(one, ((1, (balance,)), (3, (balance, close))))


def task_sample() -> TaskSample:
    """A task of the bank."""
    from envscaler.export.sample import TaskSample
    from envscaler.llm.messages import Message
    from envscaler.testing.episodes import scenario, stage

    one = scenario()
    tools = tuple(stage().prepared(one).tools.values())
    return TaskSample(one, (Message("system", stage().brief("non-conversation")), Message("user", one.task)), tools, "")
