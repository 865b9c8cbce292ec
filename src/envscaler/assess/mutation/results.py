"""What a run of mutants came to: counts by operator and by means, and survivors with what would kill them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.assess.mutation.operators import OPERATORS
from envscaler.assess.mutation.trial import MEANS, Effort, Outcome

__all__ = ["Results", "Row", "advice"]


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of an operator, or of all. ``alone``: killed without the original; ``known``: killed by any means,
    comparison with it included; ``tried``: not proved equivalent."""

    name: str
    fault: str
    sites: int
    mutants: int
    equivalent: int
    check: int
    generic: int
    examples: int
    original: int
    alone: int
    known: int

    @property
    def tried(self) -> int:
        return self.mutants - self.equivalent

    def share(self, count: int) -> float:
        """A count as a share of those tried, 1.0 when none were."""
        return count / self.tried if self.tried else 1.0


@dataclass(frozen=True, slots=True)
class Results:
    """``sites``: how many places each operator has over all specs; ``specs``: their paths."""

    seed: int
    per_operator: int
    effort: Effort
    specs: tuple[str, ...]
    sites: Mapping[str, int]
    outcomes: tuple[Outcome, ...]

    def rows(self) -> Iterator[Row]:
        """A row for each operator that was asked for, in the order of the table."""
        for name in OPERATORS:
            if name in self.sites:
                mine = [o for o in self.outcomes if o.mutant.operator == name]
                yield self._row(name, OPERATORS[name].fault, self.sites[name], mine)

    def faults(self) -> Iterator[Row]:
        """A row for each kind of fault."""
        for fault in dict.fromkeys(OPERATORS[n].fault for n in OPERATORS if n in self.sites):
            names = [n for n in self.sites if OPERATORS[n].fault == fault]
            mine = [o for o in self.outcomes if o.mutant.fault == fault]
            yield self._row(fault, fault, sum(self.sites[n] for n in names), mine)

    def total(self) -> Row:
        """All mutants together."""
        return self._row("all", "", sum(self.sites.values()), self.outcomes)

    @staticmethod
    def _row(name: str, fault: str, sites: int, outcomes: Sequence[Outcome]) -> Row:
        live = [o for o in outcomes if not o.equivalent]
        counts = {m: sum(o.killed(m) for o in live) for m in MEANS}
        alone, known = sum(o.alone for o in live), sum(o.killed() for o in live)
        return Row(name, fault, sites, len(outcomes), len(outcomes) - len(live), **counts, alone=alone, known=known)

    def survivors(self) -> Iterator[Outcome]:
        """Those that nothing killed, the comparison with the original included."""
        return (o for o in self.outcomes if not o.killed() and not o.equivalent)

    def hidden(self) -> Iterator[Outcome]:
        """Those that only the comparison with the original killed."""
        return (o for o in self.outcomes if o.original and not o.alone and not o.equivalent)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; the same for the same specs and settings."""
        return {
            "seed": self.seed,
            "per_operator": self.per_operator,
            "effort": {"calls": self.effort.calls, "more": self.effort.more, "whole": self.effort.whole,
                       "recorded": self.effort.recorded},
            "specs": list(self.specs),
            "operators": [_plain(row) for row in self.rows()],
            "faults": [_plain(row) for row in self.faults()],
            "all": _plain(self.total()),
            "mutants": [
                {
                    "number": o.mutant.number, "operator": o.mutant.operator, "fault": o.mutant.fault,
                    "layer": o.mutant.layer, "path": o.mutant.path, "line": o.mutant.site.line,
                    "owner": o.mutant.site.owner, "before": o.mutant.site.before, "after": o.mutant.site.after,
                    "check": o.check, "warned": o.warned, "generic": o.generic, "examples": o.examples,
                    "original": o.original, "equivalent": o.equivalent, "failed": o.failed,
                }
                for o in self.outcomes
            ],
        }  # fmt: skip


def _plain(row: Row) -> dict[str, Any]:
    return {
        "name": row.name, "fault": row.fault, "sites": row.sites, "mutants": row.mutants, "equivalent": row.equivalent,
        "check": row.check, "generic": row.generic, "examples": row.examples, "original": row.original,
        "alone": row.alone, "known": row.known,
    }  # fmt: skip


def advice(outcome: Outcome) -> str:
    """What the author of a spec could declare so that such a slip is found without the original."""
    mutant = outcome.mutant
    kind, _, name = mutant.site.owner.partition(" ")
    owner = f"a tool that calls {name}" if kind == "helper" else mutant.site.owner
    if mutant.layer == "module":
        return "nothing: no spec can say it; more calls may tell, or it behaves alike"
    if mutant.operator in ("missing-error", "wrong-error"):
        return f"an example of {owner} that fails this way, with its message and rule"
    if mutant.operator in ("missing-update", "wrong-record", "stale-view"):
        return f"an example of {owner} with `then`, or a rule that ties what is written to what it follows from"
    if mutant.operator == "lost-reference":
        return "an example with a key that there is none of"
    if mutant.operator == "off-by-one":
        return f"examples of {owner} at the bound and beside it"
    if kind == "rule":
        return "an example whose call the rule refuses, and one that it just allows"
    if kind in ("state", "type", "constant"):
        return "an example at the declared border"
    return f"an example of {owner} that goes this way"
