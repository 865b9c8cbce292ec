"""Finds the plugins that installed distributions declare, without importing any."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions

from envscaler.plugin.problems import SHIPPED, Origin

__all__ = ["GROUP", "Found", "found"]

GROUP = "envscaler"


@dataclass(frozen=True, slots=True)
class Found:
    """A plugin that is installed. ``entry_point`` is None, with a ``reason``, where the declaration cannot be read."""

    origin: Origin
    entry_point: EntryPoint | None
    reason: str = ""

    def is_called(self, name: str) -> bool:
        """``name`` is that of the plugin or of its distribution, in any spelling that installers take for the same."""
        return _plain(name) in (_plain(self.origin.plugin), _plain(self.origin.distribution))


def found() -> Iterator[Found]:
    """All entry points of the group, by distribution and name; of a distribution that is found twice on the path, the one
    that Python imports from."""
    known: dict[str, list[Found]] = {}
    for distribution in distributions():
        name = _name(distribution)
        if _plain(name) not in known and _plain(name) != SHIPPED:
            known[_plain(name)] = _declared(distribution, name)
    for name in sorted(known):
        yield from known[name]


def _declared(distribution: Distribution, name: str) -> list[Found]:
    try:
        points = [point for point in distribution.entry_points if point.group == GROUP]
    except Exception as error:  # the metadata of any package may be broken in any way
        if f"[{GROUP}]" not in (distribution.read_text("entry_points.txt") or ""):
            return []
        origin = Origin(name, name, _version(distribution))
        return [Found(origin, None, f"its entry_points.txt cannot be read: {' '.join(str(error).split())}")]
    points.sort(key=lambda point: point.name)
    return [Found(Origin(point.name, name, _version(distribution)), point) for point in points]


def _name(distribution: Distribution) -> str:
    try:
        return distribution.metadata["Name"] or "a distribution without a name"
    except Exception:  # no metadata at all, after an uninstall that failed
        return "a distribution without a name"


def _version(distribution: Distribution) -> str:
    try:
        return distribution.version or ""
    except Exception:
        return ""


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
