"""What a scenario is: a state, a task, what decides it, one way to solve it; and its form in JSON.

All records are immutable. Values are JSON values; a scenario's JSON is the same for the same scenario, byte for byte, and
its `id` is made from everything in it but the id itself, the tags and the proof.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = [
    "Actor", "Answer", "Fact", "Goal", "Guard", "Only", "Outcome", "Reveal", "Scenario", "Source", "SpecRef", "Step",
    "User",
]  # fmt: skip

Actor = Literal["agent", "user"]
Outcome = Literal["answer", "refusal"]


@dataclass(frozen=True, slots=True)
class SpecRef:
    """The spec that a scenario is for: its name and the hash of its content (`Environment.spec_hash`)."""

    name: str
    hash: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where an argument of a solution's step comes from.

    ``task``: the value stands in the task's text. ``fact``: in the user's fact called ``name``. ``found``: in the result of
    the step at index ``step``, at the JSON pointer ``path``; that step's result holds exactly one record that fits.
    ``fixed``: the tool's schema leaves no other choice. ``free``: any value would do; no goal depends on it.
    """

    kind: Literal["task", "fact", "found", "fixed", "free"]
    name: str = ""
    step: int = -1
    path: str = ""

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"from": self.kind}
        if self.kind == "fact":
            plain["name"] = self.name
        if self.kind == "found":
            plain |= {"step": self.step, "path": self.path}
        return plain


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the reference solution.

    ``sources``: by parameter where its value comes from. ``refused``: the call is meant to be refused, by this rule or with
    this error's text (empty for a call that succeeds). ``actor``: whose tool it is.
    """

    tool: str
    arguments: Mapping[str, Any]
    sources: Mapping[str, Source] = field(default_factory=dict)
    refused: str = ""
    actor: Actor = "agent"

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"tool": self.tool, "arguments": dict(self.arguments)}
        if self.sources:
            plain["sources"] = {name: one.to_json() for name, one in self.sources.items()}
        if self.refused:
            plain["refused"] = self.refused
        if self.actor != "agent":
            plain["actor"] = self.actor
        return plain


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the user knows: a value by name, and a sentence that says it as a person would."""

    name: str
    value: Any
    text: str


@dataclass(frozen=True, slots=True)
class User:
    """The person behind a task. ``opening``: what is said first in a conversation, empty for the whole task. ``unknown``:
    names of things that an agent may ask for and the user does not know. ``stop_when``: when the user is content."""

    facts: tuple[Fact, ...] = ()
    unknown: tuple[str, ...] = ()
    stop_when: str = ""
    opening: str = ""


