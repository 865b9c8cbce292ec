"""The proof of a scenario: all that is tried on it before it is kept."""

from envscaler.scenario.proof.elsewhere import Elsewhere, replay_elsewhere
from envscaler.scenario.proof.prove import ProofSettings, prove
from envscaler.scenario.proof.record import CODES, GATES, Gate, Proof, Reason
from envscaler.scenario.proof.repair import Settled, settle

__all__ = [
    "CODES", "GATES", "Elsewhere", "Gate", "Proof", "ProofSettings", "Reason", "Settled", "prove", "replay_elsewhere", "settle",
]  # fmt: skip
