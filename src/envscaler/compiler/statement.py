"""A generated statement with the line of the spec it stands for, and the texts that statements show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from envscaler.compiler.literals import quoted
from envscaler.spec.model import Constant, Param
from envscaler.spec.types import MONEY, Nullable, Type, strip_null

__all__ = ["Stmt", "filled", "inside_f", "message", "shown"]

_PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Stmt:
    """One top-level statement of a function, unindented, and the spec's line."""

    code: str
    line: int


def shown(value: Any, of: Type | None = None) -> str:
    """A constant or bound as prose shows it; money in major units."""
    if of is not None and strip_null(of) == MONEY and isinstance(value, int):
        amount = Decimal(value) / 100
        return str(int(amount)) if amount == int(amount) else f"{amount.normalize():f}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(v) for v in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{k}: {shown(v)}" for k, v in value.items())
    return str(value)


def filled(text: str, constants: Mapping[str, Constant]) -> str:
    """Prose with `{CONSTANT}` replaced by the constant's value; other braces stay."""

    def value(found: re.Match[str]) -> str:
        constant = constants.get(found.group(1))
        return found.group(0) if constant is None else shown(constant.value, constant.type)

    return _PLACEHOLDER.sub(value, text)


def message(text: str, params: Iterable[Param], constants: Mapping[str, Constant]) -> str:
    """The expression of a message with `{param}` and `{CONSTANT}` placeholders: an f-string, or a plain literal."""
    types = {p.name: p.field.type for p in params}
    parts: list[str] = []
    named = False
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        name = found.group(1)
        if name in types:
            parts.append(inside_f(filled(text[end : found.start()], constants)))
            parts.append("{" + _shown_param(name, types[name]) + "}")
            end, named = found.end(), True
    if not named:
        return quoted(filled(text, constants))
    parts.append(inside_f(filled(text[end:], constants)))
    return 'f"' + "".join(parts) + '"'


def _shown_param(name: str, of: Type) -> str:
    if of == MONEY:
        return f"_rt.money_text({name})"
    if isinstance(of, Nullable) and of.of == MONEY:
        return f"None if {name} is None else _rt.money_text({name})"
    return name


def inside_f(text: str) -> str:
    """Text as it stands between the double quotes of an f-string."""
    return quoted(text)[1:-1].replace("{", "{{").replace("}", "}}")
