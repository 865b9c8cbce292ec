"""The plugins of this run: which are loaded, what they offer, and what is wrong with those that are not used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from envscaler.plugin.manager import Plugins
    from envscaler.plugin.problems import Problem

__all__ = ["DISABLED", "Listed", "disabled_plugins", "list_plugins", "open_plugins"]

DISABLED = "ENVSCALER_DISABLE_PLUGINS"
"""Names of plugins or distributions that are not to be loaded, with commas between."""


def disabled_plugins() -> list[str]:
    """The names in the environment variable ENVSCALER_DISABLE_PLUGINS, to which `--disable-plugin` adds."""
    return [name for part in os.environ.get(DISABLED, "").split(",") if (name := part.strip())]


def open_plugins(
    *,
    third_parties: bool = True,
    disabled: Iterable[str] | None = None,
    tell: Callable[[Problem], None] | None = None,
) -> Plugins:
    """What ships and what is installed, but for ``disabled`` (by default those of the environment variable).

    ``tell`` hears each problem as it is found; by default it becomes a PluginWarning.
    """
    from envscaler.builtin import plugin as shipped
    from envscaler.plugin.manager import load

    names = disabled_plugins() if disabled is None else disabled
    return load(shipped, third_parties=third_parties, disabled=names, tell=tell)


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of `envscaler plugins`: an entry; or a plugin or entry that is not used, with the ``reason``.

    ``kind`` and ``name`` are empty for a plugin that was not even asked, ``name`` for a hook that failed.
    """

    kind: str
    name: str
    summary: str
    plugin: str
    distribution: str
    version: str
    status: Literal["ok", "failed", "disabled"]
    reason: str = ""


def list_plugins(plugins: Plugins) -> list[Listed]:
    """Everything that the plugins offer, by kind and name, and after it what is not used."""
    from envscaler.plugin.entries import KINDS

    rows = []
    for kind in KINDS:
        for offer in sorted(plugins.offers(kind), key=lambda offer: offer.entry.name):
            entry, origin = offer.entry, offer.origin
            rows.append(
                Listed(kind, entry.name, entry.summary, origin.plugin, origin.distribution, origin.version, "ok")
            )
    for problem in plugins.problems:
        origin = problem.origin
        rows.append(
            Listed(
                problem.kind, problem.name, "", origin.plugin, origin.distribution, origin.version, "failed",
                problem.reason,
            )
        )  # fmt: skip
    rows += [Listed("", "", "", o.plugin, o.distribution, o.version, "disabled") for o in plugins.disabled]
    return rows
