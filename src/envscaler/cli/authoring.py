"""The commands by which models make scenarios: `scenarios author` and `scenarios reword`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envscaler.cli import exits
from envscaler.cli.bar import bar
from envscaler.cli.llm import ModelOptions
from envscaler.cli.options import SpecFiles, SpecsFolder
from envscaler.cli.out import boundary, echo, kept, note

if TYPE_CHECKING:
    from envscaler.session.authoring import Authored

__all__ = ["add_to"]


class _States(StrEnum):
    own = "own"
    made = "made"
    drafted = "drafted"


class _Goals(StrEnum):
    derived = "derived"
    written = "written"


Run = Annotated[
    Path | None,
    typer.Option(
        "--run", metavar="FOLDER", help="Keep what is done, and the account of tokens, here. Default: beside the file."
    ),
]
Concurrency = Annotated[int, typer.Option("--concurrency", help="Scenarios that are worked on at once.")]


def add_to(group: typer.Typer) -> None:
    """Register the commands in the group of scenarios."""
    group.command("author")(boundary(author))
    group.command("reword")(boundary(reword))


def author(
    specs: SpecFiles,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write, one scenario a line.")
    ] = Path("authored.jsonl"),
    count: Annotated[int, typer.Option("-n", "--count", help="How many, over all specs.")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Of the states that are made.")] = 0,
    states: Annotated[
        _States,
        typer.Option(
            "--states", help="The spec's own state, states made from the spec, or states that a model drafts."
        ),
    ] = _States.made,
    share: Annotated[int, typer.Option("--share", help="Scenarios that share a state.")] = 5,
    size: Annotated[int, typer.Option("--size", help="About how many records a state holds.")] = 40,
    goals: Annotated[
        _Goals,
        typer.Option(
            "--goals",
            help="Goals derived from what the solution changed, with the model's as a second opinion; or the model's own.",
        ),
    ] = _Goals.derived,
    changes: Annotated[
        str, typer.Option("--changes", metavar="LEAST:MOST", help="How many changes a task needs.")
    ] = "1:4",
    concurrency: Concurrency = 4,
    run: Run = None,
    models: ModelOptions = ModelOptions(),  # noqa: B008 - nothing of it changes
) -> int:
    """Have models write scenarios: planner writes a task, agent solves it by calls, coder says how to check it.

    None of them sees what another wrote besides the task. What they agree on is proved like any other scenario, and kept;
    what is not is counted by reason. `envscaler cost FILE.run` tells what it took.
    """
    from envscaler.session.authoring import AuthorOptions, author_scenarios

    options = AuthorOptions(count, seed, states.value, share, size, goals.value, _range(changes))
    with kept(), bar("writing") as told:
        made = author_scenarios(
            specs,
            output,
            options,
            llm=models.told(),
            run=run,
            concurrency=concurrency,
            tell=lambda line: note(f"envscaler: {line}"),
            progress=told,
        )
    _show(made)
    return exits.OK if made.complete else exits.FINDINGS


def reword(
    file: Annotated[Path, typer.Argument(help="A file of scenarios, JSON lines or YAML.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write, one scenario a line.")
    ] = Path("reworded.jsonl"),
    seed: Annotated[int, typer.Option("--seed", help="Draws the manner of each text.")] = 0,
    specs: SpecsFolder = None,
    concurrency: Concurrency = 4,
    run: Run = None,
    models: ModelOptions = ModelOptions(),  # noqa: B008 - nothing of it changes
) -> int:
    """Have the planner say the tasks of proved scenarios in other words; each is proved again.

    A text that does not tell all that the task told, or fails its proof, is not taken: that scenario keeps its words. The
    exit code is 1 when there are such.
    """
    from envscaler.session.rewording import reword_scenarios

    with kept(), bar("rewording") as told:
        made = reword_scenarios(
            file,
            output,
            seed=seed,
            specs=specs,
            llm=models.told(),
            run=run,
            concurrency=concurrency,
            tell=lambda line: note(f"envscaler: {line}"),
            progress=told,
        )
    _show(made)
    return exits.FINDINGS if made.dropped else exits.OK


def _range(text: str) -> tuple[int, int]:
    from envscaler.errors import UsageError

    least, _, most = text.partition(":")
    try:
        found = int(least), int(most or least)
    except ValueError:
        found = 0, 0
    if not 1 <= found[0] <= found[1]:
        raise UsageError(f"--changes is two numbers like 1:4, not {text}")
    return found


def _show(made: Authored) -> None:
    from envscaler.cli.scenarios import show_summary

    if made.summary.count:
        show_summary(made.summary)
    dropped = sum(made.dropped.values())
    short = f" of the {made.wanted} wanted" if not made.complete else ""
    echo(
        f"{made.summary.count} scenarios{short}; {made.tried} were tried and {dropped} not taken"
        + (":" if dropped else "")
    )
    for code, times in sorted(made.dropped.items(), key=lambda one: (-one[1], one[0])):
        echo(f"  {times:6d} {code}")
    for reason in made.reasons:
        note(reason)
    for path in made.files:
        echo(str(path))
