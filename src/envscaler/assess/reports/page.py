"""The report for people: one HTML document that needs nothing else, with bars, marks and state machines as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler import __version__
from envscaler.assess.reports.facts import Judged
from envscaler.pages.machine import Machine, draw_moves
from envscaler.pages.render import environment
from envscaler.plugin.records import Finding, Verdict
from envscaler.spec.checked import Checked

__all__ = ["page"]

_MOST = 60  # findings of one spec that are shown
_TITLES = {
    "tools": "tools gave a result", "requirements": "requirements refused", "branches": "sides of branches taken",
    "rules": "rules were put to the test", "moves": "moves of state machines made",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bar:
    """How many of how many. ``share``: from 0 to 100."""

    name: str
    words: str
    reached: int
    of: int

    @property
    def share(self) -> float:
        return round(100 * self.reached / self.of, 1) if self.of else 100.0


@dataclass(frozen=True, slots=True)
class ToolBar:
    """A tool with the widths of its parts, out of 100, on the scale of the tool that was called most."""

    name: str
    kind: str
    actor: str
    line: int
    parts: tuple[tuple[str, int, float], ...]
    calls: int


@dataclass(frozen=True, slots=True)
class Picture:
    """A state machine. ``marks``: for each arrow `made`, `half` or `missed`."""

    rule: str
    line: int
    drawing: Machine
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One spec and one assessor."""

    id: str
    path: str
    assessor: str
    passed: bool
    verdict: Verdict
    findings: Sequence[tuple[Finding, str]]
    more: int
    bars: Sequence[Bar]
    tools: Sequence[ToolBar]
    rules: Sequence[Mapping[str, Any]]
    missed: Sequence[Mapping[str, Any]]
    sides: Sequence[Mapping[str, Any]]
    machines: Sequence[Picture]


def page(judged: Sequence[Judged], checked: Mapping[str, Checked], folders: Sequence[str] = ()) -> str:
    """The document. ``checked``: the specs by path, for the pictures; ``folders``: of templates, before the shipped ones."""
    sections = [s for j in judged for s in _sections(j, checked.get(j.path))]
    template = environment(tuple(folders)).get_template("assess/report.html.j2")
    passed = sum(j.passed for j in judged)
    return template.render(judged=judged, sections=sections, passed=passed, version=__version__)


def _sections(judged: Judged, checked: Checked | None) -> Iterator[Section]:
    for number, (assessor, verdict) in enumerate(judged.verdicts.items()):
        coverage: Mapping[str, Any] = verdict.details.get("coverage", {})
        yield Section(
            f"{judged.path}-{number}".replace("/", "-"),
            judged.path,
            assessor,
            judged.passed,
            verdict,
            [(f, _excerpt(f, checked)) for f in verdict.findings[:_MOST]],
            max(0, len(verdict.findings) - _MOST),
            [
                Bar(n, _TITLES.get(n, n), s["reached"], s["of"])
                for n, s in coverage.get("shares", {}).items()
                if s["of"]
            ],
            _tools(coverage.get("tools", ())),
            [r for r in coverage.get("rules", ()) if r["kind"] != "policy"],
            [r for r in coverage.get("requirements", ()) if not r["refused"]],
            [b for b in coverage.get("branches", ()) if not b["reached"]],
            list(_machines(checked, coverage.get("moves", ()))),
        )


def _excerpt(found: Finding, checked: Checked | None) -> str:
    """The lines of the spec around a finding."""
    if found.span is None or checked is None:
        return ""
    rows = checked.source.splitlines()
    first, last = max(1, found.span.line - 1), min(len(rows), found.span.line + 2)
    return "\n".join(f"{n:5} {rows[n - 1]}" for n in range(first, last + 1))


def _tools(tools: Sequence[Mapping[str, Any]]) -> list[ToolBar]:
    most = max((t["ok"] + t["refused"] + t["invalid"] for t in tools), default=0) or 1
    made = []
    for tool in tools:
        parts = tuple((kind, tool[kind], round(100 * tool[kind] / most, 2)) for kind in ("ok", "refused", "invalid"))
        made.append(ToolBar(tool["name"], tool["kind"], tool["actor"], tool["line"], parts, sum(p[1] for p in parts)))
    return made


def _machines(checked: Checked | None, moves: Sequence[Mapping[str, Any]]) -> Iterator[Picture]:
    if checked is None or checked.spec is None:
        return
    for name, rule in checked.spec.rules.items():
        drawing = draw_moves(checked.spec, rule)
        if drawing is None:
            continue
        made = {(m["from"], m["to"]) for m in moves if m["rule"] == name and m["made"]}
        marks = tuple(_mark(arrow.title, made) for arrow in drawing.arrows)
        yield Picture(name, rule.span.line, drawing, marks)


def _mark(title: str, made: set[tuple[str, str]]) -> str:
    if title.endswith(", both ways"):
        one, _, two = title.removesuffix(", both ways").partition(" and ")
        count = ((one, two) in made) + ((two, one) in made)
        return ("missed", "half", "made")[count]
    one, _, two = title.removeprefix("from ").partition(" to ")
    return "made" if (one, two) in made else "missed"
