"""Judges names and descriptions: every rule is a function from a spec to findings, and each finding costs score."""

from collections.abc import Mapping
from typing import Any

from envscaler.errors import UsageError
from envscaler.plugin import Finding, Subject, Verdict
from envscaler_naming.parts import named_things
from envscaler_naming.rules import RULES

__all__ = ["Naming"]

_SETTINGS = ("at_least", "ignore", "words")
_WEIGHT = {"error": 2.0, "warning": 1.0, "note": 0.25}


class Naming:
    """Content with a score of ``at_least`` (0.9). ``ignore``: codes of rules to leave out; ``words``: words of the trade that
    need no explanation, for instance abbreviations.

    The score is 1 less the weight of all findings (a warning 1, a note a quarter) over the number of things named.
    """

    def assess(self, subject: Subject, settings: Mapping[str, Any]) -> Verdict:
        """The verdict; UsageError for a setting that is unknown or wrong."""
        at_least, ignored, words = _settings(settings)
        spec = subject.checked.spec
        if spec is None:
            raise UsageError(f"{subject.path}: a spec with errors cannot be judged")
        found = [f for code, rule in RULES.items() if code not in ignored for f in rule(spec, words)]
        found.sort(key=lambda f: (f.span.line, f.span.column, f.code) if f.span else (0, 0, f.code))
        cost = sum(_WEIGHT[finding.severity] for finding in found)
        score = max(0.0, 1 - cost / max(1, sum(1 for _ in named_things(spec))))
        return Verdict(score >= at_least, score, tuple(_explained(found, score, at_least)))


def _explained(found: list[Finding], score: float, at_least: float) -> list[Finding]:
    if found or score >= at_least:
        return found
    return [Finding("score", f"the score is {score:.2f}, and {at_least} is wanted")]


def _settings(settings: Mapping[str, Any]) -> tuple[float, frozenset[str], frozenset[str]]:
    unknown = sorted(set(settings) - set(_SETTINGS))
    if unknown:
        raise UsageError(f"naming has no setting {', '.join(unknown)}; it has {', '.join(_SETTINGS)}")
    at_least = settings.get("at_least", 0.9)
    if isinstance(at_least, bool) or not isinstance(at_least, (int, float)) or not 0 <= at_least <= 1:
        raise UsageError(f"at_least must be a number from 0 to 1, not {at_least!r}")
    ignored, words = _texts(settings, "ignore"), _texts(settings, "words")
    wrong = sorted(ignored - set(RULES))
    if wrong:
        raise UsageError(f"naming has no rule {', '.join(wrong)}; it has {', '.join(RULES)}")
    return at_least, ignored, frozenset(word.lower() for word in words)


def _texts(settings: Mapping[str, Any], name: str) -> frozenset[str]:
    given = settings.get(name, ())
    if isinstance(given, str) or not all(isinstance(item, str) for item in given):
        raise UsageError(f"{name} must be a list of texts, not {given!r}")
    return frozenset(given)
