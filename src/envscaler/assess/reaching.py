"""Keeps count of what calls reach, and says what is still missing, for the fuzzer to steer by."""

from __future__ import annotations

import re
from typing import Any

from envscaler.assess.events import Seen
from envscaler.assess.facts import Facts
from envscaler.assess.properties.calls import moved
from envscaler.assess.reach import BranchReach, Coverage, MoveReach, RequirementReach, RuleReach, ToolReach
from envscaler.assess.tracing import Tracer
from envscaler.spec.refusals import Refusal, Walked, tool_refusals

__all__ = ["Reaching"]

_INVALID = ("invalid_argument", "unknown_tool")
_MOST = 400  # different messages that are kept


class Reaching:
    """What was reached so far. ``news`` rises with everything that is reached for the first time."""

    def __init__(self, facts: Facts, *, branches: bool = True) -> None:
        self.facts = facts
        self.tracer = Tracer(facts) if branches else None
        self.news = 0
        self.ok: dict[tuple[str, str], int] = {}
        self.refused: dict[tuple[str, str], int] = {}
        self.invalid: dict[tuple[str, str], int] = {}
        self.rules: dict[str, int] = {}
        self.moves: dict[tuple[str, str, str], int] = {}
        self.messages: dict[str, int] = {}
        self._refusals = _refusals(facts)
        self.met: dict[tuple[str, int, str], int] = {}
        self._of: dict[tuple[Any, ...], Refusal | None] = {}
        self._patterns: dict[str, re.Pattern[str]] = {}

    def see(self, seen: Seen) -> None:
        """Count a call."""
        key = (seen.call.actor, seen.call.tool)
        if key not in self.facts.by_name:
            return
        error = seen.error
        if error is None:
            self._add(self.ok, key)
        elif getattr(error, "code", "") in _INVALID:
            self._add(self.invalid, key)
        else:
            self._refusal(key, error)
        for rule, _, old, new in moved(seen):
            self._add(self.moves, (rule.name, old, new))

    def _refusal(self, key: tuple[str, str], error: Any) -> None:
        self._add(self.refused, key)
        if getattr(error, "rule", None):
            self._add(self.rules, error.rule)
        line, message = getattr(error, "line", 0), str(getattr(error, "message", error))
        place = (key, line, getattr(error, "code", ""))
        if place not in self._of:
            self._of[place] = self._matching(key[1], line, message)
        refusal = self._of[place]
        if refusal is None:
            words = re.sub(r"\d+", "…", message)[:120]
            if words in self.messages or len(self.messages) < _MOST:
                self._add(self.messages, words)
            return
        self._add(self.met, (refusal.owner, refusal.line, refusal.message))
        self._add(self.messages, refusal.message)

    def _matching(self, tool: str, line: int, message: str) -> Refusal | None:
        """The refusal of the spec that gave the message: the nearest above the line whose words it has."""
        found = [r for r in self._refusals.get(tool, ()) if r.line <= line and self._says(r, message)]
        near = max(found, key=lambda r: r.line, default=None)
        if near is not None:
            return near
        return next((r for r in self._refusals.get(tool, ()) if r.line == line), None)

    def _says(self, refusal: Refusal, message: str) -> bool:
        pattern = self._patterns.get(refusal.message)
        if pattern is None:
            parts = re.split(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", refusal.message)
            pattern = self._patterns[refusal.message] = re.compile(".*".join(map(re.escape, parts)), re.S)
        return pattern.fullmatch(message) is not None

    def _add(self, counts: dict[Any, int], key: Any) -> None:
        if key in counts:
            counts[key] += 1
        else:
            counts[key] = 1
            self.news += 1

    @property
    def total(self) -> int:
        """A number that rises with everything new, branches included."""
        return self.news + (self.tracer.grown if self.tracer is not None else 0)

    # -- for steering

    def missing(self) -> dict[tuple[str, str], int]:
        """For each tool, how much of what it can reach was not."""
        found: dict[tuple[str, str], int] = {}
        sides: dict[str, int] = {}
        for branch in self.tracer.branches if self.tracer is not None else ():
            sides[branch.owner] = sides.get(branch.owner, 0) + (not branch.taken) + (not branch.skipped)
        for key in self.facts.by_name:
            refusals = self._refusals.get(key[1], ())
            left = sum((r.owner, r.line, r.message) not in self.met for r in refusals)
            owners = dict.fromkeys([f"tool {key[1]}", *(r.owner for r in refusals)])
            found[key] = left + sum(sides.get(owner, 0) for owner in owners) + 3 * (key not in self.ok)
        return found

    # -- the end

    def coverage(self) -> Coverage:
        """All of it as a record."""
        return Coverage(
            tools=[
                ToolReach(t.name, t.actor, t.kind or "", t.line, *(
                    counts.get((t.actor, t.name), 0) for counts in (self.ok, self.refused, self.invalid)
                ))
                for t in self.facts.tools
            ],
            requirements=self._requirements(),
            branches=self._branches(),
            rules=self._rules(),
            moves=self._moves(),
            messages=dict(sorted(self.messages.items(), key=lambda item: (-item[1], item[0]))),
        )  # fmt: skip

    def _requirements(self) -> list[RequirementReach]:
        every = dict.fromkeys((r.owner, r.line, r.message) for found in self._refusals.values() for r in found)
        return [RequirementReach(o, message, line, self.met.get((o, line, message), 0)) for o, line, message in every]

    def _branches(self) -> list[BranchReach]:
        sides: dict[tuple[str, int, Any], bool] = {}
        for branch in self.tracer.branches if self.tracer is not None else ():
            for side, reached in branch.sides():
                key = (branch.owner, branch.line, side)
                sides[key] = sides.get(key, False) or reached
        return [BranchReach(owner, line, side, reached) for (owner, line, side), reached in sorted(sides.items())]

    def _rules(self) -> list[RuleReach]:
        found = []
        for rule in self.facts.rules:
            kind = "policy" if rule.policy else "moves" if rule.moves else "cited" if rule.run is None else "holds"
            checked = self.tracer is not None and rule.run is not None and self.tracer.entered(rule.run)
            checked = checked or (self.tracer is not None and rule.name in self.tracer.rules)
            checked = checked or any(name == rule.name for name, _, _ in self.moves)
            refused = self.rules.get(rule.name, 0)
            found.append(RuleReach(rule.name, kind, self.facts.rule_line(rule.name), checked, refused))  # type: ignore[arg-type]
        return found

    def _moves(self) -> list[MoveReach]:
        return [
            MoveReach(rule.name, str(old), str(new), self.moves.get((rule.name, old, new), 0))
            for rule in self.facts.rules
            if rule.moves is not None
            for old, after in rule.moves[1].items()
            for new in after
            if old != new
        ]


def _refusals(facts: Facts) -> dict[str, list[Refusal]]:
    if facts.checked is None or facts.spec is None:
        return {}
    walked: Walked = {}
    return {name: tool_refusals(facts.checked, tool, walked) for name, tool in facts.spec.tools.items()}
