"""Which themes are worth drafting: no two alike, none too poor, and from every part of the map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from envscaler.draft.themes import Theme
from envscaler.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["REASONS", "Placed", "SelectSettings", "Selection", "require", "select"]

Reason = Literal["", "usefulness", "modelability", "same", "near", "quota"]
REASONS: Final[Mapping[str, str]] = {
    "usefulness": "of too little use",
    "modelability": "too hard to model",
    "same": "of the same name or summary as another",
    "near": "about the same as another",
    "quota": "beside as many of its part of the map as are wanted",
}
"""Why themes are dropped, in the order in which it is looked at."""

_ALIKE: Final = 1e-6  # cosines are not exact
_PACKAGES: Final = {"sklearn": "scikit-learn", "matplotlib": "matplotlib"}


class SelectSettings(BaseModel):
    """``count``: themes at most; None for all that are left. ``near``: the cosine from which two are about the same.
    ``least_…``: the scores below which a theme is dropped. ``clusters``: how many parts the map has; None for the root of
    half the themes that are left. ``places``: lay the themes out for a map."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int | None = Field(None, ge=1)
    near: float = Field(0.9, gt=0, le=1)
    least_usefulness: int = Field(5, ge=1, le=10)
    least_modelability: int = Field(5, ge=1, le=10)
    clusters: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0, lt=2**32)
    places: bool = True


class Placed(BaseModel):
    """A theme, and what became of it.

    ``reason`` is empty for a chosen one, else one of REASONS; ``like`` is the title of the one that it is like. ``cluster``
    counts from 0, that of the best theme; it is None where no theme was left. ``place`` is where it lies on the map, each
    number between -1 and 1.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    theme: Theme
    reason: Reason = ""
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
        found = Counter[str](one.reason for one in self.themes)
        return {reason: found[reason] for reason in REASONS if found[reason]}


def require() -> None:
    """Raise UsageError where the extra `draft` is not installed; called before a token is paid."""
    missing = [name for module, name in _PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise UsageError(f"selecting themes needs {' and '.join(missing)}: pip install 'envscaler[draft]'")


def select(themes: Sequence[Theme], vectors: Sequence[Sequence[float]], settings: SelectSettings) -> Selection:
    """The themes chosen, by vectors that stand in the same order; the same for any order of the input.

    Those whose scores are too low are dropped; then those that have the name or the summary of a better one, or lie nearer to
    it than ``near``; then as many are taken as ``count`` says, from each cluster in turn, the best first.
    """
    if len(themes) != len(vectors):
        raise ValueError(f"{len(themes)} themes have {len(vectors)} vectors")
    if not themes:
        return Selection()
    order, matrix = _ordered(themes, vectors)
    sorting = _Sorting([themes[place] for place in order], matrix, settings)
    sorting.score()
    sorting.tell_apart()
    sorting.share()
    return sorting.result()


def _ordered(themes: Sequence[Theme], vectors: Sequence[Sequence[float]]) -> tuple[list[int], Matrix]:
    """The places of the themes from the best-scored down, by content alone; and their vectors in that order, of length 1."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float64).reshape(len(themes), -1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(lengths > 0, lengths, 1)

    def rank(place: int) -> tuple[Any, ...]:
        theme = themes[place]
        score = theme.usefulness + theme.modelability
        return -score, -theme.modelability, theme.name, theme.model_dump_json(), rows[place].tobytes()

    order = sorted(range(len(themes)), key=rank)
    return order, rows[order]


@dataclass
class _Sorting:
    """Themes on their way: what was decided of each, by its place in the order."""

    themes: Sequence[Theme]
    matrix: Matrix
    settings: SelectSettings
    reasons: dict[int, Reason] = field(default_factory=dict)
    like: dict[int, str] = field(default_factory=dict)
    clusters: list[int | None] = field(default_factory=list)

    def left(self) -> list[int]:
        """The places of the themes that were not dropped."""
        return [place for place in range(len(self.themes)) if place not in self.reasons]

    def score(self) -> None:
        for place, theme in enumerate(self.themes):
            if theme.usefulness < self.settings.least_usefulness:
                self.reasons[place] = "usefulness"
            elif theme.modelability < self.settings.least_modelability:
                self.reasons[place] = "modelability"

    def tell_apart(self) -> None:
        """Drop what says again what a better-scored theme says."""
        said: dict[str, int] = {}
        kept: list[int] = []
        for place in self.left():
            keys = _keys(self.themes[place])
            twin = next((said[key] for key in keys if key in said), None)
            if twin is not None:
                self._drop(place, "same", twin)
                continue
            if kept:
                cosines = self.matrix[kept] @ self.matrix[place]
                nearest = int(cosines.argmax())
                if cosines[nearest] >= self.settings.near - _ALIKE:
                    self._drop(place, "near", kept[nearest])
                    continue
            said |= dict.fromkeys(keys, place)
            kept.append(place)

    def _drop(self, place: int, reason: Reason, twin: int) -> None:
        self.reasons[place] = reason
        self.like[place] = self.themes[twin].title

    def share(self) -> None:
        """Give every theme its cluster, and each cluster its share of those that are wanted."""
        left = self.left()
        self.clusters = _clustered(self.matrix, left, self.settings)
        if self.settings.count is None or len(left) <= self.settings.count:
            return
        queues: dict[int | None, list[int]] = {}
        for place in left:
            queues.setdefault(self.clusters[place], []).append(place)
        turns = sorted((turn, place) for queue in queues.values() for turn, place in enumerate(queue))
        for _, place in turns[self.settings.count :]:
            self.reasons[place] = "quota"

    def result(self) -> Selection:
        places: Sequence[tuple[float, float] | None] = [None] * len(self.themes)
        if self.settings.places:
            from envscaler.draft.placing import placed

            places = placed(self.matrix, self.settings.seed)
        return Selection(
            themes=tuple(
                Placed(
                    theme=theme,
                    reason=self.reasons.get(place, ""),
                    like=self.like.get(place),
                    cluster=self.clusters[place],
                    place=places[place],
                )
                for place, theme in enumerate(self.themes)
            )
        )


def _keys(theme: Theme) -> tuple[str, str]:
    """By what a theme is the same as another: its name, and its summary without case and punctuation."""
    words = "".join(char if char.isalnum() else " " for char in theme.summary.casefold()).split()
    return f"name {theme.name}", f"summary {' '.join(words)}"


def _clustered(matrix: Matrix, left: list[int], settings: SelectSettings) -> list[int | None]:
    """A cluster for each theme: those that are left make them, the others go to the nearest."""
    if not left:
        return [None] * len(matrix)
    import numpy as np
    from sklearn.cluster import KMeans  # type: ignore[import-untyped]
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    known = matrix[left]
    wanted = settings.clusters or max(1, round((len(left) / 2) ** 0.5))
    count = min(wanted, len(np.unique(known.round(9), axis=0)))
    with threadpool_limits(limits=1):  # sums in the order of threads would differ in their last places
        found = KMeans(count, n_init=10, random_state=settings.seed).fit(known)
        labels = found.predict(matrix)
        labels[left] = found.labels_
    numbers: dict[int, int] = {}
    for place in left:
        numbers.setdefault(int(labels[place]), len(numbers))
    return [numbers[int(label)] for label in labels]
