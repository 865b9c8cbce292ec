"""Whether a text tells a value: the one rule for tasks and facts, whoever wrote them.

| value | stands in the text as |
|---|---|
| text, key of a record, zone | itself, letter for letter, not as a part of a longer word or number |
| word of an enumeration | itself, or with spaces for its underscores, in any case |
| number, amount | digits of the same value (`50`, `50.00`, `1,250.5`), outside of words, ids, dates, times and quoted texts |
| date | `2031-05-12`, `12 May 2031` or `May 12, 2031` |
| time | `09:00`, `9:00` or `09:00:00` |
| date with time | its own text, or a date, then `at`, a comma or a space, then a time |
| true | what it is about (`express`), in any case, where that does not mean false |
| false | what it is about after `no`, `not` or `without`, or before `: no` |
| null, empty list, empty mapping | what it is about after `no` or `without`, or before `: none` |
| text without a character | what it is about before `left empty`, or as null |
| list, object, mapping | each value in it; of a mapping without declared names each name too |

What a value is about is the name of its parameter or field as words, without the `id` of one that names a record, a unit at
its end, or a number that sets it apart from others of its name. Where no type is declared a text is what it looks like: a
date, a time, a word of an enumeration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.values import same
from envscaler.scenario.model import Fact, Scenario, Step
from envscaler.scenario.wording.leaves import Leaf, leaves, source_of
from envscaler.scenario.wording.values import EMPTY, MONTHS, NONE, enum_words, looks_like
from envscaler.scenario.world import World

__all__ = ["Untold", "tells", "told", "told_in"]

_MONTH: Final = "|".join(MONTHS)
_DATES: Final = re.compile(
    rf"(?<![\w-])(?:(\d{{4}})-(\d\d)-(\d\d)|(\d{{1,2}}) ({_MONTH}) (\d{{4}})|({_MONTH}) (\d{{1,2}}), (\d{{4}}))(?![\w-])"
)
_TIMES: Final = re.compile(r"(?<![\w:.-])(\d{1,2}):(\d\d)(?::(\d\d))?(?![\w:])")
_QUOTED: Final = re.compile(r'"[^"\n]*"|“[^”]*”')
_TEMPORAL: Final = (s.DATE, s.TIME, s.DATETIME, s.LOCAL_DATETIME)
_ENDINGS: Final = frozenset(("id", "ids", "no", "key", "str", "ml", "mg", "kg", "km", "mm", "cm"))
_NUMBERED: Final = re.compile(r"^[ \t]*\d+[.)](?=\s)", re.M)
_NUMBER: Final = re.compile(r"(?<![\w.,:/#-])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w:/]|-\w|[.,]\d)")


@dataclass(frozen=True, slots=True)
class Untold:
    """A value of a step that stands nowhere. ``path``: its parameter and the JSON pointer below it; ``where``: `task`, or
    the name of the fact that should tell it; ``fact`` that is missing altogether has ``absent``."""

    step: int
    tool: str
    path: str
    value: Any
    where: str
    absent: bool = False


def told_in(world: World, scenario: Scenario) -> list[Untold]:
    """Every value of the solution that is said to be told, by the task or by a fact, and is not."""
    facts = {fact.name: fact for fact in scenario.user.facts}
    return [
        untold
        for index, step in enumerate(scenario.solution)
        for untold in told(world, index, step, scenario.task, facts)
    ]


def told(world: World, index: int, step: Step, task: str, facts: Mapping[str, Fact]) -> list[Untold]:
    """The values of one step, the ``index``-th, that neither ``task`` nor the fact named as their source tells.

    Values with another source (found, fixed, free) are not looked for.
    """
    tool = world.tools.get(step.tool)
    missing = []
    for name, value in step.arguments.items():
        field = tool.params.get(name) if tool is not None else None
        for leaf in leaves(name, value, field):
            source = source_of(step.sources, leaf.path)
            if source.kind == "task" and not tells(task, leaf):
                missing.append(Untold(index, step.tool, leaf.path, leaf.value, "task"))
            elif source.kind == "fact":
                fact = facts.get(source.name)
                if fact is None or not tells(fact.text, leaf) or not _within(leaf.value, fact.value):
                    missing.append(Untold(index, step.tool, leaf.path, leaf.value, source.name, fact is None))
    return missing


def _within(value: Any, whole: Any) -> bool:
    """Whether a value is, or is a part of, another."""
    if same(value, whole):
        return True
    if isinstance(whole, Mapping):
        return any(same(value, k) or _within(value, v) for k, v in whole.items())
    return isinstance(whole, list | tuple) and any(_within(value, one) for one in whole)


def tells(text: str, leaf: Leaf) -> bool:
    """Whether ``text`` tells the value; see the table above."""
    value, shape = leaf.value, leaf.shape
    if isinstance(value, str) and (shape is s.ANY or shape in _TEMPORAL):
        shape = looks_like(value)
    if value is None or (isinstance(value, list | tuple | dict) and not value):
        return _none(text, leaf.label)
    if isinstance(value, bool):
        about = _about(leaf.label)
        if value:
            return _said(text, rf"(?<!no )(?<!not )(?<!without ){about}(?!: no\b)")
        return _said(text, rf"(?:no|not|without) {about}|{about}: no")
    if isinstance(value, str):
        return _tells_text(text, value, shape, leaf)
    return Decimal(repr(value)) in _numbers(text)


def _tells_text(text: str, value: str, shape: s.Shape, leaf: Leaf) -> bool:
    if not value:
        return _none(text, leaf.label) or _said(text, rf"{_about(leaf.label)}:? {EMPTY}")
    if leaf.key:
        return verbatim(text, value) or _said(text, _about(enum_words(value)))
    if isinstance(shape, s.Enum | s.Const):
        return verbatim(text, value) or _said(text, re.escape(enum_words(value)))
    if verbatim(text, value):
        return True
    if shape is s.DATE:
        return value in {day for _, day in _dates(text)}
    if shape is s.TIME:
        return value.removesuffix(":00") in {at for _, _, at in _times(text)}
    if shape is s.DATETIME:
        return value.removesuffix("Z").removesuffix(":00") in set(_moments(text))
    return False


def verbatim(text: str, value: str) -> bool:
    """Whether the text holds the value letter for letter, and not as a part of a longer word."""
    before = r"(?<!\w)(?<!\w-)" if re.match(r"\w", value) else ""
    after = r"(?!\w)(?!-\w)" if re.search(r"\w$", value) else ""
    return value in text and re.search(before + re.escape(value) + after, text) is not None


def _none(text: str, label: str) -> bool:
    return _said(text, rf"(?:no|without) (?:an? |any )?{_about(label)}|{_about(label)}:? {NONE}")


def _about(label: str) -> str:
    """A pattern for what a value is called: its label, with what may be left out at its end."""
    words = label.split()
    short = list(words)
    while len(short) > 1 and (short[-1] in _ENDINGS or short[-1].isdigit()):
        short.pop()
    both = dict.fromkeys(r"\s+".join(map(re.escape, one)) for one in (words, short))
    return f"(?:{'|'.join(both)})"


def _said(text: str, pattern: str) -> bool:
    return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.I) is not None


@lru_cache(maxsize=256)
def _numbers(text: str) -> frozenset[Decimal]:
    plain = _NUMBERED.sub(" ", _QUOTED.sub(_number_alone, _TIMES.sub(" ", _DATES.sub(" ", text))))
    return frozenset(Decimal(m[0].replace(",", "").replace("−", "-")) for m in _NUMBER.finditer(plain))


def _number_alone(quoted: re.Match[str]) -> str:
    inner = quoted[0][1:-1]
    return inner if re.fullmatch(r"[-−]?[\d,.]+", inner) else " "


def _dates(text: str) -> Iterator[tuple[int, str]]:
    """Each date with where it ends."""
    for m in _DATES.finditer(text):
        year, month, day = (
            (m[1], int(m[2]), m[3]) if m[1] else (m[6], _month(m[5]), m[4]) if m[4] else (m[9], _month(m[7]), m[8])
        )
        try:
            yield m.end(), date(int(year), month, int(day)).isoformat()
        except ValueError:
            continue


def _month(name: str) -> int:
    return MONTHS.index(name) + 1


def _times(text: str) -> Iterator[tuple[int, int, str]]:
    """Each time with where it begins and ends; its seconds only when there are some."""
    for m in _TIMES.finditer(text):
        seconds = m[3] or "00"
        yield m.start(), m.end(), f"{int(m[1]):02d}:{m[2]}" + (f":{seconds}" if seconds != "00" else "")


def _moments(text: str) -> Iterable[str]:
    times = [(start, at) for start, _, at in _times(text)]
    for end, day in _dates(text):
        for start, at in times:
            if start > end and text[end:start].strip(" ,") in ("", "at"):
                yield f"{day}T{at}"
