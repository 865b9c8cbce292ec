"""The verb that goes the whole way: specs in, and out come a verdict, scenarios, rollouts, training data, a page about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envscaler.lazy import public

if TYPE_CHECKING:
    from envscaler.session.whole.records import Step, Whole, WholeOptions, WholeProgress
    from envscaler.session.whole.way import whole

__all__ = ["Step", "Whole", "WholeOptions", "WholeProgress", "whole"]

_OFFERED = {
    "envscaler.session.whole.records": "Step Whole WholeOptions WholeProgress",
    "envscaler.session.whole.way": "whole",
}
__getattr__, __dir__ = public(__name__, _OFFERED)
