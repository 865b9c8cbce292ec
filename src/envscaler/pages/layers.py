"""A small layered layout: boxes in columns, edges from left to right, few crossings; the same input gives the same drawing.

The usual steps: edges that close a cycle are turned round, columns are longest paths, long edges get a place in every
column they pass, the order within columns is improved by medians, and heights are set by least squares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

__all__ = ["Edge", "Layout", "lay_out"]

_SWEEPS = 16


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge; ``from_y`` and ``to_y`` are where it is fixed to its boxes, in pixels below their tops."""

    source: str
    target: str
    from_y: float
    to_y: float


@dataclass(slots=True)
class Layout:
    """Top left corners of the boxes, the points each edge goes through (from left to right), and the whole size.

    ``turned`` are the places, in the given list, of edges that are drawn from their target on the left to their source.
    """

    corners: dict[str, tuple[float, float]]
    routes: list[list[tuple[float, float]]]
    turned: set[int]
    width: float
    height: float


@dataclass(slots=True)
class _Box:
    """A box, or the place of a passing edge, in a column. ``left`` and ``right``: neighbours as (box, my y, its y)."""

    name: str
    height: float
    y: float = 0.0
    left: list[tuple[_Box, float, float]] = field(default_factory=list)
    right: list[tuple[_Box, float, float]] = field(default_factory=list)


