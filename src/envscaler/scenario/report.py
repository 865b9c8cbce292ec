"""What the proofs of some scenarios say together: gates passed, reasons by code, near misses and other ways by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from envscaler.scenario.model import Scenario
from envscaler.scenario.proof.record import GATES
from envscaler.texts import counted

__all__ = ["Line", "Report", "report"]


@dataclass(frozen=True, slots=True)
class Line:
    """One scenario. ``ok`` is None for one without a proof; ``reasons`` are the codes of what did not hold."""

    id: str
    kind: str
    spec: str
    steps: int
    goals: int
    ok: bool | None
    reasons: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        plain = {
            "id": self.id,
            "kind": self.kind,
            "spec": self.spec,
            "steps": self.steps,
            "goals": self.goals,
            "ok": self.ok,
        }
        return plain | ({"reasons": list(self.reasons)} if self.reasons else {})


@dataclass(slots=True)
class Report:
    """``passed`` and ``failed``: by gate. ``near``: near misses by kind, with ``accepted`` among them. ``ways``: other ways
    by kind, with ``refused`` among them. ``alone``: goals that were seen to fail alone, of ``goals``."""

    lines: list[Line] = field(default_factory=list)
    passed: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    near: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    goals: int = 0
    alone: int = 0

    def add(self, scenario: Scenario) -> None:
        """Count one more."""
        proof = scenario.proof
        codes: tuple[str, ...] = ()
        if proof is not None:
            for name, gate in proof["gates"].items():
                (self.passed if gate["ok"] else self.failed)[name] += 1
                self._tried(name, gate)
            codes = tuple(reason["code"] for gate in proof["gates"].values() for reason in gate.get("reasons", ()))
            self.reasons.update(codes)
        ok = None if proof is None else bool(proof["ok"])
        counts = len(scenario.solution), len(scenario.goals)
        self.lines.append(
            Line(scenario.id, scenario.kind, scenario.spec.name, *counts, ok, tuple(dict.fromkeys(codes)))
        )

    def _tried(self, name: str, gate: Mapping[str, Any]) -> None:
        tried = gate.get("tried", ())
        match name:
            case "near":
                for kind, misses in tried.items():
                    self.near[kind] += len(misses["misses"])
                    self.accepted[kind] += sum(not m["fails"] and not m.get("breaks") for m in misses["misses"])
            case "goals":
                self.goals += len(tried)
                self.alone += sum("alone" in one for one in tried)
            case "ways":
                self.ways.update(one["way"] for one in tried)
                codes = [reason["code"] for reason in gate.get("reasons", ())]
                self.refused += sum(code in ("other-way-refused", "free-value-locked") for code in codes)

    @property
    def proved(self) -> int:
        """Scenarios whose proof holds."""
        return sum(line.ok is True for line in self.lines)

    def to_json(self) -> dict[str, Any]:
        """Everything as a JSON object."""
        return {
            "scenarios": len(self.lines),
            "proved": self.proved,
            "unproved": sum(line.ok is None for line in self.lines),
            "gates": {name: {"passed": self.passed[name], "failed": self.failed[name]} for name in GATES},
            "reasons": dict(sorted(self.reasons.items())),
            "near": {kind: {"tried": n, "accepted": self.accepted[kind]} for kind, n in sorted(self.near.items())},
            "ways": {"tried": dict(sorted(self.ways.items())), "refused": self.refused},
            "goals": {"count": self.goals, "failed_alone": self.alone},
            "each": [line.to_json() for line in self.lines],
        }

    def text(self) -> Iterator[str]:
        """The same for people, a line at a time."""
        total = len(self.lines)
        yield f"{counted(total, 'scenario')}: {self.proved} proved, {total - self.proved} not"
        for name, what in GATES.items():
            if self.passed[name] or self.failed[name]:
                failed = f", {self.failed[name]} failed" if self.failed[name] else ""
                yield f"  {name:<10} {self.passed[name]:>5} passed{failed}  {what}"
        if self.near:
            wrong = sum(self.accepted.values())
            yield f"near misses: {sum(self.near.values())} tried, {wrong} accepted ({_listed(self.near)})"
        if self.ways:
            yield f"other ways: {sum(self.ways.values())} tried, {self.refused} refused ({_listed(self.ways)})"
        if self.goals:
            yield f"goals: {self.goals}, {self.alone} of them seen to fail alone"
        for line in self.lines:
            if line.ok is not True:
                why = "no proof" if line.ok is None else ", ".join(line.reasons)
                yield f"  {line.id} ({line.kind}): {why}"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{kind} {n}" for kind, n in sorted(counts.items()))


def report(scenarios: Iterable[Scenario]) -> Report:
    """The report of scenarios with the proofs that are stored in them."""
    made = Report()
    for scenario in scenarios:
        made.add(scenario)
    return made
