"""Which trajectories become training data: small filters, one after the other, each of which says how many it left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from envscaler.errors import UsageError
from envscaler.export.sample import malformed_steps
from envscaler.rollout.trajectory import Trajectory

__all__ = ["IMPOSSIBLE", "Bounds", "Filter", "FilterOptions", "Impossible", "Seen", "apply", "filters", "seen"]

FINISHED: Final = ("finished",)
IMPOSSIBLE: Final = "impossible"


Bounds = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Seen:
    """What filters know of a trajectory. ``run`` is the place of its run among those that are exported; ``turns`` are the
    agent's replies; ``calls`` is a hash over its calls in order."""

    run: int
    id: str
    environment: str
    scenario: str
    setting: str
    status: str
    reward: float | None
    turns: int
    malformed: bool
    calls: str

    @property
    def rank(self) -> tuple[float, int, int, str]:
        """Where it stands among others of its scenario, the best first: by reward, then by fewer turns."""
        return -(self.reward or 0.0), self.turns, self.run, self.id


def seen(run: int, one: Trajectory) -> Seen:
    """What filters want to know of a trajectory."""
    malformed = next(malformed_steps(one), None) is not None
    return Seen(
        run, one.id, one.spec["name"], one.scenario, one.setting, one.status, one.reward, len(one.steps), malformed, _calls(one)
    )  # fmt: skip


def _calls(one: Trajectory) -> str:
    calls = [[call.name, _value(call.arguments)] for message in one.messages for call in message.tool_calls]
    return hashlib.sha256(json.dumps([calls, one.submitted], sort_keys=True).encode()).hexdigest()


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


@dataclass(frozen=True, slots=True)
class Filter:
    """One reason to leave trajectories out. ``keep`` gives those of a list that stay, in their order."""

    name: str
    keep: Callable[[Sequence[Seen]], list[Seen]]


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """What is kept.

    ``statuses``: how an episode may have ended, empty for anyhow. ``malformed``: replies that could not be read are no reason
    to leave one out. ``turns``: the least and the most replies of the agent, None for no bound; ``talks``: those of
    conversations, None for the same. ``min_reward``: what is not scored has less than any. ``duplicates``: the same calls in
    the same scenario may be there twice. ``best``: how many of each scenario and setting, the best first. ``judge``: those are
    left out of which a judge says that their task could not be done.
    """

    statuses: tuple[str, ...] = FINISHED
    malformed: bool = False
    turns: Bounds = (None, None)
    min_reward: float | None = None
    duplicates: bool = False
    best: int | None = None
    judge: bool = False
    talks: Bounds | None = None

    def __post_init__(self) -> None:
        for least, most in (self.turns, self.talks or self.turns):
            if least is not None and most is not None and least > most:
                raise UsageError(f"no number of turns lies between {least} and {most}")
        if self.best is not None and self.best < 1:
            raise UsageError(f"the best {self.best} of a scenario are none; give 1 or more")


Impossible = Callable[[Sequence[Seen]], Collection[tuple[int, str]]]
"""Says of which of those that are left the task could not be done, by run and id."""


def filters(options: FilterOptions, judge: Impossible | None = None) -> tuple[Filter, ...]:
    """The filters that the options ask for, in the order in which they are applied. ``judge`` is asked where they ask for it:
    after all that costs nothing, and before the best are chosen of what it keeps."""
    made = [Filter("the same episode twice", _once)]
    if options.statuses:
        made.append(Filter("status", _each(lambda s: s.status in options.statuses)))
    if not options.malformed:
        made.append(Filter("format", _each(lambda s: not s.malformed)))
    talks = options.turns if options.talks is None else options.talks
    if {*options.turns, *talks} != {None}:
        made.append(
            Filter("turns", _each(lambda s: _within(s.turns, talks if s.setting == "conversation" else options.turns)))
        )
    wanted = options.min_reward
    if wanted is not None:
        made.append(Filter("reward", _each(lambda s: s.reward is not None and s.reward >= wanted)))
    if not options.duplicates:
        made.append(Filter("duplicate", _unlike))
    if options.judge and judge is not None:
        made.append(Filter(IMPOSSIBLE, _judged(judge)))
    if options.best is not None:
        made.append(Filter("not the best", _best(options.best)))
    return tuple(made)


def apply(found: Iterable[Seen], chain: Iterable[Filter]) -> tuple[list[Seen], dict[str, int]]:
    """Those that all filters keep, in their order; and how many each left out, by its name."""
    kept, dropped = list(found), {}
    for one in chain:
        stay = one.keep(kept)
        dropped[one.name] = len(kept) - len(stay)
        kept = stay
    return kept, dropped


def _each(good: Callable[[Seen], bool]) -> Callable[[Sequence[Seen]], list[Seen]]:
    return lambda found: [one for one in found if good(one)]


def _judged(impossible: Impossible) -> Callable[[Sequence[Seen]], list[Seen]]:
    def keep(found: Sequence[Seen]) -> list[Seen]:
        out = impossible(found)
        return [one for one in found if (one.run, one.id) not in out]

    return keep


def _within(number: int, bounds: Bounds) -> bool:
    least, most = bounds
    return (least is None or number >= least) and (most is None or number <= most)


def _once(found: Sequence[Seen]) -> list[Seen]:
    first: dict[str, Seen] = {}
    for one in found:
        first.setdefault(one.id, one)
    return list(first.values())


def _unlike(found: Sequence[Seen]) -> list[Seen]:
    """Of those with the same calls the best one."""
    first: dict[tuple[str, str, str], Seen] = {}
    for one in sorted(found, key=lambda s: s.rank):
        first.setdefault((one.scenario, one.setting, one.calls), one)
    return _among(found, first.values())


def _best(most: int) -> Callable[[Sequence[Seen]], list[Seen]]:
    def keep(found: Sequence[Seen]) -> list[Seen]:
        groups: dict[tuple[str, str], list[Seen]] = {}
        for one in sorted(found, key=lambda s: s.rank):
            groups.setdefault((one.scenario, one.setting), []).append(one)
        return _among(found, [one for group in groups.values() for one in group[:most]])

    return keep


def _among(found: Sequence[Seen], chosen: Iterable[Seen]) -> list[Seen]:
    ids = {(one.run, one.id) for one in chosen}
    return [one for one in found if (one.run, one.id) in ids]
