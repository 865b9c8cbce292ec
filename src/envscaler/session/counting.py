"""The verb that counts specs: the paper's table of statistics, and its distributions as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from envscaler.errors import UsageError
from envscaler.session.files import StrPath, many, spec_files
from envscaler.session.pool import each
from envscaler.session.specs import checked_file

if TYPE_CHECKING:
    from envscaler.stats import Counts, Summary

__all__ = ["BadSpec", "Counted", "stats"]


@dataclass(frozen=True, slots=True)
class BadSpec:
    """A spec that could not be counted: its first error, how many more there are; ``unread`` when it cannot be read."""

    path: str
    reason: str
    more: int = 0
    unread: bool = False


@dataclass(slots=True)
class Counted:
    """The numbers of each spec, the items over all of them, the specs that have errors, the pictures written."""

    specs: list[Counts]
    items: list[Summary]
    bad: list[BadSpec] = field(default_factory=list)
    plots: list[Path] = field(default_factory=list)


def stats(
    paths: Sequence[StrPath] | StrPath, plots: StrPath | None = None, form: str = "png", *, jobs: int = 1
) -> Counted:
    """Count specs, ``jobs`` at a time. ``plots``: a folder for the distributions, in the form `png` or `svg`.

    Raises UsageError when pictures are wanted and cannot be drawn.
    """
    from envscaler.stats import FORMATS, plot, summarize

    if form not in FORMATS:
        raise UsageError(f"no such form of pictures: {form}; there are {' and '.join(FORMATS)}")
    found = list(each(_counted, spec_files(many(paths))[0], jobs))
    bad = [f for f in found if isinstance(f, BadSpec)]
    specs = [f for f in found if not isinstance(f, BadSpec)]
    drawn = plot(specs, Path(plots), form) if plots is not None and specs else []
    return Counted(specs, summarize(specs), bad, drawn)


def _counted(file: Path) -> Counts | BadSpec:
    from envscaler.stats import count

    try:
        checked = checked_file(file)
    except UsageError as error:
        return BadSpec(str(file), str(error), unread=True)
    if checked.ok:
        return count(checked)
    errors = [d for d in checked.diagnostics if d.severity == "error"]
    return BadSpec(checked.path, errors[0].headline(), len(errors) - 1)
