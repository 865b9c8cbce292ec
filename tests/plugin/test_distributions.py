"""The plugins of `plugins/` use the public surface only, and declare what they are."""

from __future__ import annotations

import ast
import configparser
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
PUBLIC = {"envscaler", "envscaler.errors", "envscaler.plugin", "envscaler.work", "envscaler.testing"}


def imports(file: Path) -> set[str]:
    """Modules of envscaler that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name for name in found if name.partition(".")[0] == "envscaler"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_only_the_public_surface(folder: Path) -> None:
    files = list((folder / "src").rglob("*.py"))
    assert files
    for file in files:
        assert imports(file) <= PUBLIC - {"envscaler.testing"}, file
    for file in (folder / "tests").rglob("*.py"):
        assert imports(file) <= PUBLIC, file


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_each_has_a_tox_environment(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == folder.name
    hooks = project.get("entry-points", {}).get("envscaler", {})  # a door for a trainer has none
    assert len(hooks) <= 1
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    (section,) = [name for name in tox.sections() if name.startswith("testenv:plugin-{")]
    word = folder.name.removeprefix("envscaler-")
    assert word in section.partition("{")[2].rstrip("}").split(",")
    assert f"{word}: plugins/{folder.name}" in tox[section]["change_dir"]
    checked = f"{word}: envscaler plugins {folder.name} --check" in tox[section]["commands"]
    assert checked == bool(hooks)


def test_there_are_three() -> None:
    assert len(FOLDERS) >= 3
