"""The commands that carry out one stage of drafting over the files of a work folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from envscaler.cli.drafting_options import (
    Batch,
    Concurrency,
    Only,
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
from envscaler.cli.out import boundary, kept, note
from envscaler.cli.synth import ended

__all__ = ["add_to"]

_Folder = Annotated[Path, typer.Argument(metavar="RUN", help="The work folder.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Carry out one stage of drafting, over files that can be edited.",
    )
    for command in (tasks, filter_, infer, select, plan, write, prove):
        group.command(command.__name__.rstrip("_"))(boundary(command))
    app.add_typer(group, name="draft")


def tasks(
    run: _Folder,
    locations: Annotated[
        list[str],
        typer.Argument(metavar="TASKS...", help="Files or folders of tasks, names of data sets.", show_default=False),
    ],
    source: SourceOptions = SourceOptions(),  # noqa: B008 - nothing of it changes
    overwrite: Overwrite = False,
) -> int:
    """Read tasks into RUN/tasks.jsonl, equal ones once; rows that hold none are told with file and line, and left out."""
    return _stage("tasks", run, said(source), overwrite=overwrite, tasks=locations)


def filter_(
    run: _Folder,
    sample: Sample = None,
    concurrency: Concurrency = 8,
    overwrite: Overwrite = False,
    models: ModelOptions = ModelOptions(),  # noqa: B008
) -> int:
    """Say of each task in RUN/tasks.jsonl whether it needs a world that holds things, into RUN/filtered.jsonl."""
    return _stage("filter", run, said(sample=sample), models, concurrency, overwrite)


def infer(
    run: _Folder,
    sample: Sample = None,
    concurrency: Concurrency = 8,
    overwrite: Overwrite = False,
    models: ModelOptions = ModelOptions(),  # noqa: B008
) -> int:
    """Say which environment stands behind each task that needs one, into RUN/themes.jsonl."""
    return _stage("infer", run, said(sample=sample), models, concurrency, overwrite)


def select(
    run: _Folder,
    selection: SelectOptions = SelectOptions(),  # noqa: B008
    seed: Seed = None,
    overwrite: Overwrite = False,
    models: ModelOptions = ModelOptions(),  # noqa: B008
) -> int:
    """Choose the themes to be drafted, no two alike, into RUN/selected.jsonl; RUN/map.svg is a map of all."""
    return _stage("select", run, said(selection, seed=seed), models, overwrite=overwrite)


def plan(
    run: _Folder,
    only: Only = None,
    size: SizeOptions = SizeOptions(),  # noqa: B008
    tries: Tries = None,
    sample: Sample = None,
    concurrency: Concurrency = 8,
    overwrite: Overwrite = False,
    models: ModelOptions = ModelOptions(),  # noqa: B008
) -> int:
    """Plan each theme that was selected or asked for: states, rules and tools, into RUN/plans/NAME.json."""
    return _stage("plan", run, said(size, tries=tries, sample=sample), models, concurrency, overwrite, only=only or ())


def write(
    run: _Folder,
    only: Only = None,
    batch: Batch = None,
    tries: Tries = None,
    sample: Sample = None,
    concurrency: Concurrency = 8,
    overwrite: Overwrite = False,
    models: ModelOptions = ModelOptions(),  # noqa: B008
) -> int:
    """Write the spec of each plan, checked as it grows, into RUN/drafts/NAME.yaml."""
    return _stage(
        "write", run, said(batch=batch, tries=tries, sample=sample), models, concurrency, overwrite, only=only or ()
    )


def prove(
    run: _Folder,
    only: Only = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Where finished specs go. Default: as before, else beside RUN."
        ),
    ] = None,
    proof: ProveOptions = ProveOptions(),  # noqa: B008
    seed: Seed = None,
    concurrency: Concurrency = 8,
    overwrite: Overwrite = False,
    models: ModelOptions = ModelOptions(),  # noqa: B008
) -> int:
    """Compile each draft, run its examples, attack it and have it mended: into DIR/NAME.yaml, or RUN/unfinished/NAME.yaml.

    Beside each stands NAME.manifest.json: where it comes from, which models, what they took, the verdict, what is open.
    """
    return _stage("prove", run, said(proof, seed=seed), models, concurrency, overwrite, only=only or (), output=output)


def _stage(
    stage: str,
    run: Path,
    settings: Any,
    models: ModelOptions | None = None,
    concurrency: int = 8,
    overwrite: bool = False,
    **more: Any,
) -> int:
    from envscaler.session.drafting import Drafting, draft

    with kept(), watched() as told:
        llm = (models or ModelOptions()).told()
        tell = lambda line: note(f"envscaler: {line}")  # noqa: E731
        made = draft(stage, run, Drafting(settings, llm, concurrency, overwrite, told, tell), **more)
    return ended(made)
