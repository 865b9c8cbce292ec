"""A spec as named parts that are replaced one by one: what is not replaced stays, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from envscaler.draft.layout import comment, entry
from envscaler.errors import UsageError
from envscaler.spec.forms import form

__all__ = ["SECTIONS", "WHOLE", "Laid", "Parts"]

SECTIONS: Final = ("constants", "types", "states", "rules", "helpers", "tools", "initial_state")
WHOLE: Final = ("title", "description", "clock", "after_each")
"""Keys of the spec that are a part of their own."""

_LINE: Final = 8_000  # characters of a line
_LONGEST: Final = 40_000  # characters of a part
_DEEPEST: Final = 20  # levels of one
_MOST: Final = 2_000  # values in one
_WHOLE: Final = (500_000, 14_000)  # characters and values of all, below what a file may hold


@dataclass(frozen=True, slots=True)
class Laid:
    """A spec's ``text``, and which lines each part stands in."""

    text: str
    places: tuple[tuple[int, int, str], ...]

    def owner(self, line: int) -> str:
        """The part that a line belongs to, "" for the lines at the top."""
        return next((path for first, last, path in self.places if first <= line <= last), "")


@dataclass(slots=True)
class Parts:
    """Values by path: `tools.lend`, `constants.MOST`, `description`. ``name``: that of the spec."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    _lines: dict[str, list[str]] = field(default_factory=dict)
    _sizes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def put(self, path: str, value: Any) -> None:
        """Give a part a value. Raises UsageError for what cannot be laid out as a part."""
        section, _, name = path.partition(".")
        count = _counted(value)
        if count > _MOST:
            raise UsageError(f"{path} is nested too deep or holds too much")
        lines = entry(section if name else "", name or section, value, 1 if name else 0)
        size = sum(map(len, lines))
        if size > _LONGEST or any(len(line) > _LINE for line in lines):
            raise UsageError(f"{path} is too long")
        others = [s for p, s in self._sizes.items() if p != path]
        if any(sum(s[i] for s in others) + (size, count)[i] > _WHOLE[i] for i in (0, 1)):
            raise UsageError(f"with {path} the spec would be too long")
        self.values[path] = value
        self._lines[path] = lines
        self._sizes[path] = (size, count)

    def drop(self, path: str) -> None:
        del self.values[path], self._lines[path], self._sizes[path]

    def rename(self, path: str, to: str, value: Any) -> None:
        """Give a part another name and value; its place stays. Raises UsageError as `put`."""
        self.put(to, value)
        if to != path:
            order = [to if p == path else p for p in self.values if p != to]
            self.drop(path)
            self.values = {p: self.values[p] for p in order}

    def copy(self) -> Parts:
        return Parts(self.name, dict(self.values), dict(self._lines), dict(self._sizes))

    def become(self, other: Parts) -> None:
        """Take over what another copy of these parts has."""
        self.values, self._lines, self._sizes = dict(other.values), dict(other._lines), dict(other._sizes)

    def section(self, name: str) -> dict[str, Any]:
        """The values of a section by name."""
        return {p[len(name) + 1 :]: v for p, v in self.values.items() if p.startswith(f"{name}.")}

    def lines(self, path: str) -> list[str]:
        """A part's lines as they stand in the text."""
        return self._lines[path]

    def shown(self, *sections: str) -> str:
        """The text of some sections."""
        return "\n".join(line for name in sections for line, _ in self._section(name, {}))

    def laid(self, top: Sequence[str] = (), said: Mapping[str, Sequence[str]] | None = None) -> Laid:
        """The whole text. ``top``: comments above all; ``said``: comments above parts."""
        lines = [comment(text) for text in top]
        lines += ["envscaler: 1", *entry("", "name", self.name, 0)]
        places: list[tuple[int, int, str]] = []
        for key in form("spec").names:
            rows = [*self._section(key, said or {})]
            if rows and key in SECTIONS:
                lines.append("")
            for line, path in rows:
                lines.append(line)
                if path and places and places[-1][2] == path:
                    places[-1] = (places[-1][0], len(lines), path)
                elif path:
                    places.append((len(lines), len(lines), path))
        return Laid("\n".join(lines) + "\n", tuple(places))

    def _section(self, key: str, said: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
        """Lines with the part that each belongs to."""
        if key in WHOLE and key in self.values:
            yield from ((line, key) for line in self._lines[key])
        paths = [path for path in self.values if path.startswith(f"{key}.")] if key in SECTIONS else []
        if paths:
            yield f"{key}:", ""
        for path in paths:
            yield from ((comment(text, 1), path) for text in said.get(path, ()))
            yield from ((line, path) for line in self._lines[path])


def _counted(value: Any, depth: int = 0) -> int:
    """How many values there are in one, more than are allowed where it is nested too deep."""
    if depth > _DEEPEST:
        return _MOST + 1
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return 1 + sum(_counted(v, depth + 1) for v in inner)
