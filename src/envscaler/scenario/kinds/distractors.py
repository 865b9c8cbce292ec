"""Tasks about a record that another one is much like."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from envscaler.errors import StateError
from envscaler.runtime import shapes as s
from envscaler.scenario.kinds.common import Found, found_plans, made_of, rng_of, scenario_of
from envscaler.scenario.model import Fact, Scenario, User
from envscaler.scenario.wording import worded
from envscaler.scenario.wording.english import noun_of
from envscaler.scenario.wording.values import label_of, said, strip_null
from envscaler.scenario.world import World

__all__ = ["Distractors"]

_SHARE: Final = 0.6  # of the records of a collection that get the name of another
_TRIES: Final = 3  # for each collection, each with fewer records
_MISSES: Final = 10  # plans in a row that are about no such record
_ORDER: Final = ("name", "title", "label", "email", "address", "phone", "subject", "city", "kind")  # what is said first


class Distractors:
    """Some records are given the name of another (or the title, the address) before the search begins, and the task is about
    one of them: a name alone does not say which. The task says that there are two; what else the user knows of the other is
    a fact that no step needs."""

    name: Final = "distractors"
    summary: Final = "records are alike, and only one of them is meant"

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = ()
    ) -> Iterator[Scenario]:
        """See `plugin.Generator`. The scenarios have a state of their own."""
        changed, twins = with_twins(world, state, rng_of(world, self.name, seed, "twins"))
        if not twins:
            return iter(())
        plans = found_plans(world, changed, self.name, seed, tools)
        return made_of(plans, lambda found: self._made(world, changed, twins, found), _MISSES)

    def _made(
        self, world: World, state: Mapping[str, Any], twins: Mapping[tuple[str, str], str], found: Found
    ) -> Scenario | None:
        meant = next((at for at in found.plan.described if at in twins), None)
        if meant is None:
            return None
        collection, other = meant[0], twins[meant]
        noun, field = noun_of(world.collections[collection].record.name), _told_field(world.collections[collection])
        assert field is not None
        name, label = state[collection][other][field.json], label_of(field)
        described = {**found.plan.described, meant: {field.json: name, **found.plan.described[meant]}}
        plan = replace(found.plan, described=described)
        remark = f"there is another {noun} with the {label} {said(name, s.STR)}, which is not the one that I mean"
        told = worded(world, plan, found.style, found.rng, more=[remark])
        fact = Fact(f"other_{noun.replace(' ', '_')}", other, f"The other {noun} is {other}.")
        user = User((*told.facts, fact), told.unknown, told.stop_when)
        return scenario_of(world, self.name, found, told, state=state, user=user, tags={"alike": collection})


def with_twins(
    world: World, state: Mapping[str, Any], rng: random.Random
) -> tuple[Mapping[str, Any], Mapping[tuple[str, str], str]]:
    """A state in which some records bear the name of another, and by record the key of its twin. Only what the spec allows
    is done; the state given is not changed."""
    made = dict(state)
    twins: dict[tuple[str, str], str] = {}
    for name, shape in world.collections.items():
        field, records = _told_field(shape), state.get(name)
        if field is None or not isinstance(records, Mapping) or len(records) < 2:
            continue
        for n in range(_TRIES):
            pairs = _pairs(list(records), rng, _SHARE / 2**n)
            changed = deepcopy(dict(records))
            for one, two in pairs:
                changed[two][field.json] = changed[one][field.json]
            trial = {**made, name: changed}
            if _allowed(world, trial):
                pairs = [pair for pair in pairs if changed[pair[0]][field.json]]
                made = trial
                twins |= {(name, one): two for one, two in pairs} | {(name, two): one for one, two in pairs}
                break
    return made, twins


def _pairs(keys: list[str], rng: random.Random, share: float) -> list[tuple[str, str]]:
    many = max(1, int(len(keys) * share / 2))
    chosen = rng.sample(keys, 2 * many)
    return list(zip(chosen[:many], chosen[many:], strict=True))


def _told_field(shape: s.Collection) -> s.Field | None:
    """The field that a person tells a record by, and two may have alike: a text that no rule of the collection keeps apart."""
    apart = {name for names in shape.unique for name in names}
    texts = [f for f in shape.record.fields if strip_null(f.shape) is s.STR and f.name not in apart]
    ranked = [(rank, f) for f in texts for rank, word in enumerate(_ORDER) if word in f.name.split("_")]
    return min(ranked, key=lambda one: one[0])[1] if ranked else None


def _allowed(world: World, state: Mapping[str, Any]) -> bool:
    try:
        world.base(state)
    except StateError:
        return False
    return True
