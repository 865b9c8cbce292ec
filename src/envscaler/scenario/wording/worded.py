"""From a plan to what a person writes: the task, the first message, the facts that the person has and lacks."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from envscaler.runtime.values import same
from envscaler.scenario.model import Fact, Source
from envscaler.scenario.plan import Plan
from envscaler.scenario.wording.leaves import Leaf, leaves, source_of
from envscaler.scenario.wording.requests import Request, Speaker, as_fact
from envscaler.scenario.wording.styles import first_message, laid_out
from envscaler.scenario.wording.told import tells
from envscaler.scenario.wording.values import label_of
from envscaler.scenario.world import World

__all__ = ["STOP_WHEN", "Worded", "asked", "worded"]

STOP_WHEN = "Everything that was asked for is done, or you were told why something cannot be done."
"""When the user of a task that can be done is content."""


@dataclass(frozen=True, slots=True)
class Worded:
    """A plan in words. ``task``, ``opening``, ``facts``, ``unknown``, ``stop_when``: as in `model.Scenario` and `model.User`;
    ``opening`` asks for the same without a single value. ``sources``: by call and parameter where its value comes from."""

    task: str
    opening: str
    facts: tuple[Fact, ...]
    unknown: tuple[str, ...]
    stop_when: str
    sources: Mapping[int, Mapping[str, Source]]


def asked(plan: Plan) -> tuple[int, ...]:
    """The calls that a task asks for: writes that go through, or, where there are none, those that are refused."""
    writes = [n for n, call in enumerate(plan.calls) if call.kind == "write"]
    return tuple([n for n in writes if not plan.calls[n].refused] or writes)


def worded(
    world: World,
    plan: Plan,
    style: str,
    rng: random.Random,
    *,
    withheld: Collection[tuple[int, str]] = (),
    background: Sequence[str] = (),
    more: Sequence[str] = (),
) -> Worded:
    """The plan in the words of a style.

    ``withheld``: arguments, by call and parameter, that the task leaves out; the user has them as facts. ``background``:
    paragraphs that change nothing. ``more``: sentences with further wishes, such as what is to be told at the end.
    """
    speaker = Speaker(world, plan)
    requests = [speaker.request(n, [name for at, name in withheld if at == n]) for n in asked(plan)]
    facts = _Facts(speaker, requests)
    sources = {n: dict(call.sources) for n, call in enumerate(plan.calls)} | {
        r.index: dict(r.sources) for r in requests
    }
    for index, name in withheld:
        sources[index][name] = Source("fact", name=facts.add(index, name))
    for one in requests:
        facts.of(one, [name for at, name in withheld if at == one.index])
    seed = rng.getrandbits(64)

    def text(hints: Sequence[str]) -> str:
        values = {"requests": requests, "background": list(background), "hints": list(hints), "more": list(more)}
        return laid_out(style, world.templates, random.Random(seed), **values)  # noqa: S311

    task = text([])
    hints = []
    for index, leaf in _lookups(world, plan):
        fact = facts.telling(leaf)
        if tells(task, leaf):
            continue
        if fact is not None:
            sources[index][leaf.path] = Source("fact", name=fact)
        else:
            hints.append(speaker.detail(index, leaf.path.split("/")[0]).phrase)
    for record in plan.described:
        if not _recognisable(world, plan, record, "\n".join([task, *hints, *(fact.text for fact in facts.made)])):
            hints.append(speaker.records.phrase(record))
    if hints:
        task = text(list(dict.fromkeys(hints)))
    draws = random.Random(seed)  # noqa: S311
    opening = first_message(world.templates, draws, requests=requests, more=list(more))
    known = {fact.name for fact in facts.made}
    unknown = tuple(name for name in _unknown(world, plan) if name not in known)
    return Worded(task, opening, tuple(facts.made), unknown, STOP_WHEN, sources)


def _lookups(world: World, plan: Plan) -> Iterator[tuple[int, Leaf]]:
    """What calls that the task does not ask for are told."""
    wishes = asked(plan)
    for index, call in enumerate(plan.calls):
        if index in wishes:
            continue
        for name, value in call.arguments.items():
            for leaf in leaves(name, value, world.tools[call.tool].params.get(name)):
                if source_of(call.sources, leaf.path).kind == "task":
                    yield index, leaf


def _recognisable(world: World, plan: Plan, record: tuple[str, str], text: str) -> bool:
    """Whether all by which a plan tells a record from others stands in a text."""
    shape = world.collections[record[0]]
    fields = {f.json: f for f in shape.record.fields}
    return all(
        tells(text, leaf)
        for name, value in plan.described[record].items()
        for leaf in leaves(name, value, fields.get(name))
    )


def _unknown(world: World, plan: Plan) -> Iterator[str]:
    """Names of keys that the user does not know: those of records that the agent is to find."""
    given: dict[str, None] = {}
    for collection, key in plan.described:
        shape = world.collections.get(collection)
        if shape is not None and shape.key.json not in plan.described[collection, key]:
            given[shape.key.json] = None
    return iter(given)


class _Facts:
    """What the user knows, each thing once."""

    def __init__(self, speaker: Speaker, requests: Sequence[Request]) -> None:
        self.speaker, self.requests = speaker, {r.index: r for r in requests}
        self.made: list[Fact] = []

    def of(self, request: Request, done: Collection[str]) -> None:
        """Facts for all that a wish tells."""
        named = [*request.named, *(detail.param for detail in request.details)]
        for name in sorted(set(named) - set(done), key=list(self._call(request.index).arguments).index):
            if not self._made(request.index, name):
                self.add(request.index, name)

    def _made(self, index: int, name: str) -> bool:
        """Whether an argument is a record that does not exist yet."""
        call = self._call(index)
        field = self.speaker.world.tools[call.tool].params.get(name)
        source = source_of(call.sources, name)
        if source.kind != "found" or field is None:
            return False
        return self.speaker.made(source, self.speaker.records.at(index, field.shape, call.arguments[name])) != ""

    def add(self, index: int, name: str) -> str:
        """The name of the fact that tells an argument."""
        call, request = self._call(index), self.requests[index]
        field = self.speaker.world.tools[call.tool].params.get(name)
        label = label_of(field) if field is not None else name
        shown = self.speaker.detail(index, name, full=True).value
        fields = self._described(index, name)
        value = call.arguments[name] if fields is None else fields[0] if len(fields) == 1 else fields
        several = self._several(name, call.arguments[name])
        text = as_fact(label, shown.removeprefix(f"{label} "), request.bare if several else "")
        wanted = name if fields is None else label.replace(" ", "_")
        for fact in self.made:
            if fact.text == text and same(fact.value, value):
                return fact.name
        taken = {fact.name for fact in self.made}
        free = next(n for n in chain((wanted,), (f"{wanted}_{i}" for i in count(2))) if n not in taken)
        self.made.append(Fact(free, value, text))
        return free

    def telling(self, leaf: Leaf) -> str | None:
        """The name of a fact that is the value of a leaf and tells it."""
        return next((f.name for f in self.made if same(f.value, leaf.value) and tells(f.text, leaf)), None)

    def _call(self, index: int) -> Any:
        return self.speaker.plan.calls[index]

    def _described(self, index: int, name: str) -> list[Any] | None:
        """What the user knows of a record that the agent is to find; None for any other argument."""
        call = self._call(index)
        source = source_of(call.sources, name)
        if source.kind != "found":
            return None
        record = next((r for r in self.speaker.plan.described if same(r[1], call.arguments[name])), None)
        fields = self.speaker.records.described(record) if record is not None else None
        return list(fields.values()) if fields is not None else None

    def _several(self, name: str, value: Any) -> bool:
        """Whether wishes differ in what they say of a parameter."""
        calls = [self._call(n) for n in self.requests]
        return (
            any(name in c.arguments and not same(c.arguments[name], value) for c in calls)
            and sum(name in c.arguments for c in calls) > 1
        )
