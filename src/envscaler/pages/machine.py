"""A rule's moves as a drawing: the members of an enum from left to right, an arrow for each move."""

from __future__ import annotations

from dataclasses import dataclass

from envscaler.pages.diagram import MOST, Arrow, arrow, text_width
from envscaler.pages.layers import Edge, lay_out
from envscaler.spec.model import RuleDef, Spec
from envscaler.spec.types import MISSING, Enum, strip_null

__all__ = ["Machine", "Member", "draw_moves"]

_HEIGHT = 30


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the enum. ``first``: the field's default; ``last``: nothing follows it."""

    name: str
    x: float
    y: float
    width: float
    height: float
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Machine:
    width: int
    height: int
    members: tuple[Member, ...]
    arrows: tuple[Arrow, ...]


def draw_moves(spec: Spec, rule: RuleDef) -> Machine | None:
    """The drawing of a rule with moves; None for other rules, and where there are too many members for a picture."""
    if rule.field is None or rule.moves is None:
        return None
    field = spec.states[rule.field[0]].record.fields[rule.field[1]]
    kind = strip_null(field.type)
    names = [str(v) for v in kind.values] if isinstance(kind, Enum) else list(rule.moves)
    if len(names) > MOST:
        return None
    moves = {(a, b) for a, after in rule.moves.items() for b in after if a != b}
    start = str(field.default) if field.default not in (MISSING, None) else None
    names.sort(key=lambda n: n != start)  # stable: the default first, then as declared
    place = {name: i for i, name in enumerate(names)}
    # Two moves that undo each other are one line with two tips.
    lines = sorted(
        ((a, b) for a, b in moves if (b, a) not in moves or place[a] < place[b]),
        key=lambda m: (place[m[0]], place[m[1]]),
    )
    sizes = {name: (round(text_width(name) + 32, 1), float(_HEIGHT)) for name in names}
    layout = lay_out(sizes, [Edge(a, b, _HEIGHT / 2, _HEIGHT / 2) for a, b in lines], 56, 16)
    left = 30.0  # for the mark of where it begins
    routes = _spread(layout.routes)
    arrows = [
        arrow(
            [(x + left, y + 2) for x, y in route],
            start=(b, a) in moves or i in layout.turned,
            end=(b, a) in moves or i not in layout.turned,
            title=f"{a} and {b}, both ways" if (b, a) in moves else f"from {a} to {b}",
        )
        for i, ((a, b), route) in enumerate(zip(lines, routes, strict=True))
    ]
    members = tuple(
        Member(name, round(x + left, 1), round(y + 2, 1), *sizes[name], name == start, not rule.moves.get(name))
        for name, (x, y) in layout.corners.items()
    )
    return Machine(round(layout.width + left + 4), round(layout.height + 4), members, tuple(arrows))


def _spread(routes: list[list[tuple[float, float]]]) -> list[list[tuple[float, float]]]:
    """The routes with their ends apart where several meet at a side of a member, so that each tip belongs to one line."""
    made = [list(route) for route in routes]
    for end, near in ((0, 1), (-1, -2)):
        meeting: dict[tuple[float, float], list[int]] = {}
        for i, route in enumerate(routes):
            meeting.setdefault(route[end], []).append(i)
        for (x, y), lines in meeting.items():
            lines.sort(key=lambda i: routes[i][near][1])
            step = min(9.0, (_HEIGHT - 8) / len(lines))
            for n, i in enumerate(lines):
                made[i][end] = (x, y + step * (n - (len(lines) - 1) / 2))
    return made
