"""The verb that counts specs: the paper's table of statistics, and its distributions as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from envscaler.diagnostics import Diagnostic
from envscaler.errors import UsageError
from envscaler.session.files import StrPath, many, spec_files
from envscaler.session.specs import checked_file

if TYPE_CHECKING:
    from envscaler.stats import Counts, Summary

__all__ = ["BadSpec", "Counted", "stats"]


@dataclass(frozen=True, slots=True)
class BadSpec:
    """A spec that could not be counted, and why."""

    path: str
    source: str
    diagnostics: list[Diagnostic]


@dataclass(slots=True)
class Counted:
    """The numbers of each spec, the items over all of them, the specs that have errors, the pictures written."""

    specs: list[Counts]
    items: list[Summary]
    bad: list[BadSpec] = field(default_factory=list)
    plots: list[Path] = field(default_factory=list)


def stats(paths: Sequence[StrPath] | StrPath, plots: StrPath | None = None, form: str = "png") -> Counted:
    """Count specs. ``plots``: a folder for the distributions, in the form `png` or `svg`.

    Raises UsageError when pictures are wanted and cannot be drawn.
    """
    from envscaler.stats import FORMATS, count, plot, summarize

    if form not in FORMATS:
        raise UsageError(f"no such form of pictures: {form}; there are {' and '.join(FORMATS)}")
    specs, bad = [], []
    for file in spec_files(many(paths))[0]:
        checked = checked_file(file)
        if checked.ok:
            specs.append(count(checked))
        else:
            bad.append(BadSpec(checked.path, checked.source, [d for d in checked.diagnostics if d.severity == "error"]))
    drawn = plot(specs, Path(plots), form) if plots is not None and specs else []
    return Counted(specs, summarize(specs), bad, drawn)
