"""Plugins really installed by pip beside the wheel: a scaffold of each kind, and one that is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.packaging.env import Env

pytestmark = pytest.mark.wheel

BROKEN = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "envscaler-broken"
version = "1.0"
[project.entry-points.envscaler]
broken = "broken"
[tool.hatch.build.targets.wheel]
only-include = ["broken.py"]
"""


def test_scaffolds_installed_beside_a_broken_plugin(full: Env, tmp_path: Path) -> None:
    kinds = ("assessor", "checker", "backend", "source", "specs")
    for kind in kinds:
        folder = tmp_path / kind
        full.run("envscaler", "plugin", "new", f"new-{kind}", "--kind", kind, "-o", folder)
        full.run("pip", "install", "--quiet", f"{folder}[test]")
        assert " passed" in full.run("python", "-m", "pytest", "-q", "-o", "pythonpath=", folder)
    listed = full.run("envscaler", "plugins")
    for kind in kinds:
        assert f" new-{kind} " in listed
    full.run("envscaler", "check", "new_specs")

    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "pyproject.toml").write_text(BROKEN, encoding="utf-8")
    (broken / "broken.py").write_text("import there_is_no_such_module\n", encoding="utf-8")
    full.run("pip", "install", "--quiet", broken)
    shown, warned = full.both("envscaler", "plugins")
    assert " new-checker " in shown
    assert warned == (
        "envscaler: warning: plugin broken (envscaler-broken 1.0): cannot be imported: "
        "ModuleNotFoundError: No module named 'there_is_no_such_module' (broken.py:1)\n"
    )
    for words in (("--help",), ("check", "bank"), ("compile", "bank", "--no-verify")):
        assert full.both("envscaler", *words)[1] == ""
    assert full.both("envscaler", "--disable-plugin", "broken", "plugins")[1] == ""
