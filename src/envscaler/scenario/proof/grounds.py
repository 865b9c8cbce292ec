"""The text decides the goal: each value of the solution and of the goals is told to somebody, or found from what is told."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.pointers import parts
from envscaler.runtime.values import same
from envscaler.scenario.model import Source
from envscaler.scenario.pointers import MISSING, lookup, members
from envscaler.scenario.proof.record import Reason
from envscaler.scenario.proof.trial import Trial
from envscaler.scenario.wording.english import words_of
from envscaler.scenario.wording.leaves import Leaf, leaves, source_of
from envscaler.scenario.wording.told import tells, told
from envscaler.trees import parsed_expression

__all__ = ["arguments", "clauses", "literals", "origin"]

_SHOWN: Final = 60
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d.*")
_WORD: Final = re.compile(r"[a-z]+(_[a-z]+)*")


def arguments(trial: Trial) -> Iterator[Reason]:
    """What the solution takes from nowhere."""
    text = _text(trial)
    for step in range(len(trial.calls)):
        yield from _arguments(trial, step, text)


def _text(trial: Trial) -> str:
    """All that may be told."""
    scenario = trial.scenario
    return "\n".join([scenario.task, scenario.user.opening, *(fact.text for fact in scenario.user.facts)])


# -- arguments


def _arguments(trial: Trial, index: int, text: str) -> Iterator[Reason]:
    scenario, step = trial.scenario, trial.scenario.solution[index]
    facts = {fact.name: fact for fact in scenario.user.facts}
    for untold in told(trial.world, index, step, scenario.task, facts):
        if not _given(step.sources, untold.path) and origin(trial, index, untold.path, untold.value) is not None:
            continue
        where = "the task" if untold.where == "task" else f"the fact {untold.where}"
        how = "is not there" if untold.absent else "does not tell it"
        shown = _shown(untold.value)
        yield Reason(
            "argument-untold", f"{_step(trial, index)}: {untold.path} is {shown}, and {where} {how}", step=index
        )
    tool = trial.world.tools[step.tool]
    for name, value in step.arguments.items():
        for leaf in leaves(name, value, tool.params.get(name)):
            source = source_of(step.sources, leaf.path)
            if source.kind == "found":
                yield from _found(trial, index, leaf, source, text)
            elif source.kind == "fixed" and not _fixed(leaf, tool.params.get(name), value):
                problem = f"{leaf.path} is {_shown(leaf.value)}, and the tool leaves another choice"
                yield Reason("argument-untold", f"{_step(trial, index)}: {problem}", step=index)


def _given(sources: Mapping[str, Source], path: str) -> bool:
    names = path.split("/")
    return any("/".join(names[:n]) in sources for n in range(1, len(names) + 1))


def origin(trial: Trial, index: int, path: str, value: Any) -> Source | None:
    """Where an argument comes from that the task does not tell: a fact that does, or an earlier result that holds it as that
    of the one record that fits what is told."""
    leaf, text = Leaf(path, value, s.ANY, ""), _text(trial)
    for fact in trial.scenario.user.facts:
        if _holds(fact.value, value) and tells(fact.text, _as_leaf(leaf)):
            return Source("fact", name=fact.name)
    for earlier in range(index):
        result = trial.results[earlier]
        for pointer, found in _places(result.value) if result.ok else ():
            if same(found, value) and not _ambiguous(result.value, pointer, text):
                return Source("found", step=earlier, path=pointer)
    return None


def _holds(whole: Any, value: Any) -> bool:
    return any(same(one, value) for _, one in _places(whole))


def _places(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a JSON value, and the names of its members, by pointer."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            at = f"{path}/{str(name).replace('~', '~0').replace('/', '~1')}"
            yield f"{at}#", name
            yield from _places(one, at)
    elif isinstance(value, list | tuple):
        for n, one in enumerate(value):
            yield from _places(one, f"{path}/{n}")
    else:
        yield path, value


def _found(trial: Trial, index: int, leaf: Leaf, source: Source, text: str) -> Iterator[Reason]:
    place = f"{_step(trial, index)}: {leaf.path} is {_shown(leaf.value)}"
    if not 0 <= source.step < index:
        problem = f"{place}, said to be found in step {source.step + 1}, which does not come before"
        yield Reason("argument-not-found", problem, step=index)
        return
    result = trial.results[source.step]
    found = lookup(result.value, source.path) if result.ok else MISSING
    if found is MISSING:
        problem = f"{place}, said to be at {source.path or '/'} of step {source.step + 1}, where nothing is"
        yield Reason("argument-not-found", problem, step=index)
    elif not _same_text(found, leaf.value):
        problem = f"{place}, but {source.path or '/'} of step {source.step + 1} is {_shown(found)}"
        yield Reason("argument-not-found", problem, step=index)
    elif (fitting := _ambiguous(result.value, source.path, text)) > 1:
        problem = f"{place}, found in step {source.step + 1}, where {fitting} records fit what is told"
        yield Reason("argument-ambiguous", problem, step=index)


def _same_text(found: Any, value: Any) -> bool:
    return same(found, value) or (isinstance(value, str) and isinstance(found, str) and value in found.split())


def _ambiguous(result: Any, pointer: str, text: str) -> int:
    """How many records of the list in a result fit what is told and say something else at the place; 0 for one alone."""
    among = members(result, pointer)
    if among is None:
        return 0
    records, at, rest = among
    if len(records) == 1:
        return 0
    path = "/" + "/".join(rest) if rest else ""
    known = [
        (place, value)
        for place, value in _places(records[at])
        if not place.endswith("#") and _tells(text, value, words_of(place.rpartition("/")[2]))
    ]
    fitting = [r for r in records if all(same(lookup(r, place), value) for place, value in known)]
    if pointer.endswith("#") and not rest:
        return len(fitting) if len(fitting) > 1 else 0
    mine = lookup(records[at], path)
    return len(fitting) if any(not same(lookup(r, path), mine) for r in fitting) else 0


def _tells(text: str, value: Any, name: str = "") -> bool:
    """Whether a text tells a value; yes, no and none are told with the ``name`` of what they are about."""
    if value is None or value.__class__ is bool or value in ("", [], {}):
        return bool(name) and tells(text, Leaf("", value, s.BOOL, name))
    return tells(text, _as_leaf(Leaf("", value, s.ANY, "")))


def _as_leaf(leaf: Leaf) -> Leaf:
    """A leaf of a result with the shape that it seems to have."""
    value, shape = leaf.value, leaf.shape
    if isinstance(value, str):
        if _DATE.fullmatch(value):
            shape = s.DATE
        elif _MOMENT.fullmatch(value):
            shape = s.DATETIME
        elif _WORD.fullmatch(value):
            shape = s.Enum((value,))
    return Leaf(leaf.path, value, shape, leaf.label)


def _fixed(leaf: Leaf, field: s.Field | None, value: Any) -> bool:
    """Whether the schema allows nothing else, or the value is what stands for one that is left out."""
    match leaf.shape:
        case s.Const():
            return True
        case s.Enum(values=values):
            if len(values) == 1:
                return True
    return field is not None and not field.required


# -- literals of the goals


def literals(trial: Trial) -> Iterator[Reason]:
    """What the goals ask for that nobody told, and that no step finds or brings about."""
    text, known = _text(trial), _Known(_brought(trial))
    for number, goal in enumerate(trial.scenario.goals):
        for literal in _constants(goal.expr):
            if not known.has(literal) and not _tells(text, literal):
                problem = (
                    f"goal {number + 1} asks for {_shown(literal)}, which is neither told, found nor brought about"
                )
                yield Reason("literal-untold", problem, goal=number)


def _constants(expr: str) -> Iterator[Any]:
    try:
        tree = parsed_expression(expr.strip())
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value.__class__ in (str, int, float):
            yield node.value


class _Known:
    """What is known to somebody: texts, one after the other, and the sizes of numbers."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.texts = "\0".join(dict.fromkeys(one for one in values if isinstance(one, str)))
        numbers = {one for one in values if one.__class__ in (int, float)}
        self.sizes = {abs(Decimal(repr(one))) for one in numbers}

    def has(self, literal: str | int | float) -> bool:
        """Whether a text is one of them or stands in one, or a number is as large as one, or goes without saying."""
        if isinstance(literal, str):
            return literal in self.texts
        size = abs(Decimal(repr(literal)))
        return size <= 1 or size in self.sizes or (size < 10 and size == int(size))


