"""Which writes of a walk are needed: those without which the end, or the way there, is another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from envscaler.scenario.essence import Ending, essence
from envscaler.scenario.search.ground import Ground
from envscaler.scenario.search.walk import Move

__all__ = ["made", "pruned"]

_ALL: Final = 4  # writes up to which every selection is tried
_PAIRS: Final = 2


def pruned(ground: Ground, moves: Sequence[Move]) -> tuple[Move, ...]:
    """The fewest of the moves, in order, that lead where all of them lead; empty when nothing is changed in the end."""
    if not made(ground, moves) or not essence(ground.world, ground.env.diff()):
        return ()
    end = Ending(ground.world, ground.env, ground.env.snapshot())
    left = list(moves)
    shrinking = True
    while shrinking:
        shrinking = False
        for out in _selections(len(left)):
            rest = [move for n, move in enumerate(left) if n not in out]
            if made(ground, rest) and end.like(ground.env):
                left, shrinking = rest, True
                break
    return tuple(left)


def _selections(count: int) -> Iterator[frozenset[int]]:
    """What may be left out, the most first where there are few, else one or two."""
    most = count - 1 if count <= _ALL else _PAIRS
    for many in range(most, 0, -1):
        for chosen in combinations(range(count), many):
            yield frozenset(chosen)


def made(ground: Ground, moves: Sequence[Move]) -> bool:
    """Make moves from the start; whether none of them fails. The environment is left where they lead."""
    ground.env.restore(ground.start)
    return all(ground.env.call(move.tool, dict(move.arguments), move.actor).ok for move in moves)
