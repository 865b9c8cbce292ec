"""The paper's three dimensions: alignment and correctness as a judge marks them, robustness as the fuzzer measures it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from envscaler.assess.dual.loop import ask
from envscaler.assess.dual.prompts import Observed, Prompts
from envscaler.assess.dual.records import Tokens, token_line
from envscaler.assess.dual.replies import MarksReply, short
from envscaler.assess.dual.settings import JudgeSettings
from envscaler.assess.dual.source import Source
from envscaler.assess.findings import FuzzReport, FuzzSettings
from envscaler.llm import Llm, Models, labelled
from envscaler.llm.models import in_order
from envscaler.plugin.records import CallEvent, Finding, Means, Subject, Verdict

__all__ = ["DIMENSIONS", "JudgeReport", "Marks", "judge"]

DIMENSIONS = {
    "alignment": "tool-program alignment",
    "correctness": "functional correctness",
    "robustness": "code robustness",
}
_BEST = 10
_CALLS = 4  # calls of a tool that a judge is shown


@dataclass(frozen=True, slots=True)
class Marks:
    """What a judge says of a tool; ``problem`` where no reply could be used, and then the marks are 0."""

    tool: str
    alignment: int = 0
    correctness: int = 0
    reason: str = ""
    problem: str = ""
    tokens: Tokens = field(default_factory=Tokens)

    @classmethod
    def from_json(cls, plain: Any) -> Marks:
        return cls(**{**plain, "tokens": Tokens(**plain["tokens"])})


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """The marks of all tools, and the fuzzer's report from which robustness is counted: a tool with an error is not robust."""

    marks: tuple[Marks, ...]
    fuzzed: FuzzReport
    settings: JudgeSettings

    @property
    def scores(self) -> dict[str, float]:
        """Dimension -> 0 to 10, over all tools; one without a usable reply counts with 0."""
        count = max(1, len(self.marks))
        broken = self.broken
        return {
            "alignment": sum(m.alignment for m in self.marks) / count,
            "correctness": sum(m.correctness for m in self.marks) / count,
            "robustness": 0.0 if "" in broken else _BEST * (1 - len(broken) / count),
        }

    @property
    def broken(self) -> set[str]:
        """Tools of which the fuzzer found an error; "" when it found one that is no tool's."""
        tools = {m.tool for m in self.marks}
        return {f.tool if f.tool in tools else "" for f in self.fuzzed.findings if f.severity == "error"}

    @property
    def sound(self) -> bool:
        return min(self.scores.values()) >= _BEST * self.settings.threshold

    def verdict(self, subject: Subject) -> Verdict:
        """Sound when every dimension reaches the threshold; the score is the mean of the three, of 1."""
        spec = subject.checked.spec
        assert spec is not None
        scores, wanted = self.scores, _BEST * self.settings.threshold
        found = [
            Finding(
                "judge-unsound", f"{DIMENSIONS[name]} is {score:.1f} of 10; {wanted:.1f} is wanted", severity="error"
            )
            for name, score in scores.items()
            if score < wanted
        ]
        for m in sorted(self.marks, key=lambda m: min(m.alignment, m.correctness)):
            if not m.problem and min(m.alignment, m.correctness) < wanted:
                title = short(f"{m.tool}: {m.reason or 'no reason given'}")
                detail = f"alignment {m.alignment}, correctness {m.correctness} of 10"
                found.append(Finding("judge-mark", title, spec.tools[m.tool].span, detail))
        for f in self.fuzzed.findings:
            span = f.where[0] if f.where else None
            found.append(Finding("judge-robustness", short(f.title), span, f.detail, "", f.severity, f.script))
        score = sum(scores.values()) / len(scores) / _BEST
        details = {"scores": scores, "marks": [asdict(m) for m in self.marks], "calls": self.fuzzed.calls}
        return Verdict(self.sound, score, (*found, self._summary()), details)

    def _summary(self) -> Finding:
        scores = ", ".join(f"{DIMENSIONS[name]} {score:.1f}" for name, score in self.scores.items())
        bad = sum(bool(m.problem) for m in self.marks)
        reach = ", ".join(f"{name} {got} of {of}" for name, got, of in self.fuzzed.coverage.shares() if of)
        lines = [
            f"{len(self.marks)} tools marked, {bad} without a usable reply",
            f"robustness is measured: {self.fuzzed.calls:,} fuzzed calls, {len(self.broken)} tools with errors",
            f"reached by them: {reach}",
            token_line({"judge": sum((m.tokens for m in self.marks), Tokens())}),
        ]
        return Finding("judge-summary", f"of 10: {scores}", detail="\n".join(lines), severity="note")


