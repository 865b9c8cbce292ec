"""Seeded faults: each broken spec and class gives the finding that it must give, and the specs give nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from envscaler.assess import FuzzSettings, fuzz
from envscaler.compiler import compile_spec, load_class
from envscaler.session import spec_files
from envscaler.spec.check import check_text
from tests.assess.broken_classes import FOUND, Drawer

ROOT = Path(__file__).resolve().parents[3]
BROKEN = sorted((ROOT / "specs" / "broken").glob("*.yaml"))


def _expected(text: str) -> tuple[str, str, int]:
    line = text.splitlines()[1]
    assert line.startswith("# expected: ")
    means, code, at = line.removeprefix("# expected: ").split()
    return means, code, int(at)


def _found(path: Path, text: str) -> list[tuple[str, str, int]]:
    """What the checker says, or, when it says nothing, the default properties under attack."""
    checked = check_text(str(path), text)
    if checked.diagnostics:
        return [("check", d.code, d.span.line) for d in checked.diagnostics]
    report = fuzz(load_class(compile_spec(checked)), checked, FuzzSettings(calls=300, shrink=False))
    return [("assess", f.property, f.where[0].line if f.where else 1) for f in report.findings]


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.stem)
def test_a_broken_spec_gives_its_finding_and_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert _found(path, text) == [_expected(text)]


def test_there_are_many_and_they_are_small() -> None:
    assert len(BROKEN) >= 30
    assert all(len(p.read_text(encoding="utf-8").splitlines()) <= 60 for p in BROKEN)
    kinds = {_expected(p.read_text(encoding="utf-8"))[1] for p in BROKEN}
    assert len(kinds) >= 15


def test_commands_over_the_folder_of_specs_pass_them_over() -> None:
    shipped, _ = spec_files([ROOT / "specs"])
    assert not {p.resolve() for p in shipped} & {p.resolve() for p in BROKEN}
    assert len(shipped) >= 17


def test_the_folder_itself_can_be_named() -> None:
    named, _ = spec_files([ROOT / "specs" / "broken"])
    assert [p.name for p in named] == [p.name for p in BROKEN]


def test_the_sound_class_gives_no_finding() -> None:
    assert fuzz(Drawer, None, FuzzSettings(calls=600)).findings == ()


@pytest.mark.parametrize("broken", FOUND, ids=lambda c: c.__name__)
def test_a_broken_class_gives_its_finding(broken: type[Drawer]) -> None:
    found = {f.property for f in fuzz(broken, None, FuzzSettings(calls=600, shrink=False)).findings}
    assert found >= FOUND[broken]
