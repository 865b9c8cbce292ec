"""Faulty parts go back to the model with what is said of them; what comes back is kept where the spec is better for it."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from envscaler.diagnostics import nearest
from envscaler.draft.asking import Unusable, ask
from envscaler.draft.judging import Judged, as_run, judge, told
from envscaler.draft.parts import Parts
from envscaler.draft.replies import PartsReply
from envscaler.draft.themes import Theme
from envscaler.errors import UsageError
from envscaler.llm import Llm, Message
from envscaler.spec.edit import inline

__all__ = ["Asked", "Mender", "Wanted"]

_AT_ONCE: Final = 8  # parts that go back together
_NAMED: Final = 4  # of them that are told by name
_ADDED: Final = ("helpers", "types", "constants")  # sections where a part may come that nobody planned
_KEPT: Final = ("tools", "states", "title", "description")  # of these nothing is taken away
_DATA: Final = {"example-differs", "initial-state", "dangling-ref"}  # problems with what is in the initial state
_NAMING: Final = ("bad-name", "reserved-name", "name-clash", "unknown-state")
_EXAMPLE: Final = re.compile(r"(\w+)\W+(?:examples\W+)?(\d+)\W*\Z")

Rewritten: TypeAlias = Mapping[str, tuple[str, Any]]
"""By path: the path that a part has now, mostly the same, and its value."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part that is planned, and what is planned of it."""

    path: str
    words: str


class Asked:
    """The model, asked about one environment: one system's message and one shape for all questions, so that what they have in
    common is kept by the provider."""

    def __init__(self, llm: Llm, theme: Theme, folders: tuple[str, ...], sample: int) -> None:
        self._llm = llm
        self._theme = theme
        self._folders = folders
        self._sample = sample
        self._before: Counter[str] = Counter()

    async def ask(self, name: str, **values: Any) -> PartsReply:
        """The reply to `prompts/draft/NAME`. Raises Unusable, LlmError."""
        from envscaler.compiler.templates import render
        from envscaler.spec.card import card

        system = render("prompts/draft/write.system.j2", self._folders, card=card(brief=True))
        user = render(f"prompts/draft/{name}.j2", self._folders, theme=self._theme, **values).strip()
        again = self._before[user]  # the same question once more gets another sample
        self._before[user] += 1
        question = [Message("system", system.strip()), Message("user", user)]
        return await ask(self._llm, PartsReply, question, sample=self._sample + again)


