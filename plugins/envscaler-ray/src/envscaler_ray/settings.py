"""What the executor can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envscaler.errors import UsageError

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """``width``: units at once, 0 for one on each ``cpus`` of the cluster. ``address``: that of a cluster, or `auto`; without
    it one is begun on this machine. ``again``: how often a unit whose worker died is done again."""

    width: int = 0
    address: str = ""
    cpus: float = 1
    again: int = 3

    def __post_init__(self) -> None:
        if not isinstance(self.address, str):
            raise UsageError(f"the address of a Ray cluster is text, not {self.address!r}")
        for name, value, least in (("width", self.width, 0), ("again", self.again, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise UsageError(f"{name} is a whole number from {least}, not {value!r}")
        if isinstance(self.cpus, bool) or not isinstance(self.cpus, (int, float)) or not self.cpus > 0:
            raise UsageError(f"cpus is a number above 0, not {self.cpus!r}")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """Raises UsageError for one that is unknown or wrong."""
        known = ("width", "address", "cpus", "again")
        if unknown := sorted(set(given) - set(known)):
            raise UsageError(f"ray has no setting {', '.join(unknown)}; it has {', '.join(known[1:])}")
        return cls(**given)
