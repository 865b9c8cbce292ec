"""The plugin that is envscaler itself: what ships, given through the hooks that others use."""

from __future__ import annotations

from collections.abc import Iterable

from envscaler.plugin import (
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
    hookimpl,
)

__all__ = [
    "envscaler_agents", "envscaler_assessors", "envscaler_backends", "envscaler_checkers", "envscaler_embedders",
    "envscaler_executors", "envscaler_exporters", "envscaler_generators", "envscaler_sources", "envscaler_specs",
    "envscaler_templates", "envscaler_users",
]  # fmt: skip

ENVSCALER_HOOKS = 1


@hookimpl
def envscaler_assessors() -> Iterable[AssessorEntry]:
    """The fuzzer, and models as assessors."""
    from envscaler.builtin.assessors import ASSESSORS

    return ASSESSORS


@hookimpl
def envscaler_checkers() -> Iterable[CheckerEntry]:
    """Properties that every environment has."""
    from envscaler.builtin.assessors import checkers

    return checkers()


@hookimpl
def envscaler_backends() -> Iterable[BackendEntry]:
    """Backends of providers, and those that need none."""
    from envscaler.builtin.backends import BACKENDS

    return BACKENDS


@hookimpl
def envscaler_generators() -> Iterable[GeneratorEntry]:
    """A generator for each kind of scenario."""
    from envscaler.builtin.generators import generators

    return generators()


@hookimpl
def envscaler_agents() -> Iterable[AgentEntry]:
    """Agents that need no model, and models as agents."""
    from envscaler.builtin.players import AGENTS

    return AGENTS


@hookimpl
def envscaler_users() -> Iterable[UserEntry]:
    """Users that answer from facts, and models as users."""
    from envscaler.builtin.players import USERS

    return USERS


@hookimpl
def envscaler_exporters() -> Iterable[ExporterEntry]:
    """Writers of training data."""
    from envscaler.builtin.exporters import EXPORTERS

    return EXPORTERS


@hookimpl
def envscaler_executors() -> Iterable[ExecutorEntry]:
    """This process, and processes beside it."""
    from envscaler.builtin.executors import EXECUTORS

    return EXECUTORS


@hookimpl
def envscaler_sources() -> Iterable[SourceEntry]:
    """Readers of published sets of tasks, and of files of all kinds."""
    from envscaler.builtin.sources import SOURCES

    return SOURCES


@hookimpl
def envscaler_embedders() -> Iterable[EmbedderEntry]:
    """Vectors of words, offline, and models that make vectors."""
    from envscaler.builtin.embedders import EMBEDDERS

    return EMBEDDERS


@hookimpl
def envscaler_specs() -> Iterable[SpecsEntry]:
    """The shipped specs."""
    from envscaler.builtin.packs import packs

    return packs()


@hookimpl
def envscaler_templates() -> Iterable[TemplatesEntry]:
    """The shipped templates."""
    from envscaler.builtin.packs import templates

    return templates()
