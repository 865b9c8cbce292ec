"""Lays vectors out in two dimensions, so that what is alike lies together (t-SNE, as in the paper's Figure 10a)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["placed"]

_FEW: Final = 5  # up to so many are laid out by their main directions alone
_KEPT: Final = 50  # dimensions that t-SNE is given


def placed(matrix: Matrix, seed: int) -> list[tuple[float, float]]:
    """A place for each row, both numbers between -1 and 1; the same for the same rows and seed."""
    import numpy as np

    main = _main_directions(matrix)
    if len(matrix) <= _FEW or not main.any():
        flat = main[:, :2]
    else:
        from sklearn.manifold import TSNE  # type: ignore[import-untyped]
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        start = main[:, :2] / max(float(main[:, 0].std()), 1e-12) * 1e-4
        layout = TSNE(
            perplexity=min(30.0, (len(matrix) - 1) / 3), init=start, learning_rate="auto", random_state=seed, n_jobs=1
        )
        with threadpool_limits(limits=1):
            flat = layout.fit_transform(main)
    middle = (flat.max(axis=0) + flat.min(axis=0)) / 2
    reach = np.abs(flat - middle).max()
    flat = (flat - middle) / (reach or 1)
    return [(round(float(x), 4) + 0.0, round(float(y), 4) + 0.0) for x, y in flat]


def _main_directions(matrix: Matrix) -> Matrix:
    """The rows in the directions in which they differ most, at least two of them; by themselves, so that any length will do."""
    import numpy as np

    centred = matrix - matrix.mean(axis=0)
    values, directions = np.linalg.eigh(centred @ centred.T)
    values, directions = np.clip(values[::-1], 0, None), directions[:, ::-1]
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])])
    found: Matrix = directions * signs * np.sqrt(np.where(values > values.max() * 1e-12, values, 0))
    return np.pad(found, ((0, 0), (0, max(0, 2 - found.shape[1]))))[:, : max(2, min(_KEPT, len(matrix)))]