class Mender:
    """``tries``: how often each part was asked for. ``taken``: examples whose expected value the run gave."""

    def __init__(self, parts: Parts, asked: Asked, most: int, run: bool) -> None:
        self.parts = parts
        self.asked = asked
        self.tries: Counter[str] = Counter()
        self.taken: set[str] = set()
        self._names: dict[str, str] = {}  # paths of parts that were given another name
        self._most = most
        self._run = run
        self._refused = ""
        self._judged: tuple[dict[str, Any], Judged] | None = None

    # -- parts in and out

    def put(self, found: Mapping[str, Any]) -> None:
        """Take parts as they come; what cannot be one is left out."""
        for path, value in found.items():
            if value is None:
                continue
            try:
                self.parts.put(path, value)
            except UsageError as problem:
                self._refused = str(problem)
            else:
                self.count(path)

    def count(self, path: str) -> None:
        """A part was asked for, whatever came."""
        self.tries[path] = max(self.tries[path], 1)

    def stands(self, path: str) -> bool:
        """Whether a planned part is there, under its name or the one that it was given since."""
        return path in self.parts.values or self._names.get(path) in self.parts.values

    def is_new(self, path: str) -> bool:
        """Whether a part that nobody planned may come under this path."""
        section = path.partition(".")[0]
        return path not in self.parts.values and (section in _ADDED or path == "after_each")

    def fitting(self, found: Mapping[str, Any], wanted: Iterable[Wanted], asked: Iterable[str] = ()) -> dict[str, Any]:
        """What was wanted or asked for of what came, and new parts that nobody planned."""
        missing = {_loose(one.path): one.path for one in wanted if not self.stands(one.path)}
        open_paths = {_loose(path): path for path in asked}
        made: dict[str, Any] = {}
        for path, value in found.items():
            meant = open_paths.get(_loose(path)) or missing.get(_loose(path))
            if meant is not None:
                made[meant] = value
            elif self.is_new(path) or (path.startswith("initial_state.") and self._lacks(path)):
                made[path] = value
        return made

    def _lacks(self, path: str) -> bool:
        return path not in self.parts.values and f"states.{path.partition('.')[2]}" in self.parts.values

    def judged(self) -> Judged:
        if self._judged is None or self._judged[0] != self.parts.values:
            self._judged = dict(self.parts.values), judge(self.parts, run=self._run)
        return self._judged[1]

    # -- what the model is told

    def declared(self, *, initial: bool) -> dict[str, Any]:
        """What prompts say of the parts so far: what is declared, how helpers are called, the initial state if wanted.

        What changes least comes first.
        """
        rules = [f"  {name}: {_rule(value)}" for name, value in self.parts.section("rules").items()]
        sections = [self.parts.shown("constants", "types", "states"), "\n".join(["rules:", *rules]) if rules else ""]
        helpers = [_signature(name, value) for name, value in self.parts.section("helpers").items()]
        state = self.parts.shown("initial_state") if initial else ""
        return {"declared": "\n".join(filter(None, sections)), "helpers": helpers, "initial": state}

    def uncited(self) -> list[str]:
        """Rules that nothing enforces, and no logic cites yet."""
        logic = "\n".join(
            line
            for s in ("helpers", "tools")
            for name in self.parts.section(s)
            for line in self.parts.lines(f"{s}.{name}")
        )
        return [
            name
            for name, value in self.parts.section("rules").items()
            if isinstance(value, Mapping) and not set(value) & {"holds", "moves", "policy"} and f'"{name}"' not in logic
        ]

    # -- mending

    async def mend(
        self, wanted: Sequence[Wanted], *, warnings: bool = False, grown: Callable[[str], None] = lambda _: None
    ) -> None:
        """Ask for faulty parts again, and for those that are not written yet, until nothing is open or all tries are used.

        With ``warnings`` these count, too, for one round.
        """
        warned = False
        while True:
            judged = await asyncio.to_thread(self.judged)  # others use this loop, too
            faulty = self._faulty(judged, warnings and not warned)
            missing = [w for w in wanted if not self.stands(w.path) and self.tries[w.path] < self._most]
            if not faulty and not missing:
                return
            warned = True
            for path in (*faulty, *(w.path for w in missing)):
                self.tries[path] += 1
            await self._round(judged, faulty, missing)
            asked = [*faulty, *(w.path for w in missing)]
            more = f" and {len(asked) - _NAMED} more" if len(asked) > _NAMED else ""
            grown(f"mending {', '.join(asked[:_NAMED])}{more}")

    def _faulty(self, judged: Judged, warnings: bool) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for kind in (judged.errors, judged.differs, judged.warnings if warnings else {}):
            for path, problems in kind.items():
                if path and self.tries[path] < self._most:
                    found.setdefault(path, []).extend(problems)
        return dict(list(found.items())[:_AT_ONCE])

    async def _round(self, judged: Judged, faulty: Mapping[str, list[Any]], missing: Sequence[Wanted]) -> None:
        parts = [
            {"path": path, "text": "\n".join(self.parts.lines(path)), "problems": told(problems, judged.laid, path)}
            for path, problems in faulty.items()
        ]
        differs = [e for e in judged.ran.differing if f"tools.{e.rpartition('.')[0]}" in faulty] if judged.ran else []
        refused, self._refused = self._refused, ""
        try:
            reply = await self.asked.ask(
                "write.again",
                **self.declared(initial=_about_data(faulty, missing)),
                parts=parts,
                missing=missing,
                differs=differs,
                refused=refused,
            )
        except Unusable as problem:
            self._refused = str(problem)
            return
        came = reply.parts()
        found = self.fitting(came, missing, faulty)
        self.put({path: value for path, value in found.items() if path in {w.path for w in missing}})
        rewritten = {path: (path, value) for path, value in found.items() if path in faulty}
        rewritten |= self._renamed(faulty, came, found)
        names = {path for path, _ in rewritten.values()}
        added = {p: v for p, v in found.items() if p not in faulty and p not in names and p not in self.parts.values}
        examples = [e for e in map(_example, reply.as_run) if e in differs]
        await asyncio.to_thread(self._accept, rewritten, added, examples)

    def _renamed(self, faulty: Mapping[str, list[Any]], came: Mapping[str, Any], found: Mapping[str, Any]) -> Rewritten:
        """Parts whose name was the fault, under the names that they came back with: in order, within their sections."""
        made: dict[str, tuple[str, Any]] = {}
        for path, problems in faulty.items():
            section, _, name = path.partition(".")
            if path in found or not any(d.code in _NAMING for d in problems):
                continue
            taken = {new for new, _ in made.values()}
            others = [p for p in came if p.startswith(f"{section}.") and p not in self.parts.values and p not in taken]
            near = nearest(name, [p.partition(".")[2] for p in others]) or ""
            new = f"{section}.{near}" if near else next(iter(others), None)
            if new is not None and came[new] is not None:
                made[path] = (new, came[new])
        return made

    def _accept(self, rewritten: Rewritten, added: Mapping[str, Any], examples: Sequence[str]) -> None:
        """All of it when the spec is better then; else one part after the other, those that are better by themselves."""
        if not rewritten and not added and not examples:
            self._refused = self._refused or "nothing came that was asked for"
            return
        if self._try(rewritten, added, examples):
            return
        for path, new in rewritten.items():
            self._try({path: new}, added, [e for e in examples if path == f"tools.{e.rpartition('.')[0]}"])
        for example in examples:
            self._try({}, {}, [example])

    def _try(self, rewritten: Rewritten, added: Mapping[str, Any], examples: Sequence[str]) -> bool:
        before = self.judged()
        made = self.parts.copy()
        try:
            for path, value in added.items():
                if value is not None:
                    made.put(path, value)
            for path, (new, value) in rewritten.items():
                if value is not None:
                    made.rename(path, new, value)
                elif path.partition(".")[0] not in _KEPT:
                    made.drop(path)
        except UsageError as problem:
            self._refused = str(problem)
            return False
        after = judge(made, run=self._run)
        taken = _taken(made, after, examples)
        if taken:
            after = judge(made, run=self._run)
        touched = {
            *rewritten,
            *(new for new, _ in rewritten.values()),
            *added,
            *(f"tools.{e.rpartition('.')[0]}" for e in taken),
        }
        if not after.better_than(before, touched):
            worst = next(iter(after.all), None)
            if made.values == self.parts.values:
                self._refused = "it changes nothing"
            elif worst is not None:
                self._refused = f"the spec was no better with them; it then said: [{worst.code}] {worst.title}"
            return False
        for path in added:
            self.count(path)
        for path, (new, _) in rewritten.items():
            self.tries[new] = self.tries[path]
            if new != path:
                self._names[path] = new
        self.taken |= {f"tools.{example}" for example in taken}
        self.parts.become(made)
        self._judged = dict(made.values), after
        return True


