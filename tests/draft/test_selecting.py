"""Themes are selected: the same whatever their order, no two alike, of each part of the map its share; and drawn."""

from __future__ import annotations

import itertools
import math
import random
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.draft.atlas import write_map
from envscaler.draft.selecting import Placed, Selection, SelectSettings, require, select
from envscaler.draft.themes import Theme
from envscaler.errors import UsageError
from tests.draft.themes import AGAIN, SIXTY, theme

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("sklearn", "matplotlib")),
    reason="scikit-learn or matplotlib is not installed: pip install 'envscaler[draft]'",
)


def made(number: int, usefulness: int = 8, modelability: int = 8, **more: Any) -> Theme:
    scores = {"usefulness": usefulness, "modelability": modelability}
    one = theme(f"Place {number}", "things", f"things are done in way {number}", "none", number + 1, **scores)
    return one.model_copy(update=more)


def turned(angle: float) -> list[float]:
    return [math.cos(math.radians(angle)), math.sin(math.radians(angle))]


def selected(*angles: float, themes: Sequence[Theme] = (), **more: Any) -> Selection:
    themes = themes or [made(number) for number in range(len(angles))]
    return select(themes, [turned(angle) for angle in angles], SelectSettings(places=False, **more))


def told(selection: Selection) -> dict[str, str]:
    return {one.theme.name: " ".join(filter(None, (one.reason, one.like))) for one in selection.themes}


# -- one thing at a time


def test_least_scores() -> None:
    themes = [made(0, 4, 9), made(1, 9, 4), made(2, 4, 4), made(3, 5, 5)]
    found = selected(0, 90, 180, 270, themes=themes)
    assert told(found) == {"place_3": "", "place_0": "usefulness", "place_1": "modelability", "place_2": "usefulness"}
    assert found.counts == {"usefulness": 2, "modelability": 1}
    assert not selected(0, themes=[made(0, 4, 4)], least_usefulness=1, least_modelability=1).counts


def test_of_two_alike_the_better_scored_stays() -> None:
    themes = [made(0, 6, 6), made(1, 9, 9), made(2, 7, 7)]
    assert told(selected(0, 20, 90, themes=themes)) == {"place_1": "", "place_2": "", "place_0": "near Place 1"}
    assert told(selected(0, 30, 90, themes=themes)) == {"place_1": "", "place_2": "", "place_0": ""}
    # what is near to a dropped one alone stays
    chain = [made(0, 9, 9), made(1, 8, 8), made(2, 7, 7)]
    assert told(selected(0, 20, 40, themes=chain)) == {"place_0": "", "place_1": "near Place 0", "place_2": ""}
    assert told(selected(0, 20, 40, themes=chain, near=0.5))["place_2"] == "near Place 0"


def test_the_same_name_or_summary_is_the_same() -> None:
    themes = [
        made(0), made(1, 7, 7, name="place_0"), made(2, 7, 7, summary="Where things - are done, in WAY 0!"), made(3, 7, 7),
    ]  # fmt: skip
    found = [(one.theme.title, one.reason, one.like) for one in selected(0, 90, 180, 270, themes=themes).themes]
    assert sorted(found) == [
        ("Place 0", "", None), ("Place 1", "same", "Place 0"), ("Place 2", "same", "Place 0"), ("Place 3", "", None),
    ]  # fmt: skip


def test_every_cluster_has_its_share() -> None:
    groups = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 120.0, 121.0, 122.0, 240.0]
    scores = [10, 10, 10, 10, 10, 10, 6, 5, 5, 5]
    themes = [made(number, score, score) for number, score in enumerate(scores)]
    found = selected(*groups, themes=themes, near=1.0, clusters=3, count=7)
    assert {one.theme.name for one in found.themes if one.reason} == {"place_3", "place_4", "place_5"}
    assert found.counts == {"quota": 3}
    assert {one.cluster for one in found.themes} == {0, 1, 2}
    few = selected(*groups, themes=themes, near=1.0, clusters=3, count=2)
    assert {one.name for one in few.chosen} == {"place_0", "place_6"}
    many = selected(*groups, themes=themes, near=1.0, clusters=99)
    assert len({one.cluster for one in many.themes}) == 10
    assert selected(0, 0, 0, near=1.0, clusters=3, themes=[made(n) for n in range(3)]).counts == {"near": 2}


