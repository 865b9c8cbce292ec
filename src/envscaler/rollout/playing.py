"""Episodes of one cast: who plays, how, and how far; each scenario and sample gives one trajectory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from envscaler.agents import Limits, Loop, Policy
from envscaler.errors import UsageError
from envscaler.llm.labels import labelled
from envscaler.plugin.roles import Part, Setting, UserSimulator
from envscaler.rollout.recorder import Catalogue, Recorder
from envscaler.rollout.scene import MakeUser, ScenarioEpisode
from envscaler.rollout.stage import Stage
from envscaler.rollout.trajectory import Player, Trajectory
from envscaler.scenario.scoring import Mode

if TYPE_CHECKING:
    from envscaler.agents import Observation
    from envscaler.llm import Models
    from envscaler.scenario.model import Scenario

__all__ = ["CONTEXT", "Cast", "Company"]

CONTEXT: Final = 32_768
"""Tokens that a conversation may be long, as in the paper."""


@dataclass(frozen=True, slots=True)
class Cast:
    """What the episodes of a run have in common: names of the agent and the user, what these are told, setting, limits, how
    is scored. ``user`` is None without a conversation. ``policy``: how arguments are taken, None for the spec's own.
    ``retries``: how often an episode is begun again at once that failed through no fault of the agent."""

    agent: str
    user: str | None = None
    setting: Setting = "non-conversation"
    agent_settings: Mapping[str, Any] = field(default_factory=dict)
    user_settings: Mapping[str, Any] = field(default_factory=dict)
    agent_model: str = ""
    user_model: str = ""
    limits: Limits = field(default_factory=lambda: Limits(context=CONTEXT))
    mode: Mode = "guarded"
    policy: str | None = None
    seed: int = 0
    retries: int = 2

    def __post_init__(self) -> None:
        if (self.setting == "conversation") != (self.user is not None):
            raise UsageError(
                "a conversation has a user, and only a conversation: give both --setting conversation and --user"
            )

    def to_json(self) -> dict[str, Any]:
        """All that an episode depends on besides its scenario and sample."""
        plain = asdict(self)
        del plain["retries"], plain["mode"]
        return plain

    def naming(self) -> Callable[[str, int], str]:
        """What gives the ids of episodes: scenario, sample, and eight digits for the cast."""
        text = json.dumps(self.to_json(), sort_keys=True)
        digits = hashlib.sha256(text.encode()).hexdigest()[:8]
        return lambda scenario, sample: f"{scenario}.{sample}.{digits}"


@dataclass(frozen=True, slots=True)
class Company:
    """Plays episodes of a cast. ``make_agent`` and ``make_user`` make the players, ``catalogue`` keeps what was on offer."""

    cast: Cast
    make_agent: Callable[[Part], Policy]
    make_user: Callable[[Part], UserSimulator] | None
    catalogue: Catalogue
    models: Callable[[], Models] | None = None
    ask: Callable[[str], str] | None = None
    named: Callable[[str, int], str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", self.cast.naming())

    async def play(self, stage: Stage, scenario: Scenario, sample: int, attempt: int = 1) -> list[Trajectory]:
        """The episode of a scenario and a sample: the last of the trajectories, after those that are set aside.

        Raises SpecError, StateError, UsageError for a scenario or settings that cannot be played, BudgetError.
        """
        name = self.named(scenario.id, sample)
        played: list[Trajectory] = []
        with labelled("rollout", name):
            for number in range(self.cast.retries + 1):
                played.append(await self._once(stage, scenario, sample, attempt + number, name))
                if played[-1].status != "infra_error":  # what was too slow once is so again
                    break
        return played

    async def _once(self, stage: Stage, scenario: Scenario, sample: int, attempt: int, name: str) -> Trajectory:
        cast = self.cast
        agent_seed, user_seed = (self._seed(scenario, sample, who) for who in ("agent", "user"))
        part = Part(
            scenario,
            cast.setting,
            stage.submit,
            agent_seed,
            sample,
            cast.agent_settings,
            self.models,
            stage.templates,
            self.ask,
        )
        policy = self.make_agent(part)
        episode = ScenarioEpisode(stage, scenario, self._user(stage, replace(part, seed=user_seed)))
        recorder = Recorder(episode)
        transcript = await Loop(episode, policy, cast.limits, recorder.heard).run()
        user = None if cast.user is None else Player(cast.user, cast.user_model, cast.user_settings, user_seed)
        return recorder.trajectory(
            transcript,
            name=name,
            agent=Player(cast.agent, cast.agent_model, cast.agent_settings, agent_seed),
            user=user,
            sample=sample,
            attempt=attempt,
            mode=cast.mode,
            catalogue=self.catalogue,
        )

    def _user(self, stage: Stage, part: Part) -> MakeUser | None:
        make = self.make_user
        if make is None:
            return None
        settings, tools = self.cast.user_settings, stage.user_tools

        def made(call: Callable[[str, str], Observation]) -> UserSimulator:
            return make(replace(part, settings=settings, tools=tools, call=call))

        return made

    def _seed(self, scenario: Scenario, sample: int, who: str) -> int:
        text = f"{self.cast.seed}:{scenario.id}:{sample}:{who}"
        return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6], "big")
