"""`python -m pytest tests/golden --refresh-golden` writes the expected modules anew; look at the difference before committing."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="write the expected modules anew")


@pytest.fixture
def refresh(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--refresh-golden", default=False))
