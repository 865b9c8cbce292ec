"""`python -m pytest tests/draft --refresh-prompts` writes the expected prompts anew; look at the difference before committing."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-prompts", action="store_true", help="write the expected prompts anew")
