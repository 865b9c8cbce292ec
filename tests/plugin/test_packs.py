"""Specs by name: files first, then what ships, then installed packs; and the list of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import envscaler
from envscaler import resources, session
from envscaler.cli.app import app
from envscaler.errors import UsageError
from envscaler.session.packs import installed_specs, spec_path
from envscaler.session.plugins import open_plugins
from envscaler.spec.read import read_spec
from tests.plugin.fake import HEAD, install

PACK = (
    HEAD
    + """
from pathlib import Path
@hookimpl
def envscaler_specs():
    return [SpecsEntry("{pack}", "Some specs", Path(__file__).parent / "{pack}")]
"""
)


def add_pack(site: Path, pack: str, *names: str) -> None:
    install(site, f"envscaler-{pack}", PACK.replace("{pack}", pack))
    (site / pack).mkdir()
    for name in names:
        session.new(name, site / pack / f"{name}.yaml")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)


def test_a_file_comes_first() -> None:
    Path("bank").write_text("envscaler: 1\n", encoding="utf-8")
    assert spec_path("bank") == Path("bank")


def test_shipped_ones_by_name() -> None:
    specs = resources.folder("specs")
    assert spec_path("bank") == specs / "bank.yaml"
    assert spec_path("envscaler/bank") == specs / "bank.yaml"
    assert spec_path("retail") == spec_path("ports/retail") == specs / "ports" / "retail.yaml"
    assert envscaler.load("bank").name == "bank"


def test_shipped_ones_load_no_plugin(site: Path) -> None:
    install(site, "envscaler-bad", "open('loaded', 'w').close()\nraise SystemExit")
    assert spec_path("bank").is_file()
    with pytest.raises(
        UsageError, match=r"^ports/retial: neither a file nor an installed spec; did you mean ports/retail\?$"
    ):
        spec_path("ports/retial")
    assert not Path("loaded").exists()
    with pytest.warns(UserWarning, match="plugin bad"), pytest.raises(UsageError):
        spec_path("bnak")
    assert Path("loaded").exists()


def test_installed_ones_by_name(site: Path) -> None:
    add_pack(site, "shops", "bakery", "kiosk")
    add_pack(site, "malls", "kiosk", "bank")
    assert spec_path("bakery") == site / "shops" / "bakery.yaml"
    assert spec_path("malls/kiosk") == site / "malls" / "kiosk.yaml"
    assert spec_path("malls/bank") == site / "malls" / "bank.yaml"
    assert spec_path("bank") == resources.folder("specs") / "bank.yaml"
    with pytest.raises(UsageError, match="kiosk is in several packs; say which: malls/kiosk or shops/kiosk"):
        spec_path("kiosk")
    with pytest.raises(UsageError, match="did you mean bakery"):
        spec_path("bakry")
    with pytest.raises(UsageError, match="did you mean shops/bakery"):
        spec_path("shops/bakry")
    assert [d.severity for d in session.check("bakery").diagnostics] == []


@pytest.mark.parametrize("wrong", ["no_such_thing_at_all", "Bank", "bank.yml", "../bank", "/bank", "a/b/c", ""])
def test_what_is_no_name_is_a_path(wrong: str) -> None:
    with pytest.raises(UsageError):
        spec_path(wrong)


def test_a_file_beside_is_the_nearest() -> None:
    session.new("tool_shed")
    with pytest.raises(UsageError, match=r"did you mean tool_shed\.yaml"):
        spec_path("tool_shed")
    with pytest.raises(UsageError, match=r"did you mean tool_shed\.yaml"):
        spec_path("tool_shd")


def test_files_that_are_no_specs_are_left_out(site: Path) -> None:
    add_pack(site, "shops", "bakery")
    (site / "shops" / "prices.yaml").write_text("bread: 3\n", encoding="utf-8")
    (site / "shops" / ".hidden.yaml").write_text("envscaler: 1\n", encoding="utf-8")
    (site / "shops" / "broken.yaml").write_text("envscaler: 1\nname: [\n", encoding="utf-8")
    rows = {row.name: row for row in installed_specs(open_plugins()) if row.pack == "shops"}
    assert set(rows) == {"bakery", "broken"}
    assert (rows["bakery"].title, rows["bakery"].tools) == ("Bakery", 3)
    assert (rows["broken"].title, rows["broken"].tools) == ("", 0)


def test_the_list_says_what_the_specs_say() -> None:
    for row in installed_specs(open_plugins(third_parties=False))[::4]:
        text = row.path.read_text(encoding="utf-8")
        spec, _ = read_spec(str(row.path), text)
        assert spec is not None
        assert (row.title, row.tools) == (spec.title, len(spec.tools)), row.name


@pytest.mark.parametrize(
    "text",
    [
        "envscaler: 1\nname: odd\ntitle: 'It''s: odd'\ntools: {one: {kind: read}}\n",
        "envscaler: 1\nname: odd\ntitle: It's\n  odd\ntools:\n  one: {kind: read}\n",
        "envscaler: 1\nname: odd\ntools:\n  one: {kind: read}\ntitle: Odd # it is\n",
        "envscaler: 1\nname: odd\ntitle: Odd\ntools:\n  one:\n    kind: read\n    do: |\n      two:\n  # three:\n\n  four:\n    kind: read\n    do: |\n      return 1\nstates: {}\n",
        "envscaler: 1\nname: odd\ntitle: Odd\ntools:\n    one: {kind: read}\n    two: {kind: read}\n",
    ],
)
def test_any_layout_can_be_listed(site: Path, text: str) -> None:
    add_pack(site, "shops")
    (site / "shops" / "odd.yaml").write_text(text, encoding="utf-8")
    (row,) = [row for row in installed_specs(open_plugins()) if row.pack == "shops"]
    spec, _ = read_spec("odd.yaml", text)
    assert spec is not None
    assert (row.title, row.tools) == (spec.title, len(spec.tools))


def test_the_command(site: Path) -> None:
    add_pack(site, "shops", "bakery")
    done = CliRunner().invoke(app, ["specs"])
    assert done.exit_code == 0
    assert " bakery " in done.output
    assert " bank " in done.output
    assert f"shops: {site / 'shops'}" in done.output.splitlines()
    rows = json.loads(CliRunner().invoke(app, ["specs", "--json"]).output)
    assert {
        "name": "bakery", "title": "Bakery", "tools": 3, "pack": "shops", "distribution": "envscaler-shops",
        "version": "1.0", "path": str(site / "shops" / "bakery.yaml"),
    } in rows  # fmt: skip
    bank = next(row for row in rows if row["name"] == "bank")
    assert (bank["pack"], bank["distribution"]) == ("envscaler", "envscaler")


def test_commands_take_names(site: Path) -> None:
    add_pack(site, "shops", "bakery")
    run = CliRunner().invoke
    assert run(app, ["check", "bank", "bakery"]).output == "2 specs checked: 0 errors, 0 warnings\n"
    assert run(app, ["call", "shops/bakery", "find_items"]).exit_code == 0
    assert run(app, ["compile", "bakery", "--no-verify"]).output == "build/bakery.py\n"
    assert "did you mean bakery?" in run(app, ["describe", "bakry"]).output


def test_naming_a_shipped_spec_imports_no_pluggy() -> None:
    script = "import sys\nfrom envscaler import session\nsession.check('bank')\nprint('pluggy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
