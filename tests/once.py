"""What is made once for all tests of a process, for it takes longer than most tests: the specs that come with envscaler, checked
and compiled; its commands; what is installed beside it."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from envscaler.session.files import spec_files
from envscaler.session.specs import sound

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

    from envscaler.compiler import CompiledModule
    from envscaler.runtime import Environment
    from envscaler.spec.checked import Checked

FOLDER = Path(__file__).resolve().parents[1] / "specs"
PATHS = spec_files([FOLDER])[0]
BANK = FOLDER / "bank.yaml"


@cache
def checked(path: Path) -> Checked:
    """The check of a shipped spec. Nobody writes to it."""
    return sound(path)


@cache
def loaded(path: Path) -> type[Environment]:
    """The class of a shipped spec."""
    from envscaler.compiler import compile_spec, load_class

    return load_class(compile_spec(checked(path)))


def few(*names: str, of: Iterable[Path] = PATHS) -> list[ParameterSet]:
    """The shipped specs as parameters: those that are named are looked at in the fast run, the others in the slow one."""
    return [pytest.param(p, id=p.stem, marks=[] if p.stem in names else pytest.mark.slow) for p in of]


@contextmanager
def shipped_specs() -> Iterator[None]:
    """Within it, the verbs of a session and what stands on them take what `check_text` and `compile_spec` gave of a shipped
    spec before. Another text, another path or templates of one's own are checked and compiled as ever, and so is all that
    another process does."""
    from envscaler.compiler import compile_spec
    from envscaler.spec.check import check_text

    shipped = {path.read_text(encoding="utf-8") for path in PATHS}
    found: dict[tuple[str, str, Path | None], Checked] = {}
    made: dict[int, CompiledModule] = {}

    def check(path: str, text: str, *, base: Path | None = None) -> Checked:
        if text not in shipped:
            return check_text(path, text, base=base)
        key = path, text, base
        if key not in found:
            found[key] = check_text(path, text, base=base)
        return found[key]

    def compiled(one: Checked, *, templates: Sequence[str] = (), **more: Any) -> CompiledModule:
        if templates or more or all(one is not known for known in found.values()):
            return compile_spec(one, templates=templates, **more)
        if id(one) not in made:
            made[id(one)] = compile_spec(one)
        return made[id(one)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("envscaler.spec.check.check_text", check)
        patch.setattr("envscaler.compiler.compile_spec", compiled)
        patch.setattr("envscaler.scenario.world.compile_spec", compiled)
        yield


@contextmanager
def commands() -> Iterator[None]:
    """Within it, typer lays out the commands of an app for the first test that calls one, as it does once in a program."""
    import typer.main
    import typer.testing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command))
        yield


@contextmanager
def installed_packages() -> Iterator[None]:
    """Within it, plugins are looked for among the packages that declared some before, and in folders put on the path since."""
    from envscaler.plugin import discovery

    before = list(sys.path)
    declaring = [one for one in metadata.distributions() if _may_declare(one, discovery.GROUP)]

    def distributions() -> Iterator[metadata.Distribution]:
        yield from metadata.distributions(path=[path for path in sys.path if path not in before])
        yield from declaring

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovery, "distributions", distributions)
        yield


def _may_declare(one: metadata.Distribution, group: str) -> bool:
    try:
        return any(point.group == group for point in one.entry_points)
    except Exception:  # the metadata of any package may be broken in any way
        return True


class _Unhurried(sqlite3.Connection):
    """A connection that does not wait until the disk has what was written."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        return super().execute("PRAGMA synchronous=OFF" if sql.startswith("PRAGMA synchronous=") else sql, *values)


@contextmanager
def no_power_cuts() -> Iterator[None]:
    """Within it, SQLite files are not kept safe from power cuts, which no test brings about; kills of processes do no harm."""
    connect = sqlite3.connect

    def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **{"factory": _Unhurried, **options})
        connection.execute("PRAGMA synchronous=OFF")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", connected)
        yield
