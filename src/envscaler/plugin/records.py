"""What passes between envscaler and a plugin's objects: tasks, subjects and verdicts, events and judgements, scenarios.

Records refuse nonsense when they are made (ValueError), so that whoever receives one need not look again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args

from envscaler.diagnostics import Diagnostic, Severity, Span

if TYPE_CHECKING:
    from envscaler.llm import Models
    from envscaler.runtime import Environment
    from envscaler.scenario.model import Scenario
    from envscaler.scenario.world import World
    from envscaler.spec.checked import Checked
    from envscaler.work import Run

__all__ = [
    "Assessor", "BadRow", "CallEvent", "Checker", "Embedder", "EndEvent", "Exporter", "Finding", "Generator", "Judgement",
    "Means", "Splits", "Status", "Subject", "Task", "TaskSource", "Vectors", "Verdict",
]  # fmt: skip

Status = Literal["pass", "warn", "fail"]

# -- task sources


@dataclass(frozen=True, slots=True)
class Task:
    """One task that a world may be drafted from. ``file`` and ``line`` say where it was read: a line of a text file, from
    1, or a row of a binary one, from 1. ``extra`` is whatever else the source gives, as JSON values."""

    text: str
    file: str
    line: int
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError("a task without text; give a BadRow")
        if self.line < 1:
            raise ValueError(f"lines count from 1, not {self.line}")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that gives no task, and why; the rows after it are read all the same."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class TaskSource(Protocol):
    """Reads tasks from a place."""

    def read(self, location: str, options: Mapping[str, Any], /) -> Iterator[Task | BadRow]:
        """The rows of ``location`` in order, each when it is asked for.

        Raises UsageError for a location that cannot be read and for an option that is unknown or wrong.
        """
        ...


# -- embedders


@dataclass(frozen=True, slots=True)
class Vectors:
    """A vector for each text that was given, in the same order, all of one length. ``tokens``: what they took, 0 where
    nothing is counted, None where nobody said."""

    rows: Sequence[Sequence[float]]
    tokens: int | None = 0

    def __post_init__(self) -> None:
        if len({len(row) for row in self.rows}) > 1:
            raise ValueError("vectors must be of one length")
        if any(not math.isfinite(number) for row in self.rows for number in row):
            raise ValueError("a vector holds what is no number")


class Embedder(Protocol):
    """Makes vectors of texts: the more two mean the same, the smaller the angle between theirs.

    ``identity`` says all that decides a vector besides the text, keys not included. ``near``: the cosine from which two
    descriptions are of about the same thing. ``batch``: texts at most in a call. ``free`` is true where nothing is paid for.
    """

    identity: str
    near: float
    batch: int
    free: bool

    async def embed(self, texts: Sequence[str], /) -> Vectors:
        """One attempt; a vector depends on its own text alone. What fails is an `LlmError` of `envscaler.llm.errors`."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        ...


# -- assessors


@dataclass(frozen=True, slots=True)
class Means:
    """What a run lends to its assessors; all of it may be missing.

    ``models`` opens the language models of the run; ``run`` is its journal, in which what is finished survives a kill;
    ``templates`` are folders that stand before the shipped templates; ``tell`` hears a line now and then on how far it is.
    """

    models: Callable[[], Models] | None = None
    run: Run | None = None
    templates: tuple[str, ...] = ()
    tell: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """The environment to be judged: ``path`` and text of its spec, the checked spec, the class compiled from it; and the
    ``means`` to judge it with."""

    path: str
    source: str
    checked: Checked
    environment: type[Environment]
    means: Means = Means()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing an assessor found. ``code`` is stable and short, like `vague-name`; ``title`` is one line; ``detail`` may
    be several; ``help`` is the fix in one line; ``span`` is the place in the spec, None where there is none. ``script``: the
    calls that show it, as lines for `envscaler play`, where there are such."""

    code: str
    title: str
    span: Span | None = None
    detail: str = ""
    help: str = ""
    severity: Severity = "warning"
    script: str = ""

    def __post_init__(self) -> None:
        _one_line("the code of a finding", self.code)
        _one_line("the title of a finding", self.title)
        if self.severity not in get_args(Severity):
            raise ValueError(f"no such severity: {self.severity!r}; there are error, warning, note")

    def diagnostic(self, path: str) -> Diagnostic:
        """The finding as a diagnostic of the spec at ``path``; one without a place stands at the first line."""
        span = self.span or Span(path, 1, 1, 1, 1)
        return Diagnostic(self.code, span, self.title, self.detail, self.help, self.severity)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an assessor thinks of a subject: fit for use or not, a score from 0 (worst) to 1, and why. ``details`` is what else
    it measured, as JSON values, for reports."""

    sound: bool
    score: float
    findings: tuple[Finding, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.sound, bool):
            raise ValueError(f"sound must be true or false, not {self.sound!r}")
        if not _number(self.score) or not 0 <= self.score <= 1:
            raise ValueError(f"a score lies between 0 and 1; {self.score!r} does not")
        findings: object = self.findings
        if not isinstance(findings, tuple) or not all(isinstance(f, Finding) for f in findings):
            raise ValueError("findings must be a tuple of Finding")


