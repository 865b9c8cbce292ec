"""What a proof found: gates with what was tried at each, and reasons with a code for what did not hold; and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["CODES", "GATES", "Gate", "Proof", "Reason"]

GATES: Final[Mapping[str, str]] = {
    "spec": "The spec is the one that the scenario was made for.",
    "state": "The state is one that the spec allows, and the setup works.",
    "form": "There are goals; answers, tools, users and refusals are told as they must be.",
    "start": "No goal is true at the start, and every guard is.",
    "solution": "The solution runs as it is told, and scores 1.",
    "idle": "Who does nothing scores 0.",
    "removed": "A solution without one of its writes fails some goal.",
    "near": "What nearly is a solution is refused.",
    "goals": "Each goal was seen to fail, alone where a state was found in which it does.",
    "ways": "Other ways to the same end are accepted.",
    "text": "The text decides the goal: each value of the solution and the goals is told or found.",
    "elsewhere": "Another process comes to the same end and the same score.",
}
"""The gates in their order, with what holds for a scenario that has passed them."""

CODES: Final[Mapping[str, str]] = {
    "spec-changed": "spec",
    "state-invalid": "state",
    "setup-fails": "state",
    "no-goals": "form",
    "goal-invalid": "form",
    "answer-mistyped": "form",
    "refusal-unchecked": "form",
    "refusal-unknown": "form",
    "user-without-stop": "form",
    "fact-untold": "form",
    "reveal-not-needed": "form",
    "goal-true-at-start": "start",
    "guard-false-at-start": "start",
    "goal-error": "start",
    "step-refused": "solution",
    "step-not-refused": "solution",
    "goal-false-after-solution": "solution",
    "guard-broken-by-solution": "solution",
    "reward-not-one": "solution",
    "idle-scores": "idle",
    "write-not-needed": "removed",
    "near-miss-accepted": "near",
    "guard-not-counted": "near",
    "too-few-near-misses": "near",
    "goal-never-fails": "goals",
    "other-way-refused": "ways",
    "free-value-locked": "ways",
    "argument-untold": "text",
    "argument-not-found": "text",
    "argument-ambiguous": "text",
    "literal-untold": "text",
    "clause-without-step": "text",
    "replay-differs": "elsewhere",
}
"""The reasons for which a scenario fails, each with the gate that first finds it."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a gate failed. ``goal``, ``guard`` and ``step`` are the index of the one that is at fault, -1 for none."""

    code: str
    text: str
    goal: int = -1
    guard: int = -1
    step: int = -1

    def to_json(self) -> dict[str, Any]:
        places = {"goal": self.goal, "guard": self.guard, "step": self.step}
        return {"code": self.code, "text": self.text} | {name: at for name, at in places.items() if at >= 0}


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate that was reached. ``tried`` is what was tried there, as JSON."""

    name: str
    reasons: tuple[Reason, ...] = ()
    tried: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the gate was passed."""
        return not self.reasons

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"ok": self.ok, **self.tried}
        if self.reasons:
            plain["reasons"] = [reason.to_json() for reason in self.reasons]
        return plain


@dataclass(frozen=True, slots=True)
class Proof:
    """The gates that a scenario went through, in order. With a gate that failed those after it may be missing, as they
    stand on it; a proof in one process lacks ``elsewhere``."""

    gates: tuple[Gate, ...]

    @property
    def ok(self) -> bool:
        """Whether all gates that were reached were passed."""
        return all(gate.ok for gate in self.gates)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Everything that did not hold, in order."""
        return tuple(reason for gate in self.gates for reason in gate.reasons)

    def gate(self, name: str) -> Gate | None:
        """The gate of that name, None when it was not reached."""
        return next((gate for gate in self.gates if gate.name == name), None)

    def joined(self, gate: Gate) -> Proof:
        """The proof with one more gate, or another one in the place of its name."""
        return Proof((*(one for one in self.gates if one.name != gate.name), gate))

    def to_json(self) -> dict[str, Any]:
        """`{"ok": …, "gates": {name: {"ok": …, what was tried}}}`."""
        return {"ok": self.ok, "gates": {gate.name: gate.to_json() for gate in self.gates}}
