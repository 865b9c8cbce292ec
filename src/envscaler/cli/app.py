"""The commands, put together. Nothing here or in the command modules' heads imports what only a running command needs."""

from __future__ import annotations

from typing import Annotated

import typer

from envscaler.cli import (
    assess,
    cost,
    diff,
    docs,
    draft,
    environment,
    exits,
    export,
    llm,
    mutate,
    play,
    plugins,
    repair,
    rollout,
    run,
    runs,
    scenarios,
    score,
    specs,
    state,
    stats,
    synth,
)

__all__ = ["app"]

_HELP = "Environments for tool-using LLM agents: a typed YAML spec in, a fast and safe Python class out."

app = typer.Typer(
    name="envscaler",
    help=_HELP,
    epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in exits.MEANINGS.items()) + ".",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from envscaler import __version__

        print(f"envscaler {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    disable_plugin: plugins.DisablePlugin = None,
    templates: plugins.Templates = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    plugins.configure(context, disable_plugin, templates)


run.add_to(app)
specs.add_to(app)
environment.add_to(app)
play.add_to(app)
assess.add_to(app)
mutate.add_to(app)
repair.add_to(app)
state.add_to(app)
synth.add_to(app)
draft.add_to(app)
scenarios.add_to(app)
score.add_to(app)
rollout.add_to(app)
runs.add_to(app)
export.add_to(app)
diff.add_to(app)
docs.add_to(app)
stats.add_to(app)
plugins.add_to(app)
llm.add_to(app)
cost.add_to(app)
