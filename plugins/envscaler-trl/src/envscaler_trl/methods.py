"""A tool as a method that trainers can look into: name, signature, type hints, and a docstring in Google's form."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from envscaler_trl.hints import described, hint, plain

if TYPE_CHECKING:
    from envscaler.llm.messages import Tool

__all__ = ["RESERVED", "Method", "free_name", "method_of"]

RESERVED: Final = ("reset", "get_reward")
"""Names that TRL takes for other things than tools."""

_OTHER: Final = re.compile(r"\W", re.ASCII)


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


def method_of(tool: Tool, taken: Collection[str] = ()) -> Method:
    """The method of a tool. It gives all that it is called with to `_call(tool, arguments)`, under the spec's own names.

    A tool called like something in ``taken`` gets the next free name, and a parameter whose name is no word of Python gets
    underscores; both are told in the texts. Names that are keywords of Python stay.
    """
    name = free_name(tool.name, taken)
    properties: Mapping[str, Mapping[str, Any]] = tool.parameters.get("properties", {})
    names = _param_names(properties)
    back = {mine: spec for spec, mine in names.items() if mine != spec}

    def method(self: Any, /, **arguments: Any) -> str:
        return str(self._call(tool.name, {back.get(key, key): value for key, value in arguments.items()}))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = _docstring(tool, name, names)
    method.__annotations__ = {names[one]: hint(schema) for one, schema in properties.items()}
    method.__signature__ = _signature(tool.parameters, names)  # type: ignore[attr-defined]
    notes = [f"the tool {tool.name} is called {name}: TRL uses that name itself"] if name != tool.name else []
    notes += [f"{name}: the parameter {spec} is called {mine}" for mine, spec in back.items()]
    assert isinstance(method, FunctionType)
    return Method(name, method, tuple(notes))


def _param_names(properties: Collection[str]) -> dict[str, str]:
    """A name for each parameter that a signature can hold."""
    names: dict[str, str] = {}
    for one in properties:
        better = _OTHER.sub("_", one)
        better = better if better.isidentifier() else f"_{better}"
        names[one] = one if one == better else free_name(better, {*properties, *names.values()})
    return names


def _docstring(tool: Tool, name: str, names: Mapping[str, str]) -> str:
    text = plain(tool.description.strip()) or name.replace("_", " ")
    if name != tool.name:
        text += f" Elsewhere this tool is called {tool.name}."
    lines = [text]
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
