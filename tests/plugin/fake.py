"""Installs a plugin without pip: its modules and the metadata that an installer would write, in a folder on the path."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest


def install(
    site: Path, distribution: str, source: str | Mapping[str, str], *, version: str = "1.0", name: str | None = None
) -> None:
    """Write a distribution with one plugin: its module's source, or several modules of which the first is the plugin."""
    word = distribution.removeprefix("envscaler-")
    modules = {f"plugin_{word.replace('-', '_')}": source} if isinstance(source, str) else source
    for module, text in modules.items():
        (site / f"{module}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    declare(site, distribution, {name or word: next(iter(modules))}, version)


def declare(site: Path, distribution: str, plugins: Mapping[str, str], version: str = "1.0") -> None:
    """The metadata alone: entry points by name."""
    folder = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n", encoding="utf-8"
    )
    points = "".join(f"{name} = {value}\n" for name, value in plugins.items())
    (folder / "entry_points.txt").write_text(f"[envscaler]\n{points}", encoding="utf-8")


@contextmanager
def on_path(site: Path) -> Iterator[Path]:
    """``site`` first on the path; what is imported from it is forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        before = set(sys.modules)
        yield site
        for module in set(sys.modules) - before:
            if str(getattr(sys.modules[module], "__file__", "") or "").startswith(str(site)):
                del sys.modules[module]


HEAD = "from envscaler.plugin import *\n"

CHECKER = (
    HEAD
    + """
class Quiet:
    def __init__(self, settings): pass
    def on_call(self, event): return None
    def on_end(self, event): return Judgement("pass")
@hookimpl
def envscaler_checkers():
    return [CheckerEntry("{name}", "Says nothing", Quiet)]
"""
)


def checker(name: str) -> str:
    """A plugin with a checker of that name."""
    return CHECKER.replace("{name}", name)
