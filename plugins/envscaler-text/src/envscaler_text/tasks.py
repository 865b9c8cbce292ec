"""What both environments stand on: episodes of scenarios, opened once in a process for each way of opening them."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from envscaler import Episodes
from envscaler.errors import EnvscalerError, UsageError

__all__ = ["SETTINGS", "EpisodeBroken", "episodes_of", "facts", "rewarded"]

SETTINGS = ("scenarios", "specs", "any_hash", "policy", "user", "mode", "broken")
"""``scenarios``, ``specs``, ``any_hash``, ``policy``, ``user``, ``mode``: as `envscaler.Episodes` has them. ``broken``: what
becomes of an episode that failed through no fault of the agent: `raise` (EpisodeBroken) or `zero`."""

_OPENED: dict[str, Episodes] = {}
_LOCK = threading.Lock()


class EpisodeBroken(EnvscalerError):
    """The world failed, not the agent: there is no reward to learn from."""


def episodes_of(max_turns: int, settings: Mapping[str, Any]) -> Episodes:
    """The episodes that the settings describe. Raises UsageError, SpecError."""
    if settings.get("broken", "raise") not in ("raise", "zero"):
        raise UsageError(f"broken is raise or zero, not {settings['broken']!r}")
    given = {name: _plain(settings[name]) for name in SETTINGS if name in settings and name != "broken"}
    key = json.dumps([max_turns, given], sort_keys=True, default=str)
    with _LOCK:
        if key not in _OPENED:
            # Time is the trainer's to limit: a model that is trained may wait long for its turn.
            _OPENED[key] = Episodes(given.pop("scenarios", ()), steps=max_turns, seconds=1e9, **given)
        return _OPENED[key]


def _plain(value: Any) -> Any:
    """A setting without the wrapping that trainers put around lists of a configuration."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def rewarded(reward: float | None, info: Mapping[str, Any], broken: str) -> float:
    """The reward that a trainer is given. Raises EpisodeBroken where there is none, unless that is to be zero."""
    if reward is not None:
        return reward
    if broken == "zero":
        return 0.0
    raise EpisodeBroken(f"{info['status']}: {info['reason'] or 'the goals could not be told'}")


def facts(reward: float | None, done: bool, info: Mapping[str, Any]) -> dict[str, Any]:
    """What trainers are told of a step besides what the model sees. Plain data."""
    told: dict[str, Any] = {
        "status": info["status"],
        "reason": info["reason"],
        "problems": list(info["problems"]),
        "calls": [{"name": call["name"], "ok": call["result"]["ok"]} for call in info["calls"]],
    }
    if done:
        told |= {"scored": reward is not None, "goals": info.get("goals", []), "guards": info.get("guards", [])}
    return told