def judge(
    subject: Subject,
    models: Models,
    settings: JudgeSettings,
    *,
    fuzzed: FuzzReport | None = None,
    means: Means | None = None,
) -> JudgeReport:
    """Have each tool marked, ``settings.at_once`` at a time; tools whose marks are in the journal are not asked about again.

    ``fuzzed``: a report of the fuzzer to count robustness from; without one the fuzzer is run. Raises LlmError when the model
    cannot be asked.
    """
    means = means or subject.means
    if fuzzed is None:
        from envscaler.assess import fuzz

        fuzz_settings = FuzzSettings(seed=settings.seed, calls=settings.calls)
        fuzzed = fuzz(subject.environment, subject.checked, fuzz_settings)
    source = Source(subject)
    llm = models.role("judge")
    prompts = Prompts(source, means.templates)

    def marked(tools: Sequence[str]) -> list[dict[str, Any]]:
        with labelled("assessment", source.spec.name):
            found = models.run(in_order(_marks(llm, prompts, subject, tool) for tool in tools))
        for one in found:
            if isinstance(one, Exception):
                raise one
        return [asdict(one) for one in found if isinstance(one, Marks)]

    tools = list(source.spec.tools)
    batches = [tools[at : at + settings.at_once] for at in range(0, len(tools), settings.at_once)]
    marks: list[Marks] = []
    for done in _journaled(marked, batches, source.spec.hash, llm.backend.identity, means):
        marks += map(Marks.from_json, done)
        if means.tell is not None:
            means.tell(f"judge: {len(marks)} of {len(tools)} tools marked")
    return JudgeReport(tuple(marks), fuzzed, settings)


def _journaled(marked: Any, batches: list[list[str]], spec: str, model: str, means: Means) -> Iterator[list[Any]]:
    if means.run is None:
        yield from map(marked, batches)
        return
    inputs = [{"tools": tools, "spec": spec, "judge": model} for tools in batches]
    outcomes = means.run.map(
        "judge",
        lambda unit: marked(unit["tools"]),
        inputs,
        label=lambda unit: ", ".join(unit["tools"]),
        ends=(Exception,),
    )
    for outcome in outcomes:
        yield outcome.result


async def _marks(llm: Llm, prompts: Prompts, subject: Subject, tool: str) -> Marks:
    said, used, problem = await ask(llm, MarksReply, prompts.judge(tool, observed(subject, tool)))
    if said is None:
        return Marks(tool, problem=problem, tokens=used)
    return Marks(tool, said.alignment, said.correctness, said.reason, "", used)


def observed(subject: Subject, tool: str) -> list[Observed]:
    """Calls of a tool with what came of them: those of its examples that begin in the initial state."""
    spec = subject.checked.spec
    assert spec is not None
    declared = spec.tools[tool]
    calls: list[Observed] = []
    for example in declared.examples:
        if example.given or example.at or len(calls) == _CALLS:
            continue
        env = subject.environment.new()
        arguments = dict(example.call)
        result = env.call(tool, arguments, declared.actor)
        event = CallEvent(
            subject.environment,
            1,
            declared.actor,
            tool,
            declared.kind,
            arguments,
            result.to_json(),
            tuple(env.diff()),
            dict,
        )
        calls.append(Observed.of(event))
    return calls
