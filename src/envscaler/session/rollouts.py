"""The verb that lets agents play scenarios: a file of scenarios in, a folder of trajectories out."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler import __version__
from envscaler.errors import BudgetError, EnvscalerError, UsageError
from envscaler.session.files import StrPath, reason, replace_file
from envscaler.session.llm import LlmOptions

if TYPE_CHECKING:
    from envscaler.llm import Models
    from envscaler.plugin.entries import Entry
    from envscaler.plugin.manager import Plugins
    from envscaler.rollout.playing import Cast, Company
    from envscaler.rollout.stage import Stage
    from envscaler.rollout.store import Totals, Trajectories
    from envscaler.rollout.trajectory import Trajectory
    from envscaler.scenario.model import Scenario, SpecRef
    from envscaler.session.worlds import Worlds

__all__ = ["MANIFEST", "Rolled", "RolloutOptions", "RolloutProgress", "rollout"]

MANIFEST: Final = "run.json"
_BATCH: Final = 16  # episodes of one unit where no model is asked: writing a unit down costs more than playing one
_HEARD: Final = 0.1  # seconds between two words on how far it is


@dataclass(frozen=True, slots=True)
class RolloutOptions:
    """Who plays, and how. ``samples``: episodes of each scenario. ``limits``: of `agents.Limits`, by name. ``retries``: how
    often an episode that failed through no fault of the agent is begun again at once; it is again when the same run is asked
    for once more. ``any_hash``: a spec that was changed since will do."""

    agent: str = "reference"
    user: str | None = None
    setting: str = "non-conversation"
    agent_settings: Mapping[str, Any] = field(default_factory=dict)
    user_settings: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 1
    seed: int = 0
    mode: str = "guarded"
    policy: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    retries: int = 2
    any_hash: bool = False


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
    and why; the same call tries them again."""

    folder: Path
    wanted: int
    played: int
    kept: int
    totals: Totals
    failed: Mapping[str, str]

    @property
    def complete(self) -> bool:
        """Every episode has a trajectory."""
        return not self.failed


class _EpisodesFailed(EnvscalerError):
    """Episodes of a unit failed: a line for each, `id: reason`."""


@dataclass(frozen=True, slots=True)
class _Order:
    """What other processes are told: all that a unit needs besides its episodes. Everything in it is plain data."""

    scenarios: str
    folder: str
    specs: str | None
    options: RolloutOptions
    llm: LlmOptions
    models: tuple[str, str]