@dataclass(frozen=True, slots=True)
class Reveal:
    """Tools that the agent is not offered at first. They appear after ``after`` messages to the user, or, without a user to
    talk to, once the agent has submitted or said that it cannot go on; ``text`` is what it is then told."""

    tools: tuple[str, ...]
    after: int = 1
    text: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One slot that the agent is to fill with `submit`. ``type`` is a type of the spec language, as YAML would hold it."""

    name: str
    type: Any
    description: str = ""


@dataclass(frozen=True, slots=True)
class Goal:
    """Something that must be true at the end and is false at the start.

    ``expr`` is an expression of the spec language over ``initial``, ``final``, ``answer`` and ``refusal``; ``text`` says it
    in words. ``steps``: the indices of the solution's steps that bring it about. ``line``: of the file it was read from.
    """

    expr: str
    text: str = ""
    steps: tuple[int, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Only:
    """What may differ between the first and the last state; everything else must be equal, incidental fields aside.

    ``fields``: collection -> key -> fields that may change (top-level names; for a single record its name -> "" -> fields).
    ``added``: collection -> how many records may be new. ``removed``: collection -> keys that may be gone.
    """

    fields: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    added: Mapping[str, int] = field(default_factory=dict)
    removed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Guard:
    """Something that must not be broken: ``only`` some things may change, or an expression that holds at the start and must
    hold at the end. Exactly one of the two is given."""

    only: Only | None = None
    expr: str = ""
    text: str = ""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One task in one state of one environment, with what decides it.

    ``state``: the initial state as a mapping, or its content hash `sha256:…` (see `scenario.states`), or None for the spec's
    own. ``setup``: calls of the spec's setup functions that are made before the episode. ``outcome``: how the agent ends
    it: by an `answer` (with slots or without), or by a reasoned `refusal`. ``solution`` leaves out the last `submit`, which
    ``submitted`` holds: `{"answer": {…}}` or `{"refusal": "reason"}`, or None where none is needed.
    ``proof`` is what `scenario.proof` found, as JSON; None for a scenario that was not proved.
    """

    kind: str
    spec: SpecRef
    task: str
    goals: tuple[Goal, ...]
    guards: tuple[Guard, ...]
    solution: tuple[Step, ...]
    seed: int = 0
    state: Mapping[str, Any] | str | None = None
    setup: tuple[Step, ...] = ()
    user: User = User()
    reveal: tuple[Reveal, ...] = ()
    answers: tuple[Answer, ...] = ()
    outcome: Outcome = "answer"
    submitted: Mapping[str, Any] | None = None
    tags: Mapping[str, Any] = field(default_factory=dict)
    proof: Mapping[str, Any] | None = None
    id: str = ""
    line: int = field(default=0, compare=False)

    @property
    def user_acts(self) -> bool:
        """Whether a step of the solution is a call of the user's own."""
        return any(step.actor == "user" for step in self.solution)

    def named(self) -> Scenario:
        """The scenario with the id that its content gives it: the spec's name and twelve digits."""
        plain = {k: v for k, v in self.to_json().items() if k not in ("id", "tags", "proof")}
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return replace(
            self, id=f"{self.spec.name}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object; what is empty is left out."""
        plain: dict[str, Any] = {
            "id": self.id,
            "kind": self.kind,
            "spec": {"name": self.spec.name, "hash": self.spec.hash},
            "seed": self.seed,
            "state": self.state,
            "setup": [step.to_json() for step in self.setup],
            "task": self.task,
            "user": _user(self.user),
            "reveal": [{"tools": list(r.tools), "after": r.after, "text": r.text} for r in self.reveal],
            "answers": {a.name: _described(a) for a in self.answers},
            "outcome": self.outcome,
            "goals": [_goal(goal) for goal in self.goals],
            "guards": [_guard(guard) for guard in self.guards],
            "solution": [step.to_json() for step in self.solution],
            "submitted": self.submitted,
            "tags": dict(self.tags),
            "proof": self.proof,
        }
        kept = ("id", "kind", "spec", "seed", "task", "outcome", "goals", "guards", "solution")
        return {name: value for name, value in plain.items() if name in kept or value not in (None, [], {})}


def _user(user: User) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "facts": {fact.name: {"value": fact.value, "text": fact.text} for fact in user.facts},
        "unknown": list(user.unknown),
        "stop_when": user.stop_when,
        "opening": user.opening,
    }
    return {name: value for name, value in plain.items() if value not in ("", [], {})}


def _described(answer: Answer) -> dict[str, Any]:
    return {"type": answer.type} | ({"description": answer.description} if answer.description else {})


def _goal(goal: Goal) -> dict[str, Any]:
    plain: dict[str, Any] = {"expr": goal.expr}
    if goal.text:
        plain["text"] = goal.text
    if goal.steps:
        plain["steps"] = list(goal.steps)
    return plain


def _guard(guard: Guard) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    if guard.only is not None:
        plain["only"] = _only(guard.only)
    if guard.expr:
        plain["expr"] = guard.expr
    if guard.text:
        plain["text"] = guard.text
    return plain


def _only(only: Only) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "fields": {c: {k: list(names) for k, names in keys.items()} for c, keys in only.fields.items()},
        "added": dict(only.added),
        "removed": {c: list(keys) for c, keys in only.removed.items()},
    }
    return {name: value for name, value in plain.items() if value}
