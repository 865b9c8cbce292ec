"""A tool as a method that trainers can look into: name, signature, type hints, and a docstring in Google's form."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final, Protocol

from envscaler_trl.hints import described, hint, plain

__all__ = ["Method", "Tool", "free_name", "method_of"]

_OTHER: Final = re.compile(r"\W", re.ASCII)


class Tool(Protocol):
    """A tool on offer; ``parameters`` is a JSON Schema of an object."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Method:
    """A tool's ``function``, called with `self` and arguments; ``notes`` say where it has other names than the spec."""

    name: str
    function: FunctionType
    notes: tuple[str, ...]


def free_name(name: str, taken: Collection[str]) -> str:
    """``name``, or the first of `name_2`, `name_3`, … that is not taken."""
    tries = (name if n == 1 else f"{name}_{n}" for n in range(1, len(taken) + 3))
    return next(one for one in tries if one not in taken)


def method_of(tool: Tool) -> Method:
    """The method of a tool. It gives all that it is called with to `_call(tool, arguments)`, under the spec's own names.

    A parameter whose name is no word of Python gets underscores, which is told in its text and in the notes; both names are
    taken. Names that are keywords of Python stay.
    """
    properties: Mapping[str, Mapping[str, Any]] = tool.parameters.get("properties", {})
    names = _param_names(properties)
    back = {mine: spec for spec, mine in names.items() if mine != spec}

    def method(self: Any, /, **arguments: Any) -> str:
        return str(self._call(tool.name, {back.get(key, key): value for key, value in arguments.items()}))

    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = _docstring(tool, names)
    method.__annotations__ = {names[one]: hint(schema) for one, schema in properties.items()}
    method.__signature__ = _signature(tool.parameters, names)  # type: ignore[attr-defined]
    assert isinstance(method, FunctionType)
    notes = (f"{tool.name}: the parameter {spec} is called {mine}" for mine, spec in back.items())
    return Method(tool.name, method, tuple(notes))


def _param_names(properties: Collection[str]) -> dict[str, str]:
    """A name for each parameter that a signature can hold."""
    names: dict[str, str] = {}
    for one in properties:
        better = _OTHER.sub("_", one)
        better = better if better.isidentifier() else f"_{better}"
        names[one] = one if one == better else free_name(better, {*properties, *names.values()})
    return names


def _docstring(tool: Tool, names: Mapping[str, str]) -> str:
    lines = [plain(tool.description.strip()) or tool.name.replace("_", " ")]
    for place, (one, schema) in enumerate(tool.parameters.get("properties", {}).items()):
        also = f" Elsewhere it is called {one}." if names[one] != one else ""
        lines += ["", "Args:"] if place == 0 else []
        lines.append(f"    {names[one]}: {described(names[one], schema)}{also}")
    return "\n".join(lines)


def _signature(parameters: Mapping[str, Any], names: Mapping[str, str]) -> inspect.Signature:
    """`self` and the parameters by name, in the order of the spec. A keyword of Python can stand in a signature where it is
    positional only: then all are, those that must be given first."""
    required = parameters.get("required", ())
    properties = parameters.get("properties", {})
    of = inspect.Parameter
    odd = any(keyword.iskeyword(one) for one in names.values())
    kind = of.POSITIONAL_ONLY if odd else of.KEYWORD_ONLY
    found = [
        of(
            names[one],
            kind,
            annotation=hint(schema),
            default=of.empty if one in required else schema.get("default"),
        )
        for one, schema in properties.items()
    ]
    if odd:
        found.sort(key=lambda one: one.default is not of.empty)
    return inspect.Signature([of("self", of.POSITIONAL_ONLY), *found], return_annotation=str)
