"""Which mutants there are, and which of them are tried: drawn by a seed, the same for the same specs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from envscaler.assess.mutation.mutants import Mutant, Site
from envscaler.assess.mutation.operators import OPERATORS, Material
from envscaler.diagnostics import nearest, one_of
from envscaler.errors import UsageError
from envscaler.spec.checked import Checked

__all__ = ["Sample", "sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """``mutants`` in the order of specs, then of operators; ``sites``: how many places each operator has."""

    seed: int
    mutants: tuple[Mutant, ...]
    sites: dict[str, int] = field(default_factory=dict)


def sample(
    specs: Sequence[Checked], *, seed: int = 0, per_operator: int = 20, operators: Sequence[str] | None = None
) -> Sample:
    """Up to ``per_operator`` mutants of each operator (all of the table by default), over all specs.

    The specs must be free of errors. Raises UsageError for an operator that there is none of.
    """
    names = list(OPERATORS) if operators is None else list(dict.fromkeys(operators))
    for name in names:
        if name not in OPERATORS:
            near = nearest(name, OPERATORS)
            hint = f"; did you mean {near}?" if near else f"; there are {one_of(OPERATORS, 40)}"
            raise UsageError(f"no such operator: {name}{hint}")
    found: dict[str, list[tuple[int, Site]]] = {name: [] for name in names}
    for number, checked in enumerate(specs):
        material = Material(checked)
        for name in names:
            found[name] += [(number, site) for site in dict.fromkeys(OPERATORS[name].sites(material))]
    chosen: list[tuple[int, int, Site]] = []
    for place, name in enumerate(names):
        sites = found[name]
        draw = random.Random(f"{seed}/{name}")  # noqa: S311
        picked = sites if len(sites) <= per_operator else draw.sample(sites, per_operator)
        chosen += [(number, place, site) for number, site in picked]
    chosen.sort(key=lambda c: (c[0], c[1], c[2].edits))
    mutants = tuple(
        Mutant(i, names[place], OPERATORS[names[place]].fault, OPERATORS[names[place]].layer, specs[number].path, site)
        for i, (number, place, site) in enumerate(chosen, 1)
    )
    return Sample(seed, mutants, {name: len(sites) for name, sites in found.items()})
