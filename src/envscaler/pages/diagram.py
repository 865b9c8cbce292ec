"""The states as a drawing: a box for each record type with its fields, an arrow for each reference, to what it refers to."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from envscaler.pages.layers import Edge, lay_out
from envscaler.spec.model import Spec, StateDef
from envscaler.spec.types import DictOf, Enum, Key, ListOf, Nullable, Partial, Struct, Type, Union

__all__ = ["MOST", "Arrow", "Box", "Drawing", "Row", "arrow", "clipped", "draw_states", "text_width"]

MOST = 40
"""More boxes than these are no picture any more."""

ROW, HEAD, CHAR, PAD = 19, 28, 6.7, 10  # heights of a row and of the title, width of a character, margin; in pixels
_NAME, _TYPE = 26, 22  # most characters shown of a field's name and of its type
_ACROSS = 980  # boxes without arrows are laid in lines of this width
_GAP_X, _GAP_Y = 56, 22


@dataclass(frozen=True, slots=True)
class Row:
    """A field in a box. ``shown`` is its type cut to fit, ``type`` the whole; ``y`` is the text's base line."""

    name: str
    shown: str
    type: str
    y: float
    key: bool = False
    refers: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A state. ``kind``: `single`, `tree`, or "" for a plain collection."""

    name: str
    kind: str
    x: float
    y: float
    width: float
    height: float
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Arrow:
    """``path``: the line for SVG's `d`; ``heads``: the tips as points of polygons; ``title`` says what it is."""

    path: str
    heads: tuple[str, ...]
    title: str


@dataclass(frozen=True, slots=True)
class Drawing:
    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def draw_states(spec: Spec) -> Drawing | None:
    """The drawing of a spec's states, or None when there are none, or too many for a picture."""
    states = list(spec.states.values())
    if not states or len(states) > MOST:
        return None
    links = list(_links(states))
    joined = {name for source, target, _ in links if source != target for name in (source, target)}
    sizes = {s.name: _size(s) for s in states}
    edges = [
        (link, Edge(link[1], link[0], HEAD / 2, HEAD + ROW * (link[2] + 0.5))) for link in links if link[0] != link[1]
    ]
    layout = lay_out({n: sizes[n] for n in sizes if n in joined}, [e for _, e in edges], _GAP_X, _GAP_Y)

    margin = 22.0  # for arrows from a record to its own kind
    corners = {name: (x + margin, y + 2) for name, (x, y) in layout.corners.items()}
    width, height = layout.width + margin, layout.height + 2
    alone = [(n, *sizes[n]) for n in sizes if n not in joined]
    if alone:
        below = height + _GAP_Y + 6 if joined else 2.0
        width, height = _pack(alone, corners, width, below, margin)
    arrows = [
        arrow(
            [(x + margin, y + 2) for x, y in route],
            start=i not in layout.turned,
            end=i in layout.turned,
            title=_says(link),
        )
        for i, ((link, _), route) in enumerate(zip(edges, layout.routes, strict=True))
    ]
    arrows += [_loop(link, corners[link[0]]) for link in links if link[0] == link[1]]
    boxes = tuple(_box(s, corners[s.name], sizes[s.name], {i for a, _, i in links if a == s.name}) for s in states)
    return Drawing(round(width + 4), round(height + 2), boxes, tuple(arrows))


def _says(link: tuple[str, str, int]) -> str:
    return f"{link[0]} refer to {link[1]}" if link[0] != link[1] else f"{link[0]} refer to each other"


def _pack(
    boxes: Sequence[tuple[str, float, float]],
    corners: dict[str, tuple[float, float]],
    width: float,
    height: float,
    margin: float,
) -> tuple[float, float]:
    """Lay boxes in lines below what there is; gives the new size of the whole."""
    x, y, line = margin, height, 0.0
    across = max(width, _ACROSS)
    for name, w, h in boxes:
        if x > margin and x + w > across:
            x, y, line = margin, y + line + _GAP_Y, 0.0
        corners[name] = (x, y)
        x, line = x + w + _GAP_Y, max(line, h)
        width, height = max(width, x - _GAP_Y), max(height, y + line)
    return width, height


# -- boxes


def _fields(state: StateDef) -> list[tuple[str, str, bool]]:
    """Name, type and whether it is the key, in the order in which a box shows them."""
    rows = [] if state.key is None else [(state.key.json, str(state.key.type.of), True)]
    return rows + [(f.json, _short(f.type), False) for f in state.record.fields.values()]


