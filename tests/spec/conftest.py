"""Reading small specs in tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from envscaler.diagnostics import Diagnostic
from envscaler.spec.codes import complete
from envscaler.spec.model import Spec
from envscaler.spec.read import read_spec

settings.register_profile("spec", deadline=None)  # shared machines stall
settings.load_profile("spec")

SHED = Path(__file__).with_name("shed.yaml")
Read = Callable[[str], tuple[Spec, list[Diagnostic]]]


@pytest.fixture(scope="session")
def shed() -> str:
    """The text of a spec that uses every form of the language."""
    return SHED.read_text(encoding="utf-8")


@pytest.fixture
def read() -> Read:
    """Reads a snippet, completed to a spec, of which a model can be built."""

    def reader(snippet: str) -> tuple[Spec, list[Diagnostic]]:
        spec, diagnostics = read_spec("spec.yaml", complete(snippet))
        assert spec is not None
        return spec, diagnostics

    return reader


@pytest.fixture
def titles(read: Read) -> Callable[[str], list[str]]:
    """`code: title` of each diagnostic of a snippet."""
    return lambda snippet: [f"{d.code}: {d.title}" for d in read(snippet)[1]]
