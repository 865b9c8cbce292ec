"""A plan becomes a spec: parts as the model gives them, checked as soon as they stand, and only faulty ones written anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict

from envscaler.diagnostics import Diagnostic
from envscaler.draft.asking import Unusable
from envscaler.draft.judging import judge
from envscaler.draft.mending import Asked, Mender, Wanted
from envscaler.draft.parts import Parts
from envscaler.draft.plans import Plan, PlannedState, PlannedTool
from envscaler.errors import UsageError
from envscaler.llm import Llm, labelled
from envscaler.spec.names import is_name, proposal

__all__ = ["Draft", "Grown", "WriteSettings", "write"]


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """``batch``: tools that are asked for at once. ``tries``: how often a part is written at most, the first time included.
    ``run_examples``: compile what passes the check and return examples that come out otherwise, too."""

    batch: int = 6
    tries: int = 3
    run_examples: bool = True

    def __post_init__(self) -> None:
        for name in ("batch", "tries"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is at least 1, not {getattr(self, name)}")


class Draft(BaseModel):
    """A spec's ``text``. ``problems``: its open errors and warnings, none when it passes the check and its examples hold.

    ``parts``: how often each was asked for, as `tools.lend`: 2. ``missing``: planned parts that were never written. ``taken``:
    examples whose expected value is, by the model's word, what the run gave, as `tools.lend.0`. ``model`` wrote it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    problems: tuple[Diagnostic, ...] = ()
    parts: Mapping[str, int] = {}
    missing: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    model: str = ""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Of the problems, those that keep it from compiling or doing what it says."""
        return tuple(d for d in self.problems if d.severity == "error")


@dataclass(frozen=True, slots=True)
class Grown:
    """A spec under way: what was ``done`` last (`states and rules`, `tools: lend, find`, `mending tools.lend`), its ``text``
    and its ``problems`` by now, ``written`` of ``planned`` tools."""

    done: str
    text: str
    problems: int
    written: int
    planned: int


async def write(
    plan: Plan,
    llm: Llm,
    settings: WriteSettings | None = None,
    *,
    folders: Sequence[str] = (),
    note: str = "",
    tell: Callable[[Grown], None] | None = None,
    sample: int = 0,
) -> Draft:
    """The spec of a plan, by a model of the role `coder`. Calls are filed under `construction`.

    ``note`` is a comment at the top: where the environment comes from. ``tell`` hears whenever the spec has grown. What the
    model cannot put right is kept with its open problems. Raises Unusable when it gives nothing at all, LlmError when it cannot
    be asked.
    """
    return await _Work(plan, llm, settings or WriteSettings(), tuple(folders), note, tell, sample).all()


_FIRST: Final = ("description", "clock", "constants", "types", "states", "rules", "initial_state")
_DROPPED: Final = ("helpers", "types", "constants")
_UNUSED: Final = ("the helper ", "the type ", "the constant ")  # how the checker says so of those
_HALVED: Final = ("llm-truncated", "llm-context-exceeded", "llm-invalid-reply")


class _Work:
    """One spec under way."""

    def __init__(
        self, plan: Plan, llm: Llm, settings: WriteSettings, folders: tuple[str, ...], note: str,
        tell: Callable[[Grown], None] | None, sample: int,
    ) -> None:  # fmt: skip
        self.plan = plan
        self.settings = settings
        self.note = note
        self.tell = tell
        self.parts = Parts(plan.theme.name)
        self.parts.put("title", plan.theme.title)
        self.mender = Mender(self.parts, Asked(llm, plan.theme, folders, sample), settings.tries, settings.run_examples)
        self.model = llm.backend.model
        self.left_out: list[str] = []

    async def all(self) -> Draft:
        with labelled("construction"):
            await self._first()
            await self._helpers()
            tools = self.plan.tools
            for at in range(0, len(tools), self.settings.batch):
                await self._tools(tools[at : at + self.settings.batch])
            await asyncio.to_thread(self._prune)
            await self.mender.mend((), warnings=True)
            await asyncio.to_thread(self._prune)
        return await asyncio.to_thread(self._draft)

    async def _first(self) -> None:
        plan = self.plan
        for _ in range(self.settings.tries):
            reply = await self.mender.asked.ask("write.states", states=plan.states, rules=plan.rules, tools=plan.tools)
            self.mender.put({p: v for p, v in reply.parts().items() if p.partition(".")[0] in _FIRST})
            if self.parts.section("states") or not plan.states:
                break
        else:
            raise Unusable("llm-draft", "no states were written")
        if "description" not in self.parts.values:
            self.parts.put("description", plan.theme.summary.replace("{", "{{").replace("}", "}}"))
        self._grown("states and rules")
        words = {f"states.{_usable(s.name, 'lower')}": _state_words(s) for s in plan.states}
        words |= {f"rules.{_usable(r.name, 'lower')}": r.text for r in plan.rules}
        wanted = [Wanted(path, words[path]) for path in self._lacking()]
        if not self.parts.section("initial_state"):
            wanted += [
                Wanted(f"initial_state.{name}", "two to four records by key") for name in self.parts.section("states")
            ]
        await self.mender.mend(wanted, grown=self._grown)

    def _lacking(self) -> list[str]:
        """Planned states and rules that are not there, of each as many as there are fewer: the others have other names."""
        found: list[str] = []
        for section, planned in (("states", self.plan.states), ("rules", self.plan.rules)):
            paths = [f"{section}.{_usable(one.name, 'lower')}" for one in planned]
            absent = [path for path in paths if not self.mender.stands(path)]
            found += absent[: max(0, len(paths) - len(self.parts.section(section)))]
        return found

    async def _helpers(self) -> None:
        if not self.plan.tools:
            return
        try:
            reply = await self.mender.asked.ask(
                "write.helpers", **self.mender.declared(initial=False), tools=self.plan.tools
            )
        except Unusable:
            return  # tools bring their own
        found = reply.parts()
        self.mender.put({p: v for p, v in found.items() if self.mender.is_new(p)})
        self._grown("helpers")
        await self.mender.mend((), grown=self._grown)

    async def _tools(self, tools: Sequence[PlannedTool]) -> None:
        names = [tool.name for tool in tools]
        others = [tool.name for tool in self.plan.tools if tool.name not in names]
        wanted = [Wanted(f"tools.{_usable(tool.name, 'tool')}", _tool_words(tool)) for tool in tools]
        try:
            reply = await self.mender.asked.ask(
                "write.tools",
                **self.mender.declared(initial=True),
                tools=tools,
                others=others,
                uncited=self.mender.uncited(),
            )
        except Unusable as problem:
            if len(tools) > 1 and problem.code in _HALVED:
                await self._tools(tools[: len(tools) // 2])
                await self._tools(tools[len(tools) // 2 :])
                return
        else:
            self.mender.put(self.mender.fitting(reply.parts(), wanted))
        for one in wanted:
            self.mender.count(one.path)
        self._grown(f"tools: {', '.join(names)}")
        await self.mender.mend(wanted, grown=self._grown)

    def _prune(self) -> None:
        """Leave out helpers, types and constants that nothing uses; the comment at the top says so."""
        while True:
            warnings = judge(self.parts, run=False).warnings
            unused = [
                path
                for path, problems in warnings.items()
                if path.partition(".")[0] in _DROPPED and any(d.title.startswith(_UNUSED) for d in problems)
            ]
            if not unused:
                return
            for path in unused:
                self.parts.drop(path)
            self.left_out += unused

    def _grown(self, done: str) -> None:
        if self.tell is None:
            return
        judged = self.mender.judged()
        problems = sum(len(d) for found in (judged.errors, judged.differs) for d in found.values())
        written = len(self.parts.section("tools"))
        self.tell(Grown(done, judged.laid.text, problems, written, len(self.plan.tools)))

    def _draft(self) -> Draft:
        run = self.settings.run_examples
        found = self.mender.judged() if self.parts.section("tools") else judge(self.parts, run=run, whole=True)
        said: dict[str, list[str]] = {}
        for path in self.parts.values:
            if (times := self.mender.tries[path]) > 1:
                said.setdefault(path, []).append(f"written in {times} tries")
        for example in self.mender.taken:
            path, _, number = example.rpartition(".")
            said.setdefault(path, []).append(
                f"example {int(number) + 1}: what is expected is what a run gave, by the model's word"
            )
        for problem in found.all:
            if path := found.laid.owner(problem.span.line):
                said.setdefault(path, []).append(f"open: [{problem.code}] {problem.title}")
        judged = judge(self.parts, run=run, whole=True, top=self._top(), said=said)
        return Draft(
            text=judged.laid.text,
            problems=judged.all,
            parts={path: self.mender.tries[path] for path in self.parts.values if self.mender.tries[path]},
            missing=(
                *self._lacking(),
                *(path for t in self.plan.tools if not self.mender.stands(path := f"tools.{_usable(t.name, 'tool')}")),
            ),
            taken=tuple(sorted(self.mender.taken)),
            model=self.model,
        )

    def _top(self) -> list[str]:
        theme = self.plan.theme
        lines = [f"Drafted by {self.model}."]
        if theme.task:
            lines.append(f"From the task: {theme.task}")
        if theme.origin:
            lines.append(f"Read from {theme.origin}{f' as {theme.origin.source}' if theme.origin.source else ''}.")
        lines += [line for line in self.note.splitlines() if line.strip()]
        if self.left_out:
            lines.append(f"Left out, since nothing used them: {', '.join(self.left_out)}.")
        return lines


def _usable(name: str, kind: str) -> str:
    """A planned name as a spec can have it, where there is one like it."""
    return name if is_name(name, kind) else proposal(name, kind) or name


def _state_words(state: PlannedState) -> str:
    fields = ", ".join(f"{f.name} {f.type}" for f in state.fields)
    return f"{state.record}{', a single record' if state.single else ''}, with {fields}"


def _tool_words(tool: PlannedTool) -> str:
    refuses = f" Refuses: {'; '.join(tool.errors)}" if tool.errors else ""
    params = f" Parameters: {'; '.join(f'{n}: {t}' for n, t in tool.params.items())}." if tool.params else ""
    return f"{tool.kind}; {tool.description}{params}{refuses}"
