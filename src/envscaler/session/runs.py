"""The verbs that read runs: what they hold, one trajectory, two runs held against each other, rewards told anew, a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.errors import EnvscalerError, UsageError
from envscaler.session.files import StrPath, many, reason
from envscaler.session.rollouts import MANIFEST

if TYPE_CHECKING:
    from envscaler.rollout.comparison import Comparison
    from envscaler.rollout.store import Row, Select, Totals, Trajectories
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.scoring import Mode
    from envscaler.session.scoring import Scored

__all__ = [
    "compare_runs", "list_run", "rescore", "scenario_files", "scenarios_of", "show_trajectory", "write_run_page",
]  # fmt: skip


def list_run(run: StrPath, select: Select | None = None) -> tuple[list[Row], Totals]:
    """The trajectories of a run that are meant, in order of their ids, and sums over the whole run. Raises UsageError."""
    from envscaler.rollout.store import Trajectories

    with Trajectories.open(Path(run)) as kept:
        return kept.rows(select), kept.totals()


def show_trajectory(run: StrPath, name: str, *, whole: bool = False) -> Iterator[str]:
    """The lines of a readable transcript of the trajectory whose id is, or begins with, ``name``. Raises UsageError."""
    from envscaler.rollout.shown import transcript
    from envscaler.rollout.store import Trajectories

    with Trajectories.open(Path(run)) as kept:
        one = kept.one(name)
        scenario = scenarios_of(kept).get(one.scenario)
    return transcript(one, scenario, whole=whole)


def compare_runs(
    runs: Sequence[StrPath],
    select: Select | None = None,
    *,
    tries: Sequence[int] | None = None,
    success: float = 1.0,
) -> Comparison:
    """Hold runs, and the agents within them, against each other; see `rollout.comparison.compare`. Raises UsageError."""
    from envscaler.rollout.comparison import compare

    if tries is not None and min(tries, default=0) < 1:
        raise UsageError("tries are numbers above 0: 1,2,4")
    return compare({str(run): list_run(run, select)[0] for run in runs}, tries=tries, success=success)


def rescore(
    run: StrPath,
    *,
    scenarios: StrPath | Sequence[StrPath] | None = None,
    id: str | None = None,  # noqa: A002 - what a scenario's id is called everywhere
    mode: Mode | None = None,
    specs: StrPath | None = None,
) -> Iterator[Scored]:
    """The score of each trajectory of a run from its calls, made once more; a spec that has changed since will do, and is told.

    ``scenarios``: the files of what was played, where they are not those that the run names. Raises as `score_run` does.
    """
    from envscaler.session.scoring import score_run

    folder = Path(run)
    files = scenario_files(folder) if scenarios is None else many(scenarios)
    if not files:
        raise UsageError(f"{folder / MANIFEST} names no file of scenarios; say which: --scenarios FILE")
    return score_run(files, folder, id=id, mode=mode, specs=specs, any_hash=True)


def write_run_page(run: StrPath, output: StrPath, select: Select | None = None, *, most: int = 500) -> tuple[int, int]:
    """Write one HTML page about a run, ``most`` of its episodes in full; how many these are, and how many are meant.

    Raises UsageError.
    """
    from envscaler.rollout.page import run_page
    from envscaler.rollout.store import Trajectories
    from envscaler.session.templates import template_folders

    target = Path(output)
    with Trajectories.open(Path(run)) as kept:
        rows = kept.rows(select)
        pieces = run_page(str(run), kept, rows[:most], len(rows), scenarios_of(kept), template_folders())
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("w", encoding="utf-8", newline="\n") as page:
                page.writelines(pieces)
        except OSError as error:
            raise UsageError(f"{target}: {reason(error)}") from None
    return min(most, len(rows)), len(rows)


def scenario_files(run: Path) -> list[Path]:
    """The files of scenarios that a run says it was played with; none where it says nothing that can be read."""
    try:
        plain: Any = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
        named = plain["scenarios"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [Path(name) for name in ([named] if isinstance(named, str) else named) if isinstance(name, str)]


def scenarios_of(kept: Trajectories) -> Mapping[str, Scenario]:
    """The scenarios of a run by id, as far as their files are still there and can be read."""
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.reading import read_scenarios

    versions: dict[str, set[str]] = {}
    for row in kept.rows():
        versions.setdefault(row.spec, set()).add(row.spec_hash)
    found: dict[str, Scenario] = {}
    for file in scenario_files(kept.folder):
        with suppress(EnvscalerError):
            for one in read_scenarios(file):
                if isinstance(one, Scenario):
                    found |= {known.id: known for known in _bound(one, versions.get(one.spec.name, ()))}
    return found


def _bound(one: Scenario, versions: Iterable[str]) -> Iterator[Scenario]:
    """The scenario with its id; one that names no version of its spec has an id for each."""
    for version in [one.spec.hash] if one.spec.hash else versions:
        known = replace(one, spec=replace(one.spec, hash=version))
        yield known if known.id else known.named()
