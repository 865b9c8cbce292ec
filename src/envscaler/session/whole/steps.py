"""The steps of the whole way: what each is made from, what it makes, and which verb makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envscaler.errors import EnvscalerError, UsageError
from envscaler.session.whole.specs import SPECS, Subject, copy_specs
from envscaler.texts import counted

if TYPE_CHECKING:
    from envscaler.assess import Progress
    from envscaler.rollout.comparison import Line
    from envscaler.scenario.model import Scenario
    from envscaler.session.rollouts import RolloutProgress
    from envscaler.session.scenarios import MakingProgress
    from envscaler.session.specs import CheckReport
    from envscaler.session.whole.records import Step, WholeOptions, WholeProgress

__all__ = ["STEPS", "Made", "Plan", "Way"]

CLASSES: Final = "classes"
PAGES: Final = "pages"
ASSESSED: Final = ("assess.html", "assess.json")
SCENARIOS: Final = ("scenarios.jsonl", "scenarios.manifest.json", "scenarios.states")
AUDIT: Final = "audit"
SFT: Final = "sft"
RL: Final = "rl"
FORMS: Final = ("llama-factory", "trl", "openai", "jsonl")
_WORK: Final = ".work"
_TOLD: Final = 12  # problems of one step that are told in full


@dataclass(frozen=True, slots=True)
class Way:
    """What all steps share: the folder, the specs, and the steps that have ended, by name."""

    folder: Path
    options: WholeOptions
    jobs: int
    subjects: Sequence[Subject]
    report: CheckReport
    steps: Mapping[str, Step]
    progress: Callable[[WholeProgress], None]

    def hear(self, step: str, doing: str, done: int = 0, total: int | None = None, more: str = "") -> None:
        """Say how far it is."""
        from envscaler.session.whole.records import WholeProgress

        self.progress(WholeProgress(step, doing, done, total, more))

    @property
    def files(self) -> list[Path]:
        """The specs where they were found: what is said of them names these."""
        return [one.file for one in self.subjects]

    @property
    def copies(self) -> list[Path]:
        return [self.folder / one.copy for one in self.subjects]


@dataclass(frozen=True, slots=True)
class Made:
    """What a step has to say. ``lacking``: why it is left out, by no fault."""

    line: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    ok: bool = True
    notes: tuple[str, ...] = ()
    lacking: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A step before it is done. ``after``: those whose products it reads. ``places`` are its own within the folder; ``inputs``:
    what else it is made from, as JSON. ``agents`` are those who play in the run that it makes, which others may add to.
    ``copy``: what it made is not to be edited at all. ``depth``: how deep in its folder single files are told apart."""

    name: str
    after: tuple[str, ...]
    places: tuple[str, ...]
    make: Callable[[Way], Made]
    inputs: Callable[[Way], Any] = lambda way: None
    agents: tuple[str, ...] = ()
    copy: bool = False
    depth: int = 0

    @property
    def products(self) -> tuple[str, ...]:
        """What decides whether all is as it was: of a run not its index, which is made anew by whoever looks."""
        if not self.agents:
            return self.places
        folder, *others = self.places
        return (f"{folder}/trajectories.jsonl", *others)


count = partial(counted, form=",")


# -- the specs, their classes and pages


def _check(way: Way) -> Made:
    copy_specs(way.subjects, way.folder)
    specs = [one.figures for one in way.subjects]
    sums = {name: sum(one[name] for one in specs) for name in ("tools", "states", "rules")}
    told = ", ".join(count(number, name.removesuffix("s")) for name, number in sums.items())
    whose = way.subjects[0].name if len(specs) == 1 else count(len(specs), "spec")
    line = f"{whose}: {told}; 0 errors, {count(way.report.warnings, 'warning')}"
    return Made(line, {"specs": specs, "warnings": way.report.warnings})


def _compile(way: Way) -> Made:
    from envscaler.diagnostics import render_text
    from envscaler.session.specs import compile as compiled

    notes, lines, modules = [], 0, []
    for one in compiled(way.files, way.folder / CLASSES, jobs=way.jobs):
        if one.output is None:
            raise UsageError(one.unread or f"{one.path} was changed while it was compiled")
        lines += len(one.output.read_text(encoding="utf-8").splitlines())
        modules.append(f"{CLASSES}/{one.output.name}")
        notes += [render_text([problem], {one.path: one.source}) for problem in one.failures]
        way.hear("compile", "compiling", len(modules), len(way.subjects))
    examples = sum(one.figures["examples"] for one in way.subjects)
    held = f"{count(examples, 'example')}, {count(len(notes), 'failure')}"
    line = f"{count(len(modules), 'class', 'classes')}, {count(lines, 'line')}; {held}"
    return Made(line, {"modules": modules, "lines": lines, "failures": len(notes)}, not notes, tuple(notes[:_TOLD]))


