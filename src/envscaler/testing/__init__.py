"""For authors of plugins: a conformance suite for each kind, to be subclassed in their own tests.

    from envscaler.testing import CheckerConformance

    class TestMine(CheckerConformance):
        make = staticmethod(make_mine)

`envscaler.testing.fixtures` are fixtures for pytest; nothing else here needs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envscaler.session.judging import judge, subject
    from envscaler.testing.agents import AgentConformance
    from envscaler.testing.assessors import AssessorConformance
    from envscaler.testing.backends import BackendConformance
    from envscaler.testing.base import Conformance
    from envscaler.testing.checkers import CheckerConformance
    from envscaler.testing.exporters import ExporterConformance
    from envscaler.testing.folders import SpecsConformance, TemplatesConformance
    from envscaler.testing.generators import GeneratorConformance
    from envscaler.testing.sources import SourceConformance
    from envscaler.testing.users import UserConformance

_PUBLIC = {
    "AgentConformance": "envscaler.testing.agents",
    "AssessorConformance": "envscaler.testing.assessors",
    "BackendConformance": "envscaler.testing.backends",
    "CheckerConformance": "envscaler.testing.checkers",
    "Conformance": "envscaler.testing.base",
    "ExporterConformance": "envscaler.testing.exporters",
    "GeneratorConformance": "envscaler.testing.generators",
    "SourceConformance": "envscaler.testing.sources",
    "SpecsConformance": "envscaler.testing.folders",
    "TemplatesConformance": "envscaler.testing.folders",
    "UserConformance": "envscaler.testing.users",
    "judge": "envscaler.session.judging",
    "subject": "envscaler.session.judging",
}

__all__ = [
    "AgentConformance", "AssessorConformance", "BackendConformance", "CheckerConformance", "Conformance",
    "ExporterConformance", "GeneratorConformance", "SourceConformance", "SpecsConformance", "TemplatesConformance",
    "UserConformance", "judge", "subject",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
