"""Worlds as a text environment of SkyRL-Gym: `register("envscaler")`, and rows of the exporter `skyrl` find it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from envscaler.errors import UsageError
from envscaler_text.tasks import SETTINGS, episodes_of, facts, rewarded

__all__ = ["EnvscalerEnv", "register"]

_TURNS = 30


def register(name: str = "envscaler", **settings: Any) -> None:
    """Make the environment known under ``name``, in the process that plays the episodes; settings as `tasks.SETTINGS` says
    them. What is known under that name already stays."""
    if name not in skyrl_gym.registry:
        skyrl_gym.register(id=name, entry_point=f"{__name__}:EnvscalerEnv", kwargs=settings)


class EnvscalerEnv(BaseTextEnv):
    """One episode. ``extras`` are the columns of a row: `reward_spec.ground_truth` is the scenario as JSON, or
    `extra_info.scenario` its id in the files of scenarios; and `max_turns`. ``env_config`` may hold settings too."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None, **settings: Any) -> None:
        super().__init__()
        extras = extras or {}
        self._settings = {**settings, **_named(env_config)}
        for name in self._settings:
            if name not in SETTINGS:
                raise UsageError(f"envscaler has no setting {name}; there are {', '.join(SETTINGS)}")
        more = extras.get("extra_info") or {}
        self.max_turns = int(extras.get("max_turns") or more.get("max_turns") or _TURNS)
        self._which = (extras.get("reward_spec") or {}).get("ground_truth") or more.get("scenario")
        if not self._which:
            raise UsageError("a row has its scenario in reward_spec.ground_truth, or its id in extra_info.scenario")
        self._episode: Any = None
        self._metrics: dict[str, float] = {}

    def init(self, prompt: Any) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Begin; the first messages, which are those of the row where spec and templates are the same."""
        self._episode, messages = episodes_of(self.max_turns, self._settings).begin_text(self._which)
        self.turns, self._metrics = 0, {}
        return messages, {"scenario": self._episode.scenario}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Do what a reply says. The reward is 0 until the end, and then the checker's. Raises EpisodeBroken."""
        told, reward, done, info = self._episode.step(action)
        self.turns += 1
        metadata = facts(reward, done, info)
        value = rewarded(reward, info, self._settings.get("broken", "raise"))
        if done:
            self._metrics = {
                "success": float(value == 1.0), "reward": value, "turns": self.turns,
                "scored": float(metadata["scored"]), "at_limit": float(info["status"] == "step_limit"),
            }  # fmt: skip
        observations = [] if done else [{"role": "user", "content": told}]
        return BaseTextEnvStepOutput(observations=observations, reward=value, done=done, metadata=metadata)

    def get_metrics(self) -> dict[str, Any]:
        """Numbers of an episode that is over; trainers take their means."""
        return dict(self._metrics)


def _named(config: Any) -> dict[str, Any]:
    """The settings in what a trainer's configuration has under the environment's name: a mapping, or an object."""
    if config is None:
        return {}
    items = config.items() if hasattr(config, "items") else vars(config).items()
    return {str(name): value for name, value in items}
