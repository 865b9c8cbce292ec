"""The plugins of this run: which are loaded, what they offer, and what is wrong with those that are not used."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from envscaler.diagnostics import nearest
from envscaler.errors import UsageError

if TYPE_CHECKING:
    from envscaler.plugin.manager import Offer, Plugins
    from envscaler.plugin.problems import Origin, Problem

__all__ = ["DISABLED", "Listed", "disabled_plugins", "list_plugins", "offers_called", "open_plugins"]

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


def list_plugins(plugins: Plugins, names: Collection[str] = ()) -> list[Listed]:
    """Everything that the plugins offer, by kind and name, and after it what is not used; or what of it has one of
    ``names``, as entry, plugin or distribution. Raises UsageError for a name that nothing has."""
    rows = [_row(o.origin, "ok", o.kind, o.entry.name, o.entry.summary) for o in offers_called(plugins, ())]
    rows += [_row(p.origin, "failed", p.kind, p.name, reason=p.reason) for p in plugins.problems]
    rows += [_row(origin, "disabled") for origin in plugins.disabled]
    chosen = [row for row in rows if not names or {row.name, row.plugin, row.distribution} & set(names)]
    _all_met(names, [{row.name, row.plugin, row.distribution} for row in rows])
    return chosen


def _row(
    origin: Origin,
    status: Literal["ok", "failed", "disabled"],
    kind: str = "",
    name: str = "",
    summary: str = "",
    *,
    reason: str = "",
) -> Listed:
    return Listed(kind, name, summary, origin.plugin, origin.distribution, origin.version, status, reason)


def offers_called(plugins: Plugins, names: Collection[str]) -> list[Offer]:
    """The offers by kind and name: all, or those with one of ``names`` as entry, plugin or distribution. Raises UsageError
    for a name that nothing has."""
    from envscaler.plugin.entries import KINDS

    offers = [o for kind in KINDS for o in sorted(plugins.offers(kind), key=lambda offer: offer.entry.name)]
    if not names:
        return offers
    called = [{o.entry.name, o.origin.plugin, o.origin.distribution} for o in offers]
    _all_met(names, called)
    return [offer for offer, has in zip(offers, called, strict=True) if has & set(names)]


def _all_met(names: Collection[str], called: Iterable[set[str]]) -> None:
    known = set().union(*called) - {""}
    for name in names:
        if name not in known:
            near = nearest(name, known)
            raise UsageError(
                f"no plugin or part of one is called {name!r}" + (f"; did you mean {near}?" if near else "")
            )