def _pages(way: Way) -> Made:
    from envscaler.session.pages import docs

    pages = []
    for one in docs(way.copies, way.folder / PAGES, jobs=way.jobs):
        if one.output is not None:
            pages.append(f"{PAGES}/{one.output.name}")
        way.hear("pages", "writing pages", len(pages), len(way.subjects))
    line = pages[0] if len(pages) == 1 else f"{count(len(pages) - 1, 'page')} and {pages[-1]}"
    return Made(line, {"pages": pages})


# -- the verdict


def _assess(way: Way) -> Made:
    from envscaler.session.assessing import assess, write_report

    def heard(path: str, at: Progress) -> None:
        way.hear("assess", "attacking", at.calls, at.planned, f"{at.reached}/{at.tools} tools, {at.findings} findings")

    settings = {"fuzz": {"seed": way.options.seed, "calls": way.options.calls}}
    found = []
    for one in assess(
        way.files, settings=settings, jobs=way.jobs, run=way.folder / _WORK / "assess", progress=heard
    ):  # fmt: skip
        found.append(one)
        if len(way.subjects) > 1:
            way.hear("assess", "attacking", len(found), len(way.subjects), "specs")
    for form in ("json", "html"):
        write_report(found, way.folder / f"assess.{form}", form)
    specs, notes = [], []
    for subject, one in zip(way.subjects, found, strict=True):
        verdict = one.verdicts.get("fuzz")
        details = {} if verdict is None else verdict.details
        problems = one.problems()
        notes += [one.problem] if one.problem else [problem.headline() for problem in problems[:_TOLD]]
        specs.append({
            "name": subject.name, "sound": one.passes(), "score": one.score, "problem": one.problem,
            "calls": details.get("calls", 0), "findings": [{"code": p.code, "title": p.title} for p in problems],
            "shares": details.get("coverage", {}).get("shares", {}),
        })  # fmt: skip
    sound, calls = sum(one["sound"] for one in specs), sum(one["calls"] for one in specs)
    whose = "sound" if len(specs) == 1 else f"{sound} of {len(specs)} sound"
    if sound < len(specs):
        found_ = sum(len(one["findings"]) for one in specs)
        whose = f"{'not sound' if len(specs) == 1 else whose}, {count(found_, 'finding')} ({ASSESSED[0]})"
    line = f"{whose} after {count(calls, 'call')}; {_shares([one['shares'] for one in specs])}"
    return Made(line, {"specs": specs, "calls": calls}, sound == len(specs), tuple(notes))


