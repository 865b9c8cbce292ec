"""What the dual-agent loop and the judge are told, and how that is read from a mapping of settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from envscaler.diagnostics import nearest, one_of
from envscaler.errors import UsageError

__all__ = ["DualSettings", "JudgeSettings", "read"]

S = TypeVar("S", "DualSettings", "JudgeSettings")


@dataclass(frozen=True, slots=True)
class DualSettings:
    """``rounds`` of testing and checking. Sound is what passes at least ``threshold`` of them.

    ``episode``: rounds until the state is the initial one again. ``unusable``: stop when more rounds than this had no usable
    reply; None: when so many had none that the threshold cannot be met. ``calls``: fuzzed calls made beforehand to learn
    what they do not reach, 0 for none. ``seed`` decides which tools are offered when.
    """

    rounds: int = 100
    threshold: float = 0.85
    episode: int = 25
    unusable: int | None = None
    calls: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        _at_least("rounds", self.rounds, 1)
        _at_least("episode", self.episode, 1)
        _at_least("calls", self.calls, 0)
        _at_least("unusable", self.unusable or 0, 0)
        _share("threshold", self.threshold)

    @property
    def bound(self) -> int:
        """How many rounds without a usable reply are put up with."""
        return int(self.rounds * (1 - self.threshold) + 1e-9) if self.unusable is None else self.unusable


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Sound is what reaches ``threshold`` of the best score in each dimension. ``calls``: fuzzed calls that measure
    robustness; ``seed`` is the fuzzer's. ``at_once``: tools that are asked about at the same time."""

    threshold: float = 0.85
    calls: int = 6000
    seed: int = 0
    at_once: int = 8

    def __post_init__(self) -> None:
        _at_least("calls", self.calls, 1)
        _at_least("at_once", self.at_once, 1)
        _share("threshold", self.threshold)


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise UsageError(f"{name} is at least {least}, not {value}")


def _share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise UsageError(f"{name} lies between 0 and 1; {value} does not")


def read(kind: type[S], settings: Mapping[str, Any]) -> S:
    """The settings of a mapping, whose values may be text. Raises UsageError for one that is unknown or wrong."""
    known = {field.name: str(field.type) for field in fields(kind)}
    made: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in known:
            near = nearest(name, known)
            raise UsageError(
                f"there is no setting {name}{f'; did you mean {near}?' if near else f' (settings: {one_of(known)})'}"
            )
        made[name] = _number(name, value, known[name])
    return kind(**made)


def _number(name: str, value: Any, kind: str) -> int | float | None:
    if value is None and "None" in kind:
        return None
    whole = kind.startswith("int")
    try:
        if isinstance(value, bool) or (whole and isinstance(value, float)):
            raise ValueError
        return int(value) if whole else float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is a {'whole ' if whole else ''}number, not {value!r}") from None
