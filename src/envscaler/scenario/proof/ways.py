"""Other ways to the solution's end: another order, more or fewer reads, a refused call first, other free values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from random import Random
from typing import Any, Final

from envscaler.scenario.pointers import replaced
from envscaler.scenario.proof.guesses import Guesses
from envscaler.scenario.proof.near import free_places, is_free
from envscaler.scenario.proof.others import Other, OtherValues
from envscaler.scenario.proof.trial import Call, End, Trial

__all__ = ["Way", "free_values", "other_ways"]

_READS: Final = 3
_SWAPS: Final = 4


@dataclass(frozen=True, slots=True)
class Way:
    """Another way and what it came to."""

    kind: str
    note: Mapping[str, Any]
    end: End


def other_ways(trial: Trial, rng: Random) -> Iterator[Way]:
    """Ways whose end is the solution's but for incidental fields and the keys of new records."""
    for kind, note, calls in _ways(trial, rng):
        results = trial.play(calls)
        if results is not None and trial.arrived():
            yield Way(kind, note, trial.ended(results))


def _ways(trial: Trial, rng: Random) -> Iterator[tuple[str, Mapping[str, Any], list[Call]]]:
    calls = list(trial.calls)
    needed = [call for n, call in enumerate(calls) if n in trial.writes]
    if len(needed) < len(calls):
        yield "fewer-calls", {"steps": [call.step for call in needed]}, needed
    reads = [call for call in calls if trial.world.tools[call.tool].kind == "read" and call.actor == "agent"]
    if reads:
        again = [Call(call.tool, call.arguments) for call in reads]
        yield "reads-again", {"after": "each step"}, [one for call in calls for one in (call, *again)]
    yield from _reads(trial, rng, calls)
    yield from _refused_first(trial, calls)
    yield from _orders(trial, calls)


def _reads(trial: Trial, rng: Random, calls: list[Call]) -> Iterator[tuple[str, Mapping[str, Any], list[Call]]]:
    if not trial.world.reads:
        return
    guesses = Guesses(trial.world, trial.at(0), [call.arguments for call in calls], rng)
    tools = list(trial.world.reads)
    rng.shuffle(tools)
    more = [Call(tool.name, made) for tool in tools[:_READS] for made in guesses.calls(tool, 1)]
    if more:
        yield "extra-reads", {"reads": [call.tool for call in more]}, [*more, *calls, *more]


def _refused_first(trial: Trial, calls: list[Call]) -> Iterator[tuple[str, Mapping[str, Any], list[Call]]]:
    """An unknown argument is refused by every tool."""
    if trial.writes:
        first = trial.calls[trial.writes[0]]
        if first.actor == "agent":
            wrong = Call(first.tool, {**first.arguments, "no_such_argument": 1})
            yield "refused-first", {"tool": first.tool}, [wrong, *calls]


def _orders(trial: Trial, calls: list[Call]) -> Iterator[tuple[str, Mapping[str, Any], list[Call]]]:
    """Two steps that follow each other swapped, and all writes the other way round."""
    writes = trial.writes
    for one, other in islice(pairwise(writes), _SWAPS):
        order = list(range(len(calls)))
        order[one], order[other] = other, one
        yield "reordered", {"order": order}, [calls[n] for n in order]
    if len(writes) > 2:
        turned = dict(zip(writes, reversed(writes), strict=True))
        order = [turned.get(n, n) for n in range(len(calls))]
        yield "reordered", {"order": order}, [calls[n] for n in order]


def free_values(trial: Trial, wanted: int) -> Iterator[tuple[int, str, Way]]:
    """Steps and places of arguments that are free, each with the end that another value there comes to."""
    for step in trial.writes:
        call = trial.calls[step]
        tried: Counter[str] = Counter()
        for other in _others_where_free(trial, step):
            if tried[other.path] >= wanted:
                continue
            changed = Call(call.tool, replaced(call.arguments, other.path, other.value), step, call.actor)
            end = trial.run((changed, *trial.calls[step + 1 :]), step)
            if all(got.ok == had.ok for got, had in zip(end.results, trial.results[step:], strict=True)):
                tried[other.path] += 1
                yield step, other.path, Way("free-value", {"step": step, "put": {other.path: other.value}}, end)


def _others_where_free(trial: Trial, step: int) -> list[Other]:
    free, call = free_places(trial, step), trial.calls[step]
    if not free:
        return []
    params, values = trial.world.tools[call.tool].params, OtherValues(trial.world, trial.at(step))
    named = ((params[name], value) for name, value in call.arguments.items() if name in params)
    return [other for param, value in named for other in values.of(param, value) if is_free(other.path, free)]
