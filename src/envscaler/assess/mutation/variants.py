"""Calls beside the recorded ones: an argument at the border of what was told, a part of a text, another record's value."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from envscaler.assess.mutation.near import is_time, times_near
from envscaler.assess.mutation.tapes import Step, Tape

__all__ = ["vary"]

_STEPS: Final = 36  # of each tool are varied
_EACH: Final = 40  # variants of one step
_SEEN: Final = 40  # values kept of each argument
_WHOLE: Final = (0, 1, 2, 10, 17, 18, 100, 1000)
_BROKEN: Final = (0.5, 0.005, 1e-9, 2.675, 1e15, 123456789.125)

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?")


@dataclass(slots=True)
class _Stock:
    """What arguments are made of: what each is compared with, values of each as they were recorded, words of the
    state by field, its dates and numbers."""

    compared: Mapping[str, Sequence[Any]]
    seen: dict[str, list[Any]] = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=dict)
    dates: list[str] = field(default_factory=list)
    numbers: list[int | float] = field(default_factory=list)


def vary(tapes: Sequence[Tape], state: Any, seed: int, compared: Mapping[str, Sequence[Any]]) -> None:
    """Give recorded steps variants, which are tried on a fork before the step is made. ``state``: the initial one, for words,
    dates and numbers; ``compared``: numbers and times by the name of an argument. Steps of a tool are chosen so that their
    outcomes are of many kinds."""
    rng = random.Random(f"variants {seed}")  # noqa: S311
    chosen: dict[str, dict[str, list[Step]]] = {}
    stock = _stock(state, compared)
    for tape in tapes:
        for step in tape.steps:
            if isinstance(step.arguments, Mapping) and step.outcome is not None:
                chosen.setdefault(step.tool, {}).setdefault(_kind(step.outcome), []).append(step)
                for name, value in step.arguments.items():
                    values = stock.seen.setdefault(str(name), [])
                    if len(values) < _SEEN and value not in values:
                        values.append(value)
    for kinds in chosen.values():
        for step in _spread(kinds):
            first: list[Step] = []
            rest: list[Step] = []
            for told, made in _variants(step, stock, rng):
                (first if told else rest).append(made)
            rng.shuffle(rest)
            step.variants = [*first[: _EACH // 2], *rest][:_EACH]


def _stock(state: Any, compared: Mapping[str, Sequence[Any]]) -> _Stock:
    stock = _Stock(compared)
    stack: list[tuple[str, Any]] = [("", state)]
    while stack:
        name, part = stack.pop()
        if isinstance(part, Mapping):
            stack += [(str(key), value) for key, value in part.items()]
        elif isinstance(part, list):
            stack += [(name, value) for value in part]
        elif isinstance(part, str):
            stock.words.setdefault(name, []).extend(_parts(part))
            stock.dates += _DATE.findall(part)
        elif isinstance(part, int | float) and not isinstance(part, bool):
            stock.numbers.append(part)
    stock.dates = sorted(set(stock.dates))
    stock.numbers = sorted(set(stock.numbers))
    stock.words = {name: sorted(set(found)) for name, found in sorted(stock.words.items()) if found}
    return stock


def _spread(kinds: Mapping[str, list[Step]]) -> Iterator[Step]:
    """Steps of every kind of outcome in turn."""
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


def _variants(step: Step, stock: _Stock, rng: random.Random) -> Iterator[tuple[bool, Step]]:
    """Variants of a step; true are those of numbers that its outcome told, and of what the argument is compared with."""
    told = str(step.outcome)
    for name, value in step.arguments.items():
        near = [new for new in stock.compared.get(str(name), ()) if isinstance(new, str) is isinstance(value, str)]
        if isinstance(value, int | float) and not isinstance(value, bool):
            near += _told(value, told)
        yield from ((True, Step(step.tool, {**step.arguments, name: new}, step.actor)) for new in near)
        for new in _values(value, stock.seen.get(str(name), ()), stock, rng):
            if type(new) is not type(value) or new != value:
                yield False, Step(step.tool, {**step.arguments, name: new}, step.actor)
    for name in step.arguments:
        yield False, Step(step.tool, {k: v for k, v in step.arguments.items() if k != name}, step.actor)
    for name, values in stock.seen.items():
        if name not in step.arguments and values:
            yield False, Step(step.tool, {**step.arguments, name: rng.choice(values)}, step.actor)


def _told(value: int | float, told: str) -> Iterator[int | float]:
    """The numbers in an outcome, and those beside them."""
    for text in dict.fromkeys(t for t in _NUMBER.findall(told) if len(t) < 16):
        number = float(text) if "." in text or isinstance(value, float) else int(text)
        yield from (number, round(number + 0.01, 2), round(number - 0.01, 2))


def _values(value: Any, seen: Sequence[Any], stock: _Stock, rng: random.Random) -> Iterator[Any]:
    """Other values for an argument."""
    if isinstance(value, bool):
        yield not value
        return
    if isinstance(value, int | float):
        if not abs(value) < 2**53:
            return
        yield from (value + 1, value - 1, round(value + 0.01, 2), round(value - 0.01, 2), value * 2, -value)
        yield from rng.sample(_WHOLE, 3)
        yield from rng.sample(_BROKEN, 2) if isinstance(value, float) else ()
        yield from rng.sample(stock.numbers, min(4, len(stock.numbers)))
    elif isinstance(value, str):
        if is_time(value):
            yield from times_near(value)
            for other in rng.sample(stock.dates, min(6, len(stock.dates))):
                yield other[: len(value)]
        else:
            for name in rng.sample(list(stock.words), min(6, len(stock.words))):
                yield rng.choice(stock.words[name])
            yield from (value.upper(), value.lower(), value[: len(value) // 2], value + "x")
            yield from _digits(value, rng)
    elif isinstance(value, list):
        yield from (value[::-1], value[:1], value + value[:1], [])
        if value:
            yield from ([new, *value[1:]] for new in list(_values(value[0], (), stock, rng))[:6])
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            for new in list(_values(inner, (), stock, rng))[:4]:
                yield {**value, key: new}
            yield {k: v for k, v in value.items() if k != key}
    yield from rng.sample(list(seen), min(4, len(seen)))
    yield None


def _digits(value: str, rng: random.Random) -> Iterator[str]:
    """A text with one of the numbers in it changed."""
    for found in list(re.finditer(r"\d+", value))[:3]:
        if len(found[0]) < 16:
            for number in (int(found[0]) + 1, int(found[0]) - 1, rng.choice((0, 1, 12, 13, 59, 60, 100))):
                yield value[: found.start()] + str(number) + value[found.end() :]


def _parts(text: str) -> list[str]:
    """The words of a text, as someone who searches would type them."""
    found = [w for w in re.split(r"[\W_]+", text) if len(w) > 2 and not w.isdigit()]
    return [*found[:4], *(w.lower() for w in found[:2])]
