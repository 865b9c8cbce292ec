"""The built wheel in environments of its own: with its dependencies it compiles, without them a compiled class runs."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from tests.packaging.env import Env

pytestmark = pytest.mark.wheel


def test_what_is_in_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "envscaler/_specs/bank.yaml" in names
    assert "envscaler/py.typed" in names
    assert any(n.startswith("envscaler/_templates/") and n.endswith(".j2") for n in names)
    assert any(n.endswith("licenses/LICENSE") for n in names)
    assert not [n for n in names if n.startswith(("tests/", "docs/", "tools/")) or "__pycache__" in n]


def test_it_compiles_and_its_module_runs_without_dependencies(
    full: Env, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    work = tmp_path_factory.mktemp("bare")
    full.run("envscaler", "new", "shop", "-o", work / "shop.yaml")
    full.run("envscaler", "check", work / "shop.yaml")
    where = "import envscaler.resources as r; print(r.folder('specs') / 'bank.yaml'); print(r.folder('templates'))"
    bank, templates = full.run("python", "-c", where).split()
    assert "_specs" in bank
    assert "_templates" in templates
    full.run("envscaler", "compile", work / "shop.yaml", bank, "-o", work)

    bare = Env(tmp_path_factory.mktemp("bare") / "v", work)
    bare.run("pip", "install", "--quiet", "--no-deps", wheel)
    listed = bare.run("pip", "list", "--format=freeze").lower()
    assert "pydantic" not in listed
    assert "libcst" not in listed
    script = (
        "from bank import Bank; from shop import Shop\n"
        "for kind in (Bank, Shop):\n"
        "    env = kind.new(seed=1)\n"
        "    assert env.call('no_such_tool', {}).ok is False\n"
        "    assert env.tools.as_openai() and env.tools.as_anthropic() and env.tools.as_mcp() and env.doc\n"
        "    assert env.diff() == [] and env.state\n"
        "    env.restore(env.snapshot()); env.fork(); env.reset()\n"
        "print('runs')\n"
    )
    assert bare.run("python", "-c", script) == "runs\n"