def test_odd_vectors() -> None:
    settings = SelectSettings(places=True)
    assert select([], [], settings) == Selection()
    zero = select([made(0), made(1)], [[0.0, 0.0], [0.0, 0.0]], settings)
    assert len(zero.chosen) == 2
    assert [one.place for one in zero.themes] == [(0.0, 0.0), (0.0, 0.0)]
    (single,) = select([made(0)], [[3.0]], settings).themes
    assert single == Placed(theme=made(0), cluster=0, place=(0.0, 0.0))
    none = select([made(0, 1, 1)], [[3.0]], settings)
    assert none.themes[0].cluster is None
    with pytest.raises(ValueError, match="2 themes have 1 vectors"):
        select([made(0), made(1)], [[1.0]], settings)


# -- whatever the themes are

_THEMES = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.integers(1, 10),
        st.integers(1, 10),
        st.integers(0, 35),
        st.sampled_from([None, "place_1"]),
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(_THEMES, st.none() | st.integers(1, 8), st.sampled_from([0.7, 0.95, 1.0]), st.none() | st.integers(1, 5), st.randoms(use_true_random=False))  # fmt: skip
def test_a_selection_holds_what_it_promises(
    rows: list[tuple[int, int, int, int, str | None]],
    count: int | None,
    near: float,
    clusters: int | None,
    rng: random.Random,
) -> None:
    own = SelectSettings(count=count, near=near, clusters=clusters, seed=3, places=False)
    themes = [made(number, use, model, **({"name": name} if name else {})) for number, use, model, _, name in rows]
    vectors = [turned(angle * 10) for *_, angle, _ in rows]
    found = select(themes, vectors, own)

    order = list(range(len(rows)))
    rng.shuffle(order)
    assert select([themes[n] for n in order], [vectors[n] for n in order], own) == found

    assert Counter(one.theme.model_dump_json() for one in found.themes) == Counter(t.model_dump_json() for t in themes)
    assert sum(found.counts.values()) + len(found.chosen) == len(themes)
    assert count is None or len(found.chosen) <= count
    assert all(one.usefulness >= 5 <= one.modelability for one in found.chosen)
    left = [one for one in found.themes if one.reason in ("", "quota")]
    for key in ("name", "summary"):
        assert len({getattr(one.theme, key) for one in left}) == len(left)
    angles: dict[str, list[int]] = {}
    for one, (*_, angle, _) in zip(themes, rows, strict=True):
        angles.setdefault(one.model_dump_json(), []).append(angle)
    alone = [angles[one.theme.model_dump_json()][0] for one in left if len(angles[one.theme.model_dump_json()]) == 1]
    for a, b in itertools.combinations(alone, 2):
        assert math.cos(math.radians((a - b) * 10)) < near
    shares = Counter(one.cluster for one in found.themes if not one.reason)
    fullest = max(shares.values(), default=0)
    for cluster in {one.cluster for one in left}:  # a cluster has less than another only if it has no more
        whole = sum(one.cluster == cluster for one in left)
        assert shares[cluster] >= min(whole, fullest - 1)


