"""The command that makes training data: export."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envscaler.cli import exits
from envscaler.cli.bar import bar
from envscaler.cli.llm import ModelOptions
from envscaler.cli.options import AnyHash, SpecsFolder
from envscaler.cli.out import boundary, echo, kept, note
from envscaler.errors import UsageError
from envscaler.texts import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envscaler.export.filters import Bounds
    from envscaler.session.exporting import Exported
    from envscaler.session.impossible import Judged

__all__ = ["add_to"]


class ReasoningKept(StrEnum):
    """Which of the agent's turns keep their reasoning."""

    last = "last"
    all = "all"
    none = "none"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("export")(boundary(export))


def export(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Folders of runs; files of scenarios for a form of tasks.", show_default=False
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="jsonl, openai, trl, llama-factory, parquet, or rl-parquet for tasks; or a plugin's.",
        ),
    ] = "jsonl",
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder that is made.")] = Path(
        "export"
    ),
    min_reward: Annotated[
        float | None, typer.Option("--min-reward", help="Only those with at least this reward.", show_default=False)
    ] = None,
    turns: Annotated[
        str | None,
        typer.Option(
            "--turns",
            metavar="LEAST:MOST[,…]",
            help="Only those with so many replies of the agent; conversations may have bounds of their own: 3:29,5:39.",
            show_default=False,
        ),
    ] = None,
    best: Annotated[
        int | None, typer.Option("--best", help="So many of each scenario, the best.", show_default=False)
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            help="How an episode may have ended; repeatable, any for all of them.  [default: finished]",
            show_default=False,
        ),
    ] = None,
    malformed: Annotated[
        bool, typer.Option("--malformed", help="Keep those with replies that could not be read.")
    ] = False,
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="Keep those with the same calls in the same scenario.")
    ] = False,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge",
            help="Leave out those whose task a model, the role judge, finds impossible to do; each asked once.",
        ),
    ] = False,
    split: Annotated[
        str | None,
        typer.Option(
            "--split", metavar="env:SHARE", help="Hold out this share of the environments.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Draws the environments that are held out.")] = 0,
    reasoning: Annotated[
        ReasoningKept | None,
        typer.Option(
            "--reasoning",
            help="Which turns keep their reasoning.  [default: last; jsonl, parquet: all; openai: none]",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the format; repeatable.", show_default=False),
    ] = None,
    specs: SpecsFolder = None,
    any_hash: AnyHash = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export.")] = False,
    concurrency: Annotated[int, typer.Option("--concurrency", help="Questions to the judge at once.")] = 8,
    models: ModelOptions = ModelOptions(),  # noqa: B008 - nothing of it changes
) -> int:
    """Make training data of runs: filter trajectories, split them by environment, write the form of a trainer.

    Prints how many were left out for which reason; a manifest beside the data says it too. What the judge says is kept in the
    run's folder, with its tokens; a trajectory on which it gives no usable reply stays, and is counted.
    """
    from envscaler.export.filters import FilterOptions
    from envscaler.session.exporting import ExportOptions
    from envscaler.session.exporting import export as write
    from envscaler.session.impossible import JudgeOptions

    statuses = tuple(status or ("finished",))
    bounds, talks = _turns(turns)
    filters = FilterOptions(
        () if "any" in statuses else statuses, malformed, bounds, min_reward, duplicates, best, judge, talks
    )
    told = _settings(settings or []) | ({} if reasoning is None else {"reasoning": reasoning.value})
    with kept(judge), bar("judging", wanted=judge) as progress:
        judges = JudgeOptions(models.told(), concurrency, progress, note)
        options = ExportOptions(told, _share(split), seed, force, specs, any_hash, judges)
        made = write(sources, output, form, filters, options)
    echo(_shown(made))
    return exits.OK


def _shown(made: Exported) -> str:
    from envscaler.cli.table import table

    counts = [
        ("read", made.read),
        *((f"left out: {name}", -count) for name, count in made.dropped.items() if count),
        ("kept", made.kept),
    ]
    lines = [table(("", "Samples"), [(name, str(count)) for name, count in counts], ("Samples",)), ""]
    if made.judged is not None:
        lines += [*_of_judge(made.judged), ""]
    for split, (environments, samples) in made.splits.items():
        lines.append(f"{split}: {samples} from {counted(len(environments), 'environment')}")
    lines += [f"{made.folder / file}: {counted(rows, 'row')}" for file, rows in made.rows.items()]
    return "\n".join(lines)


def _of_judge(judged: Judged) -> Iterator[str]:
    """What the judge said, and what became of replies that were none."""
    causes = ", ".join(f"{cause}: {count}" for cause, count in sorted(judged.impossible.items()))
    impossible = sum(judged.impossible.values())
    told = f" ({causes})" if causes else ""
    yield f"{judged.model} judged {judged.asked}: {judged.possible} possible, {impossible} impossible{told}"
    if judged.unusable:
        wrong = ", ".join(f"{code}: {count}" for code, count in sorted(judged.unusable.items()))
        yield f"{sum(judged.unusable.values())} without a usable verdict ({wrong}) are kept"


def _turns(text: str | None) -> tuple[Bounds, Bounds | None]:
    """Bounds for all, and for conversations where they have their own."""
    if text is None:
        return (None, None), None
    first, comma, talks = text.partition(",")
    return _bounds(first, text), _bounds(talks, text) if comma else None


def _bounds(text: str, whole: str) -> Bounds:
    """`3:29`, `3:`, `:29` or `3` as bounds."""
    least, colon, most = text.partition(":")
    try:
        bounds = [int(part) if part.strip() else None for part in (least, most if colon else least)]
    except ValueError:
        bounds = []
    if not bounds or not text.strip(" :") or any(bound is not None and bound < 0 for bound in bounds):
        raise UsageError(f"--turns is two numbers with a colon between, like 3:29 or 3:29,5:39, not {whole!r}")
    return bounds[0], bounds[1]


def _share(text: str | None) -> float:
    if text is None:
        return 0.0
    what, _, share = text.partition(":")
    try:
        value = float(share)
    except ValueError:
        value = 0.0
    if what != "env" or not 0 < value < 1:
        raise UsageError(f"--split is env: and a share between 0 and 1, like env:0.1, not {text!r}")
    return value


def _settings(given: list[str]) -> dict[str, Any]:
    """Settings by name; a value is JSON where it can be read as such, and a text otherwise."""
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise UsageError(f"--set is NAME=VALUE, not {one!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
