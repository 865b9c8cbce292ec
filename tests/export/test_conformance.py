"""The shipped exporters pass the suite that plugins' pass, and each test of it finds what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from envscaler.builtin.exporters import EXPORTERS
from envscaler.errors import UsageError
from envscaler.plugin.entries import ExporterEntry
from envscaler.testing import ExporterConformance
from envscaler.testing.run import suite

CASES = [
    pytest.param(entry, test, marks=[pytest.mark.slow] if entry.takes == "scenarios" else [])
    for entry in EXPORTERS
    for test in ExporterConformance.wanted()
    if entry.takes == "trajectories" or test != "test_takes_reasoning"
]


@pytest.mark.parametrize(("entry", "test"), CASES, ids=lambda value: getattr(value, "name", value))
def test_what_ships(entry: ExporterEntry, test: str) -> None:
    if "parquet" in entry.name:
        pytest.importorskip("pyarrow")
    getattr(suite("exporter").of(entry)(), test)()


class Good:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        if set(settings) - {"reasoning"}:
            raise UsageError("it has reasoning only")
        self.kept = settings.get("reasoning", "all")

    def write(self, splits: Any, folder: Path) -> Any:
        ids = [one.trajectory.id for samples in splits.values() for one in samples()]
        (folder / "ids.txt").write_text("\n".join(ids))
        return {"ids.txt": len(ids)}


class Elsewhere(Good):
    def write(self, splits: Any, folder: Path) -> Any:
        return {**super().write(splits, folder), "more.txt": 1}


class Hasty(Good):
    def write(self, splits: Any, folder: Path) -> Any:
        first = next(splits["train"]())
        (folder / "ids.txt").write_text(first.trajectory.id)
        return {"ids.txt": 1}


class Fickle(Good):
    times = 0

    def write(self, splits: Any, folder: Path) -> Any:
        Fickle.times += 1
        (folder / "stamp").write_text(str(Fickle.times))
        return super().write(splits, folder)


class Bare(Good):
    def __init__(self, settings: Mapping[str, Any]) -> None:
        if settings:
            raise UsageError("it has none")


class Lenient(Good):
    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass


BROKEN = {
    "test_writes_what_it_says": Elsewhere,
    "test_reads_every_part_to_its_end": Hasty,
    "test_writes_the_same_twice": Fickle,
    "test_takes_reasoning": Bare,
    "test_refuses_unknown_settings": Lenient,
}


def test_every_test_has_something_that_breaks_it() -> None:
    assert set(BROKEN) == set(ExporterConformance.wanted())


@pytest.mark.parametrize("test", BROKEN)
def test_it_refuses_what_breaks_it(test: str) -> None:
    def of(make: Any) -> Any:
        return type("Suite", (ExporterConformance,), {"make": staticmethod(make)})()

    getattr(of(Good), test)()
    with pytest.raises((AssertionError, UsageError)):
        getattr(of(BROKEN[test]), test)()
