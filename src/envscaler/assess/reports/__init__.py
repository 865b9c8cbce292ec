"""What assessors said of some specs, written for programs, for CI and for people."""

from __future__ import annotations

from envscaler.assess.reports.facts import Judged, as_json
from envscaler.assess.reports.junit import junit

__all__ = ["Judged", "as_json", "junit"]
