"""What an initial state is to be like: how it begins, how large it is, its mixes and edge cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from envscaler.diagnostics import nearest
from envscaler.errors import UsageError
from envscaler.runtime import shapes as s
from envscaler.scenario.world import World

__all__ = ["DataSettings"]


@dataclass(frozen=True, slots=True)
class DataSettings:
    """How to make a state.

    ``way``: `fresh` gives every record new keys and values, `mutated` keeps the records there are and changes some.
    ``size``: records in all collections together; ``sizes``: in one of them. Left out: as many as there are.
    ``shares``: by `collection.field`, for values of an enum or a bool, which part of the records has them.
    ``change``: which part of the records a mutated state changes, takes away or adds.
    ``edges``: which part of the records gets an odd but allowed value: a name that another one has, letters from
    elsewhere, zero, a value at its limit, an old date.
    ``acts``: how many calls of the environment's own write tools are made upon it at the end. Left out: some where the
    spec has no collections, none elsewhere.
    ``locale``: of invented names and addresses, as Faker names them.
    """

    way: Literal["fresh", "mutated"] = "fresh"
    size: int | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    change: float = 0.3
    edges: float = 0.05
    acts: int | None = None
    locale: str = "en_US"

    def checked(self, world: World) -> DataSettings:
        """The settings themselves. Raises UsageError for those that the world has no place for."""
        if self.way not in ("fresh", "mutated"):
            raise UsageError(f"way: expected fresh or mutated, got {self.way}")
        counts = {"size": self.size or 0, "acts": self.acts or 0} | {
            f"sizes.{name}": n for name, n in self.sizes.items()
        }
        for name, count in counts.items():
            if count < 0:
                raise UsageError(f"{name}: expected 0 or more, got {count}")
        for name, share in (("change", self.change), ("edges", self.edges)):
            if not 0 <= share <= 1:
                raise UsageError(f"{name}: expected a share between 0 and 1, got {share}")
        for name in self.sizes:
            if name not in world.collections:
                raise UsageError(f"sizes: {_unknown('collection', name, world.collections)}")
        for place, mix in self.shares.items():
            _check_mix(world, place, mix)
        return self


def _check_mix(world: World, place: str, mix: Mapping[str, float]) -> None:
    name, _, inner = place.partition(".")
    if name not in world.collections:
        raise UsageError(f"shares: {_unknown('collection', name, world.collections)}")
    fields = {f.json: f for f in world.collections[name].record.fields}
    if inner not in fields:
        raise UsageError(f"shares: {_unknown(f'field of {name}', inner, fields)}")
    shape = fields[inner].shape
    of = shape.of if isinstance(shape, s.Nullable) else shape
    if not isinstance(of, s.Enum) and of is not s.BOOL:
        raise UsageError(f"shares: {place} is neither an enum nor true or false")
    values = [str(v) for v in of.values] if isinstance(of, s.Enum) else ["true", "false"]
    for value, share in mix.items():
        if value not in values:
            raise UsageError(f"shares: {_unknown(f'value of {place}', value, values)}")
        if not 0 <= share <= 1:
            raise UsageError(f"shares: {place}: expected a share between 0 and 1, got {share}")
    if sum(mix.values()) > 1:
        raise UsageError(f"shares: {place}: the shares come to more than 1")


def _unknown(what: str, name: str, known: Mapping[str, object] | list[str]) -> str:
    near = nearest(name, known)
    return f"no {what} {name}" + (f"; did you mean {near}?" if near else f"; there are {', '.join(known) or 'none'}")
