"""The small records that hooks give: what a thing is called, what it is for, and how it is made."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from envscaler.plugin.records import Assessor, Checker, Embedder, Exporter, Generator, TaskSource
from envscaler.plugin.roles import Part, UserSimulator

if TYPE_CHECKING:
    from envscaler.work import Executor

__all__ = [
    "KINDS", "AgentEntry", "AssessorEntry", "BackendEntry", "CheckerEntry", "EmbedderEntry", "Entry", "ExecutorEntry",
    "ExporterEntry", "GeneratorEntry", "Kind", "Sample", "SourceEntry", "SpecsEntry", "TemplatesEntry", "UserEntry",
]  # fmt: skip

_NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")

Sample = Callable[[Path], tuple[str, Mapping[str, Any]]]
"""Writes a small sample into an empty folder and gives the location and options to read it with."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What all entries have. ``name``: lower-case letters and digits, with - or _ between; ``summary``: one line."""

    name: str
    summary: str

    def __post_init__(self) -> None:
        name: object = self.name
        summary: object = self.summary
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name: lower-case letters and digits, with - or _ between")
        if not isinstance(summary, str) or not summary.strip() or "\n" in summary:
            raise ValueError(f"the summary of {name} must be one line")


@dataclass(frozen=True, slots=True)
class _Made(Entry):
    """An entry with something that is made when it is wanted, never before."""

    factory: Callable[..., Any]

    def __post_init__(self) -> None:
        super(_Made, self).__post_init__()
        if not callable(self.factory):
            raise ValueError(f"the factory of {self.name} cannot be called: {self.factory!r}")


@dataclass(frozen=True, slots=True)
class BackendEntry(_Made):
    """An LLM backend. ``factory(settings)`` gets the settings of a role (model, base URL, limits …) as a mapping."""

    factory: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class SourceEntry(_Made):
    """A task source. ``sample``, if given, lets `envscaler plugins --check` try it."""

    factory: Callable[[], TaskSource]
    sample: Sample | None = None


@dataclass(frozen=True, slots=True)
class EmbedderEntry(_Made):
    """What makes vectors of texts. ``factory(settings)`` gets what a command line says after the name (`model`, `base_url` …);
    UsageError for a setting that is unknown or wrong, and for a package that is missing."""

    factory: Callable[[Mapping[str, Any]], Embedder]


@dataclass(frozen=True, slots=True)
class AssessorEntry(_Made):
    """An assessor. ``factory()`` must be cheap; what costs belongs into `assess`."""

    factory: Callable[[], Assessor]


@dataclass(frozen=True, slots=True)
class CheckerEntry(_Made):
    """A checker. ``factory(settings)`` is called for each episode; UsageError for a setting that is unknown or wrong."""

    factory: Callable[[Mapping[str, Any]], Checker]


@dataclass(frozen=True, slots=True)
class GeneratorEntry(_Made):
    """A generator of scenarios of one kind, which is called like the entry."""

    factory: Callable[[], Generator]


@dataclass(frozen=True, slots=True)
class AgentEntry(_Made):
    """An agent. ``factory(part)`` is called for each episode and gives a policy, as `envscaler.agents.Policy` describes it;
    UsageError for a setting that is unknown or wrong. ``roles``: those whose language models it asks."""

    factory: Callable[[Part], Any]
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UserEntry(_Made):
    """A simulated user. ``factory(part)`` is called for each episode; UsageError for a setting that is unknown or wrong.
    ``roles``: those whose language models it asks."""

    factory: Callable[[Part], UserSimulator]
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExporterEntry(_Made):
    """A writer of training data. ``factory(settings)`` is called for each export; UsageError for a setting that is unknown or
    wrong, ``reasoning`` (last, all, none) among those that are known. ``takes``: what it makes them from."""

    factory: Callable[[Mapping[str, Any]], Exporter]
    takes: Literal["trajectories", "scenarios"] = "trajectories"

    def __post_init__(self) -> None:
        super(ExporterEntry, self).__post_init__()
        if self.takes not in (takes := ("trajectories", "scenarios")):
            raise ValueError(f"{self.name} takes {' or '.join(takes)}, not {self.takes!r}")


@dataclass(frozen=True, slots=True)
class ExecutorEntry(_Made):
    """A place where episodes are played. ``factory(settings)`` is called for each run with the settings that were given to it,
    and ``width``: how many units it is to do at once, 0 for as many as it has room for; UsageError for a setting that is
    unknown or wrong. ``takes``: functions that it may call in other processes, or coroutine functions of this one."""

    factory: Callable[[Mapping[str, Any]], Executor]
    takes: Literal["functions", "coroutines"] = "functions"

    def __post_init__(self) -> None:
        super(ExecutorEntry, self).__post_init__()
        if self.takes not in (takes := ("functions", "coroutines")):
            raise ValueError(f"{self.name} takes {' or '.join(takes)}, not {self.takes!r}")


@dataclass(frozen=True, slots=True)
class _Folder(Entry):
    """An entry that stands for a folder on disk."""

    folder: Path | Traversable

    def __post_init__(self) -> None:
        super(_Folder, self).__post_init__()
        if not self.path.is_dir():
            raise ValueError(f"the folder of {self.name} is none: {self.folder}")

    @property
    def path(self) -> Path:
        """The folder as a path."""
        if not isinstance(self.folder, os.PathLike):
            raise ValueError(f"the folder of {self.name} is not on disk: {self.folder}")
        return Path(self.folder)


@dataclass(frozen=True, slots=True)
class SpecsEntry(_Folder):
    """A pack: the specs that lie directly in ``folder``, each called like its file."""


@dataclass(frozen=True, slots=True)
class TemplatesEntry(_Folder):
    """Jinja templates that stand before the shipped ones of the same path, when they are asked for by name."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entry: its name, what messages call one, the hook that gives such entries, their class."""

    name: str
    label: str
    hook: str
    entry: type[Entry]


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("backend", "backend", "envscaler_backends", BackendEntry),
        Kind("source", "task source", "envscaler_sources", SourceEntry),
        Kind("embedder", "embedder", "envscaler_embedders", EmbedderEntry),
        Kind("assessor", "assessor", "envscaler_assessors", AssessorEntry),
        Kind("checker", "checker", "envscaler_checkers", CheckerEntry),
        Kind("generator", "generator of scenarios", "envscaler_generators", GeneratorEntry),
        Kind("agent", "agent", "envscaler_agents", AgentEntry),
        Kind("user", "simulated user", "envscaler_users", UserEntry),
        Kind("exporter", "exporter", "envscaler_exporters", ExporterEntry),
        Kind("executor", "executor", "envscaler_executors", ExecutorEntry),
        Kind("specs", "pack of specs", "envscaler_specs", SpecsEntry),
        Kind("templates", "folder of templates", "envscaler_templates", TemplatesEntry),
    )
}
"""All kinds by name; a later part of the program adds a line here and a hook of the same form."""
