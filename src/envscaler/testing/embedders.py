"""What every embedder must do."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

from envscaler.errors import EnvscalerError
from envscaler.plugin.entries import Entry
from envscaler.plugin.records import Embedder, Vectors
from envscaler.testing.base import Conformance, not_run, refused, want

__all__ = ["EmbedderConformance"]

_CLOSE = 1e-3
_LIBRARY = (
    "Public Library. Members borrow books from a public library and give them back; a book has several copies, a member may "
    "keep three books at once, and late books cost a fee."
)
_TOWN = (
    "Town Library. The lending desk of a town's library: members borrow copies of books and return them, three books at once "
    "at most, with a fee for books that are late."
)
_AIRPORT = (
    "Airport Gates. Flights of many airlines are given gates and stands at an airport; no two aircraft share one."
)
_TEXTS = (_LIBRARY, _TOWN, _AIRPORT, "x")


class EmbedderConformance(Conformance):
    """Subclass it with ``make`` and ``settings``, with which it must answer without a network. ``meant = False`` for one that
    knows nothing of meaning."""

    make: Callable[[Mapping[str, Any]], Embedder]
    settings: ClassVar[Mapping[str, Any]] = {}
    meant: ClassVar[bool] = True
    answers: ClassVar[bool | None] = True

    @classmethod
    def of(cls, entry: Entry) -> type[Self]:
        made = super().of(entry)
        made.answers = None  # one that is paid for is asked nothing by `envscaler plugins --check`
        return made

    def _made(self) -> Embedder:
        try:
            made = self.make(dict(self.settings))
        except EnvscalerError as error:
            if self.answers:
                raise
            not_run(f"needs settings: {error}")
        return made

    def _embedded(self, *batches: Sequence[str]) -> list[list[Sequence[float]]]:
        """The vectors of batches, one after the other, made by one embedder."""

        async def asked() -> list[Any]:
            embedder = self._made()
            if self.answers is None and not embedder.free:
                not_run("asks a service that is paid for")
            try:
                return [await embedder.embed(batch) for batch in batches]
            finally:
                await embedder.aclose()

        found: list[list[Sequence[float]]] = []
        for batch, vectors in zip(batches, asyncio.run(asked()), strict=True):
            want(isinstance(vectors, Vectors), f"embed must give Vectors, not {type(vectors).__name__}")
            want(len(vectors.rows) == len(batch), f"{len(batch)} texts gave {len(vectors.rows)} vectors")
            counted = vectors.tokens is None or (type(vectors.tokens) is int and vectors.tokens >= 0)
            want(counted, f"tokens are counted or None, not {vectors.tokens!r}")
            found.append(list(vectors.rows))
        return found

    def test_says_what_it_is(self) -> None:
        """`identity` is text, `near` lies above 0 and up to 1, `batch` is at least 1, `free` is true or false."""
        made: Any = self._made()
        want(isinstance(made.identity, str) and made.identity, "identity must be text")
        want(0 < made.near <= 1, f"near is a cosine above 0 and up to 1, not {made.near!r}")
        want(type(made.batch) is int and made.batch >= 1, f"batch is a whole number from 1, not {made.batch!r}")
        want(isinstance(made.free, bool), "free must be true or false")

    def test_gives_a_vector_for_each_text(self) -> None:
        """Each text gets a vector, of one length for all, and none of them is zero."""
        (rows,) = self._embedded(_TEXTS)
        want(all(any(row) for row in rows), "a vector is zero")

    def test_no_texts_give_no_vectors(self) -> None:
        """An empty batch is answered by no vectors."""
        self._embedded(())

    def test_a_vector_is_its_text_s_alone(self) -> None:
        """A text has the same vector alone, beside others and at another place; a second embedder makes the same."""
        texts = _TEXTS[:3]
        (rows,) = self._embedded(texts)
        alone, turned = self._embedded(texts[:1], texts[::-1])
        for one, other in zip([*rows, rows[0]], [*reversed(turned), alone[0]], strict=True):
            want(len(one) == len(other), "vectors of two calls differ in length")
            want(_cosine(one, other) > 1 - _CLOSE, "a text has other vectors at another place, or beside other texts")

    def test_what_is_alike_is_near(self) -> None:
        """Two descriptions of about the same thing are nearer to each other than to one of another thing."""
        if not self.meant:
            not_run("knows nothing of meaning")
        ((library, town, airport, _),) = self._embedded(_TEXTS)
        near, far = _cosine(library, town), max(_cosine(library, airport), _cosine(town, airport))
        want(near > far, f"two libraries have a cosine of {near:.3f}, a library and an airport one of {far:.3f}")

    def test_refuses_unknown_settings(self) -> None:
        """A setting that it does not know is a UsageError."""
        refused("an unknown setting", self.make, {**self.settings, "no_such_setting": "1"})


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    norm = math.sqrt(sum(a * a for a in one)) * math.sqrt(sum(b * b for b in other))
    return sum(a * b for a, b in zip(one, other, strict=True)) / norm if norm else 0.0
