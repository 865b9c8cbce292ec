"""Specs and the modules they compile to, byte for byte."""

from __future__ import annotations

import py_compile
from pathlib import Path

import pytest

from envscaler.compiler import CompiledModule, compile_spec
from envscaler.spec.check import check_text

FOLDER = Path(__file__).parent
SPECS = sorted(FOLDER.glob("*.yaml"))


def compiled(spec: Path) -> CompiledModule:
    checked = check_text(f"specs/{spec.name}", spec.read_text(encoding="utf-8"))
    assert [d.headline() for d in checked.diagnostics if d.severity == "error"] == []
    return compile_spec(checked)


def expected_module(spec: Path) -> Path:
    return FOLDER / "expected" / f"{spec.stem}.py"


@pytest.mark.parametrize("spec", SPECS, ids=lambda p: p.stem)
def test_module_is_as_expected(spec: Path, refresh: bool) -> None:
    module = compiled(spec)
    expected = expected_module(spec)
    if refresh:
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(module.text, encoding="utf-8", newline="\n")
    assert module.text == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("spec", SPECS, ids=lambda p: p.stem)
def test_expected_module_is_valid_python(spec: Path, tmp_path: Path) -> None:
    file = tmp_path / f"{spec.stem}_module.py"
    file.write_bytes(expected_module(spec).read_bytes())
    py_compile.compile(str(file), cfile=str(tmp_path / "out.pyc"), doraise=True)
