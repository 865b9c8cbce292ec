"""The commands about runs that were played: list them, show a trajectory, compare, score anew, take parts, write a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envscaler.cli import exits
from envscaler.cli.options import Json, SpecsFolder
from envscaler.cli.out import boundary, echo, echo_json
from envscaler.cli.score import ModeName

if TYPE_CHECKING:
    from envscaler.rollout.comparison import Comparison, Interval, Line, Side
    from envscaler.rollout.store import Select

__all__ = ["add_to"]

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.", show_default=False)]
Success = Annotated[float, typer.Option("--success", help="The reward from which on an episode passes.")]


@dataclass(frozen=True)
class Whose:
    """Which episodes are meant, by whose they are."""

    kind: Annotated[str | None, typer.Option("--kind", help="Only those of scenarios of this kind.")] = None
    spec: Annotated[str | None, typer.Option("--spec", help="Only those in this environment.")] = None
    setting: Annotated[str | None, typer.Option("--setting", help="Only those in this setting.")] = None
    agent: Annotated[str | None, typer.Option("--agent", help="Only those of this agent.")] = None
    model: Annotated[str | None, typer.Option("--model", help="Only those of this model.")] = None

    def select(self) -> Select:
        """The episodes that are meant."""
        from envscaler.rollout.store import Select

        return Select(**vars(self))


@dataclass(frozen=True)
class Chosen(Whose):
    """Which episodes are meant, by how they ended too."""

    scenario: Annotated[str | None, typer.Option("--scenario", help="Only those of this scenario.")] = None
    status: Annotated[str | None, typer.Option("--status", help="Only those that ended so.")] = None
    least: Annotated[float | None, typer.Option("--least", help="Only those with at least this reward.")] = None
    most: Annotated[float | None, typer.Option("--most", help="Only those with at most this reward.")] = None
    aside: Annotated[bool, typer.Option("--aside", help="Those that are set aside, without a reward.")] = False


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at trajectories that were played.")
    group.command("list")(boundary(list_))
    for command in (show, compare, rescore, filter_, merge, select, page):
        group.command(command.__name__.rstrip("_"))(boundary(command))
    app.add_typer(group, name="runs")


def list_(
    run: Run,
    those: Chosen = Chosen(),
    as_json: Json = False,
) -> int:
    """List the trajectories of a run. It may still be going on."""
    from envscaler.cli.rollout import dollars
    from envscaler.cli.table import table
    from envscaler.session.runs import list_run

    rows, totals = list_run(run, those.select())
    if as_json:
        echo_json([row._asdict() for row in rows])
        return exits.OK
    heads = ("Trajectory", "Kind", "Agent", "User", "Status", "Steps", "Calls", "Reward")
    if rows:
        cells = [
            (
                r.id, r.kind, r.agent, r.user, r.status, str(r.steps), str(r.calls),
                "" if r.reward is None else f"{r.reward:g}",
            )
            for r in rows
        ]  # fmt: skip
        echo(table(heads, cells, heads[5:]))
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


def compare(
    runs: Runs,
    tries: Annotated[
        str | None,
        typer.Option("-k", metavar="K,K…", help="The k of pass@k. Default: 1, 2, 4, … as far as was played."),
    ] = None,
    success: Success = 1.0,
    those: Whose = Whose(),
    as_json: Json = False,
) -> int:
    """Compare runs, and the agents within a run: rewards, steps, pass@k and pass^k, and who wins how many scenarios.

    Scores are means over scenarios, in percent, with a 95 % interval by a bootstrap over scenarios. What is set aside counts
    nowhere.
    """
    from envscaler.session.runs import compare_runs

    found = compare_runs(runs, those.select(), tries=_tries(tries), success=success)
    if as_json:
        echo_json(found.to_json())
        return exits.OK
    for text in _compared(found):
        echo(text)
    return exits.OK


def rescore(
    run: Run,
    scenarios: Annotated[
        list[Path] | None,
        typer.Option("--scenarios", metavar="FILE", help="What was played. Default: the files that the run names."),
    ] = None,
    id: Annotated[str | None, typer.Option("--scenario", help="Only those of this scenario.")] = None,  # noqa: A002
    mode: Annotated[ModeName | None, typer.Option("--mode", help="Default: the mode in which each was scored.")] = None,
    specs: SpecsFolder = None,
    as_json: Json = False,
) -> int:
    """Tell the rewards of a run anew: its calls are made once more and scored as the specs are now, without a model.

    Those that come out otherwise are shown, and those whose spec has changed since, with both hashes. The exit code is 1 if a
    reward is another than was recorded, a recorded call fails now, or it cannot be told whether a goal is met.
    """
    from envscaler.cli.score import show_scored
    from envscaler.session.runs import rescore as scored

    named: Any = None if mode is None else mode.value
    found = list(scored(run, scenarios=scenarios or None, id=id, mode=named, specs=specs))
    return show_scored(found, as_json=as_json, total=True, all_of_them=False)


def filter_(
    run: Run,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The new run's folder.")],
    those: Chosen = Chosen(),
    as_json: Json = False,
) -> int:
    """Write some trajectories of a run into a new run."""
    from envscaler.session.run_parts import filter_run

    made = filter_run(run, output, those.select())
    if as_json:
        echo_json({"folder": str(made.folder), "kept": made.kept, "aside": made.aside})
    else:
        echo(f"{made.kept + made.aside} trajectories; {made.folder}")
    return exits.OK


def merge(
    runs: Runs,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The new run's folder.")],
    as_json: Json = False,
) -> int:
    """Write the trajectories of several runs into a new run; of those with the same id the first is kept."""
    from dataclasses import asdict

    from envscaler.session.run_parts import merge_runs

    made = merge_runs(runs, output)
    if as_json:
        echo_json({**asdict(made), "folder": str(made.folder)})
        return exits.OK
    twice = f", {made.twice} were there twice" if made.twice else ""
    other = f" ({made.otherwise} of them with another content)" if made.otherwise else ""
    echo(f"{made.kept} trajectories and {made.aside} set aside{twice}{other}; {made.folder}")
    return exits.OK


def select(
    run: Run,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The scenarios, as JSON lines.")],
    rate: Annotated[
        str | None,
        typer.Option(
            "--pass", metavar="LOW:HIGH", help="Pass rates, both ends included. Default: above 0 and below 1."
        ),
    ] = None,
    success: Success = 1.0,
    those: Whose = Whose(),
    as_json: Json = False,
) -> int:
    """Write the scenarios that were passed in some episodes of a run and not in all, or at the rates that are named.

    A rate is measured over all episodes of a scenario that have a reward, and so is as fine as `rollout -n` makes it.
    """
    from envscaler.session.run_parts import choose_scenarios

    low, high = _bounds(rate)
    made = choose_scenarios(run, output, those.select(), low=low, high=high, success=success)
    if as_json:
        rates = {one.scenario: {"played": one.played, "passed": one.passed} for one in made.chosen}
        more = {"rated": made.rated, "never": made.never, "always": made.always}
        echo_json({"file": str(made.file), "chosen": rates, **more})
    else:
        never = f"{made.never} never passed, {made.always} always"
        echo(f"{len(made.chosen)} of {made.rated} scenarios chosen; {never}; {made.file}")
    return exits.OK


def page(
    run: Run,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page to write.")],
    those: Chosen = Chosen(),
    episodes: Annotated[int, typer.Option("--episodes", help="At most so many episodes.", min=1)] = 500,
    as_json: Json = False,
) -> int:
    """Write a run as one HTML page that needs nothing else: its episodes with filters, each with all that was said and done."""
    from envscaler.session.runs import write_run_page

    shown, meant = write_run_page(run, output, those.select(), most=episodes)
    if as_json:
        echo_json({"page": str(output), "shown": shown, "episodes": meant})
    else:
        left = f" of {meant}; --episodes {meant} shows all" if shown < meant else ""
        echo(f"{shown} episodes{left}; {output}")
    return exits.OK


# -- what is asked for


def _tries(text: str | None) -> list[int] | None:
    from envscaler.errors import UsageError

    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"-k is written as numbers with commas, 1,2,4, not {text!r}") from None


def _bounds(text: str | None) -> tuple[float | None, float | None]:
    from envscaler.errors import UsageError

    if text is None:
        return None, None
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low, high = 1.0, 0.0
    if not 0 <= low <= high <= 1:
        raise UsageError(f"--pass is written LOW:HIGH with 0 <= LOW <= HIGH <= 1, 0.1:0.9, not {text!r}")
    return low, high


# -- what a comparison shows


def _compared(found: Comparison) -> list[str]:
    from envscaler.cli.table import table

    if not found.lines:
        return ["no episode is scored"]
    names = {line.side: f"{letter}" for letter, line in zip(_letters(), found.lines, strict=False)}
    scores = table(
        ("", "Run", "Agent", "Setting", "Scenarios", "Episodes", "Score", "95 %", "Steps"),
        [(names[line.side], *_who(line.side), *_scores(line)) for line in found.lines],
        ("Scenarios", "Episodes", "Score", "95 %", "Steps"),
    )
    rates = table(
        ("", "k", "Scenarios", "pass@k", "pass^k", "Best of k"),
        [
            (names[line.side], str(r.k), str(r.scenarios), _percent(r.some), _percent(r.all), _percent(r.best))
            for line in found.lines
            for r in line.rates
        ],
        ("k", "Scenarios", "pass@k", "pass^k", "Best of k"),
    )
    texts = [scores, "", rates]
    if found.duels:
        texts += ["", _duels(found, names)]
    if changed := sum(duel.changed for duel in found.duels):
        texts.append(f"{changed} scenarios were played with different versions of their spec")
    return texts


def _letters() -> list[str]:
    letters = [chr(ord("A") + n) for n in range(26)]
    return [*letters, *(a + b for a in letters for b in letters)]


def _who(side: Side) -> tuple[str, str, str]:
    agent = f"{side.agent} ({side.model})" if side.model else side.agent
    return side.run, agent, f"with {side.user}" if side.user else "alone"


def _scores(line: Line) -> tuple[str, ...]:
    if line.mean is None or line.interval is None or line.steps is None:
        return str(line.scenarios), str(line.episodes), "", "", ""
    return str(line.scenarios), str(line.episodes), _percent(line.mean), _range(line.interval), f"{line.steps:.2f}"


def _duels(found: Comparison, names: dict[Side, str]) -> str:
    from envscaler.cli.table import table

    heads = ("Pair", "Common", "First wins", "Tie", "Second wins", "Second - first", "95 %")
    rows = [
        (
            f"{names[duel.first]} : {names[duel.second]}",
            str(duel.common),
            *(_share(part, duel.common) for part in (duel.wins, duel.ties, duel.losses)),
            f"{100 * duel.difference:+.2f}",
            _range(duel.interval),
        )
        for duel in found.duels
    ]
    return table(heads, rows, heads[1:])


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)"


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"


def _range(interval: Interval) -> str:
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
