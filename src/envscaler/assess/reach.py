"""What fuzzing reached: tools, requirements, branches, messages, rules and moves, each with how often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["BranchReach", "Coverage", "MoveReach", "RequirementReach", "RuleReach", "ToolReach"]


@dataclass(frozen=True, slots=True)
class ToolReach:
    """A tool: calls that gave a result (``ok``), and that were refused by what the spec says (``refused``) or because of
    their arguments (``invalid``)."""

    name: str
    actor: str
    kind: str
    line: int
    ok: int = 0
    refused: int = 0
    invalid: int = 0

    @property
    def calls(self) -> int:
        return self.ok + self.refused + self.invalid


@dataclass(frozen=True, slots=True)
class RequirementReach:
    """A `require`, `fail` or reference that must exist: how often it refused. ``owner``: `tool x` or `helper y`."""

    owner: str
    message: str
    line: int
    refused: int = 0


@dataclass(frozen=True, slots=True)
class BranchReach:
    """One side of an `if` or `for`, at a line of the spec: whether it was taken."""

    owner: str
    line: int
    side: Literal["taken", "skipped"]
    reached: bool = False


@dataclass(frozen=True, slots=True)
class RuleReach:
    """A rule. ``kind``: holds, moves, cited or policy. ``checked``: its code ran within a call; ``refused``: calls that failed
    because of it."""

    name: str
    kind: Literal["holds", "moves", "cited", "policy"]
    line: int
    checked: bool = False
    refused: int = 0


@dataclass(frozen=True, slots=True)
class MoveReach:
    """A declared move of a state machine, and how often it was made."""

    rule: str
    source: str
    target: str
    made: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """All of it. ``messages``: error messages by how often they came, each in the words of the spec where it is one of its
    refusals, else as it was shown."""

    tools: Sequence[ToolReach] = ()
    requirements: Sequence[RequirementReach] = ()
    branches: Sequence[BranchReach] = ()
    rules: Sequence[RuleReach] = ()
    moves: Sequence[MoveReach] = ()
    messages: Mapping[str, int] = field(default_factory=dict)

    def shares(self) -> Iterator[tuple[str, int, int]]:
        """Name, how many were reached, how many there are."""
        enforced = [r for r in self.rules if r.kind != "policy"]
        yield "tools", sum(t.ok > 0 for t in self.tools), len(self.tools)
        yield "requirements", sum(r.refused > 0 for r in self.requirements), len(self.requirements)
        yield "branches", sum(b.reached for b in self.branches), len(self.branches)
        yield "rules", sum(r.checked or r.refused > 0 for r in enforced), len(enforced)
        yield "moves", sum(m.made > 0 for m in self.moves), len(self.moves)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "shares": {name: {"reached": reached, "of": of} for name, reached, of in self.shares()},
            "tools": [
                {"name": t.name, "actor": t.actor, "kind": t.kind, "line": t.line, "ok": t.ok, "refused": t.refused,
                 "invalid": t.invalid} for t in self.tools
            ],
            "requirements": [
                {"owner": r.owner, "message": r.message, "line": r.line, "refused": r.refused} for r in self.requirements
            ],
            "branches": [
                {"owner": b.owner, "line": b.line, "side": b.side, "reached": b.reached} for b in self.branches
            ],
            "rules": [
                {"name": r.name, "kind": r.kind, "line": r.line, "checked": r.checked, "refused": r.refused}
                for r in self.rules
            ],
            "moves": [{"rule": m.rule, "from": m.source, "to": m.target, "made": m.made} for m in self.moves],
            "messages": dict(self.messages),
        }  # fmt: skip
