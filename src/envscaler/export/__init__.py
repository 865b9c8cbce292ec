"""Training data from trajectories and scenarios: filters, splits, and writers of the forms that trainers read."""

from __future__ import annotations

from envscaler.export.filters import FilterOptions
from envscaler.export.sample import Sample, TaskSample

__all__ = ["FilterOptions", "Sample", "TaskSample"]
