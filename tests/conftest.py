"""What all tests share: Hypothesis without deadlines, for a busy machine is not a failure, and shipped specs made once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests import once

settings.register_profile("envscaler", deadline=None, print_blob=True)
settings.load_profile("envscaler")


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n`, tests that follow one another stay in one process, which makes what they share once; idle ones take over."""
    from xdist.scheduler import WorkStealingScheduling  # type: ignore[import-untyped]

    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None


@pytest.fixture(scope="session", autouse=True)
def shipped_specs_are_made_once() -> Iterator[None]:
    """Most tests need the bank, and each check of it would take longer than the rest of the test."""
    with once.shared():
        yield
