"""The plugin that is envscaler itself: what ships, given through the hooks that others use."""

from __future__ import annotations

from collections.abc import Iterable

from envscaler.plugin import AssessorEntry, BackendEntry, CheckerEntry, SpecsEntry, TemplatesEntry, hookimpl

__all__ = [
    "envscaler_assessors", "envscaler_backends", "envscaler_checkers", "envscaler_specs", "envscaler_templates",
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
def envscaler_specs() -> Iterable[SpecsEntry]:
    """The shipped specs."""
    from envscaler.builtin.packs import packs

    return packs()


@hookimpl
def envscaler_templates() -> Iterable[TemplatesEntry]:
    """The shipped templates."""
    from envscaler.builtin.packs import templates

    return templates()
