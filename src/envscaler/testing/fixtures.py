"""Fixtures for pytest: `pytest_plugins = ["envscaler.testing.fixtures"]` in an author's conftest.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from envscaler.plugin.problems import Origin, Problem
from envscaler.plugin.records import Subject

if TYPE_CHECKING:
    from envscaler.plugin.manager import Plugins

__all__ = ["envscaler_plugins", "envscaler_subject"]


@pytest.fixture
def envscaler_subject(tmp_path: Path) -> Callable[[str], Subject]:
    """Makes the subject of a spec given as text, for assessors; SpecError when it has errors."""
    from envscaler.session.judging import subject

    def make(text: str) -> Subject:
        path = tmp_path / f"spec_{len(list(tmp_path.iterdir()))}.yaml"
        path.write_text(text, encoding="utf-8")
        return subject(path)

    return make


@pytest.fixture
def envscaler_plugins() -> Callable[..., Plugins]:
    """Loads plugins given as modules or other objects with hooks, as if each were installed; any problem is a failure.

    What is really installed is left out, what ships is there.
    """
    from envscaler.session.plugins import open_plugins

    def load(*plugins: object) -> Plugins:
        def fail(problem: Problem) -> None:
            pytest.fail(str(problem))

        loaded = open_plugins(third_parties=False, tell=fail)
        for number, plugin in enumerate(plugins, 1):
            name = getattr(plugin, "__name__", f"plugin-{number}")
            loaded.add(Origin(name, f"under-test-{number}", "0"), plugin)
        return loaded

    return load
