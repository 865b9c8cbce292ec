"""The verbs about files of scenarios: hold them against their specs and prove them once more, report on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler.diagnostics import Diagnostic
from envscaler.errors import SpecError, UsageError
from envscaler.session.files import StrPath, reason, replace_file
from envscaler.session.pool import each
from envscaler.session.specs import sound
from envscaler.session.templates import template_folders
from envscaler.session.worlds import Worlds

if TYPE_CHECKING:
    from envscaler.scenario.model import Scenario, SpecRef
    from envscaler.scenario.reading import Read
    from envscaler.scenario.report import Report
    from envscaler.scenario.states import StateStore
    from envscaler.scenario.summary import Summary
    from envscaler.scenario.world import World

__all__ = ["CheckedFile", "Reported", "check_scenarios", "report_scenarios"]

_TOGETHER: Final = 20  # scenarios that are proved in one go
INDEX: Final = "index.html"
_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class CheckedFile:
    """What was found in a file of ``count`` scenarios, ``proved`` of which hold. ``sources``: texts for excerpts."""

    count: int = 0
    proved: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """How many of the diagnostics are errors."""
        return sum(d.severity == "error" for d in self.diagnostics)


@dataclass(frozen=True, slots=True)
class _Subject:
    """A scenario that can be proved, where it was read, and its world. ``wrong``: an error of it was found already."""

    read: Read
    scenario: Scenario
    world: World
    wrong: bool = False


def check_scenarios(
    path: StrPath,
    *,
    specs: StrPath | None = None,
    any_hash: bool = False,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> CheckedFile:
    """Hold each scenario of a file against its spec, and take it through all gates of the proof again.

    ``specs``: the folder in which specs are looked for, by default `specs`. ``any_hash``: a spec that was changed since will
    do. ``progress`` hears how many of how many were proved. Raises UsageError when the file cannot be read.
    """
    from envscaler.scenario.reading import is_yaml, read_file
    from envscaler.scenario.states import StateStore

    path = Path(path)
    found = CheckedFile()
    bench = _Bench(Worlds(specs, any_hash=any_hash), StateStore.beside(path), any_hash)
    subjects = []
    for read in read_file(path):
        found.count += 1
        found.diagnostics += read.diagnostics
        if read.scenario is not None:
            problems, subject = bench.checked(read, read.scenario)
            found.diagnostics += problems
            if subject is not None:
                subjects.append(subject)
    if is_yaml(path):
        found.sources = {str(path): path.read_text(encoding="utf-8", errors="replace")}
    done = 0
    for group, reasons in _proved(subjects, bench.states, jobs):
        for subject, why in zip(group, reasons, strict=True):
            found.proved += not why and not subject.wrong
            found.diagnostics += [
                _diagnostic(subject, one) for one in why if not subject.wrong or one["code"] not in _SEEN_BEFORE
            ]
        done += len(group)
        if progress is not None:
            progress(done, len(subjects))
    found.diagnostics.sort(key=lambda d: (d.span.line, d.span.column))
    return found


class _Bench:
    def __init__(self, worlds: Worlds, states: StateStore, any_hash: bool) -> None:
        self.worlds, self.states, self.any_hash = worlds, states, any_hash
        self._none: dict[SpecRef, str] = {}  # specs that there are not, and why

    def checked(self, read: Read, scenario: Scenario) -> tuple[list[Diagnostic], _Subject | None]:
        """What is wrong with a scenario before anything is run, and with what it is proved, where its spec is there."""
        from envscaler.scenario.checking import check_scenario

        world = self._world(scenario.spec)
        if isinstance(world, str):
            return [Diagnostic("scenario-spec", read.places.span("spec"), world)], None
        problems = check_scenario(world, scenario, read.places, changed=self.any_hash, states=self.states)
        wrong = any(d.severity == "error" for d in problems)
        return problems, _Subject(read, replace(scenario, spec=world.ref), world, wrong)

    def _world(self, ref: SpecRef) -> World | str:
        if ref not in self._none:
            try:
                return self.worlds.of(ref)
            except SpecError as error:
                self._none[ref] = f"the spec has errors: {error}"
            except UsageError as error:
                self._none[ref] = str(error)
        return self._none[ref]


def _diagnostic(subject: _Subject, why: Mapping[str, Any]) -> Diagnostic:
    way = next(((part + "s" * (part != "solution"), why[key]) for key, part in _PARTS if key in why), ())
    return Diagnostic(why["code"], subject.read.places.span(*way), f"{subject.scenario.id}: {why['text']}")


_SEEN_BEFORE: Final = frozenset({"spec-changed", "state-invalid", "setup-fails", "no-goals", "goal-invalid"})
"""What the check before the proof says at its exact place."""

_PARTS: Final = (("goal", "goal"), ("guard", "guard"), ("step", "solution"))

# -- the proof, in this process or in others

Reasons = list[dict[str, Any]]


def _proved(
    subjects: Sequence[_Subject], states: StateStore, jobs: int
) -> Iterator[tuple[Sequence[_Subject], list[Reasons]]]:
    groups: list[list[_Subject]] = []
    for subject in subjects:
        last = groups[-1] if groups else []
        if not last or last[0].world is not subject.world or len(last) == _TOGETHER:
            groups.append([])
        groups[-1].append(subject)
    if jobs == 1:
        found = (_reasons(g[0].world, [s.scenario for s in g], states) for g in groups)
    else:
        units = [(g[0].world.checked.path, [s.scenario.to_json() for s in g]) for g in groups]
        found = each(partial(_elsewhere, states=states), units, jobs)  # type: ignore[assignment]
    yield from zip(groups, found, strict=True)


def _elsewhere(unit: tuple[str, list[dict[str, Any]]], states: StateStore) -> list[Reasons]:
    from envscaler.scenario.reading import from_json

    file, plain = unit
    return _reasons(_world(file), [from_json(one) for one in plain], states)


@lru_cache(maxsize=32)
def _world(file: str) -> World:
    from envscaler.scenario.world import World

    return World.of(sound(file), template_folders())


def _reasons(world: World, scenarios: Sequence[Scenario], states: StateStore) -> list[Reasons]:
    """Of each scenario why it does not hold. Those that hold here are replayed in another process together."""
    from envscaler.scenario.proof import ProofSettings, prove, replay_elsewhere

    proofs = [prove(world, one, states, ProofSettings(elsewhere=False)) for one in scenarios]
    held = [n for n, proof in enumerate(proofs) if proof.ok]
    again = replay_elsewhere(world, [(scenarios[n], proofs[n].to_json()) for n in held], states)
    found = [[one.to_json() for one in proof.reasons] for proof in proofs]
    for n, plain in zip(held, again, strict=True):
        found[n] = list(plain["gates"]["elsewhere"].get("reasons", ()))
    return found


# -- reports


@dataclass(frozen=True, slots=True)
class Reported:
    """A file of scenarios: how they are spread, what their stored proofs say, and the pages written."""

    summary: Summary
    report: Report
    pages: tuple[Path, ...] = ()


def report_scenarios(
    path: StrPath, html: StrPath | None = None, *, specs: StrPath | None = None, any_hash: bool = False
) -> Reported:
    """Count what a file holds; with ``html`` write an audit page for each scenario into that folder, and one that leads to
    them. Raises UsageError when the file or a spec is missing, SpecError for a scenario that cannot be read."""
    from envscaler.scenario.reading import Bad, read_scenarios
    from envscaler.scenario.report import report
    from envscaler.scenario.summary import summary

    scenarios = []
    for read in read_scenarios(Path(path)):
        if isinstance(read, Bad):
            raise SpecError(read.diagnostics)
        scenarios.append(read)
    found = report(scenarios)
    pages = () if html is None else _pages(Path(path), scenarios, found, Path(html), Worlds(specs, any_hash=any_hash))
    return Reported(summary(scenarios), found, pages)


def _pages(path: Path, scenarios: Sequence[Scenario], found: Report, folder: Path, worlds: Worlds) -> tuple[Path, ...]:
    from envscaler.scenario.pages import audit_page, report_page
    from envscaler.scenario.states import StateStore

    states, templates = StateStore.beside(path), template_folders()
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, one in enumerate(scenarios):
            page = audit_page(worlds.of(one.spec), one, states, templates, INDEX)
            written.append(folder / f"{number:05d}-{_NOT_PLAIN.sub('_', one.id)[:60]}.html")
            replace_file(written[-1], page)
        index = folder / INDEX
        replace_file(index, report_page(path.name, found, [file.name for file in written], templates))
    except OSError as error:
        raise UsageError(f"{folder}: {reason(error)}") from None
    return (index, *written)
