"""What came of the rounds: each as it is journaled, all of them as a report and a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from envscaler.assess.dual.causes import CAUSES, NONE
from envscaler.assess.dual.replies import short
from envscaler.assess.dual.settings import DualSettings
from envscaler.diagnostics import Severity
from envscaler.play.lines import write_call
from envscaler.plugin.records import Finding, Subject, Verdict

__all__ = ["DualReport", "Round", "Tokens", "token_line"]

Outcome = Literal["pass", "warning", "fail", "unusable"]
_SHOWN = 20  # findings; the summary counts all
_SCRIPT = 25  # calls of a finding


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one agent or of both; ``attempts`` counts corrections and retries, ``uncounted`` those of which nobody said."""

    tokens_in: int = 0
    tokens_out: int = 0
    attempts: int = 0
    uncounted: int = 0

    @property
    def total(self) -> int:
        return self.tokens_in + self.tokens_out

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out,
            self.attempts + other.attempts, self.uncounted + other.uncounted,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Round:
    """One round. ``outcome`` `unusable`: the tester (or the judge) gave no usable reply, ``by`` says who; else ``by`` is who
    judged: `judge`, or `code` where it is a matter of fact. ``step`` counts the rounds of the episode from 1; ``changed``:
    operations of the difference."""

    number: int
    step: int
    outcome: Outcome
    by: Literal["tester", "judge", "code"]
    tool: str = ""
    actor: str = "agent"
    arguments: Any = None
    case: str = ""
    ok: bool = False
    result: str = ""
    changed: int = 0
    cause: str = NONE
    reason: str = ""
    tester: Tokens = field(default_factory=Tokens)
    judge: Tokens = field(default_factory=Tokens)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Round:
        return cls(**{**plain, "tester": Tokens(**plain["tester"]), "judge": Tokens(**plain["judge"])})


