"""A run's account summed up in the form of the paper's Table 8, the paper's figures beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from envscaler.llm.labels import STAGES
from envscaler.llm.ledger import CACHED, OK, Attempt
from envscaler.llm.prices import NANO

__all__ = ["PAPER", "SECTIONS", "Costs", "Figures", "Line", "Section", "summed"]


@dataclass(frozen=True, slots=True)
class Figures:
    """Tokens in and out and US dollars, for one environment or scenario. ``cost`` is None where it is not known."""

    tokens_in: float
    tokens_out: float
    cost: float | None

    @property
    def tokens(self) -> float:
        return self.tokens_in + self.tokens_out


# Section -> the unit that its figures are for, and its stages.
SECTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "environment": ("Per environment", ("discovery", "construction", "assessment")),
    "scenario": ("Per scenario", ("data", "task", "checks")),
}

# Table 8 of arXiv 2601.05808: GPT-4.1, and GPT-4.1-mini for assessment and check functions.
PAPER: Mapping[str, Figures] = {
    "discovery": Figures(1529, 569, 0.0076),
    "construction": Figures(57639, 16655, 0.2485),
    "assessment": Figures(1709159, 52706, 0.7679),
    "environment": Figures(1768327, 69930, 1.0240),
    "data": Figures(5658, 2205, 0.0289),
    "task": Figures(2883, 555, 0.0102),
    "checks": Figures(26879, 8571, 0.0244),
    "scenario": Figures(35420, 11331, 0.0635),
}


@dataclass(slots=True)
class Line:
    """Sums over attempts.

    ``cost`` is in billionths of a dollar, of the attempts whose cost is known; ``unpriced`` are attempts with tokens and
    without a price, ``uncounted`` those whose tokens nobody said (time-outs, dropped connections).
    """

    calls: int = 0
    attempts: int = 0
    failed: int = 0
    from_cache: int = 0
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    cost: int = 0
    unpriced: int = 0
    uncounted: int = 0
    models: dict[str, None] = field(default_factory=dict)
    units: set[str] = field(default_factory=set)
    _calls: set[str] = field(default_factory=set)

    def add(self, attempt: Attempt) -> None:
        self.units.add(attempt.unit)
        if attempt.outcome == CACHED:
            self.from_cache += 1
            return
        self._calls.add(attempt.call)
        self.calls = len(self._calls)
        self.attempts += 1
        self.failed += attempt.outcome != OK
        self.seconds += attempt.seconds
        usage = attempt.usage
        self.tokens_in += usage.tokens_in or 0
        self.tokens_out += usage.tokens_out or 0
        self.cached += usage.cached
        self.cost += attempt.cost or 0
        uncounted = usage.tokens_in is None or usage.tokens_out is None
        self.uncounted += uncounted
        self.unpriced += attempt.cost is None and not uncounted
        self.models[attempt.model] = None

    def each(self, units: int) -> Figures:
        """The figures for one of ``units``."""
        cost = None if self.unpriced else self.cost / NANO / units
        return Figures(self.tokens_in / units, self.tokens_out / units, cost)


@dataclass(slots=True)
class Section:
    """One half of the table: its stages, their sum, and how many units it has; what has no unit of its own is all of theirs."""

    name: str
    title: str
    units: int
    stages: dict[str, Line]
    total: Line


@dataclass(slots=True)
class Costs:
    """A run's account: the sections of the paper's table, stages that it does not have, roles, and all together."""

    sections: list[Section]
    others: dict[str, Line]
    roles: dict[str, Line]
    total: Line


def summed(attempts: Iterable[Attempt]) -> Costs:
    """The account of attempts."""
    stages: dict[str, Line] = {}
    roles: dict[str, Line] = {}
    total = Line()
    sections = {name: Line() for name in SECTIONS}
    of_stage = {stage: name for name, (_, stages_) in SECTIONS.items() for stage in stages_}
    for attempt in attempts:
        lines = [stages.setdefault(attempt.stage, Line()), roles.setdefault(attempt.role, Line()), total]
        if attempt.stage in of_stage:
            lines.append(sections[of_stage[attempt.stage]])
        for line in lines:
            line.add(attempt)
    return Costs(
        [
            Section(
                name,
                title,
                max(1, len(sections[name].units - {""})),
                {s: stages.get(s, Line()) for s in names},
                sections[name],
            )
            for name, (title, names) in SECTIONS.items()
        ],
        {name: line for name, line in sorted(stages.items()) if name not in STAGES},
        dict(sorted(roles.items())),
        total,
    )
