"""Plans in plain English: what is asked for in the tools' own words, records by what tells them apart, several styles.

The text decides the goal: `told` is the rule by which a value stands in a text, for every way in which a task was written.
"""

from __future__ import annotations

from envscaler.scenario.wording.styles import styles
from envscaler.scenario.wording.told import Untold, told, told_in
from envscaler.scenario.wording.worded import Worded, worded

__all__ = ["Untold", "Worded", "styles", "told", "told_in", "worded"]
