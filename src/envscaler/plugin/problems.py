"""What is wrong with a plugin, as one line that names its distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["SHIPPED", "Origin", "PluginWarning", "Problem"]


@dataclass(frozen=True, slots=True)
class Origin:
    """A plugin: its name (that of the entry point), the distribution that installed it, and that one's version."""

    plugin: str
    distribution: str
    version: str

    @property
    def shipped(self) -> bool:
        """It belongs to envscaler itself."""
        return self.distribution == SHIPPED

    @property
    def package(self) -> str:
        """Distribution and version."""
        return f"{self.distribution} {self.version}".rstrip()

    def __str__(self) -> str:
        return f"plugin {self.plugin} ({self.package})"


SHIPPED = "envscaler"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a plugin, or an entry of one, is not used.

    `warning`: it cannot be imported, as is so after an upgrade of something else; `error`: it is written wrongly.
    ``kind`` and ``name`` are those of the entry, empty when the whole plugin is meant.
    """

    origin: Origin
    reason: str
    severity: Literal["warning", "error"] = "error"
    kind: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.severity}: {self.origin}: {self.reason}"


class PluginWarning(UserWarning):
    """A plugin is not used; the others are. ``problem`` says which and why."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))