def test_a_map_is_the_same_whatever_the_order() -> None:
    themes = [*SIXTY[:14], *AGAIN[:2]]
    vectors = [turned(number * 23) + turned(number * 7) for number in range(len(themes))]
    order = random.Random(5).sample(range(len(themes)), len(themes))
    own = SelectSettings(count=6, near=0.99)
    one, other = select(themes, vectors, own), select([themes[n] for n in order], [vectors[n] for n in order], own)
    assert one == other
    assert Selection.model_validate_json(one.model_dump_json()) == one
    assert all(place.place and max(map(abs, place.place)) <= 1 for place in one.themes)
    assert select(themes, vectors, own.model_copy(update={"seed": 1})).chosen  # another seed, another map
    lonely = select(themes, [[1.0, 0.0]] * len(themes), SelectSettings())
    assert len(lonely.chosen) == 1
    assert {place.place for place in lonely.themes} == {(0.0, 0.0)}


def test_what_is_alike_lies_together() -> None:
    angles = [*range(0, 16, 2), *range(120, 136, 2), *range(240, 256, 2)]
    themes = [made(number) for number in range(24)]
    own = SelectSettings(near=1.0, clusters=3)
    found = select(themes, [turned(angle) for angle in angles], own)
    places: dict[int | None, list[tuple[float, float]]] = {}
    for one in found.themes:
        assert one.place is not None
        places.setdefault(one.cluster, []).append(one.place)
    assert [len(group) for group in places.values()] == [8, 8, 8]
    middles = {k: (sum(x for x, _ in g) / 8, sum(y for _, y in g) / 8) for k, g in places.items()}
    for cluster, group in places.items():
        for place in group:
            assert min(middles, key=lambda k: math.dist(middles[k], place)) == cluster


# -- the picture


def drawn(selection: Selection, path: Path) -> list[str]:
    """The texts of a map, which is the same when it is drawn again."""
    write_map(selection, path)
    first = path.read_bytes()
    write_map(selection, path)
    assert path.read_bytes() == first
    return ["".join(text.itertext()) for text in ET.fromstring(first).iter("{http://www.w3.org/2000/svg}text")]


def laid(themes: Sequence[Theme], **more: Any) -> Selection:
    vectors = [turned(number * 23) + turned(number * 7) for number in range(len(themes))]
    return select(themes, vectors, SelectSettings(**{"near": 1.0, **more}))


@pytest.mark.slow
def test_a_map_names_its_themes(tmp_path: Path) -> None:
    texts = drawn(laid(SIXTY, count=20), tmp_path / "map.svg")
    chosen = {one.title for one in laid(SIXTY, count=20).chosen}
    assert chosen <= set(texts)
    assert len(set(texts) & {one.title for one in SIXTY}) > 50
    assert "60 themes, 20 chosen (dropped: 40 quota)" in texts
    assert {"chosen", "dropped"} <= set(texts)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 6])
def test_few_themes_work_too(tmp_path: Path, count: int) -> None:
    texts = drawn(laid(SIXTY[:count]), tmp_path / "map.svg")
    assert {one.title for one in SIXTY[:count]} <= set(texts)
    assert f"{count} theme{'' if count == 1 else 's'}, {count} chosen" in texts


def test_hostile_titles(tmp_path: Path) -> None:
    titles = ["$x^{2", "<b>&amp;</b>", "眼镜店", "a\nb\x00c\u202e", "W" * 200, r"\frac{$"]
    themes = [made(number, title=title) for number, title in enumerate(titles)]
    texts = drawn(laid(themes), tmp_path / "map.svg")
    assert {"$x^{2", "<b>&amp;</b>", "眼镜店", "a b c", "W" * 33 + "…", r"\frac{$"} <= set(texts)


def test_files_of_maps(tmp_path: Path) -> None:
    write_map(laid(SIXTY[:2]), tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="a map is written as SVG or PNG"):
        write_map(laid(SIXTY[:2]), tmp_path / "map.doc")
    with pytest.raises(UsageError, match="no such file or directory"):
        write_map(laid(SIXTY[:2]), tmp_path / "not" / "map.svg")


def test_what_is_missing_is_said_early(monkeypatch: pytest.MonkeyPatch) -> None:
    require()
    monkeypatch.setattr("envscaler.draft.selecting.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"needs scikit-learn and matplotlib: pip install 'envscaler\[draft\]'"):
        require()
