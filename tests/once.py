"""The specs that come with envscaler, checked and compiled once for all tests of a process, which takes longer than most tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
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
def shared() -> Iterator[None]:
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
