"""The stages of drafting over their files: inputs read, units carried out, results filed, losses written down."""

from __future__ import annotations

import json
import queue
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict

from envscaler.draft.plans import Plan
from envscaler.draft.selecting import Selection
from envscaler.draft.themes import Origin, Sieved, Theme
from envscaler.errors import BudgetError, LlmError, UsageError
from envscaler.session.drafting.account import taken
from envscaler.session.drafting.folder import EditedError, WorkFolder, rows_text
from envscaler.session.drafting.proof import CHECKED, SOUND, commented, manifest, uncommented
from envscaler.session.drafting.stages import FILTER, INFER, NAMES, PLAN, PROVE, SELECT, WRITE
from envscaler.session.drafting.work import Desk, Done, Loss, Stage, Told
from envscaler.texts import counted
from envscaler.work import InProcess, Threads

if TYPE_CHECKING:
    from envscaler.session.files import StrPath

__all__ = ["Environment", "Line", "TaskRow"]

_LOSSES: Final = "losses.jsonl"
_MOST: Final = 60  # characters of a sentence that stand for it


class TaskRow(BaseModel):
    """A task as it was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    file: str
    line: int
    source: str = ""
    extra: Mapping[str, Any] = {}


class _LossRow(BaseModel):
    stage: str
    where: str
    reason: str
    detail: str = ""


@dataclass(slots=True)
class Environment:
    """How far an environment is. ``verdict``: `sound`, `findings`, `wrong`, `invalid` or `unreadable`, once it is proved;
    `edited` where a file of it was edited that would be written anew, `lost` where a stage gave nothing. ``cost``: US dollars,
    None where a part is not known. ``file``: its spec, finished or not."""

    name: str
    title: str
    stage: str = ""
    verdict: str = ""
    problems: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    file: str = ""

    def took(self, spent: Sequence[Mapping[str, Any]]) -> None:
        tokens, cost = taken(spent)
        self.tokens += tokens
        self.cost = None if self.cost is None or cost is None else self.cost + cost


@dataclass(slots=True)
class Line:
    """Carries stages out. ``anew``: a file that was edited is not left as it is, but shown with what would be changed."""

    desk: Desk
    folder: WorkFolder
    anew: bool = False
    losses: list[Loss] = field(default_factory=list)
    environments: dict[str, Environment] = field(default_factory=dict)
    edited: list[EditedError] = field(default_factory=list)
    error: LlmError | None = None
    ran: list[str] = field(default_factory=list)

    # -- discovery

    def tasks(self, locations: Sequence[StrPath]) -> None:
        """Read tasks, equal ones once, into `tasks.jsonl`."""
        from envscaler.plugin.records import BadRow
        from envscaler.session.tasks import read_tasks

        self._begin("tasks")
        own, rows, seen = self.desk.settings, list[TaskRow](), dict[str, str]()
        for source, row in read_tasks(locations, own.source, own.source_options):
            where = f"{row.file}:{row.line}"
            if isinstance(row, BadRow):
                self._lose(Loss("tasks", where, "bad-row", row.reason))
                continue
            if (first := seen.get(text := " ".join(row.text.split()))) is not None:
                self._lose(Loss("tasks", where, "same-task", f"as {first}", chosen=True), quiet=True)
                continue
            seen[text] = where
            rows.append(TaskRow(text=row.text, file=row.file, line=row.line, source=source, extra=row.extra))
            if len(rows) == own.limit:
                break
        self._put("tasks.jsonl", rows_text(rows))
        self._end("tasks", counted(len(rows), "task"))

    def filter(self) -> None:
        """Which tasks need a world, into `filtered.jsonl`."""
        self._begin("filter")
        tasks = self._rows("tasks.jsonl", TaskRow)
        units = [
            {
                "label": f"{row.file}:{row.line}",
                "task": row.text,
                "origin": {"file": row.file, "line": row.line, "source": row.source},
            }
            for row in tasks
        ]
        made = [Sieved.model_validate(done.value) for done in self._good(FILTER, units)]
        self._put("filtered.jsonl", rows_text(made))
        rows = self._rows("filtered.jsonl", Sieved)
        for one in rows:
            if not one.stateful:
                self._lose(Loss("filter", _place(one.task, one.origin), "not-stateful", one.reason, chosen=True))
        self._end("filter", f"{sum(one.stateful for one in rows)} of {counted(len(tasks), 'task')} in need of a world")

    def infer(self) -> None:
        """The theme behind each task, into `themes.jsonl`."""
        self._begin("infer")
        rows = [row for row in self._rows("filtered.jsonl", Sieved) if row.stateful]
        themes = [
            Theme.model_validate(done.value) for done in self._good(INFER, [_unit(r.task, r.origin) for r in rows])
        ]
        self._put("themes.jsonl", rows_text(themes))
        self._end("infer", counted(len(themes), "theme"))

    def select(self) -> None:
        """The themes to be drafted, into `selected.jsonl`, and a map of all."""
        from envscaler.draft.atlas import write_map

        self._begin("select")
        themes = self._rows("themes.jsonl", Theme)
        unit = {"label": f"{len(themes)} themes", "themes": [theme.model_dump(mode="json") for theme in themes]}
        chosen: list[Theme] = []
        for done in self._good(SELECT, [unit] if themes else []):
            selection = Selection.model_validate(done.value)
            for one in selection.themes:
                if one.reason:
                    like = f"like {one.like}" if one.like else ""
                    where = _place(one.theme.task or one.theme.title, one.theme.origin)
                    self._lose(Loss("select", where, one.reason, like, chosen=True))
            chosen = list(_named_apart(selection.chosen, ()))
            self._put("selected.jsonl", rows_text(chosen))
            picture, rows = self.folder.path("map.svg"), self.folder.path("selected.jsonl")
            if not picture.exists() or picture.stat().st_mtime < rows.stat().st_mtime:
                write_map(selection, picture)
        if not themes:
            self._put("selected.jsonl", "")
        self._end("select", f"{len(chosen)} of {counted(len(themes), 'theme')} selected")

    def ask(self, sentence: str) -> Theme | None:
        """The theme of a sentence, which goes into `asked.jsonl`; one that is there is taken as it stands."""
        known = self.folder.rows("asked.jsonl", Theme) or []
        for theme in known:
            if theme.task == sentence:
                return theme
        self._begin("infer")
        for done in self._good(INFER, [_unit(sentence, None)]):
            taken_names = [t.name for t in [*known, *(self.folder.rows("selected.jsonl", Theme) or ())]]
            [theme] = _named_apart([Theme.model_validate({**(done.value or {}), "task": sentence})], taken_names)
            self.folder.note("asked.jsonl", rows_text([*known, theme]))
            return theme
        return None

    def selected(self) -> list[Theme]:
        """The themes that were selected."""
        return self.folder.rows("selected.jsonl", Theme) or []

    def themes(self) -> list[Theme]:
        """The themes to be drafted: those selected, and those asked for."""
        found = [theme for name in ("selected.jsonl", "asked.jsonl") for theme in self.folder.rows(name, Theme) or ()]
        if not found and self.folder.read("selected.jsonl") is None:
            raise UsageError(f"{self.folder.folder}: no themes there; run the stages before, or name --theme")
        return list({theme.name: theme for theme in found}.values())

    # -- environments, one by one

    def whole(self, themes: Sequence[Theme]) -> None:
        """Take each theme through all that is left, several at once; a limit that ends one lets others end by themselves."""
        self.ran += ["plan", "write", "prove"]
        for theme in themes:
            at = self.environments[theme.name] = Environment(theme.name, theme.title)
            for stage in ("filter", "infer") if theme.task is not None else ():
                at.took(self.desk.lasting(stage, _place(theme.task or "", theme.origin))["spent"])
        self._at_once(self._one, themes)

    def _one(self, theme: Theme) -> None:
        try:
            plan = self._planned(theme.name, self._alone(PLAN, _plan_unit(theme)))
            if plan is None:
                return
            draft = self._drafted(theme.name, self._alone(WRITE, _write_unit(theme.name, plan)))
            if draft is not None:
                draft = self._adopted(theme.name, draft)
                self._proved(theme.name, draft, self._alone(PROVE, _prove_unit(theme.name, draft)))
        except EditedError as edited:
            self._hold(theme.name, edited)

    def plan(self, only: Sequence[str] = ()) -> None:
        """Plan each theme."""
        themes = {theme.name: theme for theme in self.themes()}
        for name in only:
            if name not in themes:
                raise UsageError(f"no theme is called {name}; there are {', '.join(themes) or 'none'}")
        units = [_plan_unit(theme) for name, theme in themes.items() if not only or name in only]
        self._stage(PLAN, units, self._planned)

    def write(self, only: Sequence[str] = ()) -> None:
        """Write each plan."""
        units = []
        for name in self._named("plans", ".json", only):
            plan = self.folder.record(f"plans/{name}.json", Plan)
            assert plan is not None
            units.append(_write_unit(name, plan))
        self._stage(WRITE, units, self._drafted)

    def prove(self, only: Sequence[str] = ()) -> None:
        """Prove each draft."""
        texts = {}
        for name in self._named("drafts", ".yaml", only):
            texts[name] = self._adopted(name, self.folder.read(f"drafts/{name}.yaml") or "")

        def filed(name: str, done: Done) -> None:
            self._proved(name, texts[name], done)

        self._stage(PROVE, [_prove_unit(name, text) for name, text in texts.items()], filed)

    def _named(self, folder: str, suffix: str, only: Sequence[str]) -> list[str]:
        names = self.folder.names(folder, suffix)
        for name in only:
            if name not in names:
                raise UsageError(f"there is no {self.folder.path(folder) / name}{suffix}")
        if not names:
            raise UsageError(f"{self.folder.path(folder)}: nothing there; run the stages before")
        return [name for name in names if not only or name in only]

    def _stage(self, stage: Stage, units: Sequence[dict[str, Any]], filed: Callable[[str, Done], Any]) -> None:
        self.ran.append(stage.name)
        for unit in units:
            self.environments[unit["label"]] = Environment(unit["label"], unit.get("title", ""), stage.name)
        try:
            for done in self.desk.carry(stage, units):
                try:
                    filed(done.label, done)
                except EditedError as edited:
                    self._hold(done.label, edited)
        except LlmError as error:
            self.error = error

    def _alone(self, stage: Stage, unit: dict[str, Any]) -> Done:
        name = str(unit["label"])
        at = self.environments[name]
        at.stage = stage.name
        self.desk.tell(Told(stage.name, "begun", name, title=at.title))
        [done] = self.desk.carry(stage, [unit], InProcess())
        return done

    # -- filing

    def _planned(self, name: str, done: Done) -> Plan | None:
        value = self._came(name, done)
        if value is None:
            return None
        plan = Plan.model_validate(value)
        text = self.folder.put(f"plans/{name}.json", _plan_text(plan), anew=self.anew)
        parts = (("state", plan.states), ("rule", plan.rules), ("tool", plan.tools))
        size = ", ".join(counted(len(found), what) for what, found in parts)
        self._did("plan", name, size, len(plan.problems), done)
        return self.folder.record(f"plans/{name}.json", Plan) if text != _plan_text(plan) else plan

    def _drafted(self, name: str, done: Done) -> str | None:
        value = self._came(name, done)
        if value is None:
            return None
        text = self.folder.put(f"drafts/{name}.yaml", value["text"], anew=self.anew)
        again = sum(times > 1 for times in value["parts"].values())
        said = f"{len(value['parts'])} parts{f', {again} of them more than once' if again else ''}"
        self._did("write", name, said, len(value["problems"]), done)
        return text

    def _adopted(self, name: str, draft: str) -> str:
        """The draft to be proved: what a person has made of an unfinished spec is the draft from then on."""
        unfinished = f"unfinished/{name}.yaml"
        if not self.folder.edited(unfinished):
            return draft
        text = uncommented(self.folder.read(unfinished) or "")
        self.folder.move(unfinished, f"drafts/{name}.yaml", text)
        return text

    def _proved(self, name: str, draft: str, done: Done) -> None:
        proof = self._came(name, done)
        if proof is None:
            return
        sound = proof["verdict"] == SOUND
        good = sound or (self.desk.settings.keep_unsound and proof["verdict"] in CHECKED)
        place, other = ("out", "unfinished") if good else ("unfinished", "out")
        text = proof["text"] if sound else commented(proof)
        self.folder.put(f"{place}/{name}.yaml", text, anew=self.anew)
        told = self._manifest(name, draft, text, proof, done)
        self.folder.note(f"{place}/{name}.manifest.json", json.dumps(told, indent=2, ensure_ascii=False) + "\n")
        if self.folder.drop(f"{other}/{name}.yaml"):
            self.folder.path(f"{other}/{name}.manifest.json").unlink(missing_ok=True)
        at = self.environments[name]
        at.verdict, at.file = proof["verdict"], str(self.folder.path(f"{place}/{name}.yaml"))
        rounds = proof["repairs"]["rounds"]
        repaired = f", {counted(rounds, 'round')} of repair" if rounds else ""
        self._did("prove", name, f"{proof['verdict']}{repaired}", len(proof["problems"]), done)
        if not sound:
            first = proof["problems"][0]["title"] if proof["problems"] else ""
            self._lose(Loss("prove", name, proof["verdict"], first), quiet=True)

    def _manifest(self, name: str, draft: str, text: str, proof: Mapping[str, Any], done: Done) -> dict[str, Any]:
        plan = self.folder.record(f"plans/{name}.json", Plan)
        written = self.desk.lasting("write", name)
        spent = {"plan": self.desk.lasting("plan", name)["spent"], "write": written["spent"], "prove": done.spent}
        texts, theme = {"spec": text, "draft": draft}, None
        if plan is not None:
            theme = plan.theme
            texts |= {"plan": self.folder.read(f"plans/{name}.json") or "", "theme": theme.model_dump_json()}
            if theme.task is not None:
                place = _place(theme.task, theme.origin)
                spent = {stage: self.desk.lasting(stage, place)["spent"] for stage in ("filter", "infer")} | spent
        files = {"plan": f"plans/{name}.json", "draft": f"drafts/{name}.yaml"}
        edited = [what for what, file in files.items() if self.folder.edited(file)]
        return manifest(name, theme, texts, written["value"], proof, spent, edited)

    def _came(self, name: str, done: Done) -> dict[str, Any] | None:
        at = self.environments[name]
        at.took(done.spent)
        if done.loss is not None:
            at.verdict = "lost"
            self._lose(done.loss)
        return done.value

    def _did(self, stage: str, name: str, text: str, problems: int, done: Done) -> None:
        at = self.environments[name]
        at.problems = problems
        tokens, cost = taken(done.spent)
        self.desk.tell(Told(stage, "done", name, text, at.title, problems, tokens, cost))

    def _hold(self, name: str, edited: EditedError) -> None:
        self.environments[name].verdict = "edited"
        self.edited.append(edited)
        self.desk.tell(Told(self.environments[name].stage, "edited", name, str(edited)))

    # -- what stages share

    def _begin(self, stage: str) -> None:
        self.ran.append(stage)
        self.desk.tell(Told(stage, "begun"))

    def _end(self, stage: str, text: str) -> None:
        self.desk.tell(Told(stage, "finished", text=text))

    def _good(self, stage: Stage, units: Sequence[dict[str, Any]]) -> Iterator[Done]:
        """The units that came to something; the others are lost."""
        for number, done in enumerate(self.desk.carry(stage, units), 1):
            if done.loss is not None:
                self._lose(done.loss)
            else:
                tokens, cost = taken(done.spent)
                of = f"{number} of {len(units)}"
                self.desk.tell(Told(stage.name, "grown", done.label, of, tokens=tokens, cost=cost))
                yield done

    def _lose(self, loss: Loss, quiet: bool = False) -> None:
        self.losses.append(loss)
        if not quiet:
            said = f"{loss.reason}{f': {loss.detail}' if loss.detail else ''}"
            self.desk.tell(Told(loss.stage, "lost", loss.where, said))

    def _put(self, name: str, text: str) -> None:
        try:
            self.folder.put(name, text, anew=self.anew)
        except EditedError as edited:
            self.edited.append(edited)
            raise

    def _rows(self, name: str, kind: type[Any]) -> list[Any]:
        rows = self.folder.rows(name, kind)
        if rows is None:
            raise UsageError(f"there is no {self.folder.path(name)}; run the stages before")
        return rows

    def _at_once(self, work: Callable[[Theme], None], themes: Sequence[Theme]) -> None:
        """Do the work for each, several at once. Errors of models end what they meet; the first is kept."""
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        started = Threads(self.desk.width).start(work, (Exception,))
        left, running = deque(themes), 0
        try:
            while left or running:
                while left and running < self.desk.width:
                    started.submit(left.popleft(), ended.put)
                    running += 1
                try:
                    one = ended.get(timeout=0.2)
                except queue.Empty:
                    continue
                running -= 1
                if isinstance(one.raised, LlmError):
                    self.error = self.error or one.raised
                    if not isinstance(one.raised, BudgetError):  # at a limit, what needs no model can still be done
                        left.clear()
                elif one.raised is not None:
                    raise one.raised
        finally:
            started.stop()

    def note_losses(self) -> None:
        """Write down what was lost, by stage; of stages that did not run now, what was known stays."""
        before = self.folder.rows(_LOSSES, _LossRow) or []
        rows = [row.model_dump() for row in before if row.stage not in self.ran]
        rows += [loss.to_json() for loss in self.losses]
        rows.sort(key=lambda row: NAMES.index(row["stage"]) if row["stage"] in NAMES else len(NAMES))
        self.folder.note(_LOSSES, rows_text(rows))


def _unit(task: str, origin: Origin | None) -> dict[str, Any]:
    return {
        "label": _place(task, origin), "task": task, "origin": None if origin is None else origin.model_dump(mode="json"),
    }  # fmt: skip


def _plan_unit(theme: Theme) -> dict[str, Any]:
    return {"label": theme.name, "theme": theme.model_dump(mode="json")}


def _write_unit(name: str, plan: Plan) -> dict[str, Any]:
    return {"label": name, "plan": plan.model_dump(mode="json")}


def _prove_unit(name: str, text: str) -> dict[str, Any]:
    return {"label": name, "text": text}


def _plan_text(plan: Plan) -> str:
    return json.dumps(plan.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


def _place(task: str, origin: Origin | None) -> str:
    """What a task is called: where it was read, or its beginning."""
    return " ".join(task.split())[:_MOST] if origin is None else str(origin)


def _named_apart(themes: Sequence[Theme], known: Sequence[str]) -> Iterator[Theme]:
    """The themes, those that are called like one before under a name of their own."""
    names = set(known)
    for theme in themes:
        name, number = theme.name, 2
        while name in names:
            name, number = f"{theme.name}_{number}", number + 1
        names.add(name)
        yield theme if name == theme.name else theme.model_copy(update={"name": name})
