"""Templates of a user's folder, or of a plugin that was asked for by name, stand before the shipped ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from envscaler import resources, session
from envscaler.cli.app import app
from envscaler.errors import UsageError
from envscaler.session.templates import template_folders
from tests.plugin.fake import HEAD, install


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a head of generated modules that says so, and a starter of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ENVSCALER_TEMPLATES", raising=False)
    session.new("shop")
    folder = tmp_path / "mine"
    write(folder, "mine")
    return folder


def write(folder: Path, who: str) -> None:
    (folder / "module").mkdir(parents=True)
    head = (resources.folder("templates") / "module" / "head.py.j2").read_text(encoding="utf-8")
    (folder / "module" / "head.py.j2").write_text(f"# Written by {who}\n{head}", encoding="utf-8")


def first_line(*words: str) -> str:
    done = CliRunner().invoke(app, [*words, "compile", "shop.yaml", "--no-verify"])
    assert done.exit_code == 0, done.output
    return Path("build/shop.py").read_text(encoding="utf-8").splitlines()[0]


def test_a_folder_by_option_or_variable(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = first_line()
    assert first_line("--templates", "mine") == "# Written by mine"
    assert first_line() == shipped
    assert "ENVSCALER_TEMPLATES" not in os.environ
    monkeypatch.setenv("ENVSCALER_TEMPLATES", str(mine))
    assert first_line() == "# Written by mine"
    write(mine.parent / "other", "other")
    assert first_line("--templates", "other") == "# Written by other"
    assert first_line("--templates", "other", "--templates", "mine") == "# Written by other"
    assert os.environ["ENVSCALER_TEMPLATES"] == str(mine)


def test_the_starter_too(mine: Path) -> None:
    (mine / "scaffold").mkdir()
    (mine / "scaffold" / "spec.yaml.j2").write_text("envscaler: 1\nname: {{ name }}\n", encoding="utf-8")
    assert CliRunner().invoke(app, ["--templates", "mine", "new", "store"]).exit_code == 0
    assert Path("store.yaml").read_text(encoding="utf-8") == "envscaler: 1\nname: store\n"


def test_pages_too(mine: Path) -> None:
    (mine / "pages").mkdir()
    (mine / "pages" / "page.css").write_text("/* of my own */", encoding="utf-8")
    assert CliRunner().invoke(app, ["--templates", "mine", "docs", "shop.yaml"]).exit_code == 0
    assert "/* of my own */" in Path("build/shop.html").read_text(encoding="utf-8")
    assert CliRunner().invoke(app, ["docs", "shop.yaml"]).exit_code == 0
    assert "/* of my own */" not in Path("build/shop.html").read_text(encoding="utf-8")


def test_a_class_in_memory_too(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVSCALER_TEMPLATES", str(mine))
    (mine / "module" / "head.py.j2").write_text("{{ no_such_variable }}", encoding="utf-8")
    with pytest.raises(Exception, match="no_such_variable"):
        session.load("bank")


def test_those_of_a_plugin_by_name(site: Path, mine: Path) -> None:
    write(site / "house", "the house")
    source = """
from pathlib import Path
@hookimpl
def envscaler_templates():
    return [TemplatesEntry("house", "House style", Path(__file__).parent / "house")]
"""
    install(site, "envscaler-house", HEAD + source)
    assert not first_line().startswith("# Written")
    assert first_line("--templates", "house") == "# Written by the house"
    assert first_line("--templates", "mine", "--templates", "house") == "# Written by mine"
    with (
        pytest.raises(
            UsageError, match=r"^hous is no folder, and no folder of templates is called 'hous'.*did you mean house"
        ),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("ENVSCALER_TEMPLATES", "hous")
        template_folders()


def test_a_plugin_is_asked_once_however_many_processes_compile(
    site: Path, mine: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(site / "house", "the house")
    source = "from pathlib import Path\n@hookimpl\ndef envscaler_templates():\n"
    source += "    return [TemplatesEntry('house', 'House style', Path(__file__).parent / 'house')]\n"
    install(site, "envscaler-house", HEAD + source)
    install(site, "envscaler-bad", "raise SystemExit")
    session.new("store")
    done = CliRunner().invoke(
        app, ["--templates", "house", "compile", "shop.yaml", "store.yaml", "--no-verify", "--jobs", "2"]
    )
    assert done.exit_code == 0
    assert done.output.count("plugin bad (envscaler-bad 1.0): cannot be imported") == 1
    assert "plugin bad" not in capfd.readouterr().err
    assert Path("build/store.py").read_text(encoding="utf-8").startswith("# Written by the house\n")
