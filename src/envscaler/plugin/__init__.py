"""What a plugin is written with: the marker for hooks, the entries that hooks give, the records that entries work on.

Nothing is imported before it is asked for: reading a record does not load pluggy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envscaler.lazy import public

if TYPE_CHECKING:
    from envscaler.plugin.entries import (
        AgentEntry,
        AssessorEntry,
        BackendEntry,
        CheckerEntry,
        EmbedderEntry,
        ExecutorEntry,
        ExporterEntry,
        GeneratorEntry,
        SourceEntry,
        SpecsEntry,
        TemplatesEntry,
        UserEntry,
    )
    from envscaler.plugin.hookspecs import HOOKS_VERSION, hookimpl
    from envscaler.plugin.problems import PluginWarning
    from envscaler.plugin.records import (
        Assessor,
        BadRow,
        CallEvent,
        Checker,
        Embedder,
        EndEvent,
        Exporter,
        Finding,
        Generator,
        Judgement,
        Means,
        Splits,
        Subject,
        Task,
        TaskSource,
        Vectors,
        Verdict,
    )
    from envscaler.plugin.roles import Part, Said, UserSimulator

__all__ = [
    "HOOKS_VERSION", "AgentEntry", "Assessor", "AssessorEntry", "BackendEntry", "BadRow", "CallEvent", "Checker",
    "CheckerEntry", "Embedder", "EmbedderEntry", "EndEvent", "ExecutorEntry", "Exporter", "ExporterEntry", "Finding",
    "Generator", "GeneratorEntry", "Judgement", "Means", "Part", "PluginWarning", "Said", "SourceEntry", "SpecsEntry",
    "Splits", "Subject", "Task", "TaskSource", "TemplatesEntry", "UserEntry", "UserSimulator", "Vectors", "Verdict",
    "hookimpl",
]  # fmt: skip

_OFFERED = {
    "envscaler.plugin.entries": (
        "AgentEntry AssessorEntry BackendEntry CheckerEntry EmbedderEntry ExecutorEntry ExporterEntry "
        "GeneratorEntry SourceEntry SpecsEntry TemplatesEntry UserEntry"
    ),
    "envscaler.plugin.hookspecs": "HOOKS_VERSION hookimpl",
    "envscaler.plugin.problems": "PluginWarning",
    "envscaler.plugin.records": (
        "Assessor BadRow CallEvent Checker Embedder EndEvent Exporter Finding Generator Judgement Means Splits Subject "
        "Task TaskSource Vectors Verdict"
    ),
    "envscaler.plugin.roles": "Part Said UserSimulator",
}
__getattr__, __dir__ = public(__name__, _OFFERED)
