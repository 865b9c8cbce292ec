"""How well a spec stands: what is wrong with it, in the words that a person would read, and how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from envscaler.assess.findings import FuzzFinding, FuzzSettings
from envscaler.assess.repair.edits import document
from envscaler.assess.repair.parts import parts
from envscaler.diagnostics import Diagnostic, render_text
from envscaler.plugin.records import Finding, Subject
from envscaler.texts import counted

__all__ = ["SOUND", "STAGES", "Attack", "Standing", "fuzzed", "judge"]

Attack = Callable[[Subject], Sequence[Finding]]
"""Gives what is to be mended of an environment that compiles and whose examples hold."""

STAGES: Final = ("cannot be parsed", "does not pass the check", "does not do what it says", "has findings", "is sound")
SOUND: Final = len(STAGES) - 1


@dataclass(frozen=True, slots=True)
class Standing:
    """``stage`` is an index of STAGES. ``problems`` are what keeps it from the next one."""

    stage: int
    problems: tuple[Diagnostic, ...] = ()
    text: str = field(default="", repr=False)

    @property
    def sound(self) -> bool:
        return self.stage == SOUND

    def better_than(self, other: Standing) -> bool:
        """It has come further; or not so many problems are left; or all that there were are gone, and what is left was hidden
        behind them."""
        if self.stage != other.stage:
            return self.stage > other.stage
        if len(self.problems) < len(other.problems):
            return True
        return self.stage < 2 and not self._keys() & other._keys()

    def _keys(self) -> set[tuple[str, str, str]]:
        """What tells problems from others, wherever edits have moved them to: code, title, the part they are in."""
        path = self.problems[0].span.path if self.problems else ""
        places = parts(self.text, path)

        def owner(line: int) -> str:
            return next((name for first, last, name in reversed(places) if first <= line <= last), "")

        return {(d.code, d.title, owner(d.span.line)) for d in self.problems}

    def shown(self, most: int) -> str:
        """The first problems, with their lines."""
        path = self.problems[0].span.path if self.problems else ""
        parts = [render_text([problem], {path: self.text}) for problem in self.problems[:most]]
        if len(self.problems) > most:
            parts.append(f"… and {len(self.problems) - most} more")
        return "\n\n".join(parts)

    def summary(self) -> str:
        """`does not pass the check (3 problems)`"""
        count = len(self.problems)
        return STAGES[self.stage] + (f" ({counted(count, 'problem')})" if count else "")


def judge(text: str, path: str, attacks: Sequence[Attack] = (), templates: tuple[str, ...] = ()) -> Standing:
    """Check the text; compile it and run its examples when it passes; attack the class when these hold."""
    from envscaler.spec.check import check_text

    checked = check_text(path, text, base=Path(path).parent)
    errors = [d for d in checked.diagnostics if d.severity == "error"]
    if errors:
        return Standing(0 if document(text, path) is None else 1, tuple(errors), text)
    from envscaler.compiler import compile_spec, load_class
    from envscaler.replay.examples import verify

    assert checked.spec is not None
    environment = load_class(compile_spec(checked, templates=templates))
    failures = verify(checked.spec, environment)
    if failures:
        return Standing(2, tuple(failures), text)
    subject = Subject(path, text, checked, environment)
    for attack in attacks:
        found = [_problem(finding, path) for finding in attack(subject)]
        if found:
            return Standing(3, tuple(found), text)
    return Standing(SOUND, (), text)


def fuzzed(settings: FuzzSettings) -> Attack:
    """The fuzzer as an attack; what it finds in error is to be mended."""

    def attack(subject: Subject) -> list[Finding]:
        from envscaler.assess import fuzz

        report = fuzz(subject.environment, subject.checked, settings)
        return [_finding(f) for f in report.findings if f.severity == "error"]

    return attack


def _finding(found: FuzzFinding) -> Finding:
    span = found.where[0] if found.where else None
    title = " ".join(found.title.split())
    return Finding(found.property, title, span, found.detail, "", "error", found.script)


def _problem(found: Finding, path: str) -> Diagnostic:
    """The finding as it is shown, the calls with it."""
    problem = found.diagnostic(path)
    if not found.script:
        return problem
    detail = "\n".join(part for part in (found.detail, "these calls show it:", found.script) if part)
    return replace(problem, detail=detail)
