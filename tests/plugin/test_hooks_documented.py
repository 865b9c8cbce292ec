"""Every hook is on its page with its exact signature, the moment it is called, and an example that works and conforms."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from envscaler import session
from envscaler.plugin import entries, hookspecs
from envscaler.plugin.entries import KINDS, Entry
from envscaler.plugin.manager import HOOKS
from envscaler.resources import folder
from envscaler.session.plugins import open_plugins
from envscaler.testing.run import check_offers, suite
from tests.plugin.fake import install

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "hooks.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0].strip(): part for part in re.split(r"^## ", PAGE, flags=re.M)[1:]}


def block(section: str, word: str) -> str:
    (found,) = re.findall(rf"^```python {word}\n(.*?)^```$", SECTIONS[section], re.M | re.S)
    return str(found)


def test_kinds_and_hooks_are_the_same() -> None:
    assert {kind.hook for kind in KINDS.values()} == set(HOOKS)
    marked = {name for name, value in vars(hookspecs).items() if hasattr(value, "envscaler_spec")}
    assert marked == set(HOOKS)
    assert {kind.entry for kind in KINDS.values()} == {
        getattr(entries, name) for name in entries.__all__ if name.endswith("Entry") and name != "Entry"
    }


@pytest.mark.parametrize("hook", HOOKS)
def test_its_signature_is_documented(hook: str) -> None:
    signature = inspect.signature(HOOKS[hook])
    returns = str(signature.return_annotation)
    parameters = ", ".join(map(str, signature.parameters.values()))
    assert block(hook, "signature") == f"def {hook}({parameters}) -> {returns}\n"
    assert re.search(r"^Called (when|and)", SECTIONS[hook], re.M)
    assert inspect.getdoc(HOOKS[hook])
    assert hook in SECTIONS["When hooks are called"]


@pytest.mark.parametrize("kind", KINDS)
def test_its_example_works_and_conforms(site: Path, kind: str) -> None:
    source = block(KINDS[kind].hook, "plugin")
    (site / "specs").mkdir()
    (site / "templates" / "module").mkdir(parents=True)
    session.new("shop", site / "specs" / "shop.yaml")
    head = (folder("templates") / "module" / "head.py.j2").read_text(encoding="utf-8")
    (site / "templates" / "module" / "head.py.j2").write_text(head, encoding="utf-8")
    install(site, "envscaler-example", source)
    plugins = open_plugins()
    (offer,) = [offer for offer in plugins.offers(kind) if not offer.origin.shipped]
    assert plugins.problems == []
    assert isinstance(offer.entry, KINDS[kind].entry)
    results = list(check_offers([offer]))
    assert results
    assert {r.test: r.reason for r in results if r.outcome == "failed"} == {}
    if kind == "backend":
        made = type("Suite", (suite(kind),), {"make": staticmethod(offer.entry.factory)})  # type: ignore[attr-defined]
        for test in made.wanted():
            getattr(made(), test)()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_in_the_page_on_testing(kind: str) -> None:
    page = (ROOT / "docs" / "reference" / "testing.md").read_text(encoding="utf-8")
    assert f"| `{suite(kind).__name__}` |" in page


def test_entries_say_what_they_are_for() -> None:
    for kind in KINDS.values():
        assert issubclass(kind.entry, Entry)
        assert inspect.getdoc(kind.entry)
    from envscaler import plugin, testing

    for module in (plugin, testing):
        assert all(getattr(module, name) is not None for name in module.__all__)
        assert set(" ".join(module._OFFERED.values()).split()) == set(module.__all__)