def lay_out(sizes: Mapping[str, tuple[float, float]], edges: Sequence[Edge], gap_x: float, gap_y: float) -> Layout:
    """Lay out boxes of the given widths and heights. Edges from a box to itself are left to the caller."""
    turned = _turned(list(sizes), edges)
    straight = [_turn(e) if i in turned else e for i, e in enumerate(edges)]
    ranks = _ranks(list(sizes), straight)
    columns: list[list[_Box]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    boxes = {name: _Box(name, height) for name, (_, height) in sizes.items()}
    for name, box in boxes.items():
        columns[ranks[name]].append(box)
    chains = [_chain(e, boxes, ranks, columns) for e in straight]
    columns = _ordered(columns)
    _set_heights(columns, gap_y)

    widths = [max((sizes[b.name][0] for b in column if b.name in sizes), default=0.0) for column in columns]
    lefts = [sum(widths[:i]) + gap_x * i for i in range(len(columns))]
    corners = {name: (lefts[ranks[name]], boxes[name].y) for name in sizes}
    routes = [
        _route(e, chain, corners, sizes, lefts, widths, ranks[e.source])
        for e, chain in zip(straight, chains, strict=True)
    ]
    width = lefts[-1] + widths[-1] if columns else 0.0
    height = max((b.y + b.height for column in columns for b in column), default=0.0)
    return Layout(corners, routes, turned, width, height)


def _turn(edge: Edge) -> Edge:
    return Edge(edge.target, edge.source, edge.to_y, edge.from_y)


def _turned(names: Sequence[str], edges: Sequence[Edge]) -> set[int]:
    """The edges that lead back to a box on the way to them, seen depth first in the given order."""
    leaving: dict[str, list[tuple[int, str]]] = {name: [] for name in names}
    for i, e in enumerate(edges):
        leaving[e.source].append((i, e.target))
    found: set[int] = set()
    colour: dict[str, str] = {}

    def visit(name: str) -> None:
        colour[name] = "open"
        for i, other in leaving[name]:
            if colour.get(other) == "open":
                found.add(i)
            elif other not in colour:
                visit(other)
        colour[name] = "done"

    for name in names:
        if name not in colour:
            visit(name)
    return found


def _ranks(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Columns: each box right of all it is reached from, and those reached from nowhere as far right as they can be."""
    before: dict[str, list[str]] = {name: [] for name in names}
    after: dict[str, list[str]] = {name: [] for name in names}
    for e in edges:
        before[e.target].append(e.source)
        after[e.source].append(e.target)
    ranks: dict[str, int] = {}

    def rank(name: str) -> int:
        if name not in ranks:
            ranks[name] = 1 + max(map(rank, before[name]), default=-1)
        return ranks[name]

    for name in names:
        rank(name)
    for name in names:
        if not before[name] and after[name]:
            ranks[name] = min(ranks[other] for other in after[name]) - 1
    return ranks


def _chain(edge: Edge, boxes: Mapping[str, _Box], ranks: Mapping[str, int], columns: list[list[_Box]]) -> list[_Box]:
    """The places of an edge in the columns between its boxes, made neighbours of each other."""
    made = [_Box("", 12.0) for _ in range(ranks[edge.target] - ranks[edge.source] - 1)]
    for place, column in zip(made, range(ranks[edge.source] + 1, ranks[edge.target]), strict=True):
        columns[column].append(place)
    way = [(boxes[edge.source], edge.from_y), *((p, 6.0) for p in made), (boxes[edge.target], edge.to_y)]
    for (a, y_a), (b, y_b) in pairwise(way):
        a.right.append((b, y_a, y_b))
        b.left.append((a, y_b, y_a))
    return made


# -- order


def _ordered(columns: list[list[_Box]]) -> list[list[_Box]]:
    """The columns, each in the order that gave the fewest crossings in some sweeps to the right and back."""
    best, least = [list(c) for c in columns], _crossings(columns)
    for sweep in range(_SWEEPS):
        rightwards = sweep % 2 == 0
        for i in range(1, len(columns)) if rightwards else range(len(columns) - 2, -1, -1):
            fixed = {id(b): n for n, b in enumerate(columns[i - 1 if rightwards else i + 1])}
            columns[i] = sorted(columns[i], key=_Median(fixed, columns[i], rightwards))
        found = _crossings(columns)
        if found < least:
            best, least = [list(c) for c in columns], found
    return best


class _Median:
    """Orders a column by the mean place of each box's neighbours; one without any keeps its place."""

    def __init__(self, fixed: Mapping[int, int], column: Sequence[_Box], left: bool) -> None:
        self.fixed, self.left = fixed, left
        self.own = {id(b): n for n, b in enumerate(column)}

    def __call__(self, box: _Box) -> float:
        near = [self.fixed[id(other)] + y / 1e4 for other, _, y in (box.left if self.left else box.right)]
        return sum(near) / len(near) if near else float(self.own[id(box)])


def _crossings(columns: Sequence[Sequence[_Box]]) -> int:
    total = 0
    for column, following in pairwise(columns):
        place = {id(b): n for n, b in enumerate(following)}
        ends = [(n, y_a, place[id(other)], y_b) for n, box in enumerate(column) for other, y_a, y_b in box.right]
        total += sum(
            (a[:2] < b[:2] and a[2:] > b[2:]) or (a[:2] > b[:2] and a[2:] < b[2:])
            for i, a in enumerate(ends)
            for b in ends[i + 1 :]
        )
    return total


# -- heights


def _set_heights(columns: Sequence[Sequence[_Box]], gap: float) -> None:
    for column in columns:
        _place(column, [0.0] * len(column), gap)
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            _place(column, [_wish(box, sweep) for box in column], gap)
    top = min((b.y for column in columns for b in column), default=0.0)
    for column in columns:
        for box in column:
            box.y -= top


def _wish(box: _Box, sweep: int) -> float:
    """Where the edges of a box would be level: those of one side in turn, in the end those of both."""
    side = [*box.left, *box.right] if sweep >= _SWEEPS - 4 else (box.left if sweep % 2 == 0 else box.right)
    side = side or [*box.left, *box.right]
    return sum(other.y + y - own for other, own, y in side) / len(side) if side else box.y


def _place(column: Sequence[_Box], wishes: Sequence[float], gap: float) -> None:
    """Set heights as near to the wishes as the order and the gaps allow, in the sense of least squares."""
    offset, blocks = 0.0, []  # a block: sum of wishes, number of boxes, all standing as one
    for box, wish in zip(column, wishes, strict=True):
        blocks.append([wish - offset, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, number = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += number
        offset += box.height + gap
    starts = [total / number for total, number in blocks for _ in range(int(number))]
    offset = 0.0
    for box, start in zip(column, starts, strict=True):
        box.y = start + offset
        offset += box.height + gap


def _route(
    edge: Edge,
    chain: Sequence[_Box],
    corners: Mapping[str, tuple[float, float]],
    sizes: Mapping[str, tuple[float, float]],
    lefts: Sequence[float],
    widths: Sequence[float],
    rank: int,
) -> list[tuple[float, float]]:
    """Start at the source's right side, across each column that is passed, end at the target's left side."""

    def points() -> Iterator[tuple[float, float]]:
        x, y = corners[edge.source]
        yield x + sizes[edge.source][0], y + edge.from_y
        for i, place in enumerate(chain, rank + 1):
            yield lefts[i], place.y + 6
            yield lefts[i] + widths[i], place.y + 6
        x, y = corners[edge.target]
        yield x, y + edge.to_y

    return list(points())
