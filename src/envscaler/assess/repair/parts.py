"""The parts of a spec's text: which lines each tool, rule, state, type and initial record stands in."""

from __future__ import annotations

from collections.abc import Iterator

from envscaler.assess.repair.edits import document
from envscaler.spec import yamltree as y

__all__ = ["parts"]


def parts(text: str, path: str) -> list[tuple[int, int, str]]:
    """First line, last line and name of each entry of a section, and of each initial record; outer ones come first.

    Empty for a text that cannot be parsed.
    """
    found = document(text, path)
    if found is None:
        return []
    return [
        part
        for section, entry in found.root.entries.items()
        for part in _entries(found, entry.value, 2 if section == "initial_state" else 1)
    ]


def _entries(found: y.Document, node: y.Node, depth: int) -> Iterator[tuple[int, int, str]]:
    if isinstance(node, y.Mapping) and depth:
        for name, entry in node.entries.items():
            first = found.text.count("\n", 0, entry.key.start) + 1
            last = found.text.count("\n", 0, max(entry.key.start, entry.value.end - 1)) + 1
            yield first, last, name
            yield from _entries(found, entry.value, depth - 1)
