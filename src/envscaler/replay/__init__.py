"""Recorded calls run again on an environment class, and every difference named by case and call."""

from envscaler.replay.known import Known, read_known
from envscaler.replay.listing import Listed, read_listing
from envscaler.replay.recording import Call, Case, read_cases
from envscaler.replay.report import Difference, Report, replay
from envscaler.replay.values import Mismatch

__all__ = [
    "Call",
    "Case",
    "Difference",
    "Known",
    "Listed",
    "Mismatch",
    "Report",
    "read_cases",
    "read_known",
    "read_listing",
    "replay",
]
