"""A folder on the path to install plugins into; plugins that are really installed are not seen within this process."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

from envscaler.plugin import discovery
from tests.plugin.fake import on_path


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    def distributions() -> Iterable[metadata.Distribution]:
        return metadata.distributions(path=[p for p in sys.path if p.startswith(str(tmp_path))])

    monkeypatch.setattr(discovery, "distributions", distributions)
    folder = tmp_path / "site"
    folder.mkdir()
    with on_path(folder):
        yield folder