@dataclass(frozen=True, slots=True)
class DualReport:
    """The rounds that were made. ``goals``: how many things the fuzzer had not reached, and how many of them still are not;
    ``stopped`` says why fewer rounds were made than wanted."""

    rounds: tuple[Round, ...]
    settings: DualSettings
    goals: tuple[int, int] = (0, 0)
    stopped: str = ""

    def count(self, outcome: Outcome) -> int:
        return sum(r.outcome == outcome for r in self.rounds)

    @property
    def score(self) -> float:
        """Passes of all rounds; those without a usable reply count."""
        return self.count("pass") / len(self.rounds) if self.rounds else 0.0

    @property
    def sound(self) -> bool:
        return not self.stopped and self.score >= self.settings.threshold

    @property
    def tester(self) -> Tokens:
        return sum((r.tester for r in self.rounds), Tokens())

    @property
    def judge(self) -> Tokens:
        return sum((r.judge for r in self.rounds), Tokens())

    def causes(self) -> dict[str, int]:
        """How many warnings and failures had each cause, the most frequent first."""
        return dict(Counter(r.cause for r in self.rounds if r.outcome in ("warning", "fail")).most_common())

    def script(self, number: int) -> list[str]:
        """The calls to paste into `envscaler play` that lead to a round: what changed the state before it, and its own."""
        at = next(i for i, r in enumerate(self.rounds) if r.number == number)
        own = self.rounds[at]
        first = at - own.step + 1
        calls = [r for r in self.rounds[max(0, first) : at] if r.changed] + [own]
        lines, actor = [], "agent"
        for r in calls[-_SCRIPT:]:
            if r.actor != actor:
                actor = r.actor
                lines.append(f":as {actor}")
            lines.append(write_call(r.tool, r.arguments))
        return lines

    def verdict(self, subject: Subject) -> Verdict:
        """Sound or not, the share of passes, and what was found: facts as errors, opinions as warnings and notes."""
        found = list(self._findings(subject))
        if not self.sound:
            title = self.stopped or f"{self.score:.0%} of the rounds pass; {self.settings.threshold:.0%} are wanted"
            found.insert(0, Finding("dual-unsound", title, severity="error"))
        return Verdict(self.sound, self.score, (*found, self.summary()), self.details())

    def _findings(self, subject: Subject) -> list[Finding]:
        """One for each tool and cause, failures first."""
        spec = subject.checked.spec
        assert spec is not None
        groups: dict[tuple[str, str, str], list[Round]] = {}
        for outcome in ("fail", "warning"):
            for r in self.rounds:
                if r.outcome == outcome:
                    groups.setdefault((outcome, r.tool, r.cause), []).append(r)
        found = []
        for (outcome, tool, cause), rounds in list(groups.items())[:_SHOWN]:
            first = rounds[0]
            many = f" ({len(rounds)} rounds)" if len(rounds) > 1 else ""
            detail = f"{CAUSES.get(cause, cause)}; the call gave {first.result}"
            title = short(f"{tool}: {first.reason or CAUSES.get(cause, cause)}{many}")
            span, script = spec.tools[tool].span, "\n".join(self.script(first.number))
            found.append(Finding(f"dual-{outcome}", title, span, detail, "", _severity(first), script))
        return found

    def details(self) -> dict[str, Any]:
        """The figures and the rounds as JSON."""
        outcomes = {o: self.count(o) for o in get_args(Outcome)}
        return {
            "rounds": [r.to_json() for r in self.rounds], "outcomes": outcomes, "causes": self.causes(),
            "goals": {"before": self.goals[0], "left": self.goals[1]}, "stopped": self.stopped,
            "tokens": {"tester": asdict(self.tester), "judge": asdict(self.judge)},
        }  # fmt: skip

    def summary(self) -> Finding:
        """The figures, as a note."""
        made = len(self.rounds)
        cases = Counter(r.case for r in self.rounds if r.case)
        tools = len({r.tool for r in self.rounds if r.tool})
        ok, code = sum(r.ok for r in self.rounds), sum(r.by == "code" for r in self.rounds)
        judged = sum(r.by == "judge" and r.outcome != "unusable" for r in self.rounds)
        bad = f"tester {self._unusable('tester')}, judge {self._unusable('judge')}"
        lines = [
            f"{tools} tools, {cases['positive']} positive and {cases['negative']} negative cases; {ok} calls succeeded",
            f"decided by code {code}, by the judge {judged}; replies not usable: {bad}",
        ]
        before, left = self.goals
        if before:
            lines.append(f"of {before} things that fuzzing did not reach, {before - left} were reached")
        causes = ", ".join(f"{cause} {count}" for cause, count in self.causes().items())
        lines += [f"causes: {causes or 'none'}", token_line({"tester": self.tester, "judge": self.judge})]
        title = (
            f"{made} rounds: {self.count('pass')} pass, {self.count('warning')} warn, {self.count('fail')} fail, "
            f"{self.count('unusable')} without a usable reply"
        )
        return Finding("dual-summary", title, detail="\n".join(lines), severity="note")

    def _unusable(self, who: str) -> int:
        return sum(r.outcome == "unusable" and r.by == who for r in self.rounds)


def _severity(made: Round) -> Severity:
    """Facts are errors; what a judge thinks is no more than a warning."""
    return "error" if made.by == "code" else "warning" if made.outcome == "fail" else "note"


def token_line(used: Mapping[str, Tokens]) -> str:
    """`tokens: tester 1,200 in, 100 out; judge …; 2,500 in all`"""
    parts: Sequence[str] = [f"{who} {t.tokens_in:,} in, {t.tokens_out:,} out" for who, t in used.items()]
    total = sum(used.values(), Tokens())
    unsaid = f" (and {total.uncounted} replies of which nobody said)" if total.uncounted else ""
    return f"tokens: {'; '.join(parts)}; {total.total:,} in all{unsaid}"
