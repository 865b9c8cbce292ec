"""How scenarios are spread: over specs, kinds, tools, and by how many steps, writes and goals they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from envscaler.scenario.model import Scenario

__all__ = ["Spread", "Summary", "summary"]


@dataclass(frozen=True, slots=True)
class Spread:
    """How often each number occurs."""

    times: Mapping[int, int]

    @property
    def mean(self) -> float:
        return fmean(n for n, times in self.times.items() for _ in range(times)) if self.times else 0.0

    def to_json(self) -> dict[str, Any]:
        """Mean, median, least, most, and how often each occurs."""
        numbers = [n for n, times in sorted(self.times.items()) for _ in range(times)]
        if not numbers:
            return {"mean": 0.0, "median": 0, "least": 0, "most": 0, "times": {}}
        return {
            "mean": round(fmean(numbers), 3), "median": median(numbers), "least": numbers[0], "most": numbers[-1],
            "times": {str(n): self.times[n] for n in sorted(self.times)},
        }  # fmt: skip


@dataclass(slots=True)
class Summary:
    """Of some scenarios: how many there are of each spec and kind, which tools their solutions call, in how many of them,
    and how many steps, goals and guards they have."""

    count: int = 0
    specs: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    tools: Counter[tuple[str, str]] = field(default_factory=Counter)
    steps: Counter[int] = field(default_factory=Counter)
    goals: Counter[int] = field(default_factory=Counter)
    steps_of: dict[str, Counter[int]] = field(default_factory=dict)
    goals_of: dict[str, Counter[int]] = field(default_factory=dict)

    def add(self, scenario: Scenario) -> None:
        """Count one more."""
        spec, kind = scenario.spec.name, scenario.kind
        self.count += 1
        self.specs[spec] += 1
        self.kinds[kind] += 1
        self.pairs[spec, kind] += 1
        self.outcomes[scenario.outcome] += 1
        for tool in {step.tool for step in scenario.solution}:
            self.tools[spec, tool] += 1
        for whole, parts, number in (
            (self.steps, self.steps_of, len(scenario.solution)),
            (self.goals, self.goals_of, len(scenario.goals)),
        ):
            whole[number] += 1
            parts.setdefault(kind, Counter())[number] += 1

    def to_json(self) -> dict[str, Any]:
        """A JSON object, the same for the same scenarios in any order."""
        tools: dict[str, dict[str, int]] = {}
        for (spec, tool), times in sorted(self.tools.items()):
            tools.setdefault(spec, {})[tool] = times
        return {
            "scenarios": self.count,
            "specs": dict(sorted(self.specs.items())),
            "kinds": dict(sorted(self.kinds.items())),
            "outcomes": dict(sorted(self.outcomes.items())),
            "steps": Spread(self.steps).to_json(),
            "goals": Spread(self.goals).to_json(),
            "tools": tools,
        }


def summary(scenarios: Iterable[Scenario]) -> Summary:
    """The summary of some scenarios."""
    made = Summary()
    for scenario in scenarios:
        made.add(scenario)
    return made
