"""Episodes as units of work: what a process needs to play them, opened once in each."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.errors import BudgetError, EnvscalerError, UsageError
from envscaler.session.llm import LlmOptions

if TYPE_CHECKING:
    from envscaler.llm import Models
    from envscaler.plugin.manager import Plugins
    from envscaler.rollout.playing import Cast, Company
    from envscaler.rollout.stage import Stage
    from envscaler.rollout.store import Trajectories
    from envscaler.rollout.trajectory import Trajectory
    from envscaler.scenario.model import Scenario, SpecRef
    from envscaler.session.worlds import Worlds

__all__ = ["Order", "Ready", "RolloutOptions", "episodes_failed", "play_apart", "plugins_for", "unit_label"]


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


class EpisodesFailed(EnvscalerError):
    """Episodes of a unit failed: a line for each, `id: reason`."""


@dataclass(frozen=True, slots=True)
class Order:
    """What other processes are told: all that a unit needs besides its episodes. Everything in it is plain data. ``here``:
    the working folder, which paths are relative to."""

    here: str
    scenarios: str
    folder: str
    specs: str | None
    options: RolloutOptions
    llm: LlmOptions
    models: tuple[str, str]


def unit_label(unit: Mapping[str, Any]) -> str:
    """What a unit is called in events."""
    names = [name for name, *_ in unit["episodes"]]
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else str(names[0])


def episodes_failed(episodes: Sequence[Sequence[Any]], problem: Any) -> dict[str, str]:
    """What went wrong with each episode of a unit that failed."""
    if problem.error != EpisodesFailed.__name__:
        return {name: str(problem) for name, *_ in episodes}
    lines = (line.partition(": ") for line in problem.message.split("\n"))
    return {name: text for name, _, text in lines}


# -- in whichever process episodes are played


class _Kept(threading.local):
    """What a thread keeps for its next unit: the order that it has units of, and what plays them."""

    order: Order | None = None
    ready: Ready
    runner: asyncio.Runner


_kept = _Kept()


def play_apart(order: Order, unit: dict[str, Any]) -> Any:
    """Play a unit, its episodes together, in a process or thread that others than us have begun."""
    if _kept.order != order:
        if _kept.order is not None:
            _kept.runner.close()
            _kept.ready.close()
        os.chdir(order.here)
        _kept.ready, _kept.runner, _kept.order = Ready(order), asyncio.Runner(), order
    return _kept.runner.run(_kept.ready.play_unit(unit, together=True))


class Ready:
    """Scenarios, worlds, players and the store, opened once in a process."""

    def __init__(
        self,
        order: Order,
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
        self.left_out = self._without_those_who_act() if order.options.setting == "non-conversation" else ()
        self._states = StateStore.beside(order.scenarios)
        self._stages: dict[SpecRef, Stage] = {}
        self._models: Models | None = None
        self._store: Trajectories | None = None
        self._played_by: Company | None = None
        self.cast: Cast = _cast(order)
        self._plugins: Plugins = plugins_for(order.options)
        self._agent = self._plugins.find("agent", order.options.agent)
        self._user = None if order.options.user is None else self._plugins.find("user", order.options.user)

    def _without_those_who_act(self) -> tuple[str, ...]:
        """Leave out the scenarios in which the user makes calls, whom nobody plays here; their ids. Raises UsageError where
        there are no others."""
        acted = tuple(name for name, scenario in self.scenarios.items() if scenario.user_acts)
        for name in acted:
            del self.scenarios[name]
        if acted and not self.scenarios:
            raise UsageError(f"{self.order.scenarios}: in every scenario the user acts; play them with a user (--user)")
        return acted

    @property
    def slow(self) -> bool:
        """Whether an episode may take long, or cost money: each is then written down by itself, others by units."""
        offers = [self._agent, *([self._user] if self._user is not None else [])]
        return any(not o.origin.shipped or getattr(o.entry, "roles", ()) or o.entry.name == "human" for o in offers)

    def episodes(self) -> dict[str, tuple[str, int]]:
        """Scenario and sample of all that is wanted, by id; all scenarios once before any a second time."""
        samples, named = range(self.order.options.samples), self.cast.naming()
        return {named(s, k): (s, k) for k in samples for s in self.scenarios}

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

        if self._played_by is None:
            make_user = None if self._user is None else self._user.make
            self._played_by = Company(self.cast, self._agent.make, make_user, store.catalogue, self.models, self._ask)
        return self._played_by

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
            raise EpisodesFailed("\n".join(f"{name}: {text}" for name, text in failed.items()))
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


def _cast(order: Order) -> Cast:
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


def plugins_for(options: RolloutOptions, executor: str = "") -> Plugins:
    """What ships, and what is installed only where a player or an executor of theirs is asked for."""
    from envscaler.session.plugins import open_plugins

    shipped = open_plugins(third_parties=False)
    asked = {("agent", options.agent), ("user", options.user or ""), ("executor", executor)}
    ours = {(kind, offer.entry.name) for kind, _ in asked for offer in shipped.offers(kind)}
    return shipped if all(not name or (kind, name) in ours for kind, name in asked) else open_plugins()
