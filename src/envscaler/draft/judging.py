"""How parts of a spec stand: what the checker says of each, and which examples come out otherwise than written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from envscaler.diagnostics import Diagnostic, Span
from envscaler.draft.parts import Laid, Parts

if TYPE_CHECKING:
    from envscaler.runtime import Environment
    from envscaler.spec.model import Spec

__all__ = ["Judged", "Ran", "as_run", "judge", "told"]

Found = dict[str, list[Diagnostic]]
_ELSEWHERE = ("bad-union", "recursive-type", "recursive-helper")
_AGAIN = "the same again"
_LINE = 140  # characters of a line that are shown
_MOST = 6  # problems of a part that are told at once


@dataclass(frozen=True, slots=True)
class Ran:
    """The class that was run, of the parts that pass the check. ``differing``: examples that came out otherwise, `lend.0`."""

    spec: Spec
    environment: type[Environment]
    differing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """By path of the part: ``errors`` and ``warnings`` of the checker, and what ``differs`` when it is run.

    What belongs to no part has the path "". ``ran`` is None where nothing could be run, or was not to.
    """

    laid: Laid
    errors: Found
    warnings: Found
    differs: Found
    ran: Ran | None = None

    @property
    def all(self) -> tuple[Diagnostic, ...]:
        """Everything in the order of the text."""
        found = {id(d): d for kind in (self.errors, self.differs, self.warnings) for ds in kind.values() for d in ds}
        return tuple(sorted(found.values(), key=lambda d: (d.span.line, d.span.column)))

    def better_than(self, old: Judged, asked: set[str]) -> bool:
        """Fewer errors; or all that the ``asked`` parts had are gone, what they have now was hidden behind them, and nothing
        else has new ones. Where errors are the same, so for what differs."""
        for new, before in ((self.errors, old.errors), (self.differs, old.differs)):
            if _keys(new) != _keys(before):
                return _less(new, before, asked)
            if self.ran is not None and old.ran is None:
                return True
        return _keys(self.warnings) != _keys(old.warnings) and _less(self.warnings, old.warnings, asked)


def _keys(found: Mapping[str, Sequence[Diagnostic]]) -> set[tuple[str, str, str]]:
    return {(path, d.code, d.title) for path, problems in found.items() for d in problems}


def _less(new: Mapping[str, Sequence[Diagnostic]], old: Mapping[str, Sequence[Diagnostic]], asked: set[str]) -> bool:
    if sum(map(len, new.values())) < sum(map(len, old.values())):
        return True
    before = _keys(old)
    left = {key for key in before & _keys(new) if key[0] in asked}
    elsewhere = {key for key in _keys(new) - before if key[0] not in asked}
    return not left and not elsewhere and any(key[0] in asked for key in before)


def judge(
    parts: Parts,
    *,
    run: bool,
    whole: bool = False,
    top: Sequence[str] = (),
    said: Mapping[str, Sequence[str]] | None = None,
) -> Judged:
    """Check the parts as one spec; with ``run``, compile what passes and run its examples, without faulty tools.

    ``whole``: nothing comes any more, so that it is said where there are no tools.
    """
    from envscaler.spec.check import check_text

    laid = parts.laid(top, said)
    path = f"{parts.name}.yaml"
    checked = check_text(path, laid.text)
    errors: Found = {}
    warnings: Found = {}
    for found in checked.diagnostics:
        early = found.code == "missing-key" and not parts.section("tools") and not _owners(laid, found)
        if found.severity == "note" or (early and not whole):
            continue
        owners = [*_owners(laid, found), *(_others(parts, found) if found.code in _ELSEWHERE else ())]
        for owner in dict.fromkeys(owners or [""]):
            (errors if found.severity == "error" else warnings).setdefault(owner, []).append(found)
    judged = Judged(laid, errors, warnings, {})
    faulty = [p for p in errors if p]
    if not run or "" in errors or not all(p.startswith("tools.") for p in faulty):
        return judged
    return _run(judged, parts, faulty)


def _owners(laid: Laid, found: Diagnostic) -> list[str]:
    places = [found.span, *(span for span, word in found.related if word.startswith(_AGAIN))]
    return list(dict.fromkeys(path for span in places if (path := laid.owner(span.line))))


def _others(parts: Parts, found: Diagnostic) -> Iterator[str]:
    """Types and helpers that a problem of another part names: they are where it is put right."""
    words = set(re.findall(r"\w+", found.title))
    for section in ("types", "helpers"):
        yield from (f"{section}.{name}" for name in parts.section(section) if name in words)


def _run(judged: Judged, parts: Parts, faulty: Sequence[str]) -> Judged:
    from envscaler.compiler import compile_spec, load_class
    from envscaler.replay.examples import verify
    from envscaler.spec.check import check_text

    sound = parts.copy()
    for path in faulty:
        sound.drop(path)
    if not sound.section("tools"):  # the initial state is held against the rules all the same
        sound.put("tools.nothing", {"kind": "read", "description": "Nothing.", "do": "return 1"})
    laid = judged.laid if sound.values == parts.values else sound.laid()
    checked = check_text(f"{parts.name}.yaml", laid.text)
    if checked.spec is None or any(d.severity == "error" for d in checked.diagnostics):
        return judged
    environment = load_class(compile_spec(checked))
    differs: Found = {}
    examples: dict[str, None] = {}
    for found in verify(checked.spec, environment):
        examples |= dict.fromkeys(_example_of(found, checked.spec))
        for owner in _meant(found, laid, parts):
            differs.setdefault(owner, []).append(_moved(found, laid, judged.laid, owner))
    return replace(judged, differs=differs, ran=Ran(checked.spec, environment, tuple(examples)))


def _example_of(found: Diagnostic, spec: Spec) -> Iterator[str]:
    for name, tool in spec.tools.items():
        yield from (f"{name}.{i}" for i, example in enumerate(tool.examples) if example.span == found.span)


def _meant(found: Diagnostic, laid: Laid, parts: Parts) -> list[str]:
    """The parts that a difference is about: the tool whose example it is, or the records and the rule that it names."""
    if found.span.line > 1 and (owner := laid.owner(found.span.line)):
        return [owner]
    words = set(re.findall(r"\w+", found.title))
    named = [f"initial_state.{n}" for n in parts.section("initial_state") if n in words]
    named += [f"rules.{n}" for n in parts.section("rules") if n in words]
    return named or [f"initial_state.{n}" for n in parts.section("initial_state")][:1] or [""]


def _moved(found: Diagnostic, of: Laid, to: Laid, owner: str) -> Diagnostic:
    """The diagnostic at the line that its part has in another text."""
    first = {path: a for a, _, path in of.places}
    there = {path: a for a, _, path in to.places}
    if of is to or owner not in first or found.span.line == 1:
        return found
    by = there[owner] - first[owner]
    span = found.span
    return replace(found, span=Span(span.path, span.line + by, span.column, span.end_line + by, span.end_column))


# -- in words


def told(problems: Sequence[Diagnostic], laid: Laid, owner: str) -> list[str]:
    """Problems of a part, a line each: where, what, what was expected, what is nearest."""
    rows = laid.text.split("\n")
    lines = [_told(problem, laid, rows, owner) for problem in problems[:_MOST]]
    return [*lines, f"and {len(problems) - _MOST} more"] if len(problems) > _MOST else lines


def _told(problem: Diagnostic, laid: Laid, rows: Sequence[str], owner: str) -> str:
    spans = [problem.span, *(span for span, word in problem.related if word.startswith(_AGAIN))]
    span = next((s for s in spans if laid.owner(s.line) == owner), problem.span)
    where = "" if span.line == 1 else _place(span, rows)
    words = [problem.title, *problem.detail.split("\n"), problem.help]
    words += [word for _, word in problem.related if not word.startswith(_AGAIN)]
    return f"[{problem.code}]{where} {'; '.join(' '.join(w.split()) for w in words if w.strip())}"


def _place(span: Span, rows: Sequence[str]) -> str:
    """` at "due_date" in "loan.due_date = today":`"""
    line = rows[span.line - 1] if span.line <= len(rows) else ""
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    exact = line[span.column - 1 : end].strip()
    start = max(0, min(span.column - 20, len(line) - _LINE)) if len(line) > _LINE else 0
    shown = line[start : start + _LINE].strip()
    if not shown:
        return ""
    if not exact or len(exact) > 60 or exact == shown:
        return f" at `{shown}`:"
    return f" at `{exact}` in `{shown}`:"


# -- what the run gave


def as_run(ran: Ran, tool: str, index: int, example: Mapping[str, Any]) -> dict[str, Any] | None:
    """The example with what the run gives as what is expected, None where it cannot be run."""
    from envscaler.errors import StateError
    from envscaler.replay.examples import begun

    found = ran.spec.tools.get(tool)
    if found is None or index >= len(found.examples):
        return None
    one = found.examples[index]
    try:
        env = begun(ran.spec, ran.environment, one)
    except StateError:
        return None
    result = env.call(tool, dict(one.call), actor=found.actor)
    made = {k: v for k, v in example.items() if k in ("call", "given", "at")}
    if result.error is not None:
        made["error"] = result.error.message
        return {**made, "rule": result.error.rule} if result.error.rule else made
    made["returns"] = result.value
    if isinstance(example.get("then"), Mapping):
        made["then"] = _same_keys(example["then"], env.state)
    return made


def _same_keys(wanted: Any, found: Any) -> Any:
    """What is found under the keys of ``wanted``; null where there is nothing."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return dict(_under(wanted, found))
    return found


def _under(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in wanted.items():
        yield key, _same_keys(value, found[key]) if key in found else None
