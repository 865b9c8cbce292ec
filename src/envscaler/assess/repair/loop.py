"""Findings go to the drafting model, its edits come back, what makes the spec better is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from envscaler.assess.dual.loop import ask
from envscaler.assess.dual.records import Tokens
from envscaler.assess.repair.edits import Edit, EditError, EditsReply, apply
from envscaler.assess.repair.prompt import messages
from envscaler.assess.repair.standing import Attack, Standing, judge
from envscaler.errors import BudgetError, LlmError, UsageError
from envscaler.llm import Models, labelled
from envscaler.texts import difference

__all__ = ["RepairRound", "RepairSettings", "Repaired", "repair"]


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """``rounds``: how often the model is asked at most. ``patience``: rounds in a row without progress after which it is given
    up. ``problems``: how many are shown at once."""

    rounds: int = 10
    patience: int = 3
    problems: int = 8

    def __post_init__(self) -> None:
        for name in ("rounds", "patience", "problems"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is at least 1, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class RepairRound:
    """One round: places of the edits that were ``kept``; ``refused``: why others were not; how the spec stands after it."""

    number: int
    kept: tuple[str, ...]
    refused: tuple[str, ...]
    standing: Standing
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Repaired:
    """``before`` and ``after`` are texts of the spec. ``stopped``: `sound`, `no progress`, `rounds` (all were made), or
    `limit` or `model`, when the model could not be asked any more: then ``error`` says why."""

    path: str
    before: str
    after: str
    began: Standing
    ended: Standing
    rounds: tuple[RepairRound, ...]
    stopped: str
    error: LlmError | None = None

    @property
    def changed(self) -> bool:
        return self.before != self.after

    @property
    def tokens(self) -> Tokens:
        return sum((r.tokens for r in self.rounds), Tokens())

    def diff(self) -> str:
        """The unified difference."""
        return difference(self.before, self.after, self.path, "repaired")


def repair(
    text: str,
    path: str,
    models: Models,
    settings: RepairSettings,
    *,
    attacks: Sequence[Attack] = (),
    templates: tuple[str, ...] = (),
    tell: Callable[[RepairRound], None] | None = None,
    judging: Callable[[str], Standing] | None = None,
) -> Repaired:
    """Mend a spec's text with the model of the role `coder`; what made it no better is dropped and said to the model.

    ``tell`` hears of each round. ``judging`` says how a text stands, instead of what is done here with the attacks. When the
    model cannot be asked, or a limit is reached, it ends with what was kept until then. Raises UsageError when no model is
    named.
    """
    work = _Work(
        path, models, settings, judging or partial(judge, path=path, attacks=attacks, templates=templates), templates
    )
    began = standing = work.judge(text)
    rounds: list[RepairRound] = []
    idle = 0
    stopped, error = "", None
    while not stopped:
        if standing.sound:
            stopped = "sound"
        elif idle >= settings.patience:
            stopped = "no progress"
        elif len(rounds) >= settings.rounds:
            stopped = "rounds"
        else:
            try:
                done = work.round(len(rounds) + 1, standing, rounds[-1] if idle else None)
            except LlmError as problem:
                stopped, error = "limit" if isinstance(problem, BudgetError) else "model", problem
                break
            idle = 0 if done.kept else idle + 1
            standing = done.standing
            rounds.append(done)
            if tell is not None:
                tell(done)
    return Repaired(path, text, standing.text, began, standing, tuple(rounds), stopped, error)


@dataclass(slots=True)
class _Work:
    path: str
    models: Models
    settings: RepairSettings
    judging: Callable[[str], Standing]
    templates: tuple[str, ...]
    known: dict[str, Standing] = field(default_factory=dict)

    def judge(self, text: str) -> Standing:
        if text not in self.known:
            self.known[text] = self.judging(text)
        return self.known[text]

    def round(self, number: int, standing: Standing, last: RepairRound | None) -> RepairRound:
        said = messages(self.path, standing, self.settings.problems, last.refused if last else (), self.templates)
        with labelled("construction"):
            reply, used, problem = self.models.run(ask(self.models.role("coder"), EditsReply, said))
        if reply is None:
            return RepairRound(number, (), (problem,), standing, used)
        if not reply.edits:
            why = f"no edit was given{f': {reply.reason[:200]}' if reply.reason else ''}"
            return RepairRound(number, (), (why,), standing, used)
        kept, refused, better = self._best(standing, reply.edits)
        return RepairRound(number, tuple(kept), tuple(refused), better, used)

    def _best(self, standing: Standing, edits: list[Edit]) -> tuple[list[str], list[str], Standing]:
        """All edits together when that is better; else one after the other, those that are better by themselves."""
        whole, why = self._tried(standing, edits)
        if whole is not None:
            return [edit.place for edit in edits], [], whole
        if len(edits) == 1:
            return [], [why], standing
        kept: list[Edit] = []
        refused = [f"all edits together: {why}"]
        base, best = standing, standing
        for edit in edits:
            made, why = self._tried(base, [*kept, edit], best)
            if made is None:
                refused.append(f"{edit.place} by itself: {why}")
            else:
                kept.append(edit)
                best = made
        return [edit.place for edit in kept], refused, best

    def _tried(self, base: Standing, edits: list[Edit], than: Standing | None = None) -> tuple[Standing | None, str]:
        """How the spec stands with the edits, when that is better than ``than`` (by default ``base``); else why not."""
        try:
            text = apply(base.text, self.path, edits)
        except EditError as error:
            return None, str(error)
        than = than or base
        if text == base.text:
            return None, "it changes nothing"
        made = self.judge(text)
        if made.better_than(than):
            return made, ""
        return None, f"the spec then {made.summary()}, which is no better; the first: {made.problems[0].headline()}"
