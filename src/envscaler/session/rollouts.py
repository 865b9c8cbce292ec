"""The verb that lets agents play scenarios: a file of scenarios in, a folder of trajectories out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler import __version__
from envscaler.errors import BudgetError, UsageError
from envscaler.session.files import StrPath, reason, replace_file
from envscaler.session.llm import LlmOptions
from envscaler.session.rollout_units import (
    Order,
    Ready,
    RolloutOptions,
    episodes_failed,
    play_apart,
    plugins_for,
    unit_label,
)

if TYPE_CHECKING:
    from envscaler.plugin.entries import Entry
    from envscaler.rollout.store import Totals
    from envscaler.work import Executor

__all__ = ["MANIFEST", "Rolled", "RolloutOptions", "RolloutProgress", "rollout"]

MANIFEST: Final = "run.json"
_BATCH: Final = 32  # episodes of one unit where no model is asked: writing a unit down costs more than playing one
_HEARD: Final = 0.1  # seconds between two words on how far it is


@dataclass(frozen=True, slots=True)
class RolloutProgress:
    """How far it is: ``ended`` of ``wanted`` episodes, those of earlier calls included, and sums over the run."""

    wanted: int
    ended: int
    totals: Totals
    seconds: float


@dataclass(frozen=True, slots=True)
class Rolled:
    """What came of it. ``played`` here and now, ``kept`` before. ``failed``: episodes that were not played to their end, by id,
    and why; the same call tries them again. ``left_out``: scenarios in which the user makes calls, where nobody plays the
    user."""

    folder: Path
    wanted: int
    played: int
    kept: int
    totals: Totals
    failed: Mapping[str, str]
    left_out: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Every episode has a trajectory."""
        return not self.failed


