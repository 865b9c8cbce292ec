"""The commands about runs that were played: list them, show a trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envscaler.cli import exits
from envscaler.cli.out import boundary, echo, echo_json

__all__ = ["add_to"]

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at trajectories that were played.")
    group.command("list")(boundary(list_))
    group.command("show")(boundary(show))
    app.add_typer(group, name="runs")


def list_(
    run: Run,
    scenario: Annotated[str | None, typer.Option("--scenario", help="Only those of this scenario.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Only those of scenarios of this kind.")] = None,
    spec: Annotated[str | None, typer.Option("--spec", help="Only those in this environment.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Only those of this agent.")] = None,
    status: Annotated[str | None, typer.Option("--status", help="Only those that ended so.")] = None,
    least: Annotated[float | None, typer.Option("--least", help="Only those with at least this reward.")] = None,
    most: Annotated[float | None, typer.Option("--most", help="Only those with at most this reward.")] = None,
    aside: Annotated[bool, typer.Option("--aside", help="Those that are set aside, without a reward.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> int:
    """List the trajectories of a run. It may still be going on."""
    from envscaler.cli.rollout import dollars
    from envscaler.cli.table import table
    from envscaler.rollout.store import Select
    from envscaler.session.runs import list_run

    select = Select(None, scenario, kind, spec, None, agent, None, status, least, most, aside)
    rows, totals = list_run(run, select)
    if as_json:
        echo_json([row._asdict() for row in rows])
        return exits.OK
    heads = ("Trajectory", "Kind", "Agent", "User", "Status", "Steps", "Calls", "Reward")
    if rows:
        echo(
            table(
                heads,
                [
                    (
                        r.id,
                        r.kind,
                        r.agent,
                        r.user,
                        r.status,
                        str(r.steps),
                        str(r.calls),
                        "" if r.reward is None else f"{r.reward:g}",
                    )
                    for r in rows
                ],
                heads[5:],
            )
        )
    mean = "none is scored" if totals.mean is None else f"mean reward {totals.mean:.4f} over {totals.scored} scored"
    echo(f"{len(rows)} shown of {totals.done}; {mean}; {totals.aside} set aside; {dollars(totals)}")
    return exits.OK


def show(
    run: Run,
    trajectory: Annotated[str, typer.Argument(help="Its id, or how it begins.", show_default=False)],
    whole: Annotated[bool, typer.Option("--whole", help="Cut nothing, and show the documentation too.")] = False,
) -> int:
    """Show one trajectory: what was said and called, what changed, which goals are met."""
    from envscaler.session.runs import show_trajectory

    for line in show_trajectory(run, trajectory, whole=whole):
        echo(line)
    return exits.OK
