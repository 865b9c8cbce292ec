"""A generated statement with the line of the spec it stands for, and the texts that statements show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from envscaler.compiler.literals import quoted
from envscaler.spec.model import Constant, Param
from envscaler.spec.prose import PLACEHOLDER, constant_text, render
from envscaler.spec.types import MONEY, Nullable, Type

__all__ = ["Stmt", "bound", "inside_f", "logic", "message"]

_WORDS = ("raise ", '"', "'", 'f"', "f'")


@dataclass(frozen=True, slots=True)
class Stmt:
    """One top-level statement of a function, unindented, and the spec's line."""

    code: str
    line: int

    @property
    def logic(self) -> str:
        """The code without the texts of the spec."""
        return logic(self.code)


def logic(code: str) -> str:
    """Generated code without the lines that raise or begin with a text, which hold the spec's own words."""
    return "\n".join(line for line in code.split("\n") if not line.lstrip().startswith(_WORDS))


def bound(value: Any, of: Type) -> str:
    """A bound as a message shows it; money in major units."""
    return f"{Decimal(value) / 100:f}" if of == MONEY and isinstance(value, int) else str(value)


def message(
    text: str, params: Iterable[Param], constants: Mapping[str, Constant], names: Mapping[str, str] | None = None
) -> str:
    """The expression of a message with `{param}` and `{CONSTANT}` placeholders: an f-string, or a plain literal.

    ``names``: parameters for which something else is shown, such as one element of a list.
    """
    types = {p.name: p.field.type for p in params}
    if not any(found[1] in types for found in PLACEHOLDER.finditer(text)):
        return quoted(render(text, constants))
    names = names or {}
    parts: list[str] = []
    end = 0
    for found in PLACEHOLDER.finditer(text):
        parts.append(inside_f(text[end : found.start()]))
        parts.append(_filled(found[0], found[1], types, constants, names))
        end = found.end()
    return 'f"' + "".join(parts) + inside_f(text[end:]) + '"'


def _filled(
    written: str,
    name: str | None,
    types: Mapping[str, Type],
    constants: Mapping[str, Constant],
    names: Mapping[str, str],
) -> str:
    """What a placeholder becomes inside an f-string."""
    if name is None:
        return inside_f(written[0])
    if name in names:
        return "{" + names[name] + "}"
    if name in types:
        return "{" + _shown_param(name, types[name]) + "}"
    return inside_f(constant_text(constants[name]) if name in constants else written)


def _shown_param(name: str, of: Type) -> str:
    if of == MONEY:
        return f"_rt.money_text({name})"
    if isinstance(of, Nullable) and of.of == MONEY:
        return f"None if {name} is None else _rt.money_text({name})"
    return name


def inside_f(text: str) -> str:
    """Text as it stands between the double quotes of an f-string."""
    return quoted(text)[1:-1].replace("{", "{{").replace("}", "}}")
