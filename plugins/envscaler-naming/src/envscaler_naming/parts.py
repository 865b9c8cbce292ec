"""The named things of a spec, each with its place, and how names fall into words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import envscaler

__all__ = ["Named", "named_things", "stem", "words_of"]


@dataclass(frozen=True, slots=True)
class Named:
    """A thing with a name. ``kind``: tool, parameter, field or state; ``owner``: the tool or record it belongs to."""

    kind: str
    name: str
    owner: str
    span: envscaler.Span
    description: str
    type: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" + (f" of {self.owner}" if self.owner else "")


def named_things(spec: Any) -> Iterator[Named]:
    """Tools, their parameters, states and their fields, in the order of the spec."""
    for state in spec.states.values():
        yield Named("state", state.name, "", state.span, state.description, "")
        for field in state.record.fields.values():
            yield Named("field", field.name, state.record.name, field.span, field.description, str(field.type))
    for tool in spec.tools.values():
        yield Named("tool", tool.name, "", tool.span, tool.description.value, "")
        for param in tool.params:
            field = param.field
            yield Named("parameter", field.name, tool.name, field.span, field.description, str(field.type))


def words_of(text: str) -> list[str]:
    """The words of a name or a description, in lower case."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return [word.lower() for word in re.findall(r"[^\W_]+", parted)]


def stem(word: str) -> str:
    """A word without its plural, roughly: `boxes` and `box`, `entries` and `entry` are one."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + instead
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word
