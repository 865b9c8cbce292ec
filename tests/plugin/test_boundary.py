"""Whatever third-party code raises or gives becomes a PluginError that names it; the user's Ctrl-C does not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envscaler.errors import PluginError, UsageError
from envscaler.plugin import BadRow, Task
from envscaler.plugin.boundary import Boundary, guarded
from envscaler.plugin.problems import Origin
from envscaler.session.plugins import open_plugins
from tests.plugin.fake import HEAD, install

ORIGIN = Origin("mine", "envscaler-mine", "3.1")


def boom(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    "error", [ValueError("no\nway"), SystemExit(3), MemoryError(), RecursionError(), GeneratorExit()]
)
def test_anything_raised_is_a_plugin_error(error: BaseException) -> None:
    with pytest.raises(PluginError, match=r"^plugin mine \(envscaler-mine 3.1\): reading: \w+") as caught:
        Boundary(ORIGIN).run("reading", boom, error)
    assert caught.value.__cause__ is error
    assert "\n" not in str(caught.value)


def test_a_base_exception_of_its_own_is_a_plugin_error() -> None:
    class Odd(BaseException):
        def __str__(self) -> str:
            return "odd"

    with pytest.raises(PluginError, match="Odd: odd"):
        Boundary(ORIGIN).run("reading", boom, Odd())


def test_an_exception_that_cannot_be_shown() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    with pytest.raises(PluginError, match=r"reading: Mute \(test_boundary.py:\d+\)$"):
        Boundary(ORIGIN).run("reading", boom, Mute())


def test_ctrl_c_and_expected_errors_pass() -> None:
    with pytest.raises(KeyboardInterrupt):
        Boundary(ORIGIN).run("reading", boom, KeyboardInterrupt())
    with pytest.raises(UsageError, match=r"^no such column$"):
        Boundary(ORIGIN).run("reading", boom, UsageError("no such column"))


def test_iterators_are_got_one_by_one_and_closed() -> None:
    log = []

    def rows() -> Iterator[int]:
        try:
            for number in range(3):
                log.append(number)
                yield number
            raise KeyError("x")
        finally:
            log.append("closed")

    items = Boundary(ORIGIN).each("reading", rows())
    assert next(items) == 0
    assert log == [0]
    items.close()  # type: ignore[attr-defined]
    assert log == [0, "closed"]
    with pytest.raises(PluginError, match="reading: KeyError: 'x'"):
        list(Boundary(ORIGIN).each("reading", rows()))


class Thing:
    name = "thing"

    async def ask(self, text: str) -> str:
        await asyncio.sleep(0)
        if text == "wait":
            await asyncio.sleep(60)
        return text.upper() if text else boom(OSError("no line"))

    @property
    def broken(self) -> str:
        return boom(SystemExit("gone"))  # type: ignore[no-any-return]


def test_methods_that_are_awaited() -> None:
    thing = guarded(Thing(), Boundary(ORIGIN), "backend thing", {})
    assert thing.name == "thing"
    assert asyncio.run(thing.ask("a")) == "A"
    with pytest.raises(PluginError, match=r"envscaler-mine 3.1\): backend thing, ask: OSError: no line"):
        asyncio.run(thing.ask(""))
    with pytest.raises(PluginError, match="backend thing, broken: SystemExit: gone"):
        _ = thing.broken


def test_being_cancelled_is_no_failure_of_the_plugin() -> None:
    async def cancelled() -> None:
        thing = guarded(Thing(), Boundary(ORIGIN), "backend thing", {})
        task = asyncio.ensure_future(thing.ask("wait"))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


# -- what the objects of each kind give


def offered(site: Path, body: str) -> Any:
    install(site, "envscaler-mine", HEAD + body)
    return open_plugins()


CHECKER = """
class Mine:
    def __init__(self, settings): self.settings = settings
    def on_call(self, event): return {on_call}
    def on_end(self, event): return None
@hookimpl
def envscaler_checkers(): return [CheckerEntry("mine", "x", {factory})]
"""


@pytest.mark.parametrize(
    ("on_call", "factory", "message"),
    [
        ("True", "Mine", "checker mine, on_call: gave an object of bool where Judgement or None is wanted"),
        ("Judgement('maybe', 'x')", "Mine", "checker mine, on_call: ValueError: no such status: 'maybe'"),
        ("Judgement('fail')", "Mine", "checker mine, on_call: ValueError: the reason of a judgement must be one line"),
        ("exit(4)", "Mine", "checker mine, on_call: SystemExit: 4"),
        ("None", "lambda settings: None", "checker mine: the factory gave None where a checker is wanted"),
        ("None", "lambda settings: 1", "checker mine: an object of int has no method on_call"),
        ("None", "lambda: Mine({})", "checker mine: TypeError: "),
    ],
)
def test_checkers(site: Path, on_call: str, factory: str, message: str) -> None:
    plugins = offered(site, CHECKER.replace("{on_call}", on_call).replace("{factory}", factory))
    with pytest.raises(PluginError) as caught:
        plugins.checker("mine").on_call(None)
    assert str(caught.value).startswith(f"plugin mine (envscaler-mine 1.0): {message}")


def test_a_checker_gets_its_settings(site: Path) -> None:
    plugins = offered(
        site, CHECKER.replace("{on_call}", "Judgement('warn', str(self.settings))").replace("{factory}", "Mine")
    )
    assert plugins.checker("mine", {"a": 1}).on_call(None).reason == "{'a': 1}"
    assert plugins.checker("mine").on_end(None) is None


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        ("{'sound': True}", "gave an object of dict where Verdict is wanted"),
        ("Verdict(True, 1.5)", "ValueError: a score lies between 0 and 1; 1.5 does not"),
        ("Verdict(True, float('nan'))", "ValueError: a score lies between 0 and 1; nan does not"),
        ("Verdict(1, 1)", "ValueError: sound must be true or false, not 1"),
        ("Verdict(False, 0, ['x'])", "ValueError: findings must be a tuple of Finding"),
        ("Verdict(False, 0, (Finding('x', 'a\\nb'),))", "ValueError: the title of a finding must be one line of text"),
        ("Verdict(False, 0, (Finding('x', 'a', severity='bad'),))", "ValueError: no such severity: 'bad'"),
    ],
)
def test_assessors(site: Path, verdict: str, message: str) -> None:
    plugins = offered(
        site,
        f"""
class Mine:
    def assess(self, subject, settings): return {verdict}
@hookimpl
def envscaler_assessors(): return [AssessorEntry("mine", "x", Mine)]
""",
    )
    with pytest.raises(PluginError) as caught:
        plugins.assessor("mine").assess(None, {})
    assert str(caught.value).startswith(f"plugin mine (envscaler-mine 1.0): assessor mine, assess: {message}")


def test_sources(site: Path) -> None:
    plugins = offered(
        site,
        """
class Mine:
    def read(self, location, options):
        yield Task("Do it.", location, 1)
        yield BadRow(location, 2, "no text")
        if options: yield Task("  ", location, 3)
        yield "a line"
@hookimpl
def envscaler_sources(): return [SourceEntry("mine", "x", Mine)]
""",
    )
    source = plugins.source("mine")
    rows = source.read("here", {})
    assert next(rows) == Task("Do it.", "here", 1)
    assert next(rows) == BadRow("here", 2, "no text")
    with pytest.raises(PluginError, match="source mine, read: gave an object of str where Task or BadRow is wanted"):
        next(rows)
    with pytest.raises(PluginError, match="source mine, read: ValueError: a task without text; give a BadRow"):
        list(source.read("here", {"blank": True}))
