"""The judge of exports: which trajectories of runs have a task that could not be done, each asked about once and for all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from envscaler.errors import BudgetError, LlmError
from envscaler.session.llm import LlmOptions, open_models
from envscaler.session.runs import scenarios_of
from envscaler.session.templates import template_folders

if TYPE_CHECKING:
    from envscaler.export.filters import Seen
    from envscaler.export.judging import Verdict
    from envscaler.llm import Message, Models
    from envscaler.rollout.store import Trajectories
    from envscaler.rollout.trajectory import Trajectory
    from envscaler.scenario.model import Scenario

__all__ = ["JudgeOptions", "Judged", "Judges"]

_KIND: Final = "impossible"


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How the judge is asked. ``llm``: what the command line says about models; the role is `judge`. ``concurrency``: questions
    at once. ``progress`` hears of how many there are verdicts, of how many wanted; ``tell`` what is to be said once."""

    llm: LlmOptions = field(default_factory=LlmOptions)
    concurrency: int = 8
    progress: Callable[[int, int], None] | None = None
    tell: Callable[[str], None] | None = None


@dataclass(slots=True)
class Judged:
    """What the judge said. ``impossible``: by cause how many; ``unusable``: by what was wrong with a reply how many, all of
    them kept. ``left_out``: id, cause and reason of each that was not."""

    model: str = ""
    asked: int = 0
    possible: int = 0
    impossible: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    left_out: list[dict[str, str]] = field(default_factory=list)

    def add(self, name: str, verdict: Verdict) -> None:
        """Count a verdict on a trajectory."""
        self.asked += 1
        if verdict.verdict == "possible":
            self.possible += 1
        elif verdict.verdict == "unusable":
            self.unusable[verdict.cause] += 1
        else:
            self.impossible[verdict.cause] += 1
            self.left_out.append({"id": name, "cause": verdict.cause, "reason": verdict.reason})

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model, "asked": self.asked, "possible": self.possible,
            "impossible": dict(sorted(self.impossible.items())), "unusable": dict(sorted(self.unusable.items())),
            "left_out": self.left_out,
        }  # fmt: skip


class Judges:
    """Asks about trajectories of ``runs``. Verdicts and the account of tokens lie in the folder of each run: a question that
    was answered there is not asked again, by whichever export. Raises UsageError where no model is named for the role."""

    def __init__(self, runs: Sequence[Trajectories], options: JudgeOptions) -> None:
        self._runs = runs
        self._options = options
        self.judged = Judged()
        with open_models(options.llm, tell=options.tell) as models:  # what is wrong with settings is said before all
            self.judged.model = models.role("judge").backend.identity

    def impossible(self, found: Sequence[Seen]) -> Collection[tuple[int, str]]:
        """Those of which the judge says so, by run and id. Raises LlmError, BudgetError: verdicts up to then are kept."""
        out, done = set(), 0
        for place, run in enumerate(self._runs):
            names = [one.id for one in found if one.run == place]
            for name, verdict in self._of_run(run, names, done, len(found)).items() if names else ():
                self.judged.add(name, verdict)
                if verdict.verdict == "impossible":
                    out.add((place, name))
            done += len(names)
        return out

    def _of_run(self, run: Trajectories, names: Sequence[str], done: int, wanted: int) -> Mapping[str, Verdict]:
        from envscaler.export.judging import Verdict
        from envscaler.work import Async, Closing, Run

        options, verdicts = self._options, dict[str, Verdict]()
        with open_models(options.llm, run=run.folder, tell=options.tell) as models, Run.open(run.folder) as journal:
            desk = _Desk(run, scenarios_of(run), models, set(names))
            units = desk.units(names)
            outcomes = journal.map(
                _KIND,
                Closing(desk.make, models.aclose),
                list(units.values()),
                executor=Async(options.concurrency),
                retry_failed=True,
                label=desk.label,
                ends=(LlmError, BudgetError),
            )
            for name, outcome in zip(units, outcomes, strict=True):
                problem = outcome.problem
                verdicts[name] = (
                    Verdict.from_json(json.loads(outcome.result))
                    if problem is None
                    else Verdict("unusable", "failed", str(problem))
                )
                if options.progress is not None:
                    options.progress(done + len(verdicts), wanted)
        return verdicts


class _Desk:
    """Asks about trajectories of one run; used in one thread. A unit is the hash of all that is asked, and the model."""

    def __init__(
        self, run: Trajectories, scenarios: Mapping[str, Scenario], models: Models, wanted: Collection[str]
    ) -> None:
        self._run = run
        self._scenarios = scenarios
        self._models = models
        self._wanted = wanted
        self._folders = template_folders()
        self._names: dict[str, str] = {}

    def units(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """A unit for each trajectory, by its id, in the order of the ids that are given."""
        from envscaler.work import digest

        model, made = self._models.role("judge").backend.identity, dict[str, dict[str, str]]()
        for one in self._run.each():
            if one.id in self._wanted:
                asked = digest("question", [[m.role, m.content] for m in self._question(one)])
                self._names.setdefault(asked, one.id)
                made[one.id] = {"question": asked, "model": model}
        return {name: made[name] for name in names}

    def label(self, unit: Mapping[str, str]) -> str:
        return self._names[unit["question"]]

    async def make(self, unit: Mapping[str, str]) -> str:
        """The verdict, as JSON text: a journal does not keep the order of keys."""
        from envscaler.export.judging import judge
        from envscaler.llm import labelled

        name = self.label(unit)
        with labelled("export", name):
            verdict = await judge(self._models.role("judge"), self._question(self._run.one(name)))
        return json.dumps(verdict.to_json())

    def _question(self, one: Trajectory) -> list[Message]:
        from envscaler.export.judging import question
        from envscaler.export.sample import Sample

        scenario = self._scenarios.get(one.scenario)
        sample = Sample(one, tuple((step, self._run.tools(hash_)) for step, hash_ in one.offers))
        task = "" if scenario is None else scenario.task
        return question(one, task, sample.tools, self._folders, sample.tools[-1].name if sample.tools else "submit")