def _short(of: Type) -> str:
    match of:
        case Enum(name=None):
            return "enum"
        case Nullable(of=inner):
            return f"{_short(inner)}?"
        case ListOf(item=item):
            return f"list of {_short(item)}"
        case DictOf(value=value):
            return f"dict of {_short(value)}"
        case Key(collection=collection):
            return f"→ {collection}"
    return str(of)


def _size(state: StateDef) -> tuple[float, float]:
    rows = _fields(state)
    widest = max((text_width(clipped(n, _NAME)) + text_width(clipped(t, _TYPE)) + 18 for n, t, _ in rows), default=0.0)
    kind = text_width(_kind(state)) + 14
    return max(widest, text_width(state.name) * 1.12 + kind, 120) + 2 * PAD, HEAD + ROW * len(rows) + 6


def _kind(state: StateDef) -> str:
    return "single" if state.single else "tree" if state.tree is not None else ""


def _box(state: StateDef, corner: tuple[float, float], size: tuple[float, float], refers: set[int]) -> Box:
    rows = tuple(
        Row(clipped(n, _NAME), clipped(t, _TYPE), t, HEAD + ROW * i + 14, key, i in refers)
        for i, (n, t, key) in enumerate(_fields(state))
    )
    return Box(state.name, _kind(state), *_rounded(corner), *_rounded(size), rows)


def _rounded(pair: tuple[float, float]) -> tuple[float, float]:
    return round(pair[0], 1), round(pair[1], 1)


def clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def text_width(text: str) -> float:
    """About the width of text in a monospaced font of 11 pixels."""
    return sum(CHAR * (2 if unicodedata.east_asian_width(c) in "WF" else 1) for c in text)


# -- arrows


def _links(states: Sequence[StateDef]) -> Iterator[tuple[str, str, int]]:
    """From state, to state, row of the field; a field that refers to a state in several ways is one link."""
    names = {s.name for s in states}
    for state in states:
        first = 0 if state.key is None else 1
        for i, field in enumerate(state.record.fields.values(), first):
            for target in dict.fromkeys(_keys(field.type)):
                if target in names:
                    yield state.name, target, i


def _keys(of: Type) -> Iterator[str]:
    match of:
        case Key(collection=collection):
            yield collection
        case Nullable(of=inner) | ListOf(item=inner):
            yield from _keys(inner)
        case DictOf(value=value, key=key):
            yield from _keys(key)
            yield from _keys(value)
        case Partial(of=struct):
            yield from _keys(struct)
        case Struct(collection=None, fields=fields):
            for field in fields.values():
                yield from _keys(field.type)
        case Union(members=members):
            for member in members:
                yield from _keys(member)


def arrow(points: Sequence[tuple[float, float]], *, start: bool, end: bool, title: str) -> Arrow:
    """A smooth line through points from left to right, with a tip at its start, its end, or both."""
    points = [(round(x, 1), round(y, 1)) for x, y in points]
    (x, y), parts = points[0], [f"M{points[0][0] + 6 * start:g} {points[0][1]:g}"]
    tips = []
    if start:
        tips.append(f"{x:g},{y:g} {x + 8:g},{y - 4:g} {x + 8:g},{y + 4:g}")
    for i, ((x, y), (to_x, to_y)) in enumerate(pairwise(points)):
        if i % 2:  # across a column
            parts.append(f"H{to_x:g}")
            continue
        bend = round((to_x - x) / 2, 1)
        last = 6 * (end and i == len(points) - 2)
        parts.append(f"C{x + bend:g} {y:g} {to_x - bend:g} {to_y:g} {to_x - last:g} {to_y:g}")
    if end:
        x, y = points[-1]
        tips.append(f"{x:g},{y:g} {x - 8:g},{y - 4:g} {x - 8:g},{y + 4:g}")
    return Arrow(" ".join(parts), tuple(tips), title)


def _loop(link: tuple[str, str, int], corner: tuple[float, float]) -> Arrow:
    """From a field to the title of its own box, round its left side."""
    x, start, end = corner[0], corner[1] + HEAD + ROW * (link[2] + 0.5), corner[1] + HEAD / 2
    path = f"M{x:g} {start:g} C{x - 20:g} {start:g} {x - 20:g} {end:g} {x - 6:g} {end:g}"
    return Arrow(path, (f"{x:g},{end:g} {x - 8:g},{end - 4:g} {x - 8:g},{end + 4:g}",), _says(link))
