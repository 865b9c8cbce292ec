"""A model server for each test, and settings that no file or variable of the machine reaches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from envscaler.llm import Models
from envscaler.session.llm import LlmOptions, open_models
from tests.llm.server import Server, serving

KEY = "canary-Zk93hfQ7xWmT5vLb"
Open = Callable[..., Models]


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in list(os.environ):
        if variable.startswith(("ENVSCALER_", "OPENAI_", "ANTHROPIC_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(params=["anthropic", "openai"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def models(tmp_path: Path) -> Iterator[Open]:
    """Opens models for `--llm` values: `models(server.llm())`; the ledger is in `run`, the cache off unless given."""
    opened: list[Models] = []

    def open_(*llm: str, **more: Any) -> Models:
        tell = more.pop("tell", None)
        run = more.pop("run", tmp_path / "run")
        made = open_models(LlmOptions(llm, **{"cache": "off", **more}), run=run, tell=tell)
        opened.append(made)
        return made

    yield open_
    for made in opened:
        made.close()
