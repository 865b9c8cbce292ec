"""The commands about scenarios: make them for specs, check a file of them, report on it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from envscaler.cli import authoring, exits
from envscaler.cli.bar import bar
from envscaler.cli.options import AnyHash, Jobs, Json, SpecFiles, SpecsFolder
from envscaler.cli.out import boundary, echo, echo_json, kept, note
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.scenario.summary import Summary
    from envscaler.session.scenario_files import CheckedFile
    from envscaler.session.scenarios import Made, MakingProgress

__all__ = ["add_to"]


class _WithDefault(TyperGroup):
    """A group whose first command may be left out: `envscaler scenarios bank.yaml` is `envscaler scenarios make bank.yaml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(
        cls=_WithDefault,
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Make proved scenarios for specs, check files of them, report on them.",
    )
    group.command("make")(boundary(make))
    group.command("check")(boundary(check))
    group.command("report")(boundary(report))
    authoring.add_to(group)
    app.add_typer(group, name="scenarios")


def make(
    specs: SpecFiles,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write, one scenario a line.")
    ] = Path("scenarios.jsonl"),
    count: Annotated[int, typer.Option("-n", "--count", help="How many, over all specs.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same file.")] = 0,
    kinds: Annotated[
        str | None,
        typer.Option("--kinds", metavar="KIND,...", help="Which kinds. Default: all that ship.", show_default=False),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--size", help="How many records a state holds. Default: as many as the spec's own."),
    ] = None,
    states: Annotated[
        Path | None,
        typer.Option(
            "--states",
            metavar="FILE|DIR",
            help="Begin in these states, JSON files, instead of made ones.",
            show_default=False,
        ),
    ] = None,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Write YAML, to be edited by hand.")] = False,
    jobs: Jobs = 1,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run",
            metavar="FOLDER",
            help="Keep what is done in this folder, for good. Default: beside the file until it is written.",
        ),
    ] = None,
) -> int:
    """Make scenarios for specs: states, tasks, goals, each proved before it is kept.

    `make` may be left out. The same specs, options and version give the same file, with any number of jobs; the same command
    goes on where one was ended. Beside FILE.jsonl stand FILE.states, the initial states, and FILE.manifest.json.
    """
    from envscaler.session.scenarios import BatchOptions, make_scenarios

    named = tuple(name for part in (kinds or "").split(",") if (name := part.strip()))
    options = BatchOptions(count, seed, named, size, "" if states is None else str(states))
    with kept(), _progress() as told:
        made = make_scenarios(specs, output, options, jobs=jobs, run=run, as_yaml=as_yaml, progress=told)
    _show(made)
    return exits.OK if made.complete else exits.FINDINGS


def check(
    file: Annotated[Path, typer.Argument(help="A file of scenarios, JSON lines or YAML.", show_default=False)],
    specs: SpecsFolder = None,
    any_hash: AnyHash = False,
    as_json: Json = False,
    jobs: Jobs = 1,
) -> int:
    """Hold scenarios against their specs and prove each once more; every problem with its place and code.

    The exit code is 1 when one does not hold.
    """
    from envscaler.diagnostics import render_json, render_text
    from envscaler.session.scenario_files import check_scenarios

    with bar("proving") as progress:
        found = check_scenarios(file, specs=specs, any_hash=any_hash, jobs=jobs, progress=progress)
    if as_json:
        problems = json.loads(render_json(found.diagnostics))
        echo_json({"scenarios": found.count, "proved": found.proved, "diagnostics": problems})
    else:
        if found.diagnostics:
            echo(render_text(found.diagnostics, found.sources) + "\n")
        echo(f"{counted(found.count, 'scenario')}: {found.proved} proved, {_problems(found)}")
    return exits.FINDINGS if found.errors or found.proved < found.count else exits.OK


def _problems(found: CheckedFile) -> str:
    return counted(found.errors, "error") if found.errors else "no errors"


def report(
    file: Annotated[Path, typer.Argument(help="A file of scenarios, JSON lines or YAML.", show_default=False)],
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="DIR", help="Write a page for each into this folder, for people to audit."),
    ] = None,
    specs: SpecsFolder = None,
    any_hash: AnyHash = False,
    as_json: Json = False,
) -> int:
    """Say how scenarios are spread over specs, kinds and tools, and what their stored proofs tried.

    Nothing is proved here: `check` does that. A page shows the task, excerpts of the state, the solution with what each step
    changes, and every goal with why it holds.
    """
    from envscaler.session.scenario_files import report_scenarios

    found = report_scenarios(file, html, specs=specs, any_hash=any_hash)
    if as_json:
        echo_json({**found.summary.to_json(), "proofs": found.report.to_json()})
    elif found.summary.count:
        show_summary(found.summary)
        for line in found.report.text():
            echo(line)
    else:
        echo("0 scenarios")
    if found.pages:
        echo(str(found.pages[0]))
    return exits.OK


def _show(made: Made) -> None:
    if made.summary.count:
        show_summary(made.summary, made)
    for problem in dict.fromkeys(made.failed):
        note(f"failed: {problem}")
    for line in made.lines:
        note(line)
    for spec, tools in made.unused.items():
        note(f"{spec}: no scenario uses {', '.join(tools)}")
    count, tried, dropped = made.summary.count, sum(made.tried.values()), sum(made.dropped.values())
    short = f" of the {made.wanted} wanted" if count < made.wanted else ""
    echo(f"{count} scenarios{short}; {tried} were tried and {dropped} dropped" + (", most for:" if dropped else ""))
    reasons: dict[str, int] = {}
    for (_, _, why), times in made.dropped.items():
        reasons[why] = reasons.get(why, 0) + times
    for why, times in sorted(reasons.items(), key=lambda one: (-one[1], one[0]))[:8]:
        echo(f"  {times:6d} {why}")
    for file in made.files:
        echo(str(file))


def show_summary(summary: Summary, made: Made | None = None) -> None:
    """Print how scenarios are spread, by kind and by spec."""
    from envscaler.cli.table import table
    from envscaler.scenario.summary import Spread

    heads = ("Kind", "Scenarios", "Steps: mean", "Most", "Goals: mean", "Most", *(("Tried",) if made else ()))
    rows = []
    for kind in [*sorted(summary.kinds), ""]:
        steps, goals = (Spread(summary.steps), Spread(summary.goals)) if not kind else (
            Spread(summary.steps_of[kind]), Spread(summary.goals_of[kind])
        )  # fmt: skip
        tried = sum(n for (_, k), n in made.tried.items() if k == kind or not kind) if made else 0
        rows.append(
            (kind or "all", str(summary.kinds[kind] if kind else summary.count), f"{steps.mean:.1f}", str(max(steps.times)),
             f"{goals.mean:.1f}", str(max(goals.times)), *((str(tried),) if made else ()))
        )  # fmt: skip
    echo(table(heads, rows, heads[1:]))
    heads = ("Spec", "Scenarios", "Tools", *sorted(summary.kinds))
    tools = {spec: sum(1 for s, _ in summary.tools if s == spec) for spec in summary.specs}
    echo(
        table(
            heads,
            [
                (spec, str(count), str(tools[spec]), *(str(summary.pairs[spec, kind]) for kind in heads[3:]))
                for spec, count in sorted(summary.specs.items())
            ],
            heads[1:],
        )
    )


@contextmanager
def _progress() -> Iterator[Callable[[MakingProgress], None] | None]:
    """Kept, dropped and for what, how fast."""
    with bar("kept") as line:
        if line is None:
            yield None
            return
        began = time.monotonic()

        def told(at: MakingProgress) -> None:
            most = sorted(at.dropped.items(), key=lambda one: (-one[1], one[0]))[:3]
            elapsed = time.monotonic() - began
            rate = f"{at.kept / elapsed:.1f}/s" if elapsed > 1 else ""
            words = ", ".join(f"{times} {why}" for why, times in most)
            line(at.kept, at.wanted, f"{rate}  dropped {sum(at.dropped.values())}" + (f": {words}" if words else ""))

        yield told
