"""The hooks, as pluggy holds implementations against them. `docs/reference/hooks.md` is about this module."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

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

__all__ = [
    "HOOKS_VERSION",
    "PROJECT",
    "envscaler_agents",
    "envscaler_assessors",
    "envscaler_backends",
    "envscaler_checkers",
    "envscaler_embedders",
    "envscaler_executors",
    "envscaler_exporters",
    "envscaler_generators",
    "envscaler_sources",
    "envscaler_specs",
    "envscaler_templates",
    "envscaler_users",
    "hookimpl",
]

PROJECT = "envscaler"
HOOKS_VERSION = 1
"""The version of these hooks and of the records they give. A plugin says which one it was written for by
`ENVSCALER_HOOKS = 1` in its module; one that says nothing was written for 1. It rises when a plugin that worked would no
longer: when a hook or a field goes or changes its meaning, not when one comes."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin as the implementation of the hook of the same name."""


@hookspec
def envscaler_backends() -> Iterable[BackendEntry]:  # type: ignore[empty-body]
    """The LLM backends, asked for when a role is given a backend by name."""


@hookspec
def envscaler_sources() -> Iterable[SourceEntry]:  # type: ignore[empty-body]
    """The task sources, asked for when tasks are to be read."""


@hookspec
def envscaler_embedders() -> Iterable[EmbedderEntry]:  # type: ignore[empty-body]
    """The embedders, asked for when themes are to be told apart."""


@hookspec
def envscaler_assessors() -> Iterable[AssessorEntry]:  # type: ignore[empty-body]
    """The assessors, asked for when an environment is to be judged."""


@hookspec
def envscaler_checkers() -> Iterable[CheckerEntry]:  # type: ignore[empty-body]
    """The checkers, asked for when an episode begins that is to be checked."""


@hookspec
def envscaler_generators() -> Iterable[GeneratorEntry]:  # type: ignore[empty-body]
    """The generators of scenarios, asked for when scenarios are to be made."""


@hookspec
def envscaler_agents() -> Iterable[AgentEntry]:  # type: ignore[empty-body]
    """The agents, asked for when scenarios are to be played by one that does not ship."""


@hookspec
def envscaler_users() -> Iterable[UserEntry]:  # type: ignore[empty-body]
    """The simulated users, asked for when a conversation is to be held with one that does not ship."""


@hookspec
def envscaler_exporters() -> Iterable[ExporterEntry]:  # type: ignore[empty-body]
    """The exporters, asked for when training data is to be written."""


@hookspec
def envscaler_executors() -> Iterable[ExecutorEntry]:  # type: ignore[empty-body]
    """The executors, asked for when episodes are to be played by one that does not ship."""


@hookspec
def envscaler_specs() -> Iterable[SpecsEntry]:  # type: ignore[empty-body]
    """The packs of specs, asked for when a spec is named that is neither a file nor shipped."""


@hookspec
def envscaler_templates() -> Iterable[TemplatesEntry]:  # type: ignore[empty-body]
    """The folders of templates, asked for when `--templates` names one."""
