"""What has been tried so far, in a summary whose size does not grow with the rounds: counts by tool, the last calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from envscaler.play.lines import write_call

__all__ = ["History", "Tally"]

_LAST = 6  # calls that are shown in full
_WIDE = 140  # characters of a line


@dataclass(slots=True)
class Tally:
    """What became of a tool's calls: by what the tester wanted, and by what came."""

    positive: int = 0
    negative: int = 0
    ok: int = 0
    refused: int = 0

    @property
    def calls(self) -> int:
        return self.positive + self.negative


@dataclass(slots=True)
class History:
    """The summary. ``tallies`` has an entry for each tool, in the order of the spec."""

    tallies: dict[str, Tally]
    last: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST))

    @classmethod
    def of(cls, tools: Sequence[str]) -> History:
        return cls({tool: Tally() for tool in tools})

    def add(self, tool: str, arguments: Any, case: str, ok: bool, outcome: str) -> None:
        """Note a call and what came of it."""
        tally = self.tallies[tool]
        tally.positive += case == "positive"
        tally.negative += case == "negative"
        tally.ok += ok
        tally.refused += not ok
        self.last.append(f"{_cut(write_call(tool, arguments))} -> {_cut(outcome)}")

    @property
    def wanted(self) -> str:
        """The case that there are fewer of."""
        positive = sum(t.positive for t in self.tallies.values())
        negative = sum(t.negative for t in self.tallies.values())
        return "positive" if positive <= negative else "negative"

    def counts(self) -> str:
        """`transfer 2+1, close_account 0+1`: positive and negative cases of the tools that were called."""
        return ", ".join(f"{name} {t.positive}+{t.negative}" for name, t in self.tallies.items() if t.calls) or "none"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDE else line[: _WIDE - 1] + "…"
