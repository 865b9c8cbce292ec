"""A scenario taken through its gates, in order, on one episode that is set back again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from envscaler.errors import SpecError, StateError, UsageError
from envscaler.scenario.model import Scenario
from envscaler.scenario.proof.elsewhere import Elsewhere
from envscaler.scenario.proof.gates import (
    form_gate,
    goals_gate,
    idle_gate,
    near_gate,
    removed_gate,
    solution_gate,
    spec_gate,
    start_gate,
    text_gate,
    ways_gate,
)
from envscaler.scenario.proof.record import Gate, Proof, Reason
from envscaler.scenario.proof.trial import Trial
from envscaler.scenario.scoring import Scorer
from envscaler.scenario.world import States, World

__all__ = ["ProofSettings", "prove"]


@dataclass(frozen=True, slots=True)
class ProofSettings:
    """``near``: near misses of each kind, found in at most ``tries`` tries. ``free``: other values for each argument of which
    any would do. ``elsewhere``: replay in another process; many scenarios do that together with `replay_elsewhere`.
    ``first``: stop at the first gate that fails."""

    near: int = 3
    tries: int = 30
    free: int = 2
    elsewhere: bool = True
    first: bool = False


def prove(
    world: World, scenario: Scenario, states: States | None = None, settings: ProofSettings | None = None
) -> Proof:
    """What every gate finds. Never raises for what a scenario holds.

    Gates that stand on one that failed are left out: without the right spec, a state, goals that can be read and a solution
    that comes to its end, there is nothing to try.
    """
    settings = settings or ProofSettings()
    gates: list[Gate] = []
    for gate in _gates(world, scenario, states, settings):
        gates.append(gate)
        if settings.first and not gate.ok:
            break
    proof = Proof(tuple(gates))
    if settings.elsewhere and proof.ok:
        with Elsewhere() as other:
            proof = proof.joined(*other.replay(world, [(scenario, proof.to_json())], states))
    return proof


def _gates(world: World, scenario: Scenario, states: States | None, settings: ProofSettings) -> Iterator[Gate]:
    spec = spec_gate(world, scenario)
    yield spec
    made = _trial(world, scenario, states) if spec.ok else None
    if made is None:
        return
    if isinstance(made, Gate):
        yield made
        return
    yield Gate("state", (), {"hash": scenario.state} if isinstance(scenario.state, str) else {})
    yield form_gate(world, scenario)
    yield start_gate(made)
    solution = solution_gate(made)
    yield solution
    yield idle_gate(made)
    yield text_gate(made, solution.ok)
    if not solution.ok:
        return
    for gate in _tries(made, settings):
        yield gate()


def _tries(trial: Trial, settings: ProofSettings) -> tuple[Callable[[], Gate], ...]:
    scenario = trial.scenario
    rng = Random(f"{scenario.spec.hash}:{scenario.seed}:{scenario.task}:proof")  # noqa: S311 - it is to be repeatable
    return (
        lambda: removed_gate(trial),
        lambda: near_gate(trial, rng, settings.near, settings.tries),
        lambda: goals_gate(trial, rng),
        lambda: ways_gate(trial, rng, settings.free),
    )


def _trial(world: World, scenario: Scenario, states: States | None) -> Trial | Gate:
    """The scenario on the bench, or the gate that keeps it off."""
    for step in scenario.solution:
        if step.tool not in world.tools:
            return Gate("solution", (Reason("step-refused", f"there is no tool {step.tool}"),))
    try:
        scorer = Scorer.of(world, scenario)
    except SpecError as error:
        return Gate("form", tuple(_unreadable(error)))
    try:
        env = world.start(scenario, states)
    except StateError as error:
        return Gate("state", tuple(Reason("state-invalid", problem) for problem in error.problems))
    except UsageError as error:
        return Gate("state", (Reason("setup-fails", str(error)),))
    return Trial(world, scenario, env, scorer)


def _unreadable(error: SpecError) -> Iterator[Reason]:
    for problem in error.diagnostics:
        if problem.severity == "error":
            code = "no-goals" if problem.code == "scenario-no-goals" else "goal-invalid"
            yield Reason(code, f"{problem.title}: {problem.detail}" if problem.detail else problem.title)
