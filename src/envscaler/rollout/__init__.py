"""Rollouts: an agent meets a scenario, with a user or without one, and a trajectory comes out."""

from __future__ import annotations

from envscaler.rollout.store import Row, Select, Totals, Trajectories
from envscaler.rollout.trajectory import Player, Trajectory

__all__ = ["Player", "Row", "Select", "Totals", "Trajectories", "Trajectory"]
