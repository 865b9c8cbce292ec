"""Runs held against each other by what their index says: rewards, steps, pass rates, and who wins which scenario.

Every figure is a mean over scenarios, each of which counts the same however often it was played.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, fsum
from typing import Any, Final, NamedTuple

from envscaler.rollout.store import Row

__all__ = ["Comparison", "Duel", "Interval", "Line", "Rate", "Side", "best_at", "compare", "pass_at", "pass_hat"]

_RESAMPLES: Final = 2000
_SEED: Final = 20260108  # of the bootstrap: the same runs give the same interval
_EQUAL: Final = 1e-9  # mean rewards nearer than this are a tie


class Interval(NamedTuple):
    """From ``low`` to ``high``, at 95 percent."""

    low: float
    high: float


class Side(NamedTuple):
    """Who played, in which run and setting."""

    run: str
    setting: str
    agent: str
    model: str
    user: str


class Rate(NamedTuple):
    """For ``k`` tries over the ``scenarios`` that were played at least so often: ``some`` is pass@k, that one of them
    succeeds, ``all`` is pass^k, that each does, ``best`` the mean of the highest reward among them."""

    k: int
    scenarios: int
    some: float
    all: float
    best: float


@dataclass(frozen=True, slots=True)
class Line:
    """What one side reached. ``episodes`` have a reward, ``unscored`` were ended by a goal that could not be told. ``mean`` and
    ``steps`` are None without any episode."""

    side: Side
    scenarios: int
    episodes: int
    unscored: int
    mean: float | None
    interval: Interval | None
    steps: float | None
    rates: tuple[Rate, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        interval = None if self.interval is None else list(self.interval)
        return {
            **self.side._asdict(), "scenarios": self.scenarios, "episodes": self.episodes, "unscored": self.unscored,
            "mean": self.mean, "interval": interval, "steps": self.steps, "rates": [rate._asdict() for rate in self.rates],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Duel:
    """Two sides over the ``common`` scenarios that both played. Whose mean reward on a scenario is higher wins it;
    ``difference`` is that of the means, ``second`` less ``first``. ``changed``: scenarios of these whose spec is another one on
    one of the sides."""

    first: Side
    second: Side
    common: int
    wins: int
    ties: int
    losses: int
    difference: float
    interval: Interval
    changed: int

    def to_json(self) -> dict[str, Any]:
        """A JSON object; wins are those of the first."""
        plain = {name: getattr(self, name) for name in ("common", "wins", "ties", "losses", "difference", "changed")}
        return {
            "first": self.first._asdict(), "second": self.second._asdict(), **plain, "interval": list(self.interval)
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every side in the order of the runs, and each pair of them that has scenarios in common."""

    lines: tuple[Line, ...]
    duels: tuple[Duel, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {"sides": [line.to_json() for line in self.lines], "duels": [duel.to_json() for duel in self.duels]}


def compare(
    runs: Mapping[str, Iterable[Row]], *, tries: Sequence[int] | None = None, success: float = 1.0
) -> Comparison:
    """Compare the rows of runs, by name. ``tries``: the k of pass@k, by default 1, 2, 4, … as far as a side was played.
    ``success``: the reward from which on an episode succeeds."""
    played: dict[Side, dict[str, list[Row]]] = {}
    for run, rows in runs.items():
        for row in rows:
            side = Side(run, row.setting, row.agent, row.model, row.user)
            played.setdefault(side, {}).setdefault(row.scenario, []).append(row)
    order = list(runs)
    sides = sorted(played, key=lambda side: (order.index(side.run), side))
    lines = tuple(_line(side, played[side], tries, success) for side in sides)
    duels = (_duel(one, played[one], other, played[other]) for one, other in combinations(sides, 2))
    return Comparison(lines, tuple(duel for duel in duels if duel is not None))


def pass_at(k: int, played: int, succeeded: int) -> float:
    """How likely one of ``k`` episodes succeeds, where ``succeeded`` of ``played`` did; unbiased, for k up to ``played``."""
    return 1.0 - comb(played - succeeded, k) / comb(played, k)


def pass_hat(k: int, played: int, succeeded: int) -> float:
    """How likely each of ``k`` episodes succeeds; unbiased, for k up to ``played``."""
    return comb(succeeded, k) / comb(played, k)


def best_at(k: int, rewards: Sequence[float]) -> float:
    """The highest reward to be expected among ``k`` of the ``rewards``, drawn without putting any back."""
    ways = comb(len(rewards), k)
    return fsum(reward * comb(place, k - 1) / ways for place, reward in enumerate(sorted(rewards)))


def _line(side: Side, scenarios: Mapping[str, list[Row]], tries: Sequence[int] | None, success: float) -> Line:
    rewards = _rewards(scenarios)
    means = [_mean(one) for one in rewards.values()]
    scored = [[row.steps for row in rows if row.reward is not None] for rows in scenarios.values()]
    steps = [_mean(one) for one in scored if one]
    episodes = sum(map(len, rewards.values()))
    unscored = sum(map(len, scenarios.values())) - episodes
    most = max(map(len, rewards.values()), default=0)
    wanted = tries or [1 << n for n in range(most.bit_length())]
    rates = tuple(_rate(k, list(rewards.values()), success) for k in wanted if k <= most)
    interval = _interval(means) if means else None
    return Line(
        side, len(rewards), episodes, unscored, _mean(means) if means else None, interval,
        _mean(steps) if steps else None, rates,
    )  # fmt: skip


def _rate(k: int, rewards: Sequence[Sequence[float]], success: float) -> Rate:
    enough = [one for one in rewards if len(one) >= k]
    passed = [(len(one), sum(reward >= success for reward in one)) for one in enough]
    return Rate(
        k,
        len(enough),
        _mean([pass_at(k, *one) for one in passed]),
        _mean([pass_hat(k, *one) for one in passed]),
        _mean([best_at(k, one) for one in enough]),
    )


def _duel(first: Side, ours: Mapping[str, list[Row]], second: Side, theirs: Mapping[str, list[Row]]) -> Duel | None:
    one, other = _rewards(ours), _rewards(theirs)
    common = [name for name in one if name in other]
    if not common:
        return None
    gaps = [_mean(other[name]) - _mean(one[name]) for name in common]
    wins, losses = sum(gap < -_EQUAL for gap in gaps), sum(gap > _EQUAL for gap in gaps)
    changed = sum({row.spec_hash for row in ours[name]} != {row.spec_hash for row in theirs[name]} for name in common)
    ties = len(common) - wins - losses
    return Duel(first, second, len(common), wins, ties, losses, _mean(gaps), _interval(gaps), changed)


def _rewards(scenarios: Mapping[str, list[Row]]) -> dict[str, list[float]]:
    """The rewards by scenario, of those that have any."""
    found = {name: [row.reward for row in rows if row.reward is not None] for name, rows in scenarios.items()}
    return {name: rewards for name, rewards in found.items() if rewards}


def _interval(values: Sequence[float]) -> Interval:
    """Where the mean would lie with other scenarios of the same sort: percentiles of a bootstrap over scenarios.

    Over scenarios and not over episodes, because the episodes of one scenario are alike; a bootstrap, because rewards are
    shares, for which Wilson's interval is not made. Where all values are equal it has no width.
    """
    chance = random.Random(_SEED)  # noqa: S311 - no secret
    means = sorted(_mean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return Interval(means[round(0.025 * (_RESAMPLES - 1))], means[round(0.975 * (_RESAMPLES - 1))])


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
