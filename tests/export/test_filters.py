"""Each filter leaves out what it is for, and says how many; what is held out is in one part only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envscaler.errors import UsageError
from envscaler.export.filters import FilterOptions, Seen, apply, filters, seen
from envscaler.export.splits import held_out
from envscaler.testing.exporters import sample

GOOD = Seen(0, "a", "bank", "s", "conversation", "finished", 1.0, 5, False, "calls")
ANY = FilterOptions(statuses=(), malformed=True, duplicates=True)


def left(options: FilterOptions, *found: Seen) -> tuple[list[str], dict[str, int]]:
    kept, dropped = apply(found, filters(options))
    return [one.id for one in kept], {name: count for name, count in dropped.items() if count}


def like(**more: Any) -> Seen:
    return replace(GOOD, **more)


@pytest.mark.parametrize(
    ("options", "bad", "why"),
    [
        (replace(ANY, statuses=("finished",)), like(id="b", status="step_limit"), "status"),
        (replace(ANY, malformed=False), like(id="b", malformed=True), "format"),
        (replace(ANY, turns=(3, 29)), like(id="b", turns=2), "turns"),
        (replace(ANY, turns=(3, 29)), like(id="b", turns=30), "turns"),
        (replace(ANY, turns=(None, 5)), like(id="b", turns=6), "turns"),
        (replace(ANY, min_reward=0.5), like(id="b", reward=0.49), "reward"),
        (replace(ANY, min_reward=0.0), like(id="b", reward=None), "reward"),
        (replace(ANY, duplicates=False), like(id="b", turns=6), "duplicate"),
        (replace(ANY, best=1), like(id="b", reward=0.9, calls="x"), "not the best"),
        (ANY, like(run=1), "the same episode twice"),
    ],
)
def test_one_reason_each(options: FilterOptions, bad: Seen, why: str) -> None:
    assert left(options, GOOD, bad) == (["a"], {why: 1})
    if why != "the same episode twice":
        assert left(options, bad, GOOD) == (["a"], {why: 1})


def test_bounds_are_kept() -> None:
    options = replace(ANY, turns=(3, 29), min_reward=0.5)
    edge = [like(id="b", turns=3), like(id="c", turns=29), like(id="d", reward=0.5)]
    assert left(options, *edge) == (["b", "c", "d"], {})


def test_conversations_may_have_bounds_of_their_own() -> None:
    """As in the paper: 3 to 29, and 5 to 39 in conversations."""
    options = replace(ANY, turns=(3, 29), talks=(5, 39))
    found = [
        like(id=f"{setting[0]}{turns}", setting=setting, turns=turns)
        for setting in ("conversation", "non-conversation")
        for turns in (2, 3, 4, 5, 29, 30, 39, 40)
    ]
    assert left(options, *found) == (["c5", "c29", "c30", "c39", "n3", "n4", "n5", "n29"], {"turns": 8})
    assert left(replace(ANY, talks=(5, None)), *found)[1] == {"turns": 3}


def test_duplicates_and_best_are_by_scenario_and_setting() -> None:
    others = [like(id="b", scenario="t"), like(id="c", setting="non-conversation"), like(id="d", calls="y")]
    assert left(replace(ANY, duplicates=False), GOOD, *others)[0] == ["a", "b", "c", "d"]
    assert left(replace(ANY, best=1), GOOD, *others)[0] == ["a", "b", "c"]
    assert left(replace(ANY, best=2), GOOD, *others)[0] == ["a", "b", "c", "d"]


def test_filters_follow_each_other() -> None:
    """The best is looked for among those that all others keep."""
    long = like(id="b", reward=1.0, turns=50)
    ids, dropped = left(FilterOptions(turns=(3, 29), best=1), like(id="a", reward=0.7), long)
    assert (ids, dropped) == (["a"], {"turns": 1})


@settings(max_examples=30)
@given(st.lists(st.builds(lambda n, s, r: like(id=str(n), scenario=s, reward=r), st.integers(0, 9), st.sampled_from("st"), st.sampled_from([None, 0.5, 1.0]))))  # fmt: skip
def test_counts_add_up(found: list[Seen]) -> None:
    kept, dropped = apply(found, filters(FilterOptions(min_reward=0.5, best=1)))
    assert len(kept) + sum(dropped.values()) == len(found)
    assert [found.index(one) for one in kept] == sorted(found.index(one) for one in kept)


def test_options_that_leave_nothing() -> None:
    with pytest.raises(UsageError, match="between 29 and 3"):
        FilterOptions(turns=(29, 3))
    with pytest.raises(UsageError, match="1 or more"):
        FilterOptions(best=0)


def test_what_is_seen_of_a_trajectory() -> None:
    one = sample().trajectory
    found = seen(0, one)
    assert (found.turns, found.malformed, found.environment) == (4, True, "bank")
    spaced = [m if not m.tool_calls else replace(m, tool_calls=tuple(replace(c, arguments=c.arguments.replace(": ", ":")) for c in m.tool_calls)) for m in one.messages]  # fmt: skip
    assert seen(0, replace(one, messages=tuple(spaced))).calls == found.calls
    assert seen(0, replace(one, messages=one.messages[:5])).calls != found.calls
    assert seen(0, replace(one, submitted={"answer": {}})).calls != found.calls


@settings(max_examples=30)
@given(st.sets(st.text("abc", min_size=1), min_size=2, max_size=40), st.floats(0.01, 0.99), st.integers(0, 5))
def test_held_out(names: set[str], share: float, seed: int) -> None:
    test = held_out(names, share, seed)
    assert test < names
    assert test
    assert abs(len(test) - share * len(names)) <= 1
    assert test == held_out(sorted(names, reverse=True), share, seed)
    assert held_out(names, min(share + 0.2, 0.99), seed) >= test


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_share_that_is_none(share: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        held_out(["a", "b"], share, 0)


def test_one_environment_cannot_be_split() -> None:
    with pytest.raises(UsageError, match="needs two environments; there is bank"):
        held_out(["bank", "bank"], 0.1, 0)
