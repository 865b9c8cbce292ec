"""What a mutant is: a text with one fault in it, made by an operator at a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Edit", "Fault", "Layer", "Mutant", "Site", "apply"]

Fault = Literal[
    "types", "attributes", "purity", "atomicity", "determinism", "leaks", "references", "logic", "messages",
]  # fmt: skip
"""What kind of fault an operator makes; the aims are stated for these."""

Layer = Literal["spec", "module"]


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters ``start`` to ``end`` (exclusive) of a text become ``new``."""

    start: int
    end: int
    new: str


def apply(text: str, edits: tuple[Edit, ...]) -> str:
    """The text with all edits made; they must not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits):
        if edit.start < at:
            raise ValueError("edits overlap")
        parts += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*parts, text[at:]])


@dataclass(frozen=True, slots=True)
class Site:
    """A place where an operator applies. ``line``: of the spec; ``owner``: `tool x`, `helper y`, `rule z`, a state or type;
    ``before`` and ``after`` show the change in one line each. ``edits`` are of the spec's text, or of its module's."""

    line: int
    owner: str
    before: str
    after: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault in one spec. ``number`` counts the mutants of a run from 1."""

    number: int
    operator: str
    fault: Fault
    layer: Layer
    path: str
    site: Site

    @property
    def title(self) -> str:
        """`specs/bank.yaml:616 drop-requirement: … → …`."""
        return f"{self.path}:{self.site.line} {self.operator}: {self.site.before} → {self.site.after}"
