"""Every code of reading is shown by its bad snippet and not by its good one."""

from __future__ import annotations

import pytest

from envscaler.diagnostics import Diagnostic
from envscaler.spec.codes import CODES, Code, complete
from envscaler.spec.codes.structure import STRUCTURE
from envscaler.spec.read import read_spec
from envscaler.spec.report import Report
from envscaler.spec.scan import decode


def _diagnostics(snippet: str) -> list[Diagnostic]:
    report = Report()
    text = decode("spec.yaml", complete(snippet).encode("utf-8", "surrogateescape"), report)
    return report.items if text is None else read_spec("spec.yaml", text)[1]


@pytest.mark.parametrize("code", STRUCTURE, ids=lambda code: code.name)
def test_bad_snippets_have_the_code_and_good_ones_nothing(code: Code) -> None:
    found = {d.code for d in _diagnostics(code.bad)}
    assert found == {code.name} or (code.name == "more-problems" and code.name in found)
    assert _diagnostics(code.good) == []


def test_codes_are_named_once_and_explained() -> None:
    assert len({c.name for c in STRUCTURE}) == len(STRUCTURE)
    for code in CODES.values():
        assert code.name == code.name.lower()
        assert code.title
        assert code.why.endswith(".")
