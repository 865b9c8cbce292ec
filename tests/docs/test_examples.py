"""Every fenced example of the documentation is run; a test is named by the page and line of its block."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.page import ROOT, Block, Page, blocks, pages, prepare

_BLOCKS = {path: blocks(path) for path in pages() if path.exists()}
_RUN: dict[Path, Page] = {}
QUICK = ("first-environment.md", "language.md", "replay.md", "runtime.md", "semantics.md")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> pytest.TempPathFactory:
    return tmp_path_factory


@pytest.mark.parametrize(
    ("path", "block"),
    [
        pytest.param(path, block, id=str(block), marks=[] if path.name in QUICK else pytest.mark.slow)
        for path, found in _BLOCKS.items()
        for block in found
        if block.language in ("yaml", "json", "toml", "console", "python", "pycon")
    ],
)
def test_example(path: Path, block: Block, folders: pytest.TempPathFactory) -> None:
    _page(path, folders).run(block)


def test_the_tutorial_ends_with_the_file_beside_it(folders: pytest.TempPathFactory) -> None:
    tutorial = ROOT / "docs" / "tutorial" / "first-environment.md"
    page = _page(tutorial, folders)
    page.run(page.blocks[-1])
    written = (page.folder / "garden.yaml").read_text(encoding="utf-8")
    assert written == (tutorial.parent / "garden.yaml").read_text(encoding="utf-8")


def _page(path: Path, folders: pytest.TempPathFactory) -> Page:
    if path not in _RUN:
        folder = folders.mktemp(path.stem)
        prepare(folder)
        _RUN[path] = Page(_BLOCKS[path], folder)
    return _RUN[path]


def test_links_lead_somewhere() -> None:
    import re

    missing = []
    for path in _BLOCKS:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
            if "://" not in target and not (path.parent / target).exists():
                missing.append(f"{path.relative_to(ROOT)}: {target}")
    assert not missing
