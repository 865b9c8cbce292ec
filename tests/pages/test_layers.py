"""The layout: nothing overlaps, lines run from column to column, and the same input gives the same drawing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from envscaler.pages.layers import Edge, Layout, lay_out

GAP_X, GAP_Y = 40.0, 20.0


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, tuple[float, float]], list[Edge]]:
    names = [f"n{i}" for i in range(draw(st.integers(1, 10)))]
    sizes = {n: (float(draw(st.integers(40, 200))), float(draw(st.integers(30, 300)))) for n in names}
    pairs = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=18))
    return sizes, [Edge(a, b, 10.0, sizes[b][1] - 10) for a, b in pairs if a != b]


def boxes(sizes: dict[str, tuple[float, float]], made: Layout) -> list[tuple[float, float, float, float]]:
    return [(x, y, x + sizes[n][0], y + sizes[n][1]) for n, (x, y) in made.corners.items()]


@given(graphs())
def test_boxes_stand_apart_inside_the_drawing(graph: tuple[dict[str, tuple[float, float]], list[Edge]]) -> None:
    sizes, edges = graph
    made = lay_out(sizes, edges, GAP_X, GAP_Y)
    found = boxes(sizes, made)
    assert made.corners.keys() == sizes.keys()
    for i, (left, top, right, bottom) in enumerate(found):
        assert left >= 0
        assert top >= -1e-6
        assert right <= made.width + 1e-6
        assert bottom <= made.height + 1e-6
        for a, b, c, d in found[i + 1 :]:
            assert (
                right + GAP_X <= a + 1e-6
                or c + GAP_X <= left + 1e-6
                or bottom + GAP_Y <= b + 1e-6
                or d + GAP_Y <= top + 1e-6
            )


@given(graphs())
def test_lines_run_right_from_box_to_box_and_cross_none(
    graph: tuple[dict[str, tuple[float, float]], list[Edge]],
) -> None:
    sizes, edges = graph
    made = lay_out(sizes, edges, GAP_X, GAP_Y)
    for i, (edge, route) in enumerate(zip(edges, made.routes, strict=True)):
        first, last = (edge.target, edge.source) if i in made.turned else (edge.source, edge.target)
        x, _ = made.corners[first]
        assert route[0][0] == x + sizes[first][0]
        assert route[-1][0] == made.corners[last][0]
        assert [x for x, _ in route] == sorted(x for x, _ in route)
        for (x, y), (to_x, _) in zip(route[1::2], route[2::2], strict=False):  # level, across a column
            assert all(
                not (left < to_x and x < right and top < y < bottom) for left, top, right, bottom in boxes(sizes, made)
            )


@given(graphs())
def test_the_same_input_gives_the_same_drawing(graph: tuple[dict[str, tuple[float, float]], list[Edge]]) -> None:
    sizes, edges = graph
    assert lay_out(sizes, edges, GAP_X, GAP_Y) == lay_out(dict(sizes), list(edges), GAP_X, GAP_Y)


def test_crossings_are_taken_out() -> None:
    sizes = dict.fromkeys("abxy", (50.0, 30.0))
    made = lay_out(sizes, [Edge("a", "y", 15, 15), Edge("b", "x", 15, 15)], GAP_X, GAP_Y)
    a, b, x, y = (made.corners[n][1] for n in "abxy")
    assert (a < b) == (y < x)


def test_a_cycle_is_turned_once() -> None:
    sizes = dict.fromkeys("abc", (50.0, 30.0))
    made = lay_out(sizes, [Edge("a", "b", 15, 15), Edge("b", "c", 15, 15), Edge("c", "a", 15, 15)], GAP_X, GAP_Y)
    assert made.turned == {2}
    assert [made.corners[n][0] for n in "abc"] == [0.0, 90.0, 180.0]
