"""Which folders of templates stand before the shipped ones: a user's, and those of plugins that were asked for by name."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["TEMPLATES", "template_folders"]

TEMPLATES = "ENVSCALER_TEMPLATES"
"""Folders, or names of templates that plugins offer, separated as in PATH; the first wins."""


def template_folders() -> tuple[str, ...]:
    """The folders of the environment variable ENVSCALER_TEMPLATES, before which `--templates` puts its own.

    What is no folder is looked for among the plugins' templates; no other case loads plugins. Raises UsageError with the
    nearest name.
    """
    named = [part for part in os.environ.get(TEMPLATES, "").split(os.pathsep) if part]
    if all(Path(name).is_dir() for name in named):
        return tuple(named)
    from envscaler.errors import UsageError
    from envscaler.plugin.entries import TemplatesEntry
    from envscaler.session.plugins import open_plugins

    plugins = open_plugins()
    folders = []
    for name in named:
        if Path(name).is_dir():
            folders.append(name)
            continue
        try:
            entry = plugins.find("templates", name).entry
        except UsageError as error:
            raise UsageError(f"{name} is no folder, and {error}") from None
        assert isinstance(entry, TemplatesEntry)
        folders.append(str(entry.path))
    return tuple(folders)
