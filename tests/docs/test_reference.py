"""The generated pages are up to date, and the snippets on the pages of diagnostics are what they say."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from envscaler.diagnostics import Diagnostic
from envscaler.replay import examples
from envscaler.spec.check import check_text
from envscaler.spec.codes import CODES, complete
from envscaler.spec.report import Report
from envscaler.spec.scan import decode

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    found = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_pages_are_up_to_date(reference: ModuleType) -> None:
    wanted = reference.pages()
    stale = [
        str(p.relative_to(ROOT))
        for p, text in wanted.items()
        if not p.exists() or p.read_text(encoding="utf-8") != text
    ]
    assert stale == []
    assert set((ROOT / "docs/reference/diagnostics").glob("*.md")) <= set(wanted)


def checked(snippet: str) -> Sequence[Diagnostic]:
    """The diagnostics of a snippet made whole; half a surrogate pair in it stands for a byte that is not UTF-8."""
    report = Report()
    text = decode("snippet.yaml", complete(snippet).encode("utf-8", "surrogateescape"), report)
    return report.items if text is None else check_text("snippet.yaml", text).diagnostics


@pytest.mark.parametrize("name", sorted(CODES))
def test_snippets_of_a_code(name: str) -> None:
    assert name in {d.code for d in checked(CODES[name].bad)}
    found = checked(CODES[name].good)
    assert [d.headline() for d in found if d.severity == "error" or d.code == name] == []


@pytest.mark.parametrize("name", sorted(examples.CODES))
def test_snippets_of_a_code_of_compiling(name: str) -> None:
    from envscaler.compiler import compile_spec, load_class

    def found(snippet: str) -> set[str]:
        checked = check_text("snippet.yaml", complete(snippet))
        assert checked.ok, checked.diagnostics
        assert checked.spec is not None
        return {d.code for d in examples.verify(checked.spec, load_class(compile_spec(checked)))}

    assert found(examples.CODES[name].bad) == {name}
    assert found(examples.CODES[name].good) == set()


def test_every_exit_code_is_documented() -> None:
    from envscaler import errors
    from envscaler.cli import exits

    codes = {getattr(errors, name).exit_code for name in errors.__all__}
    assert codes <= set(exits.MEANINGS)
    page = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
    assert all(f"| {code} | {what} |" in page for code, what in exits.MEANINGS.items())
