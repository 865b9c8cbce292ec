"""The small environment as a subject, compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from envscaler.plugin.records import Subject
from envscaler.session.judging import subject
from tests.assess.models import SHELF


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    path = tmp_path_factory.mktemp("shelf") / "shelf.yaml"
    Path(path).write_text(SHELF, encoding="utf-8")
    return subject(path)


@pytest.fixture(scope="session")
def bank() -> Subject:
    return subject("bank")
