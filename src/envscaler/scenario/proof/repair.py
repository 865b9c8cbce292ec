"""Cheap repairs: a goal that says too much is dropped while others remain. What cannot be repaired is dropped as a whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from envscaler.scenario.model import Scenario
from envscaler.scenario.proof.prove import ProofSettings, prove
from envscaler.scenario.proof.record import Proof
from envscaler.scenario.world import States, World

__all__ = ["Settled", "settle"]

_ROUNDS: Final = 3
_DROPPED: Final = frozenset({"goal-true-at-start", "goal-never-fails", "free-value-locked", "literal-untold"})
_FOLLOWS: Final = frozenset({"idle-scores"})  # from a goal that is true at the start


@dataclass(frozen=True, slots=True)
class Settled:
    """A scenario with its last proof. ``repairs``: the codes of what was mended, in order."""

    scenario: Scenario
    proof: Proof
    repairs: tuple[str, ...]


def settle(
    world: World, scenario: Scenario, states: States | None = None, settings: ProofSettings | None = None
) -> Settled:
    """Prove a scenario; where it fails for goals that it can do without, prove it again without them.

    The scenario comes back with the proof in it when it holds, and with the id of its content.
    """
    repairs: list[str] = []
    for _ in range(_ROUNDS):
        proof = prove(world, scenario, states, settings)
        if proof.ok:
            return Settled(replace(scenario, proof=proof.to_json()), proof, tuple(repairs))
        mended = _mended(scenario, proof)
        if mended is None:
            break
        repairs += sorted({reason.code for reason in proof.reasons})
        scenario = mended
    return Settled(scenario, proof, tuple(repairs))


def _mended(scenario: Scenario, proof: Proof) -> Scenario | None:
    """The scenario without the goals at fault; None when something else is at fault too, or no goal would be left."""
    faults = [reason for reason in proof.reasons if reason.code not in _FOLLOWS]
    if not faults or any(reason.code not in _DROPPED or reason.goal < 0 for reason in faults):
        return None
    wrong = {reason.goal for reason in faults}
    goals = tuple(goal for n, goal in enumerate(scenario.goals) if n not in wrong)
    return replace(scenario, goals=goals).named() if goals else None
