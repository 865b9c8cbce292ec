"""The generated pages are up to date, and the snippets on the pages of diagnostics are what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from envscaler.replay import examples
from envscaler.spec.check import check_text
from envscaler.spec.codes import CODES, complete

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
    stale = [str(p.relative_to(ROOT)) for p, text in wanted.items() if p.read_text(encoding="utf-8") != text]
    assert stale == []
    assert set((ROOT / "docs/reference/diagnostics").glob("*.md")) <= set(wanted)


@pytest.mark.parametrize("name", sorted(CODES))
def test_snippets_of_a_code(name: str) -> None:
    bad = check_text("bad.yaml", complete(CODES[name].bad)).diagnostics
    assert name in {d.code for d in bad}
    good = check_text("good.yaml", complete(CODES[name].good)).diagnostics
    assert [d.headline() for d in good if d.severity == "error" or d.code == name] == []


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