def _about_data(faulty: Mapping[str, list[Any]], missing: Sequence[Wanted]) -> bool:
    """Whether the initial state helps to put it right."""
    codes = {d.code for problems in faulty.values() for d in problems}
    return bool(missing) or bool(codes & _DATA) or any(path.startswith("initial_state") for path in faulty)


def _taken(made: Parts, after: Judged, examples: Sequence[str]) -> list[str]:
    """The examples that now expect what the run gives."""
    found = []
    for example in examples:
        tool, _, number = example.rpartition(".")
        value = made.values.get(f"tools.{tool}")
        if after.ran is None or not isinstance(value, Mapping) or not isinstance(value.get("examples"), list):
            continue
        if int(number) >= len(value["examples"]) or not isinstance(value["examples"][int(number)], Mapping):
            continue
        new = as_run(after.ran, tool, int(number), value["examples"][int(number)])
        if new is not None:
            listed = list(value["examples"])
            listed[int(number)] = new
            made.put(f"tools.{tool}", {**value, "examples": listed})
            found.append(example)
    return found


def _example(name: str) -> str:
    """`lend.0`, from what a model makes of it."""
    match = _EXAMPLE.search(name)
    return f"{match[1]}.{match[2]}" if match else name


def _loose(path: str) -> str:
    return re.sub(r"[\W_]", "", path).lower()


def _rule(value: Any) -> str:
    text = value.get("text", "") if isinstance(value, Mapping) else ""
    return inline(text) if isinstance(text, str) else '""'


def _signature(name: str, value: Any) -> str:
    """`open_loans(member: Member): What a member has out.`"""
    if not isinstance(value, Mapping):
        return name
    params = value.get("params")
    of = ", ".join(f"{p}: {inline(t)}" for p, t in params.items()) if isinstance(params, Mapping) else ""
    returns = f" -> {inline(value['returns'])}" if value.get("returns") else ""
    description = value.get("description")
    return f"{name}({of}){returns}" + (f": {' '.join(description.split())}" if isinstance(description, str) else "")
