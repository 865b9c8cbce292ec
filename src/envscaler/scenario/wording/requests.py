"""A call of a plan as a wish: what is to be done in the tool's own words, and each value that it needs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.pointers import escaped
from envscaler.scenario.model import Source
from envscaler.scenario.plan import Plan, PlannedCall
from envscaler.scenario.wording.english import listed, names_noun, request, sentence
from envscaler.scenario.wording.leaves import TOLD, source_of
from envscaler.scenario.wording.records import Records
from envscaler.scenario.wording.values import (
    EMPTY,
    NONE,
    currency,
    enum_words,
    fields_of,
    label_of,
    said,
    strip_null,
    unit_of,
)
from envscaler.scenario.world import ToolInfo, World

__all__ = ["Detail", "Request", "Speaker"]

_PREPOSITION: Final = re.compile(r"(from|to|into|at|on|for|by|via|with|until|since|before|after)\b ?")
_ONE_TO_ANOTHER: Final = re.compile(r" from one [a-z]+ to another(?= )")
_NO_NOUN: Final = re.compile(r"(?:ed|en|by|s|born|urgent|optional|private|short)$")
_MINE: Final = {"your": "my", "yours": "mine", "yourself": "myself"}  # where the user does it
_YOURS: Final = re.compile(r"\b(?:yourself|yours|your)\b")
_FREE: Final = "as you see fit"
_WORDS: Final = ("yes", "no", NONE, EMPTY, _FREE)


@dataclass(frozen=True, slots=True)
class Detail:
    """One value of a wish. ``label`` and ``value``: for a form; ``phrase``: for a sentence. ``leading``: the phrase goes with
    the verb, as `from account A-2001` does. ``param``: of which parameter."""

    param: str
    label: str
    value: str
    phrase: str
    leading: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """One wish. ``ask``: an imperative without a capital, records put in where it speaks of one. ``bare``: the same without
    them. ``named``: the parameters that ``ask`` tells. ``own``: the user does it, not the agent. ``sources``: where the
    values of the call come from, now that it is known what is told."""

    index: int
    tool: str
    ask: str
    bare: str
    details: tuple[Detail, ...]
    named: Mapping[str, str]
    own: bool
    sources: Mapping[str, Source]

    @property
    def prose(self) -> str:
        """The whole wish as one clause, without a capital or a full stop."""
        text = self.ask
        for detail in self.details:
            if detail.leading:
                text += f" {detail.phrase}"
        if len([d for d in self.details if d.leading]) > 1:
            text = _ONE_TO_ANOTHER.sub("", text)
        rest = [detail.phrase for detail in self.details if not detail.leading]
        if rest and re.match(r"[\w ]+: ", rest[0]):
            return f"{text} ({'; '.join(rest)})"
        return f"{text}: {listed(rest)}" if rest else text


class Speaker:
    """Words for the calls of one plan in one world; ``later``: said of what is there when its writes are done."""

    def __init__(self, world: World, plan: Plan, *, later: bool = False) -> None:
        self.world, self.plan = world, plan
        self.money = currency(world.spec.description.value, world.spec.title)
        self.records = Records(world, plan, self.money, later=later)
        self.sources: dict[int, dict[str, Source]] = {}

    def request(self, index: int, kept: Collection[str] = ()) -> Request:
        """The wish that the ``index``-th call of the plan fulfils; the parameters ``kept`` are not told in it."""
        call = self.plan.calls[index]
        tool = self.world.tools[call.tool]
        self.sources[index] = dict(call.sources)
        told = [name for name in call.arguments if name not in kept and self._is_told(call, name)]
        whole = any(call.arguments[name] is None for name in told)
        bare = request(tool.description, tool.name, whole=whole)
        if call.actor == "user":
            bare = _YOURS.sub(lambda found: _MINE[found[0]], bare)
        ask, named = bare, {}
        for name in told:
            found = self._named(index, call, tool, name, ask)
            if found is not None:
                (start, end), phrase = found
                ask = ask[:start] + phrase + ask[end:]
                named[name] = phrase
        details = tuple(self.detail(index, name) for name in told if name not in named)
        return Request(index, call.tool, ask, bare, details, named, call.actor == "user", self.sources[index])

    def _is_told(self, call: PlannedCall, name: str) -> bool:
        """Whether anything is to be said of an argument: not where the schema leaves no choice."""
        parts = [source for path, source in call.sources.items() if path == name or path.startswith(f"{name}/")]
        return not parts or any(source.kind != "fixed" for source in parts)

    def _named(
        self, index: int, call: PlannedCall, tool: ToolInfo, name: str, ask: str
    ) -> tuple[tuple[int, int], str] | None:
        """Where the wish speaks of a record that an argument names, and what to say there instead."""
        field, value = tool.params.get(name), call.arguments[name]
        shape = strip_null(field.shape) if field is not None else s.ANY
        if field is None or not isinstance(shape, s.Ref) or value is None:
            return None
        label = label_of(field)
        usual = self.records.noun(shape.collection)
        for noun in dict.fromkeys((usual, label) if label in usual else (label, usual)):
            found = names_noun(ask, noun)
            if found is not None:
                return found.span(), self.record(index, name, value, shape, noun)
        return None

    def record(self, index: int, path: str, value: Any, shape: s.Shape, noun: str = "", *, full: bool = False) -> str:
        """A record that the value at ``path`` of a call names: described where the agent is to find it, else by its key."""
        source = source_of(self.plan.calls[index].sources, path)
        known = self.records.at(index, shape, value)
        if source.kind == "found":
            made = self.made(source, known)
            if made:
                return made
            if known is not None and self.records.described(known) is not None:
                return self.records.phrase(known, noun, full=full)
        self.sources[index][path] = TOLD if source.kind != "fact" else source
        return f"{noun} {value}" if noun else said(value, shape, self.money)

    def made(self, source: Source, record: tuple[str, str] | None) -> str:
        """A record that an earlier call of the plan makes, in words; empty for any other."""
        call = self.plan.calls[source.step]
        if record is None or call.kind != "write":
            return ""
        path = f"/{record[0]}/{record[1]}"
        made = any(op["op"] == "add" and op["path"] == path for op in call.changes)
        return f"the new {self.records.noun(record[0])}" if made else ""

    # -- one value

    def detail(self, index: int, name: str, *, full: bool = False) -> Detail:
        """The argument ``name`` of a call as a label and a value, and as a phrase; ``full``: as if nothing was said yet."""
        call = self.plan.calls[index]
        field = self.world.tools[call.tool].params.get(name)
        label = label_of(field) if field is not None else enum_words(name)
        value = call.arguments[name]
        shape = strip_null(field.shape) if field is not None else s.ANY
        if source_of(call.sources, name).kind == "free":
            return Detail(name, label, _FREE, f"{label}: {_FREE}")
        known = self.records.at(index, shape, value) if isinstance(value, str | int) else None
        if known is not None and value is not None and not isinstance(value, bool):
            shown = self.record(index, name, value, shape, full=full)
            return self._record_detail(name, label, shown, shown == said(value, shape, self.money), shape)
        shown = self.value(index, name, value, shape)
        if field is not None and isinstance(value, int | float) and not isinstance(value, bool):
            unit = unit_of(field)
            shown = f"{shown} {unit}" if unit else shown
        if isinstance(shape, s.Partial):
            shown = shown.strip("()")
            return Detail(name, label, shown, f"{label}: {shown}" if "; " in shown else shown)
        plain = not isinstance(value, bool | list | tuple) and shown not in (NONE, EMPTY)
        phrase = f"{label} {shown}" if plain else f"{label}: {shown}"
        return Detail(name, label, shown, phrase)

    def _record_detail(self, name: str, label: str, shown: str, by_key: bool, shape: s.Shape) -> Detail:
        leading = _PREPOSITION.match(label)
        of_ref = isinstance(shape, s.Ref)
        if by_key:
            return Detail(name, label, shown, f"{label} {shown}", leading is not None and of_ref)
        if leading is not None:
            return Detail(name, label, shown, f"{leading[1]} {shown}", True)
        short = re.sub(rf"^the {re.escape(label)} (?=[A-Z0-9\"“])", "", shown)
        if re.search(r" (by|from|to|for|with)$", label):
            return Detail(name, label, shown, f"{label} {shown}")
        noun = self.records.noun(shape.collection) if isinstance(shape, s.Ref) else label
        same = label == noun or shown.startswith((f"the {label} ", f"the new {label}"))
        return Detail(name, label, short, shown if same else f"{shown} as {label}")

    def value(self, index: int, path: str, value: Any, shape: s.Shape) -> str:
        """A value with all its parts; records within it are spoken of as `record` does."""
        shape = strip_null(shape)
        source = source_of(self.plan.calls[index].sources, path)
        if source.kind == "free" and path in self.plan.calls[index].sources:
            return _FREE
        if isinstance(value, list | tuple) and value:
            item = shape.item if isinstance(shape, s.ListOf) else s.ANY
            return listed([self.value(index, f"{path}/{n}", one, item) for n, one in enumerate(value)])
        if isinstance(value, Mapping) and value:
            return self._mapping(index, path, value, shape)
        if isinstance(value, str | int) and not isinstance(value, bool) and source.kind == "found":
            return self.record(index, path, value, shape)
        return said(value, shape, self.money)

    def _mapping(self, index: int, path: str, value: Mapping[str, Any], shape: s.Shape) -> str:
        fields = fields_of(shape, value)
        parts = []
        for name, one in value.items():
            field = fields.get(name)
            of = field.shape if field is not None else shape.value if isinstance(shape, s.DictOf) else s.ANY
            label = label_of(field) if field is not None else enum_words(str(name))
            if isinstance(shape, s.DictOf) and isinstance(strip_null(shape.key), s.Ref):
                label = str(name)
            shown = self.value(index, f"{path}/{escaped(name)}", one, of)
            unit = (
                unit_of(field)
                if field is not None and isinstance(one, int | float) and not isinstance(one, bool)
                else ""
            )
            new = "new " if isinstance(shape, s.Partial) else ""
            plain = isinstance(shape, s.Partial) and isinstance(one, str | int | float) and not isinstance(one, bool)
            parts.append(f"{new}{label}{'' if plain else ':'} {shown}" + (f" {unit}" if unit else ""))
        return listed(parts) if isinstance(shape, s.Partial) else f"({'; '.join(parts)})"


def as_fact(label: str, shown: str, ask: str = "") -> str:
    """A sentence that tells one value; ``ask`` says for which wish, where there are several."""
    if shown.startswith(f"the {label} "):
        plain, whole = f"I mean {shown}", True
    else:
        whole = not (_PREPOSITION.match(label) or _NO_NOUN.search(label) or shown in _WORDS or shown.startswith("("))
        plain = f"the {label} is {shown}" if whole else f"{label}: {shown}"
    return sentence(f"to {ask}{', ' if whole else ' - '}{plain}" if ask else plain)
