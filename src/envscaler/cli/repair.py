"""The command that has a spec mended by a language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envscaler.cli import exits
from envscaler.cli.llm import ModelOptions
from envscaler.cli.out import boundary, echo, note
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.assess.repair import Repaired, RepairRound

__all__ = ["add_to"]

_STOPPED = {
    "sound": "nothing is left to mend",
    "no progress": "the model made it no better",
    "rounds": "all rounds were made",
    "limit": "a limit is reached",
    "model": "the model could not be asked",
}


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("repair")(boundary(repair))


def repair(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="A spec file.", show_default=False)],
    rounds: Annotated[int, typer.Option("--rounds", help="Ask the model at most so often.")] = 10,
    write: Annotated[
        bool, typer.Option("--write/--diff", help="Write the better spec to the file, or only show the difference.")
    ] = False,
    calls: Annotated[int, typer.Option("--calls", help="Fuzzed calls that look for findings; 0 for none.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Of the fuzzer.")] = 0,
    assessor: Annotated[
        list[str] | None,
        typer.Option(
            "--assessor", "-a", metavar="NAME", help="Mend what this one finds too; repeatable.", show_default=False
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option("--run", metavar="FOLDER", help="Keep the account of tokens here.", show_default=False),
    ] = None,
    models: ModelOptions = ModelOptions(),  # noqa: B008 - nothing of it changes
) -> int:
    """Have a spec mended by the model of the role coder: what is wrong goes to it, small edits come back.

    After each reply the spec is checked, compiled, run and attacked again, and what made it no better is dropped. The
    difference is printed. The exit code is 0 when nothing is left to mend, 3 when the spec does not pass the check, else 1.
    """
    from envscaler import session
    from envscaler.session.repairing import RepairOptions

    done = session.repair(
        spec,
        RepairOptions(rounds, calls, seed, assessor or ()),
        llm=models.told(),
        run=run,
        write=write,
        tell=_tell,
        remark=lambda line: note(f"envscaler: {line}"),
    )
    if done.changed:
        echo(done.diff().rstrip("\n"))
    _sum_up(done, write)
    if done.error is not None:
        raise done.error
    return _code(done)


def _code(done: Repaired) -> int:
    if done.ended.sound:
        return exits.OK
    return exits.SPEC if done.ended.stage < 2 else exits.FINDINGS


def _tell(made: RepairRound) -> None:
    kept = f"kept {', '.join(made.kept)}" if made.kept else "kept nothing"
    note(f"round {made.number}: {kept}; the spec {made.standing.summary()}")
    for reason in made.refused:
        note(f"  not kept: {reason}")


def _sum_up(done: Repaired, write: bool) -> None:
    from envscaler.diagnostics import render_text

    if not done.ended.sound:
        note(render_text(done.ended.problems, {done.path: done.after}))
    count = len(done.rounds)
    tokens = f", {done.tokens.total:,} tokens" if done.tokens.total else ""
    after = f"after {counted(count, 'round')}{tokens}"
    note(f"{done.path} {done.ended.summary()} {after}: {_STOPPED[done.stopped]}")
    if done.changed:
        note(f"{'wrote' if write else 'not written, for want of --write:'} {done.path}")
