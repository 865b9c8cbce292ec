"""The verb that measures the assessor: faults put into sound specs, and what finds them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from envscaler.diagnostics import nearest
from envscaler.errors import UsageError
from envscaler.session.files import StrPath, many, replace_file, spec_files
from envscaler.session.pool import each
from envscaler.session.specs import sound

if TYPE_CHECKING:
    from envscaler.assess.mutation.mutants import Mutant
    from envscaler.assess.mutation.results import Results
    from envscaler.assess.mutation.trial import Effort, Means, Original, Outcome

__all__ = ["mutate", "write_mutation_page"]


def mutate(
    specs: Sequence[StrPath] | StrPath,
    *,
    seed: int = 0,
    per_operator: int = 20,
    operators: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    effort: Effort | None = None,
    jobs: int = 1,
    tell: Callable[[int, int, Outcome], None] | None = None,
) -> Results:
    """Make up to ``per_operator`` mutants of each operator over all specs and try each by every means.

    ``by``: the means, all by default: check, generic, examples, original. ``jobs``: how many processes. ``tell`` hears of
    each mutant, with its place among all. Raises SpecError for a spec with errors, UsageError for an operator or means
    that there is none of.
    """
    from envscaler.assess.mutation.results import Results
    from envscaler.assess.mutation.sample import sample
    from envscaler.assess.mutation.trial import Effort

    if per_operator < 1:
        raise UsageError(f"--per-operator is 1 or more, not {per_operator}")
    means = _means(by)
    files = spec_files(many(specs))[0]
    effort = effort or Effort(seed=seed)
    checked = [sound(f) for f in files]
    drawn = sample(checked, seed=seed, per_operator=per_operator, operators=operators)
    hashes = {c.path: _hash(c.source) for c in checked}
    outcomes: list[Outcome] = []
    for batch in each(partial(_tried, effort=effort, means=means, hashes=hashes), _batches(drawn.mutants, jobs), jobs):
        for outcome in batch:
            outcomes.append(outcome)
            if tell is not None:
                tell(len(outcomes), len(drawn.mutants), outcome)
    return Results(seed, per_operator, effort, tuple(map(str, files)), drawn.sites, tuple(outcomes))


def _means(by: Sequence[str] | None) -> tuple[Means, ...]:
    from envscaler.assess.mutation.trial import MEANS

    for name in by or ():
        if name not in MEANS:
            near = nearest(name, MEANS)
            hint = f"; did you mean {near}?" if near else ""
            raise UsageError(f"no such means: {name}; there are {', '.join(MEANS)}{hint}")
    return tuple(m for m in MEANS if by is None or m in by)


def _batches(mutants: Sequence[Mutant], jobs: int) -> list[tuple[Mutant, ...]]:
    """What is done in one go: each mutant, or, by several processes over many specs, all of a spec, whose calls are then
    recorded once."""
    by_spec = [tuple(group) for _, group in groupby(mutants, key=lambda m: m.path)]
    return by_spec if jobs != 1 and len(by_spec) >= 2 * (jobs or os.cpu_count() or 1) else [(m,) for m in mutants]


def _tried(
    mutants: Sequence[Mutant], effort: Effort, means: tuple[Means, ...], hashes: Mapping[str, str]
) -> list[Outcome]:
    from envscaler.assess.mutation.trial import try_mutant

    original = _original(mutants[0].path, effort)
    if _hash(original.checked.source) != hashes[mutants[0].path]:
        raise UsageError(f"{mutants[0].path} was changed while its mutants were tried; begin again")
    return [try_mutant(original, mutant, means) for mutant in mutants]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=2)  # the mutants of a spec come one after the other
def _original(path: str, effort: Effort) -> Original:
    from envscaler.assess.mutation.trial import Original

    return Original(sound(path), effort)


def write_mutation_page(results: Results, path: StrPath, command: str) -> Path:
    """Write the results as a page of Markdown; ``command`` is said to have made it."""
    from envscaler.assess.mutation.page import page

    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, page(results, command))
    return target
