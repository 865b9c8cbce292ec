"""For authors of plugins: a conformance suite for each kind, to be subclassed in their own tests.

    from envscaler.testing import CheckerConformance

    class TestMine(CheckerConformance):
        make = staticmethod(make_mine)

`envscaler.testing.fixtures` are fixtures for pytest; nothing else here needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envscaler.lazy import public

if TYPE_CHECKING:
    from envscaler.session.judging import judge, subject
    from envscaler.testing.agents import AgentConformance
    from envscaler.testing.assessors import AssessorConformance
    from envscaler.testing.backends import BackendConformance
    from envscaler.testing.base import Conformance
    from envscaler.testing.checkers import CheckerConformance
    from envscaler.testing.embedders import EmbedderConformance
    from envscaler.testing.executors import ExecutorConformance
    from envscaler.testing.exporters import ExporterConformance
    from envscaler.testing.folders import SpecsConformance, TemplatesConformance
    from envscaler.testing.generators import GeneratorConformance
    from envscaler.testing.sources import SourceConformance
    from envscaler.testing.users import UserConformance

__all__ = [
    "AgentConformance", "AssessorConformance", "BackendConformance", "CheckerConformance", "Conformance",
    "EmbedderConformance", "ExecutorConformance", "ExporterConformance", "GeneratorConformance", "SourceConformance",
    "SpecsConformance", "TemplatesConformance", "UserConformance", "judge", "subject",
]  # fmt: skip

_OFFERED = {
    "envscaler.testing.agents": "AgentConformance",
    "envscaler.testing.assessors": "AssessorConformance",
    "envscaler.testing.backends": "BackendConformance",
    "envscaler.testing.checkers": "CheckerConformance",
    "envscaler.testing.base": "Conformance",
    "envscaler.testing.embedders": "EmbedderConformance",
    "envscaler.testing.executors": "ExecutorConformance",
    "envscaler.testing.exporters": "ExporterConformance",
    "envscaler.testing.generators": "GeneratorConformance",
    "envscaler.testing.sources": "SourceConformance",
    "envscaler.testing.folders": "SpecsConformance TemplatesConformance",
    "envscaler.testing.users": "UserConformance",
    "envscaler.session.judging": "judge subject",
}
__getattr__, __dir__ = public(__name__, _OFFERED)
