"""The option that writes the expected outputs of the bad specs anew."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-cases", action="store_true", help="write tests/cases/bad/*.out anew; read the diff")
