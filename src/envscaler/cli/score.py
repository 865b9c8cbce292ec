"""The command that scores what an agent did, without a model: score."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envscaler import session
from envscaler.cli import exits
from envscaler.cli.options import AnyHash, Json, SpecsFolder
from envscaler.cli.out import boundary, echo, echo_json
from envscaler.errors import UsageError

if TYPE_CHECKING:
    from envscaler.session.scoring import Scored

__all__ = ["ModeName", "add_to", "show_scored"]


class ModeName(StrEnum):
    """How goals and guards become a reward."""

    guarded = "guarded"
    paper = "paper"
    strict = "strict"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("score")(boundary(score))


def score(
    scenarios: Annotated[
        Path, typer.Argument(help="A file of scenarios, JSON lines or YAML.", metavar="SCENARIOS", show_default=False)
    ],
    run: Annotated[
        Path | None,
        typer.Argument(help="Trajectories: a file of them, or the folder of a run.", metavar="RUN", show_default=False),
    ] = None,
    id: Annotated[  # noqa: A002
        str | None, typer.Option("--id", help="Which scenario of the file.", show_default=False)
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", metavar="FILE", help="A final state as JSON.", show_default=False)
    ] = None,
    answer: Annotated[
        str | None, typer.Option("--answer", metavar="JSON", help="The answer slots that were submitted.")
    ] = None,
    refusal: Annotated[
        str | None, typer.Option("--refusal", metavar="REASON", help="The reason for which the wish was refused.")
    ] = None,
    mode: Annotated[
        ModeName | None,
        typer.Option(
            "--mode",
            help="guarded: the share of goals met, 0 when a guard is broken; paper: guards count for nothing; strict: all or "
            "nothing. Default: guarded, and for trajectories the mode in which each was scored.",
            show_default=False,
        ),
    ] = None,
    specs: SpecsFolder = None,
    any_hash: AnyHash = False,
    as_json: Json = False,
) -> int:
    """Score a final state, a trajectory or a stored run, without a model.

    A final state is scored as it is; the calls of a trajectory are made once more on the scenario's start. Goals that are
    met, guards that are broken and by what, and a spec that has changed are said. The exit code is 1 if a reward is
    another than was recorded, or if it cannot be told whether a goal is met.
    """
    if (run is None) is (state is None):
        raise UsageError("score either a run, `envscaler score SCENARIOS RUN`, or a final state, `--state FILE`")
    named: Any = None if mode is None else mode.value
    if state is not None:
        submitted = _submitted(answer, refusal)
        options: Any = {"mode": named or "guarded", "specs": specs, "any_hash": any_hash}
        found = [session.score(scenarios, state, id=id, submitted=submitted, **options)]
    else:
        assert run is not None
        if answer is not None or refusal is not None:
            raise UsageError("--answer and --refusal go with --state; a trajectory says what was submitted")
        found = list(session.score_run(scenarios, run, id=id, mode=named, specs=specs, any_hash=any_hash))
    return show_scored(found, as_json=as_json, total=run is not None)


def show_scored(found: list[Scored], *, as_json: bool, total: bool, all_of_them: bool = True) -> int:
    """Print scores, with ``total`` their number and mean; the exit code. Not ``all_of_them``: only those that are other than
    recorded, or whose spec has changed."""
    if as_json:
        echo_json([one.to_json() for one in found])
    else:
        for one in found:
            if all_of_them or one.changed or _finding(one):
                _show(one)
        if total:
            _sum_up(found)
    return exits.FINDINGS if any(map(_finding, found)) else exits.OK


def _submitted(answer: str | None, refusal: str | None) -> dict[str, Any] | None:
    if answer is None:
        return None if refusal is None else {"refusal": refusal}
    if refusal is not None:
        raise UsageError("--answer and --refusal exclude each other")
    try:
        slots = json.loads(answer)
    except ValueError as error:
        raise UsageError(f"--answer is not JSON: {error}") from None
    if not isinstance(slots, dict):
        raise UsageError('--answer is an object of slots: {"count": 3}')
    return {"answer": slots}


def _finding(one: Scored) -> bool:
    return one.differs or (one.score is not None and bool(one.score.errors))


def _show(one: Scored) -> None:
    name = one.id or one.scenario
    if one.score is None:
        echo(f"{name}: no score, the episode ended as {one.aside}")
    else:
        found = one.score
        goals = f"{sum(found.goals)} of {len(found.goals)} goals"
        was = "" if one.was is None or one.was == found.reward else f", was {one.was}"
        echo(f"{name}: {found.reward}{was} ({found.mode}; {goals}, {_guards(found.guards)})")
        for n, met in enumerate(found.goals, 1):
            if not met:
                echo(f"  goal {n} is not met")
        for text in (*found.broken, *found.errors):
            if text:
                echo(f"  {text}")
    for text in (one.changed, *one.failed):
        if text:
            echo(f"  {text}")


def _guards(guards: tuple[bool, ...]) -> str:
    broken = len(guards) - sum(guards)
    return "no guard broken" if not broken else f"{broken} {'guard' if broken == 1 else 'guards'} broken"


def _sum_up(found: list[Scored]) -> None:
    scored = [one.score.reward for one in found if one.score is not None]
    if not scored:
        echo("no trajectory was scored")
        return
    differ = sum(map(_finding, found))
    more = f", {differ} other than recorded" if differ else ""
    echo(f"{len(scored)} scored, mean {sum(scored) / len(scored):.4f}{more}")
