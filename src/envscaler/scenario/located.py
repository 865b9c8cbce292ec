"""Where the parts of a scenario stand in the file it was read from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from envscaler.diagnostics import Diagnostic, Span
from envscaler.spec import yamltree as y
from envscaler.spec.model import Block

__all__ = ["InLine", "InYaml", "Located", "Step"]

Step = str | int
"""A key or an index on the way to a part. In a list of texts a text leads to the element that is equal to it."""


class Located(Protocol):
    """The places of one scenario. A way that leads nowhere gives the place of what it reached."""

    def span(self, *way: Step) -> Span:
        """The place of a value."""
        ...

    def key(self, *way: Step) -> Span:
        """The place of the key that the value stands under."""
        ...

    def block(self, text: str, *way: Step) -> Block:
        """An expression and its place."""
        ...

    def settled(self, problems: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Problems of a block, at places that exist in the file."""
        ...


@dataclass(frozen=True, slots=True)
class InLine:
    """All parts are somewhere in one line, as in JSONL."""

    path: str
    line: int

    def span(self, *way: Step) -> Span:
        return Span(self.path, self.line, 1, self.line, 1)

    def key(self, *way: Step) -> Span:
        return self.span()

    def block(self, text: str, *way: Step) -> Block:
        return Block(text.strip(), self.path, self.line, 1, self.span())

    def settled(self, problems: Iterable[Diagnostic]) -> list[Diagnostic]:
        return [replace(problem, span=self.span()) for problem in problems]


@dataclass(frozen=True, slots=True)
class InYaml:
    """The parts are nodes of a document."""

    document: y.Document
    root: y.Node

    def span(self, *way: Step) -> Span:
        key, node = self._find(way)
        return node.span if isinstance(node, y.Scalar) or key is None else key.span

    def key(self, *way: Step) -> Span:
        key, node = self._find(way)
        return node.span if key is None else key.span

    def block(self, text: str, *way: Step) -> Block:
        _, node = self._find(way)
        path = self.document.path
        if isinstance(node, y.Scalar) and node.style == "literal":
            source, line, column = self.document.literal_source(node)
            return Block(source, path, line, column, node.span)
        quoted = isinstance(node, y.Scalar) and node.style in ("single", "double")
        return Block(text.strip(), path, node.span.line, node.span.column + quoted, node.span)

    def settled(self, problems: Iterable[Diagnostic]) -> list[Diagnostic]:
        return list(problems)

    def _find(self, way: tuple[Step, ...]) -> tuple[y.Scalar | None, y.Node]:
        key: y.Scalar | None = None
        node = self.root
        for step in way:
            if isinstance(node, y.Mapping) and str(step) in node.entries:
                entry = node.entries[str(step)]
                key, node = entry.key, entry.value
            elif isinstance(node, y.Sequence):
                found = _element(node, step)
                if found is None:
                    break
                key, node = None, found
            else:
                break
        return key, node


def _element(node: y.Sequence, step: Step) -> y.Node | None:
    if isinstance(step, int):
        return node.items[step] if step < len(node.items) else None
    return next((item for item in node.items if isinstance(item, y.Scalar) and item.text == step), None)
