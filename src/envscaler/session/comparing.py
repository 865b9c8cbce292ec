"""The verb that holds two versions of a spec against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from envscaler.errors import StateError, UsageError
from envscaler.session.files import StrPath, existing, many
from envscaler.session.specs import sound

if TYPE_CHECKING:
    from envscaler.changes import Change, Outcome

__all__ = ["Difference", "diff"]


@dataclass(slots=True)
class Difference:
    """What changed from ``old`` to ``new`` (paths).

    ``refused``: why the new version refuses the old version's initial state, empty when it takes it. ``outcomes``:
    recorded calls that come out otherwise, of ``cases`` replayed.
    """

    old: str
    new: str
    changes: list[Change]
    refused: tuple[str, ...] = ()
    outcomes: list[Outcome] = field(default_factory=list)
    cases: int = 0

    @property
    def breaking(self) -> int:
        """How many of the changes are breaking."""
        return sum(c.breaking for c in self.changes)

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return bool(self.changes or self.refused or self.outcomes)


def diff(
    old: StrPath,
    new: StrPath,
    recordings: Sequence[StrPath] | StrPath = (),
    *,
    api: str | None = None,
    seed: int = 0,
) -> Difference:
    """Compare two versions of a spec; ``recordings`` are replayed on both.

    ``api``: the recorded API, where there are several. Raises SpecError when a version has errors, ReplayFormatError
    where a recording cannot be read, UsageError when no case involves ``api``.
    """
    from envscaler.changes import compare, outcomes
    from envscaler.compiler import compile_spec, load_class

    before, after = sound(old), sound(new)
    found = Difference(str(old), str(new), compare(before, after))
    assert before.spec is not None
    environment = load_class(compile_spec(after))
    if found.changes:
        try:
            environment.prepare(before.spec.initial_state)
        except StateError as error:
            found.refused = error.problems
    files = [existing(Path(p)) for p in many(recordings)]
    if files:
        from envscaler.replay import read_cases

        first = load_class(compile_spec(before))
        for file in files:
            cases = list(read_cases(file, api))
            found.cases += len(cases)
            found.outcomes += outcomes(first, environment, cases, seed)
        if not found.cases:
            raise UsageError("the recordings hold no case" if api is None else f"no case involves {api}")
    return found
