"""The verdicts in the XML that continuous integration reads: a suite for each spec and assessor, a case for each property."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from xml.etree import ElementTree as Xml

from envscaler.assess.reports.facts import Judged
from envscaler.diagnostics import printable
from envscaler.plugin.records import Finding, Verdict

__all__ = ["junit"]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(judged: Iterable[Judged]) -> str:
    """The text of the file. Warnings stand in the output of their case; errors make it fail."""
    root = Xml.Element("testsuites", name="envscaler assess")
    for one in judged:
        for suite in _suites(one):
            root.append(suite)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suites(one: Judged) -> Iterator[Xml.Element]:
    if one.problem:
        suite = _suite(one, "assess")
        case = Xml.SubElement(
            suite, "testcase", name="assess", classname=_class(one.path), file=_clean(one.path), time="0"
        )
        Xml.SubElement(case, "error", message=_clean(one.problem), type="problem").text = _clean(one.problem)
        suite.set("tests", "1")
        suite.set("errors", "1")
        yield suite
    for assessor, verdict in one.verdicts.items():
        yield _verdict(one, assessor, verdict)


def _suite(one: Judged, assessor: str) -> Xml.Element:
    suite = Xml.Element("testsuite", name=f"{_clean(one.path)} {assessor}", time="0")
    for name in ("tests", "failures", "errors", "skipped"):
        suite.set(name, "0")
    return suite


def _verdict(one: Judged, assessor: str, verdict: Verdict) -> Xml.Element:
    suite = _suite(one, assessor)
    codes = dict.fromkeys([*verdict.details.get("properties", ()), *(f.code for f in verdict.findings)]) or {
        "verdict": None
    }
    failures = 0
    for code in codes:
        found = [f for f in verdict.findings if f.code == code]
        case = Xml.SubElement(
            suite, "testcase", name=_clean(str(code)), classname=f"{_class(one.path)}.{assessor}", file=_clean(one.path),
            time="0",
        )  # fmt: skip
        line = next((f.span.line for f in found if f.span is not None), None)
        if line is not None:
            case.set("line", str(line))
        errors = [f for f in found if f.severity == "error" or (not verdict.sound and not _any_error(verdict))]
        if errors:
            failures += 1
            failure = Xml.SubElement(case, "failure", message=_clean(errors[0].title), type=_clean(str(code)))
            failure.text = _clean("\n\n".join(map(_told, errors)))
        rest = [f for f in found if f not in errors]
        if rest:
            Xml.SubElement(case, "system-out").text = _clean("\n\n".join(map(_told, rest)))
    suite.set("tests", str(len(codes)))
    suite.set("failures", str(failures))
    return suite


def _any_error(verdict: Verdict) -> bool:
    return any(f.severity == "error" for f in verdict.findings)


def _told(found: Finding) -> str:
    place = [] if found.span is None else [f"{found.span.path}:{found.span.line}"]
    parts: Sequence[str] = (found.title, *place, found.detail, found.script)
    return "\n".join(part for part in parts if part)


def _class(path: str) -> str:
    """The file as a dotted name, which is how readers group cases."""
    return _clean(".".join(PurePath(path).with_suffix("").parts).strip("./") or path)


def _clean(text: str) -> str:
    """The text as XML can hold it."""
    return _NOT_XML.sub("?", printable(text))
