"""The command that drafts specs from tasks, all stages in a row; and how it and the single stages say what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envscaler.cli import exits
from envscaler.cli.drafting_options import (
    Batch,
    Concurrency,
    Overwrite,
    ProveOptions,
    Sample,
    Seed,
    SelectOptions,
    SizeOptions,
    SourceOptions,
    Tries,
    said,
)
from envscaler.cli.growing import watched
from envscaler.cli.llm import ModelOptions
from envscaler.cli.out import boundary, echo, kept, note
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.session.drafting import Drafted

__all__ = ["add_to", "ended"]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("synth")(boundary(synth))


def synth(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(metavar="TASKS...", help="Files or folders of tasks, names of data sets.", show_default=False),
    ] = None,
    theme: Annotated[
        str | None,
        typer.Option("--theme", metavar="TEXT", help="A sentence about one environment, instead of tasks."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where finished specs and their manifests go.")
    ] = Path("specs/generated"),
    run: Annotated[
        Path | None,
        typer.Option("--run", metavar="FOLDER", help="The work folder. Default: beside the output, DIR.run."),
    ] = None,
    source: SourceOptions = SourceOptions(),  # noqa: B008 - nothing of it changes
    selection: SelectOptions = SelectOptions(),  # noqa: B008
    size: SizeOptions = SizeOptions(),  # noqa: B008
    batch: Batch = None,
    tries: Tries = None,
    proof: ProveOptions = ProveOptions(),  # noqa: B008
    seed: Seed = None,
    sample: Sample = None,
    concurrency: Concurrency = 8,
    overwrite: Overwrite = False,
    models: ModelOptions = ModelOptions(),  # noqa: B008
) -> int:
    """Draft specs from tasks: which need a world, which world that is, a plan of it, its spec, and the proof of that.

    The same command goes on where it was ended, and asks nothing twice. What each stage made is a file in the work folder; edit
    one, and what depends on it is made anew. With --theme the spec is shown as it grows. The exit code is 1 when something was
    lost that was not left out on purpose, or an edited file is in the way of a new one.
    """
    from envscaler.session.drafting import Drafting
    from envscaler.session.drafting import synth as drafted

    with kept(), watched(theme is not None) as told:
        settings = said(source, selection, size, proof, batch=batch, tries=tries, seed=seed, sample=sample)
        options = Drafting(
            settings, models.told(), concurrency, overwrite, told, lambda line: note(f"envscaler: {line}")
        )  # fmt: skip
        made = drafted(tasks or [], output, options, theme=theme, run=run)
    return ended(made)


def ended(made: Drafted) -> int:
    """Say what came of it; the exit code. Raises the error that ended it."""
    from envscaler.cli.table import table

    for edited in made.edited:
        echo(edited.diff.rstrip("\n"))
        note(f"envscaler: {edited}")
    if made.environments:
        heads = ("Environment", "Stage", "Verdict", "Problems", "Tokens", "Cost ($)")
        rows = [
            (
                one.name,
                one.stage,
                one.verdict or "-",
                str(one.problems),
                f"{one.tokens:,}",
                "unknown" if one.cost is None else f"{one.cost:.4f}",
            )
            for one in made.environments
        ]
        echo(table(heads, rows, heads[3:]))
    _lost(made)
    for one in made.environments:
        if one.file:
            echo(one.file)
    if made.error is not None:
        raise made.error
    return exits.OK if made.complete else exits.FINDINGS


def _lost(made: Drafted) -> None:
    counts = made.counts()
    if made.environments:
        count = len(made.environments)
        echo(f"{made.sound} sound of {counted(count, 'environment')}")
    if not counts:
        return
    echo(f"{sum(counts.values())} went no further ({made.run / 'losses.jsonl'}):")
    for (stage, reason), times in counts.items():
        echo(f"  {times:6d} {stage}: {reason}")
    for loss in made.losses:
        if loss.stage == "tasks" and not loss.chosen:
            note(f"{loss.where}: {loss.detail}")
