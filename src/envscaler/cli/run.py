"""The command that goes the whole way: run."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envscaler.cli.bar import Told, bar
from envscaler.cli.options import Jobs, SpecFiles
from envscaler.cli.out import boundary, echo, kept, note
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.session.whole import Step, Whole, WholeProgress

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("run")(boundary(run))


def run(
    specs: SpecFiles,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The folder that all goes into.")
    ] = Path("build/run"),
    count: Annotated[int, typer.Option("-n", "--count", help="How many scenarios, over all specs.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same scenarios.")] = 0,
    calls: Annotated[int, typer.Option("--calls", help="Calls that attack each class.")] = 6000,
    jobs: Jobs = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Make anew also what was made by an earlier call and changed by hand since.")
    ] = False,
) -> int:
    """Go the whole way, without a model: check, compile, assess, scenarios, rollouts, training data, and a page about it all.

    The same command goes on where one was ended, and does nothing twice: a step is done again when a spec or an option that it
    depends on has changed. A spec with errors ends it; a spec that does not pass its assessment does not, but the exit code
    is then 1.
    """
    from envscaler.session.whole import WholeOptions, whole

    with kept(), _progress() as (progress, ended):
        made = whole(
            specs, output, WholeOptions(count, seed, calls, force), jobs=jobs, progress=progress, ended=ended
        )  # fmt: skip
    return _sum_up(made)


# -- what is shown


@contextmanager
def _progress() -> Iterator[tuple[Callable[[WholeProgress], None], Callable[[Step], None]]]:
    """A line at the bottom of the terminal while a step is done, and one for good when it has ended."""
    with ExitStack() as stack:
        at: tuple[str, Told | None] = ("", None)
        began = time.monotonic()

        def heard(now: WholeProgress) -> None:
            nonlocal at
            if at[0] != now.step:
                stack.close()
                at = now.step, stack.enter_context(bar(now.doing))
            if at[1] is not None:
                at[1](now.done, now.total, now.more, f"{now.step}: {now.doing}")

        def ended(step: Step) -> None:
            nonlocal at, began
            stack.close()
            at = "", None
            _show(step, time.monotonic() - began)
            began = time.monotonic()

        yield heard, ended


def _show(step: Step, seconds: float) -> None:
    """A line for a step, with its time where a person looks on."""
    more = " (unchanged)" if step.state == "kept" else f", {seconds:.1f} s" if sys.stdout.isatty() else ""
    echo(f"{step.name:<10} {step.line}{more}")
    sys.stdout.flush()
    for text in step.notes:
        note(textwrap.indent(text.rstrip("\n"), " " * 11))


def _sum_up(made: Whole) -> int:
    if made.page is None:
        from envscaler.diagnostics import render_text

        report = made.checked
        if shown := [one for one in report.diagnostics if one.severity != "note"]:
            echo(render_text(shown, report.sources))
        for reason in report.unread:
            note(f"envscaler: {reason}")
        echo(f"{counted(report.errors, 'error')}; nothing was made")
        return made.code
    bad = [step.name for step in made.steps if not step.ok]
    if bad:
        note(f"not as it should be: {', '.join(bad)}")
    echo(str(made.page))
    return made.code
