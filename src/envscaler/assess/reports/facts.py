"""What a report is about: the verdicts on a spec, and the JSON form of it all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from envscaler import __version__
from envscaler.plugin.records import Finding, Verdict

__all__ = ["Judged", "as_json"]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on one spec by assessor; ``passed`` by the threshold that was asked for; ``problem``: why there are none."""

    path: str
    passed: bool
    score: float
    verdicts: Mapping[str, Verdict]
    problem: str = ""


def as_json(judged: Iterable[Judged]) -> dict[str, Any]:
    """All of it for a program. Nothing in it depends on when or where it was made."""
    specs = [
        {
            "path": j.path,
            "passed": j.passed,
            "score": round(j.score, 6),
            "problem": j.problem or None,
            "assessors": {
                name: {
                    "sound": v.sound,
                    "score": round(v.score, 6),
                    "findings": [_finding(f) for f in v.findings],
                    "details": dict(v.details),
                }
                for name, v in j.verdicts.items()
            },
        }
        for j in judged
    ]
    return {"envscaler": __version__, "passed": all(s["passed"] for s in specs), "specs": specs}


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "code": found.code,
        "title": found.title,
        "severity": found.severity,
        "detail": found.detail,
        "help": found.help,
        "where": None if found.span is None else f"{found.span.path}:{found.span.line}",
        "play": found.script,
    }
