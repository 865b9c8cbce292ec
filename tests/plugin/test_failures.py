"""What is wrong with a plugin is one line that names its distribution, and the others go on working."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from envscaler.errors import PluginError, UsageError
from envscaler.plugin.manager import Offer, Plugins
from envscaler.session.plugins import open_plugins
from tests.plugin.fake import HEAD, checker, declare, install


def others(plugins: Plugins) -> list[Offer]:
    """The checkers that do not ship with envscaler."""
    return [offer for offer in plugins.offers("checker") if not offer.origin.shipped]


BAD = {
    "no module": (
        "import there_is_no_such_module",
        (
            "warning: plugin bad (envscaler-bad 1.0): cannot be imported: "
            "ModuleNotFoundError: No module named 'there_is_no_such_module' (plugin_bad.py:1)"
        ),
    ),
    "syntax": ("def f(:\n    pass", "warning: plugin bad (envscaler-bad 1.0): cannot be imported: SyntaxError: "),
    "ends the program": (
        "import sys\nsys.exit('bye')",
        "warning: plugin bad (envscaler-bad 1.0): cannot be imported: SystemExit: bye (plugin_bad.py:2)",
    ),
    "raises in lines": (
        "raise RuntimeError('one\\ntwo')",
        "warning: plugin bad (envscaler-bad 1.0): cannot be imported: RuntimeError: one two (plugin_bad.py:1)",
    ),
    "misspelt hook": (
        HEAD + "@hookimpl\ndef envscaler_chekcers(): return []",
        "error: plugin bad (envscaler-bad 1.0): there is no hook envscaler_chekcers; did you mean envscaler_checkers?",
    ),
    "misspelt and not marked": (
        HEAD + "def envscaler_asessors(): return []",
        "error: plugin bad (envscaler-bad 1.0): there is no hook envscaler_asessors; did you mean envscaler_assessors?",
    ),
    "not marked": (
        HEAD + "def envscaler_checkers(): return []",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers is not marked with @hookimpl",
    ),
    "wrong signature": (
        HEAD + "@hookimpl\ndef envscaler_checkers(settings, more): return []",
        (
            "error: plugin bad (envscaler-bad 1.0): envscaler_checkers(settings, more) has the wrong signature: "
            "the hook is envscaler_checkers()"
        ),
    ),
    "later hooks": (
        HEAD + "ENVSCALER_HOOKS = 2\n@hookimpl\ndef envscaler_checkers(): return []",
        (
            "error: plugin bad (envscaler-bad 1.0): is written for version 2 of the hooks, and here they have version 1; "
            "upgrade envscaler"
        ),
    ),
    "earlier hooks": (
        HEAD + "ENVSCALER_HOOKS = 0\n@hookimpl\ndef envscaler_checkers(): return []",
        (
            "error: plugin bad (envscaler-bad 1.0): is written for version 0 of the hooks, and here they have version 1; "
            "upgrade the plugin"
        ),
    ),
    "no version": (
        HEAD + "ENVSCALER_HOOKS = '1'\n@hookimpl\ndef envscaler_checkers(): return []",
        "error: plugin bad (envscaler-bad 1.0): ENVSCALER_HOOKS must be a whole number, not '1'",
    ),
    "no hook": ("x = 1", "error: plugin bad (envscaler-bad 1.0): has no hook; there are envscaler_backends, "),
    "raises": (
        HEAD + "@hookimpl\ndef envscaler_checkers(): return 1 / 0",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers: ZeroDivisionError: division by zero (plugin_bad.py:3)",
    ),
    "raises midway": (
        HEAD
        + "@hookimpl\ndef envscaler_checkers():\n    yield CheckerEntry('early', 'x', dict)\n    raise SystemExit(3)",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers: SystemExit: 3 (plugin_bad.py:5)",
    ),
    "gives None": (
        HEAD + "@hookimpl\ndef envscaler_checkers(): pass",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers: gave None where CheckerEntrys are wanted; give [] for none",
    ),
    "gives a number": (
        HEAD + "@hookimpl\ndef envscaler_checkers(): return 7",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers: TypeError: 'int' object is not iterable",
    ),
    "gives text": (
        HEAD + "@hookimpl\ndef envscaler_checkers(): return 'quiet'",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers: gave an object of str where CheckerEntry is wanted",
    ),
    "gives another kind": (
        HEAD + "@hookimpl\ndef envscaler_checkers(): return [AssessorEntry('a', 'b', dict)]",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers: gave an object of AssessorEntry where CheckerEntry is wanted",
    ),
    "gives without end": (
        HEAD + "@hookimpl\ndef envscaler_checkers():\n    while True: yield CheckerEntry('x', 'y', dict)",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers: gives more than 1000 entries",
    ),
    "a bad name": (
        HEAD + "@hookimpl\ndef envscaler_checkers(): return [CheckerEntry('Two Words', 'y', dict)]",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers: ValueError: 'Two Words' is no name: ",
    ),
    "a factory that is none": (
        HEAD + "@hookimpl\ndef envscaler_checkers(): return [CheckerEntry('x', 'y', None)]",
        "error: plugin bad (envscaler-bad 1.0): envscaler_checkers: ValueError: the factory of x cannot be called: None",
    ),
    "a folder that is none": (
        HEAD
        + "from pathlib import Path\n@hookimpl\ndef envscaler_specs(): return [SpecsEntry('x', 'y', Path('gone'))]",
        "error: plugin bad (envscaler-bad 1.0): envscaler_specs: ValueError: the folder of x is none: gone",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_one_line_and_the_others_work(site: Path, case: str) -> None:
    source, expected = BAD[case]
    install(site, "envscaler-bad", source)
    install(site, "envscaler-good", checker("quiet"))
    told: list[str] = []
    plugins = open_plugins(tell=lambda problem: told.append(str(problem)))
    names = [offer.entry.name for offer in others(plugins)]
    plugins.offers("specs")
    assert "quiet" in names
    assert plugins.checker("quiet").on_end(None) is not None  # type: ignore[arg-type]
    relevant = [line for line in told if "without end" not in case or "gives more" in line]
    assert len(relevant) == 1
    assert relevant[0].startswith(expected), relevant[0]
    assert "\n" not in relevant[0]


def test_problems_become_warnings(site: Path) -> None:
    install(site, "envscaler-bad", "import there_is_no_such_module")
    with pytest.warns(UserWarning, match=r"plugin bad \(envscaler-bad 1.0\): cannot be imported"):
        open_plugins()


def lines(load: Callable[[], Plugins]) -> list[str]:
    return [str(problem) for problem in load().problems]


def quietly() -> Plugins:
    return open_plugins(tell=lambda problem: None)


def test_a_duplicate_name_names_both_distributions(site: Path) -> None:
    install(site, "envscaler-a", checker("money"))
    install(site, "envscaler-b", checker("money"), version="2.0")
    install(site, "envscaler-c", checker("other"))
    plugins = quietly()
    assert [offer.entry.name for offer in others(plugins)] == ["other"]
    assert [str(problem) for problem in plugins.problems] == [
        (
            "error: plugin b (envscaler-b 2.0): checker money is offered by envscaler-a 1.0 and by envscaler-b 2.0; "
            "neither is used until one of them is disabled"
        )
    ]
    with pytest.raises(PluginError, match=r"checker money is offered by envscaler-a 1.0 and by envscaler-b 2.0"):
        plugins.find("checker", "money")
    one = open_plugins(disabled=["b"])
    assert one.find("checker", "money").origin.distribution == "envscaler-a"
    assert one.problems == []


def test_a_name_twice_in_one_distribution(site: Path) -> None:
    install(site, "envscaler-a", checker("money").replace("Quiet)]", "Quiet)] * 2"))
    plugins = quietly()
    assert others(plugins) == []
    assert [p.reason for p in plugins.problems] == [
        "checker money is offered twice by envscaler-a 1.0; neither is used"
    ]


def test_what_ships_keeps_its_name(site: Path) -> None:
    (site / "specs").mkdir()
    source = "from pathlib import Path\n@hookimpl\ndef envscaler_specs(): return [SpecsEntry('ports', 'Mine', Path(__file__).parent / 'specs')]"
    install(site, "envscaler-greedy", HEAD + source)
    plugins = quietly()
    assert plugins.find("specs", "ports").origin.shipped
    assert [p.reason for p in plugins.problems] == [
        "pack of specs ports of envscaler-greedy 1.0 is not used: envscaler 0.1.0 itself has one of that name"
    ]


def test_one_module_declared_twice(site: Path) -> None:
    install(site, "envscaler-a", checker("money"))
    declare(site, "envscaler-b", {"b": "plugin_a"})
    plugins = quietly()
    assert [offer.entry.name for offer in others(plugins)] == ["money"]
    (problem,) = plugins.problems
    assert problem.origin.distribution == "envscaler-b"


@pytest.mark.parametrize("name", ["money", "envscaler-a", "Envscaler_A"])
def test_disabled_by_name_or_distribution(site: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, "envscaler-a", "raise SystemExit", name="money")
    install(site, "envscaler-b", checker("other"))
    monkeypatch.setenv("ENVSCALER_DISABLE_PLUGINS", f" ,{name}, ")
    plugins = open_plugins()
    assert [offer.entry.name for offer in others(plugins)] == ["other"]
    assert [str(origin) for origin in plugins.disabled] == ["plugin money (envscaler-a 1.0)"]
    assert plugins.unmet == ()
    assert open_plugins(disabled=["a", "nobody"], tell=lambda _: None).unmet == ("a", "nobody")


def test_of_two_installs_the_one_that_python_imports(site: Path, tmp_path: Path) -> None:
    from tests.plugin.fake import on_path

    install(site, "envscaler-a", checker("new"), version="2.0")
    older = tmp_path / "older"
    older.mkdir()
    install(older, "envscaler-a", checker("old"), version="1.0")
    import sys

    sys.path.append(str(older))
    try:
        with on_path(site):
            (offer,) = others(open_plugins())
    finally:
        sys.path.remove(str(older))
    assert (offer.entry.name, offer.origin.version) == ("new", "2.0")


def test_broken_metadata_of_others_is_no_concern(site: Path) -> None:
    (site / "husk-1.0.dist-info").mkdir()
    other = site / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Name: other\nVersion: 1.0\n", encoding="utf-8")
    (other / "entry_points.txt").write_bytes(b"[console_scripts]\nno equals sign\n")
    install(site, "envscaler-a", checker("money"))
    plugins = open_plugins()
    assert [offer.entry.name for offer in others(plugins)] == ["money"]


def test_entry_points_that_cannot_be_read(site: Path) -> None:
    folder = site / "envscaler_bad-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: envscaler-bad\nVersion: 1.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text("[envscaler]\nbad plugin_bad\n", encoding="utf-8")
    install(site, "envscaler-good", checker("quiet"))
    plugins = quietly()
    assert [offer.entry.name for offer in others(plugins)] == ["quiet"]
    assert [str(p).partition(": its")[0] for p in plugins.problems] in (
        [],
        ["warning: plugin envscaler-bad (envscaler-bad 1.0)"],
    )


def test_names_that_nobody_offers(site: Path) -> None:
    install(site, "envscaler-a", checker("money"))
    plugins = open_plugins()
    with pytest.raises(UsageError, match=r"no checker is called 'mony'; there are: .*, money; did you mean money\?"):
        plugins.find("checker", "mony")
    with pytest.raises(UsageError, match=r"no task source is called 'cvs'; there are: .*, text.*; did you mean csv\?"):
        plugins.find("source", "cvs")


def test_third_parties_only_when_asked(site: Path) -> None:
    install(site, "envscaler-bad", "raise SystemExit")
    plugins = open_plugins(third_parties=False)
    assert others(plugins) == []
    assert {offer.entry.name for offer in plugins.offers("specs")} == {"envscaler", "ports"}