class Assessor(Protocol):
    """Judges an environment."""

    def assess(self, subject: Subject, settings: Mapping[str, Any], /) -> Verdict:
        """The verdict on ``subject``. Raises UsageError for a setting that is unknown or wrong."""
        ...


# -- checkers


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A tool was called. All of it is plain JSON data.

    ``step`` counts the calls of the episode from 1; ``kind`` is that of the tool, None when there is no such tool;
    ``arguments`` are as they were sent; ``result`` is `{"success": true, "data": …}` or `{"success": false, "error": …}`;
    ``changes`` are the operations {op, path, value, before} of this call; ``state()`` is the state after it, and costs a
    copy.
    """

    environment: type[Environment]
    step: int
    actor: Literal["agent", "user"]
    tool: str
    kind: Literal["read", "write"] | None
    arguments: Any
    result: Mapping[str, Any]
    changes: tuple[Mapping[str, Any], ...]
    state: Callable[[], Mapping[str, Any]]

    @property
    def ok(self) -> bool:
        """The call gave a result, not an error."""
        return bool(self.result["success"])


@dataclass(frozen=True, slots=True)
class EndEvent:
    """An episode is over. ``steps``: its calls. ``changes`` are those since its start; ``initial()`` and ``final()`` are the
    states, each at the cost of a copy; ``answer`` is what the agent submitted, None if nothing."""

    environment: type[Environment]
    steps: int
    changes: tuple[Mapping[str, Any], ...]
    initial: Callable[[], Mapping[str, Any]]
    final: Callable[[], Mapping[str, Any]]
    answer: Any = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a checker says of one event; a reason is wanted for all but `pass`."""

    status: Status
    reason: str = ""

    def __post_init__(self) -> None:
        if self.status not in get_args(Status):
            raise ValueError(f"no such status: {self.status!r}; there are {', '.join(get_args(Status))}")
        if self.status != "pass":
            _one_line("the reason of a judgement", self.reason)


class Checker(Protocol):
    """Judges what happens in one episode; a new one is made for each."""

    def on_call(self, event: CallEvent, /) -> Judgement | None:
        """What it says of a call; None when it has no opinion."""
        ...

    def on_end(self, event: EndEvent, /) -> Judgement | None:
        """What it says of the episode; None when it has no opinion."""
        ...


# -- generators


class Generator(Protocol):
    """Makes scenarios of one kind. Whoever asked proves each, and keeps those alone that hold."""

    def generate(
        self, world: World, state: Mapping[str, Any], seed: int, tools: Sequence[str] = (), /
    ) -> Iterator[Scenario]:
        """Scenarios that begin in ``state`` (JSON form), each made when it is asked for, until there are no more; the same
        for the same arguments, from which alone all choices are drawn. A scenario without a state of its own begins in the
        one given. ``tools``: those that solutions should use, where that can be had; empty for any.
        """
        ...


# -- exporters

T = TypeVar("T")
Splits = Mapping[str, Callable[[], Iterator[T]]]
"""The parts of the data by name (`train`, and `test` where there is a split), each read anew, one by one, when it is called."""


class Exporter(Protocol):
    """Writes training data in the form of one trainer."""

    def write(self, splits: Splits[Any], folder: Path, /) -> Mapping[str, int]:
        """Write files into ``folder``, which is empty; how many rows are in which file of data, by its name.

        Samples are `envscaler.export.Sample`, or `TaskSample` for an exporter of scenarios. The same samples give the same
        bytes.
        """
        ...


def _one_line(what: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip() or "\n" in text:
        raise ValueError(f"{what} must be one line of text, not {text!r}")


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
