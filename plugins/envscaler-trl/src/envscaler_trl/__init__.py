"""Environments of envscaler for TRL's trainers: specs and scenarios in, classes for `environment_factory` out."""

from envscaler_trl.environment import SpecEnvironment, outcome
from envscaler_trl.environments import Environments, environment_class

__all__ = ["Environments", "SpecEnvironment", "environment_class", "outcome"]