def rollout(
    scenarios: StrPath,
    output: StrPath,
    options: RolloutOptions | None = None,
    *,
    specs: StrPath | None = None,
    concurrency: int = 16,
    jobs: int = 1,
    executor: str | None = None,
    executor_settings: Mapping[str, Any] | None = None,
    llm: LlmOptions | None = None,
    progress: Callable[[RolloutProgress], None] | None = None,
    ask: Callable[[str], str] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Rolled:
    """Let an agent play the scenarios of a file, each ``samples`` times; trajectories are added to the folder ``output``.

    What is there already is not played again, so that the same call goes on where one was ended, and several processes may
    work on one folder. ``concurrency`` episodes are played at once; with ``jobs`` other than 1 so many in each of that many
    processes (0: one for each core). ``executor`` says by name who has the processes, with settings of its own; `processes` by
    default, and `async`, which is this process, where ``jobs`` is 1. ``ask`` shows a person a text and gives a line, for agents
    that are people. Raises UsageError, SpecError for scenarios that cannot be read, PluginError, BudgetError: what was
    finished is kept.
    """
    from envscaler.rollout.store import Trajectories

    options, llm = options or RolloutOptions(), llm or LlmOptions()
    if options.samples < 1 or concurrency < 1 or jobs < 0:
        raise UsageError("samples and concurrency are numbers above 0, and --jobs 0 (all cores) or more")
    folder = Path(output)
    place = _place(options, executor, executor_settings or {}, concurrency, jobs)
    models, here = _model_names(options, llm), str(Path.cwd())
    order = Order(here, str(scenarios), str(folder), None if specs is None else str(specs), options, llm, models)
    ready = Ready(order, ask, tell)
    try:
        wanted = ready.episodes()
        ready.try_out()
        _write_manifest(folder, order, ready)
        began = time.monotonic()
        with Trajectories.writing(folder) as store:
            kept = store.ids() & wanted.keys()
            left = [(name, *episode) for name, episode in wanted.items() if name not in kept]
            together = concurrency if place.apart else 1
            size = together if ready.slow else max(_BATCH, together)
            units = [{"episodes": left[at : at + size]} for at in range(0, len(left), size)]

            def heard() -> None:
                if progress is not None:
                    totals = store.totals()
                    done = len(store.ids() & wanted.keys())
                    progress(RolloutProgress(len(wanted), done, totals, time.monotonic() - began))

            problems = _done(order, ready, units, place, heard)
            heard()
            now = store.ids() & wanted.keys()
            failed = {name: problems.get(name, "not played") for name in wanted if name not in now}
            return Rolled(folder, len(wanted), len(now) - len(kept), len(kept), store.totals(), failed, ready.left_out)
    finally:
        ready.close()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where episodes are played; ``apart``: in other processes than this one, several episodes of a unit at once."""

    executor: Executor
    apart: bool


def _place(
    options: RolloutOptions, executor: str | None, settings: Mapping[str, Any], concurrency: int, jobs: int
) -> _Place:
    name = executor or ("async" if jobs == 1 else "processes")
    if "width" in settings:
        raise UsageError("how many processes an executor has is said by --jobs")
    offer = plugins_for(options, name).find("executor", name)
    apart: bool = offer.entry.takes == "functions"  # type: ignore[attr-defined]
    if not apart and jobs != 1:
        raise UsageError(f"--jobs is a number of processes, and the executor {name} has none but this one")
    return _Place(offer.make({**settings, "width": jobs if apart else concurrency}), apart)


def _done(
    order: Order, ready: Ready, units: list[dict[str, Any]], place: _Place, heard: Callable[[], None]
) -> dict[str, str]:
    """Play the units; by id what is wrong with the episodes that failed."""
    from envscaler.work import Closing, Event, Run

    function: Callable[[Any], Any] = Closing(ready.play_unit, ready.aclose)
    if place.apart:
        function = partial(play_apart, order)
    due = 0.0

    def listen(event: Event) -> None:
        nonlocal due
        if event.what in ("done", "failed") and (began := time.monotonic()) > due:
            heard()
            ended = time.monotonic()
            due = ended + max(_HEARD, 20 * (ended - began))  # counting many takes its time

    problems: dict[str, str] = {}
    with Run.open(Path(order.folder)) as run:
        outcomes = run.map(
            "rollout",
            function,
            units,
            executor=place.executor,
            retry_failed=True,
            label=unit_label,
            listen=listen,
            ends=(BudgetError,),
        )
        for outcome in outcomes:
            if outcome.problem is not None:
                problems |= episodes_failed(outcome.input["episodes"], outcome.problem)
    return problems


def _model_names(options: RolloutOptions, llm: LlmOptions) -> tuple[str, str]:
    """The models that agent and user ask, "" where they ask none: they are part of what an episode is. Raises UsageError for a
    role without a model."""
    from envscaler.session.llm import open_models

    plugins = plugins_for(options)
    entries: list[tuple[Entry | None, Mapping[str, Any]]] = [
        (plugins.find("agent", options.agent).entry, options.agent_settings),
        (None if options.user is None else plugins.find("user", options.user).entry, options.user_settings),
    ]
    names = []
    for entry, settings in entries:
        roles: tuple[str, ...] = getattr(entry, "roles", ())
        if not roles:
            names.append("")
            continue
        with open_models(llm) as models:
            role = settings.get("role", roles[0])
            names.append(models.role(role).backend.identity)
    return names[0], names[1]


def _write_manifest(folder: Path, order: Order, ready: Ready) -> None:
    import hashlib

    plain = {
        "envscaler": __version__,
        "scenarios": order.scenarios,
        "scenarios_hash": f"sha256:{hashlib.sha256(Path(order.scenarios).read_bytes()).hexdigest()}",
        "specs": ready.hashes,
        "count": len(ready.scenarios),
        "left_out": list(ready.left_out),
        "options": asdict(order.options),
        "agent_model": order.models[0],
        "user_model": order.models[1],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / MANIFEST, json.dumps(plain, indent=2) + "\n")
    except OSError as error:
        raise UsageError(f"{folder}: {reason(error)}") from None
