"""Worlds as a text environment of gem, which ROLL plays: `register("envscaler:bank", scenarios="tasks.jsonl")`."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import gem
from gem.utils.constants import TERMINAL_STATE

from envscaler.errors import UsageError
from envscaler_text.tasks import SETTINGS, episodes_of, facts, rewarded

__all__ = ["EnvscalerEnv", "register"]

_AGGREGATED = {"success": "last", "action_is_valid": "mean", "calls_failed": "mean"}


def register(env_id: str = "envscaler", **settings: Any) -> None:
    """Make the environment known under ``env_id``, in the process that plays the episodes; ``settings`` go to EnvscalerEnv.
    What is known under that id already stays."""
    if env_id not in gem.envs.registration.ENV_REGISTRY:
        gem.register(env_id, f"{__name__}:EnvscalerEnv", **settings)


class EnvscalerEnv(gem.Env):
    """Episodes of the scenarios of files, one after the other.

    `reset(seed)` begins the scenario at that place, counted around: seeds that follow each other go through all of them, and
    those of a group that share a seed share the task. Without a seed the next one begins, from ``seed`` on.
    """

    def __init__(self, scenarios: str | Sequence[str], max_turns: int = 30, seed: int = 0, **settings: Any) -> None:
        super().__init__()
        for name in settings:
            if name not in SETTINGS:
                raise UsageError(f"envscaler has no setting {name}; there are {', '.join(SETTINGS)}")
        self.max_turns = int(max_turns)
        self._settings = {"scenarios": scenarios, **settings}
        self._episodes = episodes_of(self.max_turns, self._settings)
        if not self._episodes.ids:
            raise UsageError("there is no scenario to play")
        self._seed = int(seed)
        self._episode: Any = None
        self._replies: list[str] = []

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode; the documentation, the tools, how they are called and the task as one text."""
        if seed is not None:
            self._seed = int(seed)
        place, self._seed = self._seed, self._seed + 1
        return self._begin(place)

    def _begin(self, place: int) -> tuple[str, dict[str, Any]]:
        ids = self._episodes.ids
        self._place, self._replies = place, []
        self._episode, messages = self._episodes.begin_text(ids[place % len(ids)])
        text = "\n\n".join(message["content"] for message in messages)
        return text, {"scenario": self._episode.scenario, "use_tool": False}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Do what a reply says. The reward is 0 until the end, and then the checker's; at a limit the episode is truncated,
        terminated and scored. Raises EpisodeBroken."""
        if self._episode is None:
            raise UsageError("an episode begins with reset()")
        told, reward, done, info = self._episode.step(action)
        self._replies.append(action)
        value = rewarded(reward, info, str(self._settings.get("broken", "raise")))
        more = facts(reward, done, info) | {"scenario": self._episode.scenario, "use_tool": False}
        more["metrics"] = {
            "success": float(done and value == 1.0),
            "action_is_valid": float(not more["problems"]),
            "calls_failed": sum(not call["ok"] for call in more["calls"]),
        }
        more["metrics_agg_mode"] = _AGGREGATED
        limited = done and info["status"] in ("step_limit", "token_limit", "context_exceeded")
        return TERMINAL_STATE if done else told, value, done, limited, more

    def sample_random_action(self) -> str:
        """A call of some tool on offer, without arguments."""
        if self._episode is None:
            raise UsageError("an episode begins with reset()")
        return str(self._episode.call_text(random.choice(self._episode.tools), {}))  # noqa: S311

    # -- the same once more: an episode is what was done in it

    def get_state(self) -> dict[str, Any]:
        """Where the episode stands, as plain data."""
        return {"place": getattr(self, "_place", None), "replies": list(self._replies), "seed": self._seed}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go to where an episode stood, by what was done in it."""
        if state["place"] is not None:
            self._begin(int(state["place"]))
            for reply in state["replies"]:
                self.step(reply)
        self._seed = int(state["seed"])

    def spawn(self, same_state: bool = False, **changed: Any) -> EnvscalerEnv:
        """Another environment with the same settings, but for those ``changed``; where ``same_state``, as far as this one."""
        other = type(self)(**{"max_turns": self.max_turns, "seed": self._seed, **self._settings, **changed})
        if same_state:
            other.set_state(self.get_state())
        return other
