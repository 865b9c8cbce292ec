"""Why a call is not as it should be: the kinds that verdicts name and that failures are counted by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["CAUSES", "NONE", "OTHER"]

NONE: Final = "none"
OTHER: Final = "other"

CAUSES: Final[Mapping[str, str]] = {
    "type_or_attribute": "a value of a wrong type, or a field or method that is not there",
    "state_consistency": "a change is missing, too much, at the wrong record, or left half made",
    "wrong_result": "the result does not say what the state says",
    "wrongly_refused": "a call that the description allows was refused",
    "wrongly_allowed": "a call that the description or a rule forbids was carried out",
    "edge_input": "an empty, extreme or unusual input is handled badly",
    "message": "refused for a good reason, but the message names another",
    "description": "the description promises something else than the code does",
    OTHER: "none of these",
}
"""Cause -> what it means; prompts and reports show both."""
