"""Scenarios ready to be played by those who bring the actions: trainers, servers, notebooks."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler.diagnostics import one_of
from envscaler.errors import SpecError, UsageError
from envscaler.session.files import StrPath, existing, many

if TYPE_CHECKING:
    from envscaler.plugin.roles import Part, UserSimulator
    from envscaler.rollout.episode import Episode, Seen
    from envscaler.rollout.stage import Stage
    from envscaler.rollout.text import TextEpisode
    from envscaler.scenario.model import Scenario, SpecRef
    from envscaler.session.worlds import Worlds

__all__ = ["Episodes"]

_ADDED: Final = 1024  # scenarios that were given as JSON, which are kept


class Episodes:
    """Episodes of scenarios, whatever worlds these are for; each world is made once.

        episodes = Episodes("tasks.jsonl", specs="specs")
        episode, seen = episodes.begin(episodes.ids[0])
        seen, reward, done, info = episode.step(action)

    ``scenarios``: files of them; none where all are given as JSON. ``specs`` and ``any_hash``: where their specs are looked
    for, and whether a changed one will do. ``policy``: how arguments are taken, None for the spec's own. ``user``: the name
    of a user that asks no model, `facts`, for conversations; None for none. ``steps``: replies of the agent in an episode;
    ``seconds``: how long one may take. ``mode``: how goals and guards become a reward.

    Episodes of several threads may be begun and played at once, each by one thread at a time. Raises UsageError, SpecError.
    """

    def __init__(
        self,
        scenarios: StrPath | Sequence[StrPath] = (),
        *,
        specs: StrPath | None = None,
        any_hash: bool = False,
        policy: str | None = None,
        user: str | None = None,
        steps: int = 30,
        seconds: float = 1800.0,
        mode: str = "guarded",
    ) -> None:
        from envscaler.agents import Limits
        from envscaler.scenario.scoring import MODES
        from envscaler.session.worlds import Worlds

        if mode not in MODES:
            raise UsageError(f"no such mode: {mode}; there are {one_of(MODES)}")
        self._worlds: Worlds = Worlds(specs, any_hash=any_hash)
        self._policy = policy
        self._user = None if user is None else _user(user)
        self._limits = Limits(steps, seconds=seconds)
        self._mode: Any = mode
        self._lock = threading.RLock()
        self._stages: dict[SpecRef, Stage] = {}
        self._states = _States()
        self._added: OrderedDict[str, Scenario] = OrderedDict()
        self._scenarios: dict[str, Scenario] = {}
        for path in many(scenarios):
            self._read(Path(path))

    def _read(self, path: Path) -> None:
        from envscaler.scenario.model import Scenario
        from envscaler.scenario.reading import read_scenarios

        self._states.look_in(path)
        for one in read_scenarios(existing(path)):
            if not isinstance(one, Scenario):
                raise SpecError(one.diagnostics)
            known = self._ready(one)
            self._scenarios.setdefault(known.id, known)

    def _ready(self, one: Scenario) -> Scenario:
        """A scenario with an id, for the spec that is found, its state kept by its hash: it is prepared once then."""
        known = one if one.spec.hash else replace(one, spec=self._worlds.of(one.spec).ref)
        named = known if known.id else known.named()
        return replace(named, state=self._states.put(named.state)) if isinstance(named.state, Mapping) else named

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the scenarios in the files, in order."""
        return tuple(self._scenarios)

    def scenario(self, which: str | Mapping[str, Any]) -> Scenario:
        """A scenario by its id; or one that is given whole, as JSON text or the object of it."""
        if isinstance(which, str) and which in self._scenarios:
            return self._scenarios[which]
        if isinstance(which, str) and not which.lstrip().startswith("{"):
            few = one_of(list(self._scenarios)[:5]) if self._scenarios else "none"
            raise UsageError(f"no scenario {which} among {len(self._scenarios)}: {few}")
        text = which if isinstance(which, str) else json.dumps(which)
        with self._lock:
            if text not in self._added:
                self._added[text] = self._parsed(text)
                if len(self._added) > _ADDED:
                    self._added.popitem(last=False)
            return self._added[text]

    def _parsed(self, text: str) -> Scenario:
        from envscaler.scenario.reading import from_json

        try:
            plain = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"no scenario: not JSON: {error}") from None
        return self._ready(from_json(plain))

    def begin(self, which: str | Mapping[str, Any], *, seed: int = 0) -> tuple[Episode, Seen]:
        """A new episode of a scenario, begun, and what the agent is told first. ``seed``: of the user. Raises SpecError,
        StateError, UsageError."""
        with self._lock:
            episode, scenario = self._episode(which)
            return episode, episode.reset(scenario, seed=seed)

    def begin_text(self, which: str | Mapping[str, Any], *, seed: int = 0) -> tuple[TextEpisode, list[dict[str, str]]]:
        """The same for a model that writes its calls: role and content of the first messages."""
        from envscaler.rollout.text import TextEpisode

        with self._lock:
            episode, scenario = self._episode(which)
            text = TextEpisode(episode)
            return text, [{"role": m.role, "content": m.content} for m in text.reset(scenario, seed=seed)]

    def _episode(self, which: str | Mapping[str, Any]) -> tuple[Episode, Scenario]:
        from envscaler.rollout.episode import Episode

        scenario = self.scenario(which)
        episode = Episode(self._stage(scenario), user=self._user, limits=self._limits, mode=self._mode)
        return episode, scenario

    def _stage(self, scenario: Scenario) -> Stage:
        from envscaler.rollout.stage import Stage
        from envscaler.session.templates import template_folders

        if scenario.spec not in self._stages:
            world = self._worlds.of(scenario.spec)
            self._stages[scenario.spec] = Stage(world, self._states, policy=self._policy, templates=template_folders())
        return self._stages[scenario.spec]


class _States:
    """States by their hashes: those that scenarios brought along, and those beside their files."""

    def __init__(self) -> None:
        from envscaler.scenario.states import StateStore

        self._own = StateStore()
        self._beside: list[StateStore] = []

    def look_in(self, scenarios: Path) -> None:
        from envscaler.scenario.states import StateStore

        self._beside.append(StateStore.beside(scenarios))

    def put(self, state: Mapping[str, Any]) -> str:
        return self._own.put(state)

    def get(self, hash: str, /) -> Mapping[str, Any]:  # noqa: A002 - as `States` has it
        for store in self._beside:
            if hash in store:
                return store.get(hash)
        return self._own.get(hash)


def _user(name: str) -> Callable[[Part], UserSimulator]:
    from envscaler.plugin.entries import UserEntry
    from envscaler.session.plugins import open_plugins

    offer = open_plugins().find("user", name)
    assert isinstance(offer.entry, UserEntry)
    if offer.entry.roles:
        raise UsageError(f"the user {name} asks a language model, which nobody brings here; facts asks none")
    return offer.make
