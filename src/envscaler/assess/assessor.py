"""The fuzzer as an assessor: its report as a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from envscaler.assess.findings import FuzzFinding, FuzzReport, FuzzSettings, Progress
from envscaler.assess.fuzzer import fuzz
from envscaler.assess.properties import chosen
from envscaler.errors import UsageError
from envscaler.plugin.records import Finding, Subject, Verdict
from envscaler.plugin.settings import refuse_unknown

__all__ = ["Fuzzing", "settings_of"]

_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "seed": (int,),
    "calls": (int,),
    "seconds": (int, float, type(None)),
    "episode": (int,),
    "findings": (int,),
    "properties": (list, tuple, type(None)),
    "shrink": (bool,),
    "states": (bool,),
    "coverage": (bool,),
    "call_seconds": (int, float),
}


def settings_of(given: Mapping[str, Any], progress: Callable[[Progress], None] | None = None) -> FuzzSettings:
    """The settings as FuzzSettings. Raises UsageError for one that is unknown or of the wrong type."""
    refuse_unknown("the fuzzer", given, _KINDS)
    for name, value in given.items():
        if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and bool not in _KINDS[name]):
            raise UsageError(f"the fuzzer's setting {name} cannot be {value!r}")
    made = dict(given)
    if made.get("properties") is not None:
        made["properties"] = tuple(made["properties"])
        chosen(made["properties"])
    return FuzzSettings(**made, progress=progress)


class Fuzzing:
    """The assessor `fuzz`. Settings are the fields of `FuzzSettings`. ``progress`` is told how far it is."""

    def __init__(self, progress: Callable[[Progress], None] | None = None) -> None:
        self.progress = progress

    def assess(self, subject: Subject, settings: Mapping[str, Any]) -> Verdict:
        """Sound when no property was broken; the score is the share of properties that held."""
        wanted = settings_of(settings, self.progress)
        report = fuzz(subject.environment, subject.checked, wanted)
        looked_at = [p.name for p in chosen(wanted.properties)]
        broken = dict.fromkeys(f.property for f in report.findings if f.severity == "error")
        score = 1 - len(broken) / len(looked_at) if looked_at else 1.0
        return Verdict(report.sound, score, tuple(map(_finding, report.findings)), _details(report, wanted, looked_at))


def _finding(found: FuzzFinding) -> Finding:
    detail = found.detail
    begins = []
    if found.state is not None:
        begins.append("the episode begins in a state of its own, which the JSON report holds")
    if found.seed:
        begins.append(f"with seed {found.seed}")
    if found.clock is not None:
        begins.append(f"at {found.clock}")
    if begins:
        detail = "\n".join(part for part in (detail, ", ".join(begins)) if part)
    span = found.where[0] if found.where else None
    return Finding(found.property, found.title, span, detail, "", found.severity, found.script)


def _details(report: FuzzReport, settings: FuzzSettings, looked_at: list[str]) -> dict[str, Any]:
    return {
        "seed": settings.seed, "calls": report.calls, "episodes": report.episodes, "complete": report.complete,
        "states": {"offered": report.states[0], "accepted": report.states[1]}, "properties": looked_at,
        "coverage": report.coverage.to_json(), "findings": [f.to_json() for f in report.findings],
    }  # fmt: skip
