"""The commands about plugins and packs: plugins, plugin new, specs; and the options that say what is loaded."""

from __future__ import annotations

import os
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envscaler.cli import exits
from envscaler.cli.options import Json
from envscaler.cli.out import boundary, echo, echo_json, note

if TYPE_CHECKING:
    from envscaler.plugin.manager import Plugins

__all__ = ["DisablePlugin", "Templates", "add_to", "configure"]

DisablePlugin = Annotated[
    list[str] | None,
    typer.Option(
        "--disable-plugin",
        metavar="NAME",
        help="Load no plugin of this name, or of this distribution; repeatable. Adds to ENVSCALER_DISABLE_PLUGINS.",
        show_default=False,
    ),
]
Templates = Annotated[
    list[str] | None,
    typer.Option(
        "--templates",
        metavar="FOLDER",
        help="A folder whose templates stand before the shipped ones, or the name of a plugin's; repeatable, the first "
        "wins. Goes before ENVSCALER_TEMPLATES.",
        show_default=False,
    ),
]
Json = Json


class PluginKind(StrEnum):
    """What a new plugin offers."""

    agent = "agent"
    assessor = "assessor"
    checker = "checker"
    backend = "backend"
    embedder = "embedder"
    executor = "executor"
    exporter = "exporter"
    generator = "generator"
    source = "source"
    specs = "specs"
    user = "user"


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("plugins")(boundary(plugins))
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Write a plugin.")
    group.command("new")(boundary(new))
    group.callback()(_group)
    app.add_typer(group, name="plugin")
    app.command("specs")(boundary(specs))


def _group() -> None:
    """Write a plugin."""


def configure(context: typer.Context, disabled: list[str] | None, templates: list[str] | None) -> None:
    """Let the options hold while the command runs, for its child processes too."""
    from envscaler.session.plugins import DISABLED
    from envscaler.session.templates import TEMPLATES

    for variable, values, separator in ((DISABLED, disabled, ","), (TEMPLATES, templates, os.pathsep)):
        if values:
            before = os.environ.get(variable)
            os.environ[variable] = separator.join([*values, *([before] if before else [])])
            context.call_on_close(lambda variable=variable, before=before: _restore(variable, before))


def _restore(variable: str, before: str | None) -> None:
    if before is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = before


def plugins(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="Only what has this name, or is from this plugin or distribution."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Hold what the plugins offer against the conformance suite of its kind.")
    ] = False,
    as_json: Json = False,
) -> int:
    """List the plugins: what each offers, and from which distribution.

    A plugin that cannot be used is a line on standard error, and the others are listed. With --check the exit code is 1 if
    a test fails or a plugin cannot be used.
    """
    from envscaler.session.plugins import open_plugins

    loaded = open_plugins(tell=lambda problem: note(f"envscaler: {problem}"))
    return _check(loaded, names or [], as_json) if check else _list(loaded, names or [], as_json)


def _list(loaded: Plugins, names: list[str], as_json: bool) -> int:
    from envscaler.cli.table import table
    from envscaler.session.plugins import list_plugins

    rows = list_plugins(loaded, names)
    if as_json:
        echo_json([asdict(row) for row in rows])
    else:
        cells = [
            (r.kind or "plugin", r.name or r.plugin, r.summary, f"{r.distribution} {r.version}", r.status) for r in rows
        ]
        echo(table(("Kind", "Name", "Summary", "From", "Status"), cells))
    _note_unmet(loaded)
    return exits.OK


def _note_unmet(loaded: Plugins) -> None:
    for name in loaded.unmet:
        note(f"envscaler: warning: no installed plugin is called {name}, so that disabling it does nothing")


def _check(loaded: Plugins, names: list[str], as_json: bool) -> int:
    from envscaler.session.plugins import offers_called
    from envscaler.testing.run import check_offers

    results = []
    for result in check_offers(offers_called(loaded, names)):
        results.append(result)
        if not as_json:
            tail = f": {result.reason}" if result.reason else ""
            package = f"{result.distribution} {result.version}"
            echo(f"{result.kind} {result.name} ({package}) {result.test}: {result.outcome}{tail}")
    failed = sum(r.outcome == "failed" for r in results)
    if as_json:
        echo_json([asdict(r) for r in results])
    else:
        passed, left = sum(r.outcome == "passed" for r in results), sum(r.outcome == "not run" for r in results)
        echo(
            f"{passed} passed, {failed} failed, {left} not run; {len(loaded.problems)} of the plugins' parts not in use"
        )
    _note_unmet(loaded)
    return exits.FINDINGS if failed or loaded.problems else exits.OK


def new(
    name: Annotated[
        str, typer.Argument(help="The plugin's name: lower-case letters, digits and -.", show_default=False)
    ],
    kind: Annotated[PluginKind, typer.Option("--kind", help="What it offers.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder to make. Default: envscaler-NAME.")
    ] = None,
) -> int:
    """Write a distribution with a plugin, whose tests pass as it is.

    It has a pyproject.toml with the entry point, the module, tests, a tox.ini and a README.
    """
    from envscaler.session.scaffold import new_plugin

    for file in new_plugin(name, kind.value, output):
        echo(str(file))
    return exits.OK


def specs(as_json: Json = False) -> int:
    """List the specs that are installed, the shipped ones among them.

    Commands take them by name: `bank`, or `PACK/NAME` where several packs have one of that name.
    """
    from envscaler.session.packs import installed_specs
    from envscaler.session.plugins import open_plugins

    rows = installed_specs(open_plugins())
    if as_json:
        echo_json([{**asdict(row), "path": str(row.path)} for row in rows])
    else:
        from envscaler.cli.table import table

        cells = [(r.name, r.title, str(r.tools), r.pack, f"{r.distribution} {r.version}") for r in rows]
        echo(table(("Name", "Title", "Tools", "Pack", "From"), cells, ["Tools"]))
        echo("")
        for pack, folder in {r.pack: r.path.parent for r in rows}.items():
            echo(f"{pack}: {folder}")
    return exits.OK
