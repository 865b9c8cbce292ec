"""Initial states: made from a spec alone, mutated from one, drafted by a model; and what in their text gives answers away."""

from envscaler.scenario.data.fitting import fitted
from envscaler.scenario.data.leaks import Leak, leaks
from envscaler.scenario.data.making import allowed, make_state
from envscaler.scenario.data.settings import DataSettings
from envscaler.scenario.data.summary import summary

__all__ = ["DataSettings", "Leak", "allowed", "fitted", "leaks", "make_state", "summary"]
