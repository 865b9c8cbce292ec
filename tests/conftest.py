"""What all tests share: Hypothesis without deadlines, for a busy machine is not a failure, shipped specs made once, and a
collector of garbage that does not look at all modules again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests import once

settings.register_profile("envscaler", deadline=None, print_blob=True)
settings.load_profile("envscaler")
gc.set_threshold(10_000, 20, 50)


def pytest_collection_finish() -> None:
    """What was imported stays: going through it would take a tenth of the time of all tests."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n`, tests that follow one another stay in one process, which makes what they share once; idle ones take over."""
    from xdist.scheduler import WorkStealingScheduling  # type: ignore[import-untyped]

    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """What takes longer than most tests: to check the bank, to lay out all commands, to ask each installed package whether it
    has plugins."""
    with once.shipped_specs(), once.commands(), once.installed_packages(), once.no_power_cuts():
        yield
