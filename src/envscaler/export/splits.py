"""Which environments are held out, so that none is in both parts of the data."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable

from envscaler.errors import UsageError

__all__ = ["TEST", "TRAIN", "held_out"]

TRAIN = "train"
TEST = "test"


def held_out(environments: Iterable[str], share: float, seed: int) -> frozenset[str]:
    """The environments of the test part: a ``share`` of them, at least one, and never all.

    Which ones depends on their names and the seed alone; with a larger share those of a smaller one are among them. Raises
    UsageError for a share that is none, and for less than two environments.
    """
    if not 0 < share < 1 or not math.isfinite(share):
        raise UsageError(f"the share of environments to hold out lies between 0 and 1; {share:g} does not")
    names = sorted(set(environments), key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())
    if len(names) < 2:
        raise UsageError(f"a split by environment needs two environments; there is {', '.join(names) or 'none'}")
    return frozenset(names[: min(max(1, round(share * len(names))), len(names) - 1)])
