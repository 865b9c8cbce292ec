"""Calls beside the recorded ones: an argument at the border of what was told, a part of a text, another record's value."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envscaler.assess.mutation.tapes import Step, Tape

__all__ = ["vary"]

_STEPS: Final = 30  # of each tool are varied
_EACH: Final = 24  # variants of one step
_SEEN: Final = 40  # values kept of each argument

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z?)?")


def vary(tapes: Sequence[Tape], state: Any, seed: int) -> None:
    """Give recorded steps variants, which are tried on a fork before the step is made. ``state``: the initial one, for words
    and dates. Steps of a tool are chosen so that their outcomes are of many kinds."""
    rng = random.Random(f"variants {seed}")  # noqa: S311
    chosen: dict[str, dict[str, list[Step]]] = {}
    seen: dict[str, list[Any]] = {}
    for tape in tapes:
        for step in tape.steps:
            if isinstance(step.arguments, Mapping) and step.outcome is not None:
                chosen.setdefault(step.tool, {}).setdefault(_kind(step.outcome), []).append(step)
                for name, value in step.arguments.items():
                    values = seen.setdefault(str(name), [])
                    if len(values) < _SEEN and value not in values:
                        values.append(value)
    words = sorted({w for text in _texts(state) for w in _parts(text)})
    dates = sorted({d for text in _texts(state) for d in _DATE.findall(text)})
    for kinds in chosen.values():
        for step in _spread(kinds):
            found = list(_variants(step, seen, words, dates, rng))
            rng.shuffle(found)
            step.variants = found[:_EACH]


def _spread(kinds: Mapping[str, list[Step]]) -> Iterator[Step]:
    """Steps of every kind of outcome in turn, the successful ones as often as all others together."""
    queues = [list(steps) for steps in kinds.values()]
    given = 0
    while given < _STEPS and any(queues):
        for queue in queues:
            if queue and given < _STEPS:
                given += 1
                yield queue.pop(len(queue) // 2)


def _kind(outcome: Any) -> str:
    """What outcomes have in common but for names and numbers."""
    return "ok" if outcome[0] == "ok" else re.sub(r"[A-Z]?[\w-]*\d[\w.-]*", "#", str(outcome[1:3]))


def _variants(
    step: Step, seen: Mapping[str, list[Any]], words: Sequence[str], dates: Sequence[str], rng: random.Random
) -> Iterator[Step]:
    told = str(step.outcome)
    for name, value in step.arguments.items():
        for new in _values(value, told, seen.get(str(name), ()), words, dates, rng):
            if type(new) is not type(value) or new != value:
                yield Step(step.tool, {**step.arguments, name: new}, step.actor)
    for name in step.arguments:
        yield Step(step.tool, {k: v for k, v in step.arguments.items() if k != name}, step.actor)
    for name, values in seen.items():
        if name not in step.arguments and values:
            yield Step(step.tool, {**step.arguments, name: rng.choice(values)}, step.actor)


def _values(
    value: Any, told: str, seen: Sequence[Any], words: Sequence[str], dates: Sequence[str], rng: random.Random
) -> Iterator[Any]:
    """Other values for an argument."""
    if isinstance(value, bool):
        yield not value
        return
    if isinstance(value, int | float):
        if not abs(value) < 2**53:
            return
        yield from (value + 1, value - 1, round(value + 0.01, 2), round(value - 0.01, 2), value * 2, -value, 0)
        for text in dict.fromkeys(t for t in _NUMBER.findall(told) if len(t) < 16):
            number = float(text) if "." in text or isinstance(value, float) else int(text)
            yield from (number, round(number + 0.01, 2), round(number - 0.01, 2), number + 1, number - 1)
    elif isinstance(value, str):
        if _DATE.fullmatch(value):
            yield from _around(value)
            for other in rng.sample(dates, min(3, len(dates))):
                yield other[: len(value)]
        else:
            yield from rng.sample(words, min(3, len(words)))
            yield from (value.upper(), value.lower(), value[: len(value) // 2], value + "x")
    elif isinstance(value, list):
        yield from (value[::-1], value[:1], value + value[:1], [])
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            for new in list(_values(inner, told, (), words, dates, rng))[:4]:
                yield {**value, key: new}
            yield {k: v for k, v in value.items() if k != key}
    yield from rng.sample(list(seen), min(4, len(seen)))
    yield None


def _around(value: str) -> Iterator[str]:
    try:
        day = datetime.date.fromisoformat(value[:10])
    except ValueError:
        return
    for n in (-1, 1, 7, -30, 365):
        try:
            yield (day + datetime.timedelta(days=n)).isoformat() + value[10:]
        except OverflowError:
            continue


def _texts(node: Any) -> Iterator[str]:
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            stack += [*part.values(), *part.keys()]
        elif isinstance(part, list | tuple):
            stack += part


def _parts(text: str) -> list[str]:
    """The words of a text, as someone who searches would type them."""
    found = [w for w in re.split(r"[\W_]+", text) if len(w) > 2 and not w.isdigit()]
    return [*found[:4], *(w.lower() for w in found[:2])]
