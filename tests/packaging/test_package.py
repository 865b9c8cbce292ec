"""What the package offers and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import envscaler
from envscaler import errors, resources

ROOT = Path(__file__).parents[2]
HEAVY = {"pydantic", "libcst", "jinja2", "ruamel", "rich", "typer", "hypothesis", "instructor", "anthropic", "pluggy"}


def modules_after(statement: str) -> set[str]:
    script = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_public_names_are_what_can_be_imported() -> None:
    assert len(envscaler.__all__) == len(set(envscaler.__all__))
    for name in envscaler.__all__:
        assert getattr(envscaler, name) is not None
    assert set(dir(envscaler)) == set(envscaler.__all__)
    assert set(" ".join(envscaler._OFFERED.values()).split()) == set(envscaler.__all__) - {"__version__"}


def test_every_exception_is_public_and_in_the_tree() -> None:
    drawn = errors.__doc__ or ""
    for name in errors.__all__:
        assert getattr(envscaler, name) is getattr(errors, name)
        line = next(x for x in drawn.splitlines() if f" {name} " in x)
        assert f" {getattr(errors, name).exit_code} " in line


def test_importing_costs_nothing() -> None:
    assert modules_after("import envscaler") & HEAVY == set()


def test_the_runtime_needs_no_dependency() -> None:
    assert modules_after("import envscaler.runtime") & HEAVY == set()


def test_templates_and_specs_are_found() -> None:
    assert list(resources.folder("templates").rglob("*.j2"))
    assert (resources.folder("specs") / "bank.yaml").is_file()


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {envscaler.__version__}" in changes
    claimed = {c.rpartition(" ")[2] for c in project["classifiers"] if "Python :: 3." in c}
    tox = (ROOT / "tox.ini").read_text(encoding="utf-8")
    assert all(f"py{version.replace('.', '')}" in tox for version in claimed)


def test_nothing_names_a_machine() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    words = ["/" + word + "/" for word in ("root", "home", "tmp")]
    for name in listed.stdout.split():
        file = ROOT / name
        if file.suffix in {".toml", ".ini", ".md", ".py", ".j2"} and file.is_file() and "tests" not in file.parts:
            text = file.read_text(encoding="utf-8")
            assert not [word for word in words if word in text], name
