"""The models of a run as its commands want them: settings gathered, backends found, ledger and cache opened; and costs."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.diagnostics import nearest
from envscaler.errors import UsageError
from envscaler.session.files import StrPath, existing, reason

if TYPE_CHECKING:
    from envscaler.llm.costs import Costs
    from envscaler.llm.models import Entry, Models
    from envscaler.llm.probe import Verdict
    from envscaler.llm.settings import Layer
    from envscaler.plugin.manager import Plugins

__all__ = ["LlmOptions", "cache_folder", "check_llm", "cost", "open_models"]

SETTINGS = "envscaler.toml"
_CACHE_VARIABLE = "ENVSCALER_CACHE"


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """What a command line says about models.

    ``llm``: the `--llm` flags. ``settings``: a settings file instead of `envscaler.toml` in the working folder. ``cache``:
    the folder of the cache, or `off`; by default `ENVSCALER_CACHE`, else the user's cache folder. ``record``: a file that
    every exchange is appended to. ``max_cost`` in US dollars.
    """

    llm: Sequence[str] = ()
    settings: StrPath | None = None
    cache: str | None = None
    record: StrPath | None = None
    max_cost: float | None = None
    max_tokens: int | None = None


def open_models(
    options: LlmOptions,
    *,
    run: StrPath | None = None,
    plugins: Callable[[], Plugins] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Models:
    """The models of a run.

    ``run``: the run's folder, which gets the ledger; None keeps the account in memory. ``plugins`` is called when a role
    names a backend that does not ship. ``tell`` hears what is to be said once. Raises UsageError for wrong settings.
    """
    from envscaler.llm.cache import FILE as REPLIES
    from envscaler.llm.cache import Cache
    from envscaler.llm.ledger import FILE, Ledger
    from envscaler.llm.models import Models

    folder = cache_folder(options.cache)
    return Models(
        _layers(options),
        lambda name: _backend(name, plugins),
        ledger=Ledger(None if run is None else Path(run) / FILE),
        cache=None if folder is None else Cache(folder / REPLIES),
        max_cost=options.max_cost,
        max_tokens=options.max_tokens,
        record=None if options.record is None else Path(options.record),
        tell=tell,
    )


def cache_folder(said: str | None) -> Path | None:
    """The cache's folder from a flag, `ENVSCALER_CACHE` or the user's cache folder; None for `off`."""
    said = said or os.environ.get(_CACHE_VARIABLE) or ""
    if said == "off":
        return None
    if said:
        return Path(said)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "envscaler"


def _layers(options: LlmOptions) -> list[Layer]:
    """The sources of settings, the weakest first."""
    from envscaler.llm.settings import from_environment, from_flags, from_table

    path = Path(options.settings) if options.settings is not None else Path(SETTINGS)
    layers = []
    if options.settings is not None or path.is_file():
        layers.append(from_table(_table(path), str(path)))
    return [*layers, from_environment(os.environ), from_flags(options.llm)]


def _table(path: Path) -> Mapping[str, Any]:
    try:
        text = existing(path).read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    table = found.get("llm", {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{path}: llm is a table: write [llm]")
    return table


def _backend(name: str, plugins: Callable[[], Plugins] | None) -> Entry:
    """A backend by name; plugins are loaded only for one that does not ship."""
    from envscaler.llm.backends import BACKENDS

    if name in BACKENDS:
        return BACKENDS[name]
    if plugins is None:
        from envscaler.session.plugins import open_plugins

        plugins = open_plugins
    loaded = plugins()
    offers = {offer.entry.name: offer for offer in loaded.offers("backend")}
    if name not in offers:
        near = nearest(name, {*BACKENDS, *offers})
        hint = f"; did you mean {near}?" if near else ""
        raise UsageError(f"no backend is called {name!r}; there are: {', '.join(sorted({*BACKENDS, *offers}))}{hint}")
    return _Offered(name, loaded)


@dataclass(frozen=True, slots=True)
class _Offered:
    """A plugin's backend, made behind the boundary of plugins."""

    name: str
    plugins: Plugins

    def make(self, settings: Mapping[str, Any]) -> Any:
        return self.plugins.backend(self.name, settings)


def check_llm(models: Models, role: str) -> list[Verdict]:
    """Ask a role's model for a chat, a structured reply and a tool call, and say of each whether it works."""
    from envscaler.llm.probe import probe

    return models.run(probe(models.role(role)))


def cost(run: StrPath) -> Costs:
    """What a run has spent, by stage and role. Raises UsageError when the folder holds no account."""
    from envscaler.llm.costs import summed
    from envscaler.llm.ledger import FILE, Ledger

    path = Path(run)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise UsageError(f"{run}: no account of a run there ({FILE}); runs that ask a model write one")
    ledger = Ledger(path, only_read=True)
    try:
        return summed(ledger.attempts())
    finally:
        ledger.close()
