"""Two versions of a spec held against each other: what changed for an agent, for a scenario, for a recording."""

from envscaler.changes.compare import compare
from envscaler.changes.model import AUDIENCES, Audience, Change
from envscaler.changes.outcomes import Outcome, outcomes

__all__ = ["AUDIENCES", "Audience", "Change", "Outcome", "compare", "outcomes"]
