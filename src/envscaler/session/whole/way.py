"""The steps of the whole way, one after the other: each is done, or found to be done, and written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from envscaler import __version__
from envscaler.errors import EnvscalerError, UsageError
from envscaler.session.files import StrPath, many
from envscaler.session.rollouts import MANIFEST as RUN
from envscaler.session.templates import template_folders
from envscaler.session.whole.books import Books, Entry, Product, product, products
from envscaler.session.whole.records import State, Step, Whole, WholeOptions, WholeProgress
from envscaler.work.canonical import digest

if TYPE_CHECKING:
    from envscaler.session.whole.steps import Plan, Way

__all__ = ["PAGE", "whole"]

PAGE: Final = "index.html"

_FOUND: Final = EnvscalerError.exit_code  # of a step that has something to object


def whole(
    specs: Sequence[StrPath] | StrPath,
    output: StrPath,
    options: WholeOptions | None = None,
    *,
    jobs: int = 1,
    progress: Callable[[WholeProgress], None] | None = None,
    ended: Callable[[Step], None] | None = None,
) -> Whole:
    """Take specs the whole way, in the folder ``output``; no model is asked.

    A step whose inputs and options are as they were is not done again, and one that was ended in the middle goes on. A spec
    with errors ends it before anything is made; a verdict that is not good, or a step that fails, does not end it: what
    needs that step is left out. ``progress`` hears how far it is, ``ended`` of each step when it has ended. Raises
    UsageError for a folder that holds something else, and for what was changed by hand and would be made anew.
    """
    from envscaler.session.whole.page import write_page
    from envscaler.session.whole.specs import read_specs
    from envscaler.session.whole.steps import STEPS, Way

    options, folder = options or WholeOptions(), Path(output)
    if options.count < 1 or options.calls < 1 or jobs < 0:
        raise UsageError("scenarios and calls are numbers above 0, and --jobs 0 (all cores) or more")
    told = {name: value for name, value in asdict(options).items() if name != "force"}
    books = Books(folder, told)
    hear = progress or (lambda at: None)
    hear(WholeProgress("check", "checking"))
    subjects, report = read_specs(many(specs), folder, jobs)
    if report.errors or report.unread:
        return Whole(folder, None, report)
    steps: dict[str, Step] = {}
    with books.locked():
        way = Way(folder, options, jobs, subjects, report, steps, hear)
        for plan in STEPS:
            missing = [name for name in plan.after if name in steps and not _usable(steps[name])]
            if missing:
                step = Step(plan.name, "left out", f"left out: it needs {', '.join(missing)}", ok=False, code=_FOUND)
            else:
                step = _done(plan, way, books)
            steps[plan.name] = step
            if ended is not None:
                ended(step)
        page = write_page(folder / PAGE, way, told)
        books.complete(all(_usable(step) or step.ok for step in steps.values()))
    return Whole(folder, page, report, tuple(steps.values()))


def _usable(step: Step) -> bool:
    return step.state in ("made", "kept")


def _done(plan: Plan, way: Way, books: Books) -> Step:
    """Do a step, or find that it was done."""
    before = [[one.path, one.sha256] for name in plan.after for one in way.steps[name].products]
    key = digest(plan.name, [__version__, _templates(), plan.inputs(way), before])
    entry = books.entry(plan.name)
    if entry is not None:
        found, edited, lost = books.found(plan.name)
        if entry.ended and entry.key == key and not lost and not (edited and (plan.agents or plan.copy)):
            return _kept(plan.name, entry, found, edited)
        if entry.key != key or (entry.ended and not plan.agents):
            _may_go(plan, way, edited)
            books.remove(plan.places)
    books.begun(plan.name, key)
    try:
        made = plan.make(way)
    except EnvscalerError as error:
        first, *more = str(error).splitlines() or [""]
        return Step(plan.name, "failed", f"failed: {first}", ok=False, code=error.exit_code, notes=tuple(more))
    state: State = "left out" if made.lacking else "made"
    there = [one for path in plan.products for one in products(way.folder, path, plan.depth)]
    told = {"state": state, "line": made.line, "ok": made.ok, "figures": made.figures, "notes": list(made.notes)}
    books.ended(plan.name, key, told, there)
    return Step(plan.name, state, made.line, made.ok, 0 if made.ok else _FOUND, made.figures, made.notes, tuple(there))


def _kept(name: str, entry: Entry, found: Sequence[Product], edited: Sequence[str]) -> Step:
    told = entry.told
    line = f"{told['line']}; {', '.join(edited)} changed by hand" if edited else told["line"]
    state: State = "kept" if told["state"] == "made" else "left out"
    return Step(
        name,
        state,
        line,
        told["ok"],
        0 if told["ok"] else _FOUND,
        told["figures"],
        tuple(told["notes"]),
        tuple(found),
    )


def _may_go(plan: Plan, way: Way, edited: Sequence[str]) -> None:
    """Raises UsageError where a step would make anew what is not its own work any more."""
    if plan.agents:
        run = way.folder / plan.places[0]
        if others := _agents(run) - set(plan.agents):
            raise UsageError(
                f"{run} would be made anew, and holds episodes of {', '.join(sorted(others))}: move it away"
            )
    elif edited and not way.options.force:
        hint = "is a copy of a spec and" if plan.copy else "would be made anew and"
        raise UsageError(f"{way.folder / edited[0]} {hint} was changed by hand; --force writes over it")


def _agents(run: Path) -> set[str]:
    """Who played in a run, if it is one."""
    from envscaler.session.runs import list_run

    return {row.agent for row in list_run(run)[0]} if (run / RUN).is_file() else set()


def _templates() -> list[list[str]]:
    """What lies in the folders of templates that stand before the shipped ones."""
    found = [(folder, product(Path(folder), ".")) for folder in template_folders()]
    return [[folder, one.sha256] for folder, one in found if one is not None]