def _shares(shares: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(name for one in shares for name in one)
    sums = {
        name: [sum(one[name][what] for one in shares if name in one) for what in ("reached", "of")] for name in names
    }
    return ", ".join(f"{name} {reached}/{of}" for name, (reached, of) in sums.items() if of)


# -- scenarios


def _scenarios(way: Way) -> Made:
    from envscaler.session.scenarios import BatchOptions, make_scenarios

    def heard(at: MakingProgress) -> None:
        way.hear("scenarios", "making scenarios", at.kept, at.wanted, f"dropped {sum(at.dropped.values())}")

    options = BatchOptions(way.options.count, way.options.seed)
    made = make_scenarios(way.copies, way.folder / SCENARIOS[0], options, jobs=way.jobs, progress=heard)
    number = made.summary.count
    if not number:
        raise UsageError(f"no scenario could be made: {'; '.join([*made.failed, *made.lines])[:600]}")
    plain = made.summary.to_json()
    of = "" if number >= made.wanted else f" of the {made.wanted} wanted"
    spread = f"{count(len(plain['kinds']), 'kind')}, {plain['steps']['mean']:.1f} steps on average"
    line = f"{count(number, 'scenario')}{of}, each proved: {spread}"
    figures = {
        "wanted": made.wanted, "summary": plain, "dropped": sum(made.dropped.values()), "tried": sum(made.tried.values()),
        "samples": _samples(way.folder / SCENARIOS[0]),
    }  # fmt: skip
    notes = (*dict.fromkeys(made.failed), *(made.lines if of else ()))
    return Made(line, figures, made.complete, notes)


_GOOD_LENGTH: Final = 240  # characters of a task that is shown


def _samples(file: Path) -> list[dict[str, Any]]:
    """One scenario of each kind, told in words: of the spec that was shown least, the one whose task is easiest to read."""
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.reading import read_scenarios

    kinds: dict[str, list[Scenario]] = {}
    for one in read_scenarios(file):
        if isinstance(one, Scenario):
            kinds.setdefault(one.kind, []).append(one)
    shown: dict[str, int] = {}
    samples = []
    for kind, them in sorted(kinds.items()):
        best = min(them, key=lambda s: (shown.get(s.spec.name, 0), abs(len(s.task) - _GOOD_LENGTH), s.id))
        shown[best.spec.name] = shown.get(best.spec.name, 0) + 1
        samples.append(_told(kind, best))
    return samples


def _told(kind: str, one: Scenario) -> dict[str, Any]:
    return {
        "kind": kind, "id": one.id, "spec": one.spec.name, "task": one.task,
        "outcome": one.outcome, "steps": [step.tool for step in one.solution], "goals": len(one.goals),
    }  # fmt: skip


def _audit(way: Way) -> Made:
    from envscaler.session.scenario_files import report_scenarios

    way.hear("audit", "writing pages")
    found = report_scenarios(way.folder / SCENARIOS[0], way.folder / AUDIT, specs=way.folder / SPECS)
    plain = found.report.to_json()
    index, *pages = found.pages
    wanted = {one["id"] for one in way.steps["scenarios"].figures["samples"]}
    links = {line["id"]: page.name for line, page in zip(plain["each"], pages, strict=True) if line["id"] in wanted}
    misses, ways = (sum(one["tried"] for one in plain["near"].values()), sum(plain["ways"]["tried"].values()))
    figures = {
        "proved": plain["proved"], "misses": misses, "ways": ways, "links": links, "index": f"{AUDIT}/{index.name}",
    }  # fmt: skip
    line = (
        f"{count(len(pages), 'page')} to audit them; {misses:,} near misses were refused, {ways:,} other ways accepted"
    )
    return Made(line, figures, plain["proved"] == plain["scenarios"])


# -- rollouts


def _play(way: Way, name: str, agents: Sequence[str]) -> Made:
    """Let agents play all scenarios, alone and in a conversation, into the folder `name`."""
    from envscaler.session.rollouts import RolloutOptions, rollout
    from envscaler.session.runs import compare_runs, write_run_page

    run, notes = way.folder / name, []
    casts = [(agent, setting, user) for agent in agents for setting, user in _SETTINGS]

    def heard(at: RolloutProgress, before: int) -> None:
        mean = "-" if at.totals.mean is None else f"{at.totals.mean:.3f}"
        way.hear(name, "playing", before + at.ended, at.wanted * len(casts), f"mean reward {mean}")

    wanted, shared = 0, 0
    for agent, setting, user in casts:
        options = RolloutOptions(agent, user, setting, seed=way.options.seed)
        rolled = rollout(
            way.folder / SCENARIOS[0], run, options, specs=way.folder / SPECS, jobs=way.jobs,
            progress=partial(heard, before=wanted),
        )  # fmt: skip
        wanted += rolled.wanted
        shared = max(shared, len(rolled.left_out))
        notes += [f"{agent}, {setting}: {episode}: {why}" for episode, why in rolled.failed.items()]
    write_run_page(run, way.folder / f"{name}.html")
    lines = [_side(line) for line in compare_runs([run], tries=[1]).lines]
    order = {agent: place for place, agent in enumerate(agents)}
    lines.sort(
        key=lambda one: (
            order.get(one["agent"], len(order)),
            one["agent"],
            one["model"],
            one["setting"] == "conversation",
        )
    )
    if notes:
        raise EnvscalerError(f"{count(len(notes), 'episode')} failed; the same command tries them again: {notes[0]}")
    told = "; ".join(
        f"{agent} {', '.join(_scores(agent, lines))}" for agent in dict.fromkeys(one["agent"] for one in lines)
    )
    if shared:
        told += f"; {count(shared, 'scenario')} in conversation only, since the user acts there"
    return Made(f"{count(sum(one['episodes'] for one in lines), 'episode')}: {told}", {"lines": lines})


_SOLVERS: Final = ("reference",)
_IDLERS: Final = ("random", "noop")
_SETTINGS: Final = (("non-conversation", None), ("conversation", "facts"))


def _side(line: Line) -> dict[str, Any]:
    side = line.side
    return {
        "agent": side.agent, "model": side.model, "user": side.user, "setting": side.setting,
        "scenarios": line.scenarios, "episodes": line.episodes, "mean": line.mean, "steps": line.steps,
        "interval": None if line.interval is None else list(line.interval),
    }  # fmt: skip


def _scores(agent: str, lines: Sequence[Mapping[str, Any]]) -> list[str]:
    settings = {"non-conversation": "alone", "conversation": "in conversation"}
    return [
        f"{'-' if one['mean'] is None else format(one['mean'], '.2f')} {settings[one['setting']]}"
        for one in lines
        if one["agent"] == agent
    ]


def _reference(way: Way) -> Made:
    made = _play(way, "run", _SOLVERS)
    own = [one for one in made.figures["lines"] if one["agent"] in _SOLVERS]
    good = all(one["mean"] == 1.0 for one in own)
    return Made(made.line, made.figures, good, () if good else ("a scenario's own solution does not score 1",))


def _contrast(way: Way) -> Made:
    return _play(way, "contrast", _IDLERS)


# -- data for training


def _sft(way: Way) -> Made:
    from envscaler.export.filters import FilterOptions
    from envscaler.session.exporting import ExportOptions, export

    options = ExportOptions(replace=True, seed=way.options.seed)
    forms: dict[str, dict[str, Any]] = {}
    for place, form in enumerate(FORMS):
        way.hear("sft", "writing training data", place, len(FORMS), form)
        made = export(way.folder / "run", way.folder / SFT / form, form, FilterOptions(min_reward=1.0), options)
        forms[form] = {"read": made.read, "samples": made.kept, "files": _files(way, f"{SFT}/{form}", made.rows)}
    told = ", ".join(f"{form} {count(_rows(one), 'row')}" for form, one in forms.items())
    return Made(f"{count(max(one['samples'] for one in forms.values()), 'episode')}: {told}", {"forms": forms})


def _files(way: Way, place: str, rows: Mapping[str, int]) -> list[dict[str, Any]]:
    """The files of data in a folder, with their rows and bytes."""
    return [
        {"path": f"{place}/{file}", "rows": n, "bytes": (way.folder / place / file).stat().st_size}
        for file, n in rows.items()
    ]


def _rows(form: Mapping[str, Any]) -> int:
    return sum(one["rows"] for one in form["files"])


def _rl(way: Way) -> Made:
    from envscaler.session.exporting import ExportOptions, export

    if not _parquet(way):
        return Made("left out: Parquet needs pyarrow, pip install 'envscaler[parquet]'", lacking=True)
    way.hear("rl", "writing tasks")
    options = ExportOptions(replace=True, seed=way.options.seed, specs=way.folder / SPECS)
    made = export(way.folder / SCENARIOS[0], way.folder / RL, "rl-parquet", options=options)
    files = _files(way, RL, made.rows)
    return Made(f"{count(made.kept, 'task')}: {', '.join(one['path'] for one in files)}", {"files": files})


def _parquet(way: Way) -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


STEPS: Final = (
    Plan("check", (), (SPECS,), _check, lambda way: [[s.copy, s.hash, s.text] for s in way.subjects], copy=True),
    Plan("compile", ("check",), (CLASSES,), _compile),
    Plan("pages", ("check",), (PAGES,), _pages),
    Plan("assess", ("check",), ASSESSED, _assess, lambda way: [way.options.seed, way.options.calls]),
    Plan("scenarios", ("check",), SCENARIOS, _scenarios, lambda way: [way.options.seed, way.options.count]),
    Plan("audit", ("check", "scenarios"), (AUDIT,), _audit),
    Plan("run", ("check", "scenarios"), ("run", "run.html"), _reference, lambda way: way.options.seed, _SOLVERS),
    Plan(
        "contrast",
        ("check", "scenarios"),
        ("contrast", "contrast.html"),
        _contrast,
        lambda way: way.options.seed,
        _IDLERS,
    ),
    Plan("sft", ("run",), (SFT,), _sft, lambda way: way.options.seed, depth=2),
    Plan("rl", ("check", "scenarios"), (RL,), _rl, _parquet, depth=1),
)
"""All steps, in the order in which they are done."""
