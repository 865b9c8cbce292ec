"""Reports for programs, CI and people: the same facts, whole and escaped."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from envscaler import session
from envscaler.diagnostics import Span
from envscaler.errors import UsageError
from envscaler.plugin.records import Finding, Verdict
from envscaler.session.assessing import Assessed, report
from tests.assess.shelf import SPEC

HOSTILE = "<u>&\x1b[31m\ud800\x00]]>\u202e"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Assessed]:
    folder = tmp_path_factory.mktemp("specs")
    (folder / "good.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "lies.yaml").write_text(SPEC.replace("returns: 2}", "returns: 3}"), encoding="utf-8")
    (folder / "worse.yaml").write_text(SPEC.replace("kind: read", "kind: red"), encoding="utf-8")
    return list(session.assess(folder, settings={"fuzz": {"calls": 200}}))


def _hostile() -> Assessed:
    finding = Finding(
        "a-code", HOSTILE.replace("\n", " "), Span("x.yaml", 1, 1, 1, 2), HOSTILE, HOSTILE, "error", f"look x={HOSTILE}"
    )
    return Assessed("x.yaml", HOSTILE, {"judge": Verdict(False, 0.5, (finding,), {"calls": 3})})


def test_json_holds_everything_and_nothing_of_the_day(found: list[Assessed]) -> None:
    made = json.loads(report(found, "json"))
    assert made["passed"] is False
    good, lies, worse = made["specs"]
    assert good["passed"]
    assert good["assessors"]["fuzz"]["details"]["coverage"]["shares"]["tools"] == {"reached": 7, "of": 7}
    (finding,) = lies["assessors"]["fuzz"]["findings"]
    assert finding["code"] == "examples-hold"
    assert finding["where"].endswith(":61")
    assert worse["problem"]
    assert report(found, "json") == report(found, "json")


def test_findings_in_json_hold_calls_and_a_test(found: list[Assessed]) -> None:
    (lies,) = [one for one in found if one.path.endswith("lies.yaml")]
    (plain,) = lies.verdicts["fuzz"].details["findings"]
    assert plain["calls"] == []
    assert plain["test"].startswith("env = Environment.new(")


def test_junit_has_what_readers_look_at(found: list[Assessed]) -> None:
    """Suites and cases with names, counts that add up, a message and a text in each failure: what the common readers
    (Jenkins, GitLab, GitHub's reporters) take from the file."""
    root = Xml.fromstring(report(found, "junit"))
    assert root.tag == "testsuites"
    suites = root.findall("testsuite")
    assert len(suites) == 3
    for suite in suites:
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases) > 0
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["errors"]) == len(suite.findall("testcase/error"))
        for case in cases:
            assert case.attrib["name"]
            assert case.attrib["classname"]
            assert float(case.attrib["time"]) == 0
            assert {child.tag for child in case} <= {"failure", "error", "skipped", "system-out"}
    for name in ("tests", "failures", "errors"):
        assert int(root.attrib[name]) == sum(int(s.attrib[name]) for s in suites)
    (failure,) = root.findall(".//failure")
    assert failure.attrib["message"].startswith("example of put")
    assert ":61" in (failure.text or "")
    (error,) = root.findall(".//error")
    assert "worse.yaml" in error.attrib["message"]


def test_html_is_one_document_with_pictures(found: list[Assessed]) -> None:
    page = report(found, "html")
    assert page.count("<html") == 1
    assert not re.search(r"<script|<link|<img|src=|@import|url\(", page)
    assert "default-src 'none'" in page
    for word in ("new_box", "Nothing was found.", "example of put", "not assessed", "sealed", 'class="missed"'):
        assert word in page, word
    assert page.count("<svg") > 20


@pytest.mark.parametrize("form", ["json", "junit", "html"])
def test_hostile_text_stays_text(form: str) -> None:
    text = report([_hostile()], form)
    text.encode()
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "<u>" not in text or form == "json"
    if form == "junit":
        assert Xml.fromstring(text).find(".//failure") is not None
    if form == "json":
        assert json.loads(text)["specs"][0]["score"] == 0.5


def test_a_verdict_without_properties_is_a_case_of_its_own() -> None:
    calm = Assessed("x.yaml", "", {"judge": Verdict(True, 0.9)})
    (case,) = Xml.fromstring(report([calm], "junit")).iter("testcase")
    assert case.attrib["name"] == "verdict"
    assert list(case) == []


def test_warnings_do_not_fail_a_case() -> None:
    warned = Assessed("x.yaml", "", {"judge": Verdict(True, 0.9, (Finding("vague", "A vague name"),))})
    root = Xml.fromstring(report([warned], "junit"))
    assert root.find(".//failure") is None
    out = root.find(".//system-out")
    assert out is not None
    assert "A vague name" in (out.text or "")


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(UsageError, match="json, junit, html"):
        report([], "pdf")


def test_reports_go_where_they_are_wanted(found: list[Assessed], tmp_path: Path) -> None:
    target = tmp_path / "new" / "r.xml"
    session.write_report(found, target, "junit")
    assert Xml.parse(target).getroot().tag == "testsuites"
    with pytest.raises(UsageError, match="directory"):
        session.write_report(found, tmp_path, "junit")
