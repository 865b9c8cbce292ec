"""The bank, and episodes in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import envscaler
from envscaler.agents import EnvironmentEpisode, User

BANK = Path(__file__).parents[2] / "specs" / "bank.yaml"


@pytest.fixture(scope="session")
def bank() -> Any:
    return envscaler.load(BANK)


@pytest.fixture
def episode(bank: Any) -> Callable[..., EnvironmentEpisode]:
    """Makes an episode in the bank."""

    def make(user: User | None = None, **settings: Any) -> EnvironmentEpisode:
        return EnvironmentEpisode(bank.new(**settings), "Move 40 euros from A-2001 to A-2002.", user)

    return make