def rollout(
    scenarios: StrPath,
    output: StrPath,
    options: RolloutOptions | None = None,
    *,
    specs: StrPath | None = None,
    concurrency: int = 16,
    jobs: int = 1,
    llm: LlmOptions | None = None,
    progress: Callable[[RolloutProgress], None] | None = None,
    ask: Callable[[str], str] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Rolled:
    """Let an agent play the scenarios of a file, each ``samples`` times; trajectories are added to the folder ``output``.

    What is there already is not played again, so that the same call goes on where one was ended, and several processes may
    work on one folder. ``concurrency`` episodes are played at once; with ``jobs`` other than 1 so many in each of that many
    processes (0: one for each core). ``ask`` shows a person a text and gives a line, for agents that are people. Raises
    UsageError, SpecError for scenarios that cannot be read, PluginError, BudgetError: what was finished is kept.
    """
    from envscaler.rollout.store import Trajectories

    options, llm = options or RolloutOptions(), llm or LlmOptions()
    if options.samples < 1 or concurrency < 1 or jobs < 0:
        raise UsageError("samples and concurrency are numbers above 0, and --jobs 0 (all cores) or more")
    folder = Path(output)
    models = _model_names(options, llm)
    order = _Order(str(scenarios), str(folder), None if specs is None else str(specs), options, llm, models)
    ready = _Ready(order, ask, tell)
    try:
        wanted = ready.episodes()
        ready.try_out()
        _write_manifest(folder, order, ready)
        began = time.monotonic()
        with Trajectories.writing(folder) as store:
            kept = store.ids() & wanted.keys()
            left = [(name, *episode) for name, episode in wanted.items() if name not in kept]
            one_by_one = ready.slow
            size = (
                1 if one_by_one and jobs == 1 else concurrency if one_by_one else max(_BATCH, concurrency * (jobs != 1))
            )
            units = [{"episodes": left[at : at + size]} for at in range(0, len(left), size)]

            def heard() -> None:
                if progress is not None:
                    totals = store.totals()
                    done = len(store.ids() & wanted.keys())
                    progress(RolloutProgress(len(wanted), done, totals, time.monotonic() - began))

            problems = _done(order, ready, units, concurrency, jobs, heard)
            heard()
            now = store.ids() & wanted.keys()
            failed = {name: problems.get(name, "not played") for name in wanted if name not in now}
            return Rolled(folder, len(wanted), len(now) - len(kept), len(kept), store.totals(), failed)
    finally:
        ready.close()


def _done(
    order: _Order, ready: _Ready, units: list[dict[str, Any]], concurrency: int, jobs: int, heard: Callable[[], None]
) -> dict[str, str]:
    """Play the units; by id what is wrong with the episodes that failed."""
    from envscaler.work import Async, Event, Processes, Run

    function: Callable[[Any], Any]
    if jobs == 1:
        executor: Any = Async(concurrency, ready.aclose)
        function = ready.play_unit
    else:
        executor = Processes(jobs or os.cpu_count() or 1)
        function = partial(_in_process, order)
    last = 0.0

    def listen(event: Event) -> None:
        nonlocal last
        if event.what in ("done", "failed") and time.monotonic() - last > _HEARD:
            last = time.monotonic()
            heard()

    problems: dict[str, str] = {}
    with Run.open(Path(order.folder)) as run:
        outcomes = run.map(
            "rollout",
            function,
            units,
            executor=executor,
            retry_failed=True,
            label=_label,
            listen=listen,
            ends=(BudgetError,),
        )
        for outcome in outcomes:
            if outcome.problem is not None:
                problems |= _problems(outcome.input["episodes"], outcome.problem)
    return problems


def _label(unit: Mapping[str, Any]) -> str:
    names = [name for name, *_ in unit["episodes"]]
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else str(names[0])


def _problems(episodes: Sequence[Sequence[Any]], problem: Any) -> dict[str, str]:
    """What went wrong with each episode of a unit that failed."""
    if problem.error != _EpisodesFailed.__name__:
        return {name: str(problem) for name, *_ in episodes}
    lines = (line.partition(": ") for line in problem.message.split("\n"))
    return {name: text for name, _, text in lines}


# -- in whichever process episodes are played


@lru_cache(maxsize=1)
def _of_process(text: str) -> tuple[_Ready, asyncio.Runner]:
    import pickle

    order: _Order = pickle.loads(bytes.fromhex(text))  # noqa: S301 - from our own process
    return _Ready(order), asyncio.Runner()


def _in_process(order: _Order, unit: dict[str, Any]) -> Any:
    """Play a unit in a process of its own, which keeps what it needs for the next one."""
    import pickle

    ready, runner = _of_process(pickle.dumps(order).hex())
    return runner.run(ready.play_unit(unit, together=True))


class _Ready:
    """Scenarios, worlds, players and the store, opened once in a process."""

    def __init__(
        self,
        order: _Order,
        ask: Callable[[str], str] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        from envscaler.scenario.states import StateStore
        from envscaler.session.worlds import Worlds

        self.order = order
        self._ask = ask
        self._tell = tell
        self._worlds: Worlds = Worlds(order.specs, any_hash=order.options.any_hash)
        self.scenarios: dict[str, Scenario] = dict(_read(Path(order.scenarios), self._worlds))
        self._states = StateStore.beside(order.scenarios)
        self._stages: dict[SpecRef, Stage] = {}
        self._models: Models | None = None
        self._store: Trajectories | None = None
        self.cast: Cast = _cast(order)
        self._plugins: Plugins = _plugins(order.options)
        self._agent = self._plugins.find("agent", order.options.agent)
        self._user = None if order.options.user is None else self._plugins.find("user", order.options.user)

    @property
    def slow(self) -> bool:
        """Whether an episode may take long, or cost money: each is then written down by itself, others by units."""
        offers = [self._agent, *([self._user] if self._user is not None else [])]
        return any(not o.origin.shipped or getattr(o.entry, "roles", ()) or o.entry.name == "human" for o in offers)

    def episodes(self) -> dict[str, tuple[str, int]]:
        """Scenario and sample of all that is wanted, by id; all scenarios once before any a second time."""
        from envscaler.rollout.playing import episode_id

        samples = range(self.order.options.samples)
        return {episode_id(self.cast, s, k): (s, k) for k in samples for s in self.scenarios}

    def try_out(self) -> None:
        """Make the players for the first scenario, so that wrong settings are told before anything is played."""
        from envscaler.plugin.roles import Part

        scenario = next(iter(self.scenarios.values()))
        options, stage = self.order.options, self._stage(scenario)
        part = Part(
            scenario,
            self.cast.setting,
            stage.submit,
            0,
            0,
            options.agent_settings,
            self.models,
            stage.templates,
            self._ask,
        )
        self._agent.make(part)
        if self._user is not None:
            self._user.make(replace(part, settings=options.user_settings, tools=stage.user_tools))

    @property
    def hashes(self) -> dict[str, str]:
        """The specs that scenarios are for: content hashes by name."""
        return {scenario.spec.name: scenario.spec.hash for scenario in self.scenarios.values()}

    def models(self) -> Models:
        """The language models of the run."""
        if self._models is None:
            from envscaler.session.llm import open_models

            self._models = open_models(self.order.llm, run=self.order.folder, tell=self._tell)
        return self._models

    def _stage(self, scenario: Scenario) -> Stage:
        from envscaler.rollout.stage import Stage
        from envscaler.session.templates import template_folders

        if scenario.spec not in self._stages:
            world = self._worlds.of(scenario.spec)
            self._stages[scenario.spec] = Stage(
                world, self._states, policy=self.cast.policy, templates=template_folders()
            )
        return self._stages[scenario.spec]

    def _company(self, store: Trajectories) -> Company:
        from envscaler.rollout.playing import Company

        make_user = None if self._user is None else self._user.make
        return Company(self.cast, self._agent.make, make_user, store.catalogue, self.models, self._ask)

    async def play_unit(self, unit: Mapping[str, Any], together: bool = False) -> dict[str, Any]:
        """Play the episodes of a unit that are not kept yet, one after the other or all ``together``, and keep them.

        Raises an error that names those that failed; the others are kept all the same.
        """
        from envscaler.rollout.store import Trajectories

        if self._store is None:
            self._store = Trajectories.writing(self.order.folder)
        store = self._store
        finished: list[Trajectory] = []
        keep = store.add_all if self.slow else finished.extend
        failed: dict[str, str] = {}

        async def one(name: str, scenario: str, sample: int) -> None:
            try:
                problem = await self._play(store, name, self.scenarios[scenario], sample, keep)
            except BudgetError:
                raise
            except EnvscalerError as error:
                problem = " ".join(str(error).split())
            if problem:
                failed[name] = problem

        try:
            if together:
                ends = await asyncio.gather(*(one(*episode) for episode in unit["episodes"]), return_exceptions=True)
                for error in ends:
                    if isinstance(error, BaseException):
                        raise error
            else:
                for episode in unit["episodes"]:
                    await one(*episode)
        finally:
            store.add_all(finished)
        if failed:
            raise _EpisodesFailed("\n".join(f"{name}: {text}" for name, text in failed.items()))
        return {"episodes": len(unit["episodes"])}

    async def _play(
        self,
        store: Trajectories,
        name: str,
        scenario: Scenario,
        sample: int,
        keep: Callable[[list[Trajectory]], object],
    ) -> str:
        """Play an episode and keep what came of it; what is wrong where it is set aside."""
        if name in store:
            return ""
        attempt = store.attempts(name) + 1
        played = await self._company(store).play(self._stage(scenario), scenario, sample, attempt)
        keep(played)
        last = played[-1]
        return f"{last.status}: {' '.join(last.reason.split())}" if last.aside else ""

    async def aclose(self) -> None:
        """Let go of the models' connections, within the event loop that they belong to."""
        if self._models is not None:
            await self._models.aclose()

    def close(self) -> None:
        """Let go of files."""
        if self._store is not None:
            self._store.close()
        if self._models is not None:
            with suppress(EnvscalerError):
                self._models.close()


# -- what is asked for


def _read(path: Path, worlds: Worlds) -> Iterator[tuple[str, Scenario]]:
    """Scenarios by id; one that only names its spec is for the one that is found. Raises UsageError for a file without any,
    SpecError with all that is wrong with one."""
    from envscaler.errors import SpecError
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.reading import read_scenarios
    from envscaler.session.files import existing

    found = False
    for one in read_scenarios(existing(path)):
        if not isinstance(one, Scenario):
            raise SpecError(one.diagnostics)
        known = one if one.spec.hash else replace(one, spec=worlds.of(one.spec).ref)
        named = known if known.id else known.named()
        yield named.id, named
        found = True
    if not found:
        raise UsageError(f"{path} holds no scenario")


def _cast(order: _Order) -> Cast:
    from envscaler.agents import Limits
    from envscaler.rollout.playing import CONTEXT, Cast
    from envscaler.scenario.scoring import MODES

    options = order.options
    for name, value, known in (
        ("setting", options.setting, ("non-conversation", "conversation")),
        ("mode", options.mode, tuple(MODES)),
    ):
        if value not in known:
            raise UsageError(f"no such {name}: {value}; there are {', '.join(known)}")
    return Cast(
        options.agent,
        options.user,
        options.setting,  # type: ignore[arg-type]
        options.agent_settings,
        options.user_settings,
        *order.models,
        Limits(**{"context": CONTEXT, **options.limits}),
        options.mode,  # type: ignore[arg-type]
        options.policy,
        options.seed,
        options.retries,
    )


def _plugins(options: RolloutOptions) -> Plugins:
    """What ships, and what is installed only where a player of theirs is asked for."""
    from envscaler.session.plugins import open_plugins

    shipped = open_plugins(third_parties=False)
    agents = {offer.entry.name for offer in shipped.offers("agent")}
    users = {offer.entry.name for offer in shipped.offers("user")}
    return shipped if options.agent in agents and options.user in {None, *users} else open_plugins()


def _model_names(options: RolloutOptions, llm: LlmOptions) -> tuple[str, str]:
    """The models that agent and user ask, "" where they ask none: they are part of what an episode is. Raises UsageError for a
    role without a model."""
    from envscaler.session.llm import open_models

    plugins = _plugins(options)
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


def _write_manifest(folder: Path, order: _Order, ready: _Ready) -> None:
    import hashlib

    plain = {
        "envscaler": __version__,
        "scenarios": order.scenarios,
        "scenarios_hash": f"sha256:{hashlib.sha256(Path(order.scenarios).read_bytes()).hexdigest()}",
        "specs": ready.hashes,
        "count": len(ready.scenarios),
        "options": asdict(order.options),
        "agent_model": order.models[0],
        "user_model": order.models[1],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / MANIFEST, json.dumps(plain, indent=2) + "\n")
    except OSError as error:
        raise UsageError(f"{folder}: {reason(error)}") from None