def _brought(trial: Trial) -> list[Any]:
    """What the solution's calls say, find and bring about."""
    values: list[Any] = []
    for call, result in zip(trial.calls, trial.results, strict=True):
        values += (value for _, value in _places(call.arguments))
        values += (value for _, value in _places(result.value) if result.ok)
    env = trial.at(len(trial.calls))
    changes = env.diff()
    for change in changes:
        names = parts(change["path"])
        values += names
        if names[0] in trial.world.collections and names[1] in env.final[names[0]]:
            values += (value for _, value in _places(env.record(names[0], names[1])))
        values += (value for part in ("value", "before") for _, value in _places(change.get(part)))
    values += (value for _, value in _places(trial.scenario.submitted))
    values.append(len(changes))
    return values


# -- numbered wishes


_ITEM: Final = re.compile(r"(?:(?<=\s)|^)\(?(\d{1,2})[.)]\s+(.*?)(?=(?:\s\(?\d{1,2}[.)]\s)|\Z)", re.S)


def clauses(trial: Trial) -> Iterator[Reason]:
    """Numbered wishes of the task that no step serves.

    A wish that names values of steps, or the goals' records, is served by them; of the others there may be as many as there
    are steps and answers that no wish names.
    """
    wishes = _numbered(trial.scenario.task)
    steps = [
        [leaf for name, value in call.arguments.items() for leaf in leaves(name, value, _param(trial, call.tool, name))]
        for call in trial.calls
    ]
    served: set[int] = set()
    silent = []
    for number, wish in wishes:
        serving = [
            n for n, told in enumerate(steps) if any(_tells(wish, leaf.value) or tells(wish, leaf) for leaf in told)
        ]
        if serving:
            served.update(serving)
        elif _keys_in(trial, wish):
            yield Reason("clause-without-step", f"wish {number} of the task has no step: {_shown(wish)}")
        else:
            silent.append((number, wish))
    spare = len([n for n, call in enumerate(trial.calls) if n not in served]) + len(trial.scenario.answers)
    for number, wish in silent[spare:]:
        yield Reason("clause-without-step", f"wish {number} of the task has no step: {_shown(wish)}")


def _param(trial: Trial, tool: str, name: str) -> s.Field | None:
    return trial.world.tools[tool].params.get(name)


def _numbered(task: str) -> list[tuple[int, str]]:
    """The items of a list that is numbered from 1 on; none when there are fewer than two."""
    found = [(int(m[1]), m[2].strip()) for m in _ITEM.finditer(task)]
    return found if len(found) > 1 and [n for n, _ in found] == list(range(1, len(found) + 1)) else []


def _keys_in(trial: Trial, wish: str) -> bool:
    """Whether a wish names a record by its key."""
    env = trial.at(0)
    words = re.findall(r"[\w-]+", wish)
    return any(word in env.final[name] for name in trial.world.collections for word in words if not word.isalpha())


def _step(trial: Trial, index: int) -> str:
    return f"step {index + 1} ({trial.calls[index].tool})"


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
