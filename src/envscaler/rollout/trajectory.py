"""A trajectory: one episode as it is kept, in one line of JSON. `docs/reference/trajectories.md` describes the form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from envscaler.agents import Step, Transcript
from envscaler.errors import UsageError
from envscaler.llm.client import Spent
from envscaler.llm.messages import Message, Usage

__all__ = ["FORMAT", "Player", "Trajectory", "recorded_steps", "spent_json", "status_is_aside"]

FORMAT: Final = 1
_ASIDE: Final = ("infra_error", "deadline", "cancelled")
# Made once: it takes longer to make than to write a short value. ASCII: a line separator or half a surrogate pair in a text
# then breaks no reader of lines.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
_USAGE: Final = tuple(one.name for one in fields(Usage))
# What may differ between two runs that did the same: how long it took, what it cost, and in whose words it failed.
_NOT_HASHED: Final = ("id", "attempt", "reason", "usage", "timing", "hash")


def status_is_aside(status: str) -> bool:
    """Whether an episode that ended so is set aside, to be played again, and says nothing of its agent."""
    return status in _ASIDE


@dataclass(frozen=True, slots=True)
class Player:
    """Who played a part: the ``name`` that it was asked for by, the ``model`` behind it, if any, what it was told, and its
    seed."""

    name: str
    model: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"name": self.name}
        if self.model:
            plain["model"] = self.model
        if self.settings:
            plain["settings"] = dict(self.settings)
        return {**plain, "seed": self.seed}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Player:
        return cls(plain["name"], plain.get("model", ""), plain.get("settings", {}), plain.get("seed", 0))


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One episode.

    ``spec`` is name and hash. ``sample`` counts the episodes of a scenario from 0. ``offers``: from which step on which tools
    were on offer, as the hash of their catalogue. ``messages`` are as the agent was told them, its own included. ``steps`` are
    records as `recorded_steps` makes them. ``reward`` is None where the episode is not scored; ``errors`` then say what is
    wrong with the scenario's goals. ``opening``: the calls that the user made before its first message. ``usage``: of
    `agent` and `user`. ``attempt`` counts, from 1, how often the episode was begun.
    """

    id: str
    scenario: str
    kind: str
    spec: Mapping[str, str]
    setting: str
    agent: Player
    user: Player | None
    sample: int
    status: str
    messages: tuple[Message, ...]
    steps: tuple[Mapping[str, Any], ...]
    offers: tuple[tuple[int, str], ...] = ()
    reason: str = ""
    reward: float | None = None
    mode: str = "guarded"
    goals: tuple[bool, ...] = ()
    guards: tuple[bool, ...] = ()
    broken: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    submitted: Mapping[str, Any] | None = None
    opening: tuple[Mapping[str, Any], ...] = ()
    attempt: int = 1
    usage: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    timing: Mapping[str, Any] = field(default_factory=dict)

    @property
    def aside(self) -> bool:
        """Whether it is set aside: what failed says nothing of the agent, and the episode is to be played again."""
        return status_is_aside(self.status)

    @property
    def cost(self) -> int | None:
        """What agent and user cost, in billionths of a US dollar; None where a part is not known."""
        parts = [part["cost"] for part in self.usage.values()]
        return None if None in parts else sum(parts)

    @property
    def calls(self) -> int:
        """How many calls the agent made."""
        return sum(len(step.get("calls", ())) for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """The JSON object of a line; what is empty is left out, and ``reward`` where there is none."""
        plain = self._plain()
        return {**plain, "hash": _hash(plain, _texts(plain))}

    def written(self) -> tuple[str, str]:
        """The line, without its end, and the hash that stands in it."""
        plain = self._plain()
        texts = _texts(plain)
        found = _hash(plain, texts)
        parts = ",".join(f'"{name}":{text}' for name, text in texts.items())
        return f'{{{parts},"hash":"{found}"}}', found

    @property
    def content_hash(self) -> str:
        """`sha256:…` of what is equal in any two runs of the same episode, however they were run."""
        plain = self._plain()
        return _hash(plain, _texts(plain))

    def _plain(self) -> dict[str, Any]:
        scored: dict[str, Any] = {} if self.reward is None else {"reward": self.reward}
        plain: dict[str, Any] = {
            "format": FORMAT,
            "id": self.id,
            "scenario": self.scenario,
            "kind": self.kind,
            "spec": dict(self.spec),
            "setting": self.setting,
            "agent": self.agent.to_json(),
            "user": None if self.user is None else self.user.to_json(),
            "sample": self.sample,
            "attempt": self.attempt,
            "status": self.status,
            "reason": self.reason,
            **scored,
            "mode": self.mode,
            "goals": list(self.goals),
            "guards": list(self.guards),
            "broken": list(self.broken),
            "errors": list(self.errors),
            "submitted": self.submitted,
            "offers": [{"step": step, "tools": tools} for step, tools in self.offers],
            "opening": [dict(call) for call in self.opening],
            "messages": [message.to_json() for message in self.messages],
            "steps": [dict(step) for step in self.steps],
            "usage": {name: dict(part) for name, part in self.usage.items()},
            "timing": dict(self.timing),
        }
        kept = ("reward", "messages", "steps", "usage", "timing", "sample", "attempt", "kind")
        return {name: value for name, value in plain.items() if name in kept or value not in (None, "", [], {})}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Trajectory:
        """The trajectory of a JSON object. Raises UsageError for one of another format or without its parts."""
        version = plain.get("format")
        if version != FORMAT:
            raise UsageError(f"no trajectory of format {FORMAT}: its format is {version!r}")
        try:
            user = plain.get("user")
            return cls(
                id=plain["id"],
                scenario=plain["scenario"],
                kind=plain["kind"],
                spec=plain["spec"],
                setting=plain["setting"],
                agent=Player.from_json(plain["agent"]),
                user=None if user is None else Player.from_json(user),
                sample=plain["sample"],
                status=plain["status"],
                messages=tuple(map(Message.from_json, plain["messages"])),
                steps=tuple(plain["steps"]),
                offers=tuple((offer["step"], offer["tools"]) for offer in plain.get("offers", ())),
                reason=plain.get("reason", ""),
                reward=plain.get("reward"),
                mode=plain.get("mode", "guarded"),
                goals=tuple(plain.get("goals", ())),
                guards=tuple(plain.get("guards", ())),
                broken=tuple(plain.get("broken", ())),
                errors=tuple(plain.get("errors", ())),
                submitted=plain.get("submitted"),
                opening=tuple(plain.get("opening", ())),
                attempt=plain["attempt"],
                usage=plain.get("usage", {}),
                timing=plain.get("timing", {}),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"no trajectory: {type(error).__name__}: {error}") from None


def recorded_steps(
    transcript: Transcript, user_calls: Mapping[int, Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """The steps of a transcript as they are kept: what the messages do not say.

    ``user_calls``: by the number of the step that they followed, the calls that the user made.
    """
    places = {id(message): place for place, message in enumerate(transcript.messages)}
    return [_recorded(step, places, user_calls.get(step.number, ())) for step in transcript.steps]


def _recorded(step: Step, places: Mapping[int, int], user_calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    plain: dict[str, Any] = {"number": step.number}
    if step.message is not None:
        place = places.get(id(step.message))
        plain |= {"dropped": step.message.to_json()} if place is None else {"message": place}
    if step.finish not in ("stop", "tool_calls"):
        plain["finish"] = step.finish
    if step.problems:
        plain["problems"] = list(step.problems)
    if step.calls:
        plain["calls"] = [_call(one.call.id, one.call.name, one.observation) for one in step.calls]
    if user_calls:
        plain["user"] = [dict(call) for call in user_calls]
    return plain


def _call(name: str, tool: str, seen: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": name, "tool": tool, "ok": seen.ok}
    plain |= {key: value for key in ("code", "rule", "broken") if (value := getattr(seen, key))}
    if seen.changes:
        plain["changes"] = [dict(change) for change in seen.changes]
    return plain


def spent_json(spent: Spent) -> dict[str, Any]:
    """What a part took: tokens, attempts, and cost in billionths of a US dollar."""
    usage = {name: getattr(spent.usage, name) for name in _USAGE}
    return {**usage, "attempts": spent.attempts, "cost": spent.cost}


def _texts(plain: Mapping[str, Any]) -> dict[str, str]:
    return {name: _dump(value) for name, value in plain.items()}


def _hash(plain: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    hashed = {name: text for name, text in texts.items() if name not in _NOT_HASHED}
    if any("opaque" in message for message in plain["messages"]):
        bare = [{k: v for k, v in message.items() if k != "opaque"} for message in plain["messages"]]
        hashed["messages"] = _dump(bare)
    text = "\n".join(f"{name} {text}" for name, text in hashed.items())
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def _dump(plain: Any) -> str:
    return _ENCODER.encode(plain)
