"""The paper's loop: a testing agent chooses a call, the call is made, a checking agent judges what came of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel

from envscaler.agents.excerpt import shown
from envscaler.assess.dual.goals import Goals
from envscaler.assess.dual.history import History
from envscaler.assess.dual.prompts import Prompts
from envscaler.assess.dual.records import DualReport, Round, Tokens
from envscaler.assess.dual.replies import VerdictReply, call_reply, short
from envscaler.assess.dual.settings import DualSettings
from envscaler.assess.dual.source import Source
from envscaler.assess.findings import FuzzSettings
from envscaler.assess.reach import Coverage
from envscaler.llm import Llm, Models, Spent, labelled
from envscaler.llm.errors import UNUSABLE
from envscaler.llm.messages import Message
from envscaler.plugin.records import CallEvent, Means, Subject
from envscaler.runtime import ToolResult

__all__ = ["ask", "dual", "reached", "tokens"]

M = TypeVar("M", bound=BaseModel)

_OFFERED = 4  # tools that a round chooses among


def dual(
    subject: Subject,
    models: Models,
    settings: DualSettings,
    *,
    coverage: Coverage | None = None,
    means: Means | None = None,
) -> DualReport:
    """Test and check for ``settings.rounds`` rounds; what is in the journal of ``means`` already is not asked again.

    ``coverage``: what fuzzing reached; its gaps are what the testing agent is pointed at. Replies that cannot be used count as
    rounds that do not pass, and end the loop when there are more of them than ``settings.bound``. Raises LlmError when a model
    cannot be asked, and then what was finished is in the journal.
    """
    means = means or subject.means
    loop = _Loop(subject, models, settings, coverage, means.templates)
    rounds: list[Round] = []
    bad = 0
    for made in _journaled(loop, means):
        rounds.append(made)
        bad += made.outcome == "unusable"
        if means.tell is not None:
            means.tell(f"dual: round {made.number} of {settings.rounds}: {made.outcome} {made.tool}".rstrip())
        if bad > settings.bound:
            break
    stopped = ""
    if bad > settings.bound:
        stopped = f"{bad} of {len(rounds)} rounds had no usable reply; that says nothing of the environment"
    return DualReport(tuple(rounds), settings, (loop.goals.began, len(loop.goals.left)), stopped)


def reached(subject: Subject, calls: int, seed: int) -> Coverage | None:
    """What so many fuzzed calls reach; None for no calls."""
    if not calls:
        return None
    from envscaler.assess import fuzz

    return fuzz(subject.environment, subject.checked, FuzzSettings(seed=seed, calls=calls, shrink=False)).coverage


def _journaled(loop: _Loop, means: Means) -> Iterator[Round]:
    """The rounds in order. A round that another run has made is only followed: its call is made, nobody is asked."""
    settings = loop.settings
    if means.run is None:
        for number in range(1, settings.rounds + 1):
            yield loop.follow(loop.make(number))
        return
    inputs = [loop.unit(number) for number in range(1, settings.rounds + 1)]
    outcomes = means.run.map(
        "dual",
        lambda unit: loop.make(unit["round"]).to_json(),
        inputs,
        label=lambda unit: f"round {unit['round']}",
        ends=(Exception,),
    )
    for outcome in outcomes:
        yield loop.follow(Round.from_json(outcome.result))


class _Loop:
    """The state between rounds: the episode, the history, the goals that are left. `make` leaves it as it was, `follow` moves
    it on, so that rounds that are made now and rounds from a journal lead to the same."""

    def __init__(
        self,
        subject: Subject,
        models: Models,
        settings: DualSettings,
        coverage: Coverage | None,
        templates: tuple[str, ...],
    ) -> None:
        self.source = Source(subject)
        self.settings = settings
        self.goals = Goals.from_coverage(self.source, coverage)
        self.history = History.of(list(self.source.spec.tools))
        self.env = subject.environment.new(seed=settings.seed)
        self._models = models
        self._tester, self._judge = models.role("tester"), models.role("judge")
        self._prompts = Prompts(self.source, templates)
        self._name = subject.checked.spec.name if subject.checked.spec else ""

    def unit(self, number: int) -> dict[str, Any]:
        """What a round is a function of, besides the rounds before it."""
        spec, s = self.source.spec, self.settings
        return {
            "round": number, "spec": spec.hash, "seed": s.seed, "episode": s.episode, "calls": s.calls,
            "tester": self._tester.backend.identity, "judge": self._judge.backend.identity,
        }  # fmt: skip

    def make(self, number: int) -> Round:
        """Ask for a call, make it on a copy of the episode, ask what to think of it."""
        step = (number - 1) % self.settings.episode + 1
        with labelled("assessment", self._name):
            offered = self._offered(number)
            messages = self._prompts.tester(self.env, offered, self.history, self.goals, number)
            chosen, tester, problem = self._ask(self._tester, call_reply(offered), messages)
            if chosen is None:
                return Round(number, step, "unusable", "tester", reason=problem, tester=tester)
            tool = self.source.spec.tools[chosen.tool]
            result, event = self._call(tool.name, chosen.arguments, step)
            made = Round(
                number, step, "pass", "code", tool.name, tool.actor, chosen.arguments, chosen.case, result.ok,
                shown(event.result, 300), len(event.changes), tester=tester,
            )  # fmt: skip
            fact = _fact(result, event)
            if fact is not None:
                return replace(made, outcome="fail", cause=fact[0], reason=fact[1])
            said, judge, problem = self._ask(self._judge, VerdictReply, self._prompts.checker(event))
        made = replace(made, by="judge", judge=judge)
        if said is None:
            return replace(made, outcome="unusable", reason=problem)
        cause = "none" if said.verdict == "pass" else "other" if said.cause == "none" else said.cause
        return replace(made, outcome=said.verdict, cause=cause, reason=said.reason)

    def follow(self, made: Round) -> Round:
        """Move on as the round did; an episode that is over begins anew."""
        if made.tool:
            result = self.env.call(made.tool, made.arguments, made.actor)
            error = None if result.error is None else result.error.message
            outcome = shown(result.value, 120) if error is None else f"refused: {error}"
            self.history.add(made.tool, made.arguments, made.case, result.ok, outcome)
            self.goals.note(made.tool, error)
        if made.number % self.settings.episode == 0:
            self.env.reset()
        return made

    def _offered(self, number: int) -> list[str]:
        """The tools to choose among: those called least, of these the ones with more left to reach; else as the seed wills."""
        dice = random.Random(f"{self.settings.seed}/{number}")  # noqa: S311 - reproducible, not secret
        tallies = self.history.tallies
        return sorted(tallies, key=lambda t: (tallies[t].calls, -len(self.goals.of(t)), dice.random()))[:_OFFERED]

    def _call(self, tool: str, arguments: Any, step: int) -> tuple[ToolResult, CallEvent]:
        declared = self.source.spec.tools[tool]
        env = self.env.fork()
        before = env.snapshot()
        result = env.call(tool, arguments, declared.actor)
        changes = tuple(env.diff(before))
        event = CallEvent(
            type(env),
            step,
            declared.actor,
            tool,
            declared.kind,
            arguments,
            result.to_json(),
            changes,
            lambda: env.state,
        )
        return result, event

    def _ask(self, llm: Llm, shape: type[M], messages: list[Message]) -> tuple[M | None, Tokens, str]:
        return self._models.run(ask(llm, shape, messages))


async def ask(llm: Llm, shape: type[M], messages: list[Message]) -> tuple[M | None, Tokens, str]:
    """A reply of a shape, what it took, and what was wrong where none could be used. Raises LlmError for anything else."""
    try:
        answer = await llm.structured(shape, messages)
    except UNUSABLE as error:
        return None, tokens(error.spent), short(f"{error.kind}: {error}")
    return answer.value, tokens(answer.spent), ""


def tokens(spent: Spent | None) -> Tokens:
    """What a call used, all attempts together."""
    if spent is None:
        return Tokens()
    usage = spent.usage
    told = usage.tokens_in or usage.tokens_out
    return Tokens(usage.tokens_in or 0, usage.tokens_out or 0, spent.attempts, 0 if told else spent.attempts)


def _fact(result: ToolResult, event: CallEvent) -> tuple[str, str] | None:
    """What needs no judge: cause and reason of a call that cannot be right."""
    if result.error is not None and result.error.code == "internal":
        return "type_or_attribute", short(f"the call broke down: {result.error.message}")
    if event.changes and not result.ok:
        return "state_consistency", "the call failed and changed the state"
    if event.changes and event.kind == "read":
        return "state_consistency", "a tool that only reads changed the state"
    return None
