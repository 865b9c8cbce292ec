"""Every bad spec in `bad/` is answered with the diagnostics that stand beside it, and every code is answered somewhere.

`python -m pytest tests/cases --refresh-cases` writes the expected outputs; read the diff before committing it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from envscaler.diagnostics import Diagnostic, render_text
from envscaler.spec.check import check_text
from envscaler.spec.codes import CODES
from envscaler.spec.report import Report
from envscaler.spec.scan import decode

BAD = Path(__file__).parent / "bad"
NAMES = sorted(p.stem for p in BAD.glob("*.yaml"))


@cache
def _found(name: str) -> tuple[Sequence[Diagnostic], str]:
    """The diagnostics of one case and its text."""
    path = BAD / f"{name}.yaml"
    report = Report()
    text = decode(path.name, path.read_bytes(), report)
    if text is None:
        return report.items, ""
    return check_text(path.name, text, base=BAD).diagnostics, text


@pytest.fixture
def _in_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths in messages are those of the folder, wherever the tests are run."""
    monkeypatch.chdir(BAD)


@pytest.mark.usefixtures("_in_folder")
@pytest.mark.parametrize("name", NAMES)
def test_diagnostics_are_as_expected(name: str, request: pytest.FixtureRequest) -> None:
    diagnostics, text = _found(name)
    assert diagnostics, "this spec passes; a bad one must not"
    shown = render_text(diagnostics, {f"{name}.yaml": text}) + "\n"
    expected = BAD / f"{name}.out"
    if request.config.getoption("--refresh-cases", default=False):
        expected.write_text(shown, encoding="utf-8")
    assert expected.exists(), "no expected output; run with --refresh-cases"
    assert shown == expected.read_text(encoding="utf-8")


@pytest.mark.usefixtures("_in_folder")
@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_a_case(code: str) -> None:
    assert any(d.code == code for name in NAMES for d in _found(name)[0])


def test_there_are_no_outputs_without_a_spec() -> None:
    assert sorted(p.stem for p in BAD.glob("*.out")) == NAMES


def test_spec_names_say_the_mistake() -> None:
    assert len(NAMES) >= 120
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in NAMES)
