"""What a plugin is written with: the marker for hooks, the entries that hooks give, the records that entries work on.

Nothing is imported before it is asked for: reading a record does not load pluggy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envscaler.plugin.entries import (
        AgentEntry,
        AssessorEntry,
        BackendEntry,
        CheckerEntry,
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
        Verdict,
    )
    from envscaler.plugin.roles import Part, Said, UserSimulator

_MODULES = {
    "entries": (
        "AgentEntry", "AssessorEntry", "BackendEntry", "CheckerEntry", "ExporterEntry", "GeneratorEntry", "SourceEntry",
        "SpecsEntry", "TemplatesEntry", "UserEntry",
    ),
    "hookspecs": ("HOOKS_VERSION", "hookimpl"),
    "problems": ("PluginWarning",),
    "records": (
        "Assessor", "BadRow", "CallEvent", "Checker", "EndEvent", "Exporter", "Finding", "Generator", "Judgement", "Means",
        "Splits", "Subject", "Task", "TaskSource", "Verdict",
    ),
    "roles": ("Part", "Said", "UserSimulator"),
}  # fmt: skip
_PUBLIC = {name: f"envscaler.plugin.{module}" for module, names in _MODULES.items() for name in names}

__all__ = [
    "HOOKS_VERSION", "AgentEntry", "Assessor", "AssessorEntry", "BackendEntry", "BadRow", "CallEvent", "Checker",
    "CheckerEntry", "EndEvent", "Exporter", "ExporterEntry", "Finding", "Generator", "GeneratorEntry", "Judgement", "Means",
    "Part", "PluginWarning", "Said", "SourceEntry", "SpecsEntry", "Splits", "Subject", "Task", "TaskSource", "TemplatesEntry",
    "UserEntry", "UserSimulator", "Verdict", "hookimpl",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
