"""Compile a checked spec to a module's text, and load that text as a class: it is the only thing that is ever executed."""

from __future__ import annotations

import linecache
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from envscaler.compiler.plan import make_plan
from envscaler.compiler.render import render_module
from envscaler.errors import SpecError
from envscaler.runtime import Failure, builtins, shapes
from envscaler.spec.checked import Checked

if TYPE_CHECKING:
    from envscaler.runtime import Environment

__all__ = ["CompiledModule", "compile_spec", "load_again", "load_class", "load_expression"]

_LOADING = threading.RLock()


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """A generated module. ``lines``: its lines -> the spec's, for the lines that stand for logic or declarations."""

    text: str
    name: str
    class_name: str
    spec_path: str
    spec_hash: str
    lines: Mapping[int, int]

    @property
    def source(self) -> str:
        """The module's text."""
        return self.text


def compile_spec(checked: Checked, *, templates: Sequence[str] = (), _keeping: bool = True) -> CompiledModule:
    """The module of a checked spec. Raises SpecError when the check found errors.

    ``templates``: folders whose templates stand before the shipped ones of the same name.
    """
    spec = checked.spec
    if spec is None or not checked.ok:
        raise SpecError(checked.diagnostics)
    plan = make_plan(checked, keeping=_keeping)
    text, lines = render_module(plan, templates)
    return CompiledModule(text, spec.name, plan.class_name, checked.path, spec.hash, lines)


def load_class(module: CompiledModule) -> type[Environment]:
    """The environment class, from the text in memory.

    The module is entered in `sys.modules`, so that its classes can be pickled by name within the process, and its text in
    `linecache`, so that tracebacks and debuggers show it. Loading equal text again gives the same class.
    """
    digest = module.spec_hash.rpartition(":")[2][:12]
    name = f"envscaler_compiled.{module.name}_{digest}"
    filename = f"<compiled {module.spec_path} {digest}>"
    with _LOADING:  # a module is entered before it is whole
        known = sys.modules.get(name)
        if known is None or getattr(known, "__source__", None) != (module.text, module.spec_path):
            known = _execute(module, name, filename)
    return cast("type[Environment]", getattr(known, module.class_name))


def load_again(environment: type[Environment]) -> type[Environment] | None:
    """The class once more from its module's text, sharing nothing with the first; None for one that was not loaded from
    text."""
    known = sys.modules.get(environment.__module__)
    source = getattr(known, "__source__", None)
    if known is None or source is None or not hasattr(known, environment.__name__):
        return None
    made = ModuleType(known.__name__)
    made.__file__ = known.__file__
    exec(_code(source[0], str(known.__file__)), made.__dict__)  # noqa: S102 - as it was executed before
    return cast("type[Environment]", getattr(made, environment.__name__))


def load_expression(text: str, environment: type[Environment], aliases: Mapping[str, str]) -> Any:
    """The value of a generated expression, in a name space of its own over that of the environment's module.

    ``aliases``: further names for things in the module.
    """
    space = {**vars(sys.modules[environment.__module__]), "_rt": builtins, "_s": shapes, "_Failure": Failure}
    space.update({name: space[of] for name, of in aliases.items()})
    code = compile(text, f"<goal of {environment.name}>", "eval", dont_inherit=True)
    return eval(code, space)  # noqa: S307 - the compiler's own output from a checked expression


@lru_cache(maxsize=4)
def _code(text: str, filename: str) -> CodeType:
    return compile(text, filename, "exec", dont_inherit=True)


def _execute(module: CompiledModule, name: str, filename: str) -> ModuleType:
    made = ModuleType(name)
    made.__file__ = filename
    made.__dict__["__source__"] = (module.text, module.spec_path)
    lines = module.text.splitlines(keepends=True)
    linecache.cache[filename] = (len(module.text), None, lines, filename)
    sys.modules.setdefault("envscaler_compiled", ModuleType("envscaler_compiled"))
    sys.modules[name] = made
    try:
        code = compile(module.text, filename, "exec", dont_inherit=True)
        exec(code, made.__dict__)  # noqa: S102 - the compiler's own output from a checked spec
    except BaseException:
        del sys.modules[name]
        raise
    found = made.__dict__[module.class_name]
    found.source = (module.spec_path, found.source[1])
    found._model.source = module.spec_path
    return made
