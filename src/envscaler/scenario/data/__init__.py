"""Initial states: made from a spec alone, mutated from one, drafted by a model; and what in their text gives answers away."""

from envscaler.scenario.data.making import allowed, make_state
from envscaler.scenario.data.settings import DataSettings

__all__ = ["DataSettings", "allowed", "make_state"]
