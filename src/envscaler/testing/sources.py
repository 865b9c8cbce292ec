"""What every task source must do."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from envscaler.plugin.entries import Entry, Sample, SourceEntry
from envscaler.plugin.records import BadRow, Task, TaskSource
from envscaler.testing.base import Conformance, not_run, refused, want

__all__ = ["SourceConformance"]


class SourceConformance(Conformance):
    """Subclass it with ``make`` and ``sample``: a staticmethod that writes a sample into the empty folder it is given and
    gives the location and the options to read it with. ``tasks`` and ``bad_rows``: how many of each it holds, if known."""

    make: Callable[[], TaskSource]
    sample: Sample | None = None
    tasks: ClassVar[int | None] = None
    bad_rows: ClassVar[int | None] = None

    @classmethod
    def of(cls, entry: Entry) -> type[Self]:
        made = super().of(entry)
        sample = cast(SourceEntry, entry).sample
        made.sample = None if sample is None else staticmethod(sample)
        return made

    @contextmanager
    def _sample(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if self.sample is None:
            not_run("no sample to read is given")
        with tempfile.TemporaryDirectory() as folder:
            yield self.sample(Path(folder))

    def _rows(self) -> list[Task | BadRow]:
        with self._sample() as (location, options):
            return list(self.make().read(location, options))

    def test_gives_tasks_and_bad_rows(self) -> None:
        """Each row is a Task or a BadRow, each with the file and a line from 1; at least one is a Task."""
        rows: list[Any] = self._rows()
        for row in rows:
            want(isinstance(row, (Task, BadRow)), f"a row must be a Task or a BadRow, not {type(row).__name__}")
            want(row.file and row.line >= 1, f"{row!r} does not say where it was read")
        want(any(isinstance(row, Task) for row in rows), "no row of the sample gave a Task")

    def test_counts_are_right(self) -> None:
        """All tasks and bad rows of the sample are given, none twice."""
        rows = self._rows()
        for kind, expected in ((Task, self.tasks), (BadRow, self.bad_rows)):
            count = sum(isinstance(row, kind) for row in rows)
            want(expected in (None, count), f"the sample holds {expected} of {kind.__name__}, {count} were given")

    def test_lines_go_up(self) -> None:
        """Within a file, rows come in order."""
        last: dict[str, int] = {}
        for row in self._rows():
            want(row.line > last.get(row.file, 0), f"{row.file}:{row.line} comes after line {last.get(row.file)}")
            last[row.file] = row.line

    def test_reads_as_it_is_asked(self) -> None:
        """`read` gives an iterator, not a list, so that a large file can be stopped at any row."""
        with self._sample() as (location, options):
            rows = self.make().read(location, options)
            want(iter(rows) is rows, f"read must give an iterator, not {type(rows).__name__}")
            next(rows, None)
            getattr(rows, "close", lambda: None)()

    def test_gives_the_same_twice(self) -> None:
        """Reading again gives the same rows."""
        with self._sample() as (location, options):
            source = self.make()
            want(list(source.read(location, options)) == list(source.read(location, options)), "two readings differ")

    def test_refuses_what_is_not_there(self) -> None:
        """A location that does not exist is a UsageError, at the latest at the first row."""
        with self._sample() as (location, options):
            missing = f"{location}-is-not-here"
            refused("a location that does not exist", lambda: list(self.make().read(missing, options)))

    def test_refuses_unknown_options(self) -> None:
        """An option that it does not know is a UsageError."""
        with self._sample() as (location, options):
            unknown = {**options, "no_such_option": 1}
            refused("an unknown option", lambda: list(self.make().read(location, unknown)))
