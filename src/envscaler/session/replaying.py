"""Recordings replayed on a spec, or on all specs of a folder that have some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from envscaler.diagnostics import nearest, one_of
from envscaler.errors import UsageError
from envscaler.session.environments import load
from envscaler.session.files import StrPath, existing, many
from envscaler.session.pool import each

if TYPE_CHECKING:
    from envscaler.replay import Difference, Report
    from envscaler.runtime import Environment

__all__ = ["PortReport", "replay", "replay_folder"]


@dataclass(frozen=True, slots=True)
class PortReport:
    """What replaying a port's recordings found. ``tools``: how many tools it has."""

    name: str
    title: str
    spec: Path
    folder: str
    api: str | None
    tools: int
    report: Report


@dataclass(frozen=True, slots=True)
class _File:
    """One recording to be replayed on one spec."""

    spec: Path
    recording: Path
    api: str | None
    known: Path | None
    seed: int


def replay(
    spec: StrPath,
    recordings: Sequence[StrPath] | StrPath,
    *,
    api: str | None = None,
    known: StrPath | None = None,
    seed: int = 0,
    jobs: int = 1,
    tell: Callable[[Difference], None] | None = None,
) -> Report:
    """Run recorded calls against a spec and compare what they give; ``tell`` hears each difference.

    ``jobs``: how many processes, each with a recording of its own. Raises ReplayFormatError where a recording cannot be
    read, UsageError when no case involves ``api``.
    """
    from envscaler.replay import Report

    expected = None if known is None else existing(Path(known))
    files = [_File(Path(spec), existing(Path(p)), api, expected, seed) for p in many(recordings)]
    _class.cache_clear()
    _class(Path(spec))
    report, apis = Report(), set[str]()
    for part, names in each(_replayed, files, jobs):
        report.join(part)
        apis |= names
        if tell is not None:
            for difference in part.differences:
                tell(difference)
    if not report.cases:
        raise UsageError(_no_case(api, apis))
    return report


def replay_folder(folder: StrPath, recordings: StrPath, *, seed: int = 0, jobs: int = 1) -> Iterator[PortReport]:
    """Replay on each spec that the folder's `recordings.yaml` lists what it lists, in its order.

    ``recordings``: the folder that the listed folders lie in. Raises ReplayFormatError for a listing or recording that
    cannot be read, SpecError for a spec with errors.
    """
    from envscaler.replay import Report, read_listing

    place = Path(recordings)
    if not place.is_dir():
        raise UsageError(f"{place}: recordings of a folder of specs are kept in a folder")
    listed = {entry.spec: entry for entry in read_listing(Path(folder))}
    files = [_File(e.spec, file, e.api, e.known, seed) for e in listed.values() for file in e.files(place)]
    _class.cache_clear()
    replayed = zip(files, each(_replayed, files, jobs), strict=True)
    for spec, parts in groupby(replayed, key=lambda pair: pair[0].spec):
        report, entry = Report(), listed[spec]
        for _, (part, _) in parts:
            report.join(part)
        environment = _class(spec)
        yield PortReport(
            environment.name, environment.title, spec, entry.folder, entry.api, len(environment.tool_table), report
        )


def _replayed(file: _File) -> tuple[Report, set[str]]:
    """One recording replayed, and the names of the APIs in it."""
    from envscaler.replay import read_cases, read_known
    from envscaler.replay import replay as run

    apis: set[str] = set()
    known = [] if file.known is None else read_known(file.known)
    cases = read_cases(file.recording, file.api, apis)
    return run(_class(file.spec), cases, known, file.seed), apis


@lru_cache(maxsize=4)  # the recordings of a spec come one after the other
def _class(spec: Path) -> type[Environment]:
    return load(spec)


def _no_case(api: str | None, apis: set[str]) -> str:
    if api is None:
        return "the recordings hold no case"
    near = nearest(api, apis)
    hint = f"; did you mean {near}?" if near else ""
    return f"no case involves {api}; recorded: {one_of(sorted(apis)) or 'no API by name'}{hint}"
