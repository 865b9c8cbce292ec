"""The verbs that make something new of runs: a part of one, several together, the scenarios whose pass rate is of use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler import __version__
from envscaler.errors import UsageError
from envscaler.session.files import StrPath, reason, replace_file
from envscaler.session.rollouts import MANIFEST
from envscaler.session.runs import scenario_files, scenarios_of

if TYPE_CHECKING:
    from envscaler.rollout.store import Select, Trajectories
    from envscaler.scenario.model import Scenario

__all__ = ["Chosen", "Merged", "Rated", "choose_scenarios", "filter_run", "merge_runs"]

_TOGETHER: Final = 64  # trajectories that are written at once


@dataclass(frozen=True, slots=True)
class Merged:
    """What was written into a new run: ``kept`` trajectories, ``aside`` those set aside. ``twice`` were in an earlier run
    already, ``otherwise`` of them with another content: the first is kept."""

    folder: Path
    kept: int
    aside: int = 0
    twice: int = 0
    otherwise: int = 0


@dataclass(frozen=True, slots=True)
class Rated:
    """A scenario with its measured pass rate: ``passed`` of ``played`` episodes."""

    scenario: str
    played: int
    passed: int

    @property
    def rate(self) -> float:
        return self.passed / self.played


@dataclass(frozen=True, slots=True)
class Chosen:
    """Scenarios whose pass rate is as wanted, of those that were ``rated``; ``never`` and ``always``: how many of these passed
    in no episode, and in each."""

    file: Path
    chosen: tuple[Rated, ...]
    rated: int
    never: int
    always: int


def filter_run(run: StrPath, output: StrPath, select: Select) -> Merged:
    """Write the trajectories of a run that are meant into a new run. Raises UsageError."""
    from envscaler.rollout.store import Trajectories

    folder = _new(output)
    with Trajectories.open(Path(run)) as kept, Trajectories.writing(folder) as store:
        count = _copied(kept, store, select)
    wanted = {name: value for name, value in asdict(select).items() if value not in (None, False)}
    _write_manifest(folder, [run], {"filter": wanted})
    return Merged(folder, 0, count) if select.aside else Merged(folder, count)


def merge_runs(runs: Sequence[StrPath], output: StrPath) -> Merged:
    """Write the trajectories of several runs into a new one, each id once. Raises UsageError."""
    from envscaler.rollout.store import Select, Trajectories

    folder = _new(output)
    counted = {"kept": 0, "aside": 0, "twice": 0, "otherwise": 0}
    with Trajectories.writing(folder) as store:
        for run in runs:
            with Trajectories.open(Path(run)) as kept:
                before = {row.id: row.hash for row in store.rows()}
                again = [row for row in kept.rows() if row.id in before]
                counted["twice"] += len(again)
                counted["otherwise"] += sum(row.hash != before[row.id] for row in again)
                counted["kept"] += _copied(kept, store, Select())
                counted["aside"] += _copied(kept, store, Select(aside=True))
    _write_manifest(folder, runs, {})
    return Merged(folder, **counted)


def choose_scenarios(
    run: StrPath,
    output: StrPath,
    select: Select | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    success: float = 1.0,
) -> Chosen:
    """Write the scenarios whose pass rate in a run lies from ``low`` to ``high`` as JSON lines, their states beside the file.

    Without bounds, those that passed in some episodes and not in all, from which training by rewards can learn. ``success``:
    the reward from which on an episode passes. Raises UsageError.
    """
    from envscaler.rollout.store import Trajectories

    with Trajectories.open(Path(run)) as kept:
        rewards: dict[str, list[float]] = {}
        for row in kept.rows(select):
            if row.reward is not None:
                rewards.setdefault(row.scenario, []).append(row.reward)
        known = scenarios_of(kept)
    rated = [Rated(name, len(them), sum(one >= success for one in them)) for name, them in rewards.items()]
    least, most = (0.0 if low is None else low), (1.0 if high is None else high)
    chosen = [one for one in rated if least <= one.rate <= most]
    if low is None and high is None:
        chosen = [one for one in rated if 0 < one.passed < one.played]
    if missing := [one.scenario for one in chosen if one.scenario not in known]:
        raise UsageError(
            f"{len(missing)} scenarios are not in the files that {Path(run) / MANIFEST} names: {missing[0]} …"
        )
    places = {name: place for place, name in enumerate(known)}
    chosen.sort(key=lambda one: places[one.scenario])
    _write_scenarios(Path(output), [known[one.scenario] for one in chosen], scenario_files(Path(run)))
    never, always = sum(not one.passed for one in rated), sum(one.passed == one.played for one in rated)
    return Chosen(Path(output), tuple(chosen), len(rated), never, always)


def _write_scenarios(file: Path, scenarios: Sequence[Scenario], sources: Sequence[Path]) -> None:
    from envscaler.scenario.states import StateStore

    target = StateStore.beside(file)
    stores = [StateStore.beside(source) for source in sources]
    for name in dict.fromkeys(one.state for one in scenarios if isinstance(one.state, str)):
        holder = next((store for store in stores if name in store), None)
        if holder is None:
            raise UsageError(f"no state {name} beside {', '.join(map(str, sources))}")
        if name not in target:
            target.put(holder.get(name))
    text = "".join(json.dumps(one.to_json()) + "\n" for one in scenarios)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, text)
    except OSError as error:
        raise UsageError(f"{file}: {reason(error)}") from None


def _new(output: StrPath) -> Path:
    folder = Path(output)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already; name a new folder")
    return folder


def _copied(kept: Trajectories, store: Trajectories, select: Select) -> int:
    """Add the trajectories that are meant, with what was on offer in them; how many were new."""
    each, added = iter(kept.each(select)), 0
    while some := list(islice(each, _TOGETHER)):
        for tools in dict.fromkeys(tools for one in some for _, tools in one.offers):
            store.catalogue(kept.tools(tools))
        added += store.add_all(some)
    return added


def _write_manifest(folder: Path, runs: Sequence[StrPath], more: dict[str, Any]) -> None:
    files = dict.fromkeys(str(file) for run in runs for file in scenario_files(Path(run)))
    plain = {"envscaler": __version__, "scenarios": list(files), "runs": [str(run) for run in runs], **more}
    try:
        replace_file(folder / MANIFEST, json.dumps(plain, indent=2) + "\n")
    except OSError as error:
        raise UsageError(f"{folder}: {reason(error)}") from None
