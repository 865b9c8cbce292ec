"""The page that leads to all that a whole run has made: one HTML document that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler import __version__
from envscaler.errors import UsageError
from envscaler.session.files import reason, replace_file
from envscaler.session.templates import template_folders
from envscaler.session.whole.steps import SCENARIOS

if TYPE_CHECKING:
    from envscaler.session.whole.records import Step
    from envscaler.session.whole.steps import Way

__all__ = ["write_page"]

_COVERED: Final = {
    "tools": "tools gave a result", "requirements": "refusals were met", "branches": "sides of branches taken",
    "rules": "rules were put to the test", "moves": "moves of state machines made",
}  # fmt: skip
_AGENTS: Final = {
    "reference": "the scenario's own solution", "random": "tools at random, arguments that fit", "noop": "does nothing at all"
}  # fmt: skip
_KINDS: Final = {
    "complete": "all that is needed is told", "missing_parameter": "a value is told only when the agent asks",
    "missing_tool": "a tool is offered only later", "long_context": "the request lies in a long text",
    "refusal": "the rules forbid it, and the agent is to say so", "answer": "a question is to be answered too",
    "distractors": "look-alikes are around",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bar:
    """How many of how many, with words; ``share`` from 0 to 100."""

    words: str
    reached: float
    of: float
    more: str = ""

    @property
    def share(self) -> float:
        return round(100 * self.reached / self.of, 1) if self.of else 0.0


def write_page(page: Path, way: Way, options: Mapping[str, Any]) -> Path:
    """Write the page where it is not as it should be. Raises UsageError."""
    from envscaler.pages.render import environment

    template = environment(template_folders()).get_template("whole/index.html.j2")
    text = template.render(**_facts(way, options))
    try:
        with suppress(OSError, ValueError):
            if page.read_text(encoding="utf-8") == text:
                return page
        replace_file(page, text)
    except OSError as error:
        raise UsageError(f"{page}: {reason(error)}") from None
    return page


def _facts(way: Way, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the template says."""
    figures = {name: step.figures for name, step in way.steps.items()}
    specs = [one.figures for one in way.subjects]
    return {
        "version": __version__,
        "options": options,
        "specs": [_spec(one, way, figures) for one in specs],
        "sums": {name: sum(one[name] for one in specs) for name in ("tools", "states", "fields", "rules", "enforced")},
        "steps": list(way.steps.values()),
        "bad": [step for step in way.steps.values() if not step.ok],
        "verdict": _verdict(way.steps["assess"]),
        "scenarios": _scenarios(figures),
        "played": _played(figures),
        "data": _data(way, figures),
        "learnt": max((one["samples"] for one in figures["sft"].get("forms", {}).values()), default=0),
        "links": {name: step.state in ("made", "kept") for name, step in way.steps.items()},
    }


def _spec(figures: Mapping[str, Any], way: Way, known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A spec with its files, as far as they are there, its verdict and its share of the scenarios."""
    name = figures["name"]
    judged = next((one for one in known["assess"].get("specs", ()) if one["name"] == name), None)
    summary = known["scenarios"].get("summary", {})
    copy = next(one.copy for one in way.subjects if one.name == name)
    files = {"spec": copy, "class": f"classes/{name}.py", "page": f"pages/{name}.html"}
    return {
        **figures, "judged": judged, "scenarios": summary.get("specs", {}).get(name, 0),
        "used": len(summary.get("tools", {}).get(name, {})),
        "files": {kind: path for kind, path in files.items() if (way.folder / path).is_file()},
    }  # fmt: skip


def _verdict(step: Step) -> dict[str, Any] | None:
    """What the fuzzer says of all specs together."""
    specs = step.figures.get("specs")
    if not specs:
        return None
    bars = []
    for name, words in _COVERED.items():
        shares = [one["shares"][name] for one in specs if name in one["shares"]]
        reached, of = (sum(one[what] for one in shares) for what in ("reached", "of"))
        if of:
            bars.append(Bar(words, reached, of))
    findings = [(one["name"], found) for one in specs for found in one["findings"]]
    problems = [(one["name"], one["problem"]) for one in specs if one["problem"]]
    return {
        "sound": sum(one["sound"] for one in specs), "of": len(specs), "calls": step.figures["calls"],
        "score": min(one["score"] for one in specs), "bars": bars, "findings": findings, "problems": problems,
    }  # fmt: skip


def _scenarios(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    made, audited = figures["scenarios"], figures["audit"]
    if not made:
        return None
    summary = made["summary"]
    most = max(summary["kinds"].values())
    times = {int(steps): n for steps, n in summary["steps"]["times"].items()}
    return {
        "count": summary["scenarios"], "wanted": made["wanted"], "tried": made["tried"], "dropped": made["dropped"],
        "kinds": [Bar(kind, n, most, _KINDS.get(kind, "")) for kind, n in summary["kinds"].items()],
        "steps": summary["steps"], "columns": _columns(times), "goals": summary["goals"],
        "samples": [{**one, "link": audited.get("links", {}).get(one["id"])} for one in made["samples"]],
        "audited": audited,
    }  # fmt: skip


_BINS: Final = 16  # columns of a picture, at most


def _columns(times: Mapping[int, int]) -> list[Bar]:
    """How many scenarios have how many steps, in as many columns as there is room for."""
    least, most = min(times), max(times)
    width = -(-(most - least + 1) // _BINS)
    starts = range(least, most + 1, width)
    sums = [(at, sum(times.get(n, 0) for n in range(at, at + width))) for at in starts]
    highest = max(n for _, n in sums)
    return [Bar(str(at) if width == 1 else f"{at}-{at + width - 1}", n, highest) for at, n in sums]


def _played(figures: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """All sides of both runs, each with what is known of the agent."""
    return [
        {**line, "run": run, "who": _AGENTS.get(line["agent"], line["model"])}
        for run in ("run", "contrast")
        for line in figures[run].get("lines", ())
    ]


def _data(way: Way, figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The files of data, by the form that they are in."""
    found = {form: made["files"] for form, made in figures["sft"].get("forms", {}).items()}
    if files := figures["rl"].get("files"):
        found["rl"] = files
    if made := figures["scenarios"]:
        file = next(one for one in way.steps["scenarios"].products if one.path == SCENARIOS[0])
        found["scenarios"] = [{"path": file.path, "rows": made["summary"]["scenarios"], "bytes": file.bytes}]
    return found
