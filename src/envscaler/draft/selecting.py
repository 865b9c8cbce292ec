"""Which themes are worth drafting: no two alike, none too poor, and from every part of the map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from envscaler.draft.themes import Theme

__all__ = ["Placed", "SelectSettings", "Selection", "require", "select"]


class SelectSettings(BaseModel):
    """``count``: themes at most; None for all that are left. ``near``: the cosine from which two are about the same, by default
    the embedder's own. ``clusters``: how many parts the map has; None for the root of half the themes. ``places``: lay them out
    for a map."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int | None = Field(None, ge=1)
    near: float = Field(0.9, gt=0, le=1)
    least_usefulness: int = Field(5, ge=1, le=10)
    least_modelability: int = Field(5, ge=1, le=10)
    clusters: int | None = Field(None, ge=1)
    seed: int = 0
    places: bool = True


class Placed(BaseModel):
    """A theme, and what became of it: ``reason`` is empty for a chosen one, else `same`, `near`, `usefulness`,
    `modelability` or `quota`; ``like`` is the name of the one that it is like, ``cluster`` counts from 0, ``place`` is where
    it lies on the map."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    theme: Theme
    reason: str = ""
    like: str | None = None
    cluster: int | None = None
    place: tuple[float, float] | None = None


class Selection(BaseModel):
    """All themes in an order of their own, whatever that of the input was: the better-scored first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    themes: tuple[Placed, ...] = ()

    @property
    def chosen(self) -> tuple[Theme, ...]:
        """The themes to be drafted."""
        return tuple(one.theme for one in self.themes if not one.reason)

    @property
    def dropped(self) -> tuple[tuple[Theme, str], ...]:
        """The others, each with the reason."""
        return tuple((one.theme, one.reason) for one in self.themes if one.reason)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many were dropped, by reason."""
        raise NotImplementedError


def require() -> None:
    """Raise UsageError where the extra `draft` is not installed; called before a token is paid."""
    raise NotImplementedError


def select(themes: Sequence[Theme], vectors: Sequence[Sequence[float]], settings: SelectSettings) -> Selection:
    """The themes chosen, by vectors that stand in the same order; the same for any order of the input."""
    raise NotImplementedError
