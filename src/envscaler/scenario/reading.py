"""Files of scenarios: JSON, one in a line, or YAML for people, one or several; each comes with its place or its problems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from envscaler.diagnostics import Diagnostic, Span, printable
from envscaler.errors import SpecError, UsageError
from envscaler.scenario import fields
from envscaler.scenario.located import InLine, InYaml, Located
from envscaler.scenario.model import Scenario
from envscaler.spec import yamltree as y
from envscaler.spec.entries import json_of
from envscaler.spec.read import parse_spec
from envscaler.spec.report import Report
from envscaler.spec.scalars import NotA
from envscaler.spec.scan import decode

__all__ = ["Bad", "Read", "from_json", "is_yaml", "read_file", "read_scenarios", "read_text"]

MAX_LINE: Final = 64 << 20
"""Bytes of a line of JSON."""


@dataclass(frozen=True, slots=True)
class Bad:
    """A scenario that could not be read, or was found wrong: where it begins, its id if it has one, and why."""

    line: int
    id: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """What was read in one place: a scenario, or None, with the places of its parts and its problems."""

    scenario: Scenario | None
    places: Located
    line: int
    id: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


def is_yaml(path: str | Path) -> bool:
    """Whether a file of scenarios is in YAML by its name; else each of its lines is JSON."""
    return Path(path).suffix in (".yaml", ".yml")


def from_json(value: Any) -> Scenario:
    """The scenario that a JSON object is, as `Scenario.to_json` gives it. Raises SpecError with all that is wrong with it."""
    report = Report()
    found = fields.from_json(value, InLine("scenario", 1), report)
    if found is None or report.failed:
        raise SpecError(report.items)
    return found


def read_scenarios(path: str | Path) -> Iterator[Scenario | Bad]:
    """The scenarios of a file in order. Raises UsageError when it cannot be read."""
    for read in read_file(path):
        yield read.scenario or Bad(read.line, read.id, read.diagnostics)


def read_file(path: str | Path) -> Iterator[Read]:
    """The same with the places of everything, for what is checked later. JSON is read line by line."""
    path = Path(path)
    try:
        if is_yaml(path):
            report = Report()
            text = decode(str(path), path.read_bytes(), report)
            found = _yaml(str(path), text, report)
        else:
            found = _lines(path)
        yield from _distinct(found)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def read_text(path: str, text: str) -> Iterator[Read]:
    """The same from a text; ``path`` is how its problems call it, and says whether it is YAML."""
    if is_yaml(path):
        return _distinct(_yaml(path, text, Report()))
    return _distinct(_json(path, n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())


def _distinct(found: Iterator[Read]) -> Iterator[Read]:
    """With a problem for each scenario whose id another has already."""
    lines: dict[str, int] = {}
    for read in found:
        first = lines.setdefault(read.id, read.line) if read.id else read.line
        if first == read.line or read.scenario is None:
            yield read
            continue
        title = f"the id '{printable(read.id)}' is that of another scenario, too"
        place = read.places.span("id")
        problem = Diagnostic("scenario-duplicate-id", place, title, f"the first is in line {first}")
        yield Read(None, read.places, read.line, read.id, (*read.diagnostics, problem))


# -- JSON


def _lines(path: Path) -> Iterator[Read]:
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(MAX_LINE + 1):
            number += 1
            if line.strip():
                yield _json(str(path), number, line)


def _json(path: str, number: int, line: str | bytes) -> Read:
    places = InLine(path, number)
    report = Report()
    value: Any = None
    try:
        if len(line) > MAX_LINE:
            raise ValueError(f"a line is longer than {MAX_LINE >> 20} MiB")
        value = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = "it nests too deep" if isinstance(error, RecursionError) else str(error)[:200]
        report.error("scenario-not-json", places.span(), f"the line is not JSON: {printable(reason)}")
        return Read(None, places, number, "", tuple(report.items))
    return _made(value, places, report, number)


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


def _made(value: Any, places: Located, report: Report, line: int) -> Read:
    scenario = fields.from_json(value, places, report, line)
    name = scenario.id if scenario is not None else value.get("id", "") if isinstance(value, dict) else ""
    return Read(scenario, places, line, name if isinstance(name, str) else "", tuple(places.settled(report.items)))


# -- YAML


def _yaml(path: str, text: str | None, report: Report) -> Iterator[Read]:
    document = None if text is None else parse_spec(path, text, report)
    if document is None or report.failed:
        start = Span(path, 1, 1, 1, 1)
        yield Read(None, InLine(path, 1), start.line, "", tuple(report.items))
        return
    for node in _nodes(document.root, report):
        own = Report()
        places = InYaml(document, node)
        try:
            value = _plain(node)
        except NotA as reason:
            own.error("bad-value", node.span, f"a value is none of JSON: {reason}")
            yield Read(None, places, node.span.line, "", tuple(own.items))
            continue
        yield _made(value, places, own, node.span.line)
    if report.items:
        yield Read(None, InLine(path, 1), 1, "", tuple(report.items))


def _nodes(root: y.Mapping, report: Report) -> list[y.Node]:
    """The scenarios of a document: those listed under `scenarios`, or the one that it is."""
    several = root.entries.get("scenarios")
    if several is None:
        return [root]
    for name, entry in root.entries.items():
        if name != "scenarios":
            report.error(
                "scenario-unknown-key", entry.key.span, f"beside 'scenarios' there is no key '{printable(name[:64])}'"
            )
    if isinstance(several.value, y.Sequence):
        return several.value.items
    report.error("scenario-wrong-type", several.key.span, "scenarios: expected a list of scenarios")
    return []


def _plain(node: y.Node) -> Any:
    """The node as JSON; a literal block without the end of its last line. May raise NotA."""
    if isinstance(node, y.Mapping):
        return {key: _plain(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, y.Sequence):
        return [_plain(item) for item in node.items]
    return node.text.removesuffix("\n") if node.style == "literal" else json_of(node)
