"""How a record is spoken of: by what identifies it (`the current account of the customer Ann Lee`), or by its key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.runtime.pointers import parts
from envscaler.scenario.plan import Plan
from envscaler.scenario.wording.english import listed, noun_of
from envscaler.scenario.wording.values import enum_words, label_of, said, strip_null
from envscaler.scenario.world import World

__all__ = ["Records"]

_NAMES: Final = ("name", "full_name", "title", "label")
_ADJECTIVES: Final = ("status", "state", "kind", "type")
_ONE_WORD: Final = re.compile(r"[\w.+@-]*\w")
_DEEP: Final = 3
_BEFORE: Final = " before all that"
_PLAIN_NAME: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][\w'’.-]*(?: (?:of|the|and|de|von|van|[A-ZÀ-ÖØ-Þ0-9&][\w'’.-]*))*")


class Records:
    """The records of one world as one plan describes them. ``money``: the currency of its amounts. ``later``: they are spoken
    of when the plan is done, so that what it changes of them was so before."""

    def __init__(self, world: World, plan: Plan, money: str, *, later: bool = False) -> None:
        self.world, self.plan, self.money, self.later = world, plan, money, later
        self._spoken: set[tuple[str, str]] = set()

    def noun(self, collection: str) -> str:
        """What a record of the collection is called."""
        return noun_of(self.world.collections[collection].record.name)

    def key_name(self, collection: str) -> str:
        """Under which name results give the key of a record."""
        return self.world.collections[collection].key.json

    def at(self, index: int, shape: s.Shape, value: Any) -> tuple[str, str] | None:
        """Which record an argument of the ``index``-th call names, if it names one that is known."""
        shape = strip_null(shape)
        if isinstance(shape, s.Ref):
            return shape.collection, str(value)
        about = [one for one in self.plan.about.get(index, ()) if one[1] == str(value)]
        found = about or [one for one in self.plan.described if one[1] == str(value)]
        return found[0] if len(set(found)) == 1 else None

    def described(self, record: tuple[str, str]) -> Mapping[str, Any] | None:
        """What identifies a record, by name, where that is not its key; nothing where it is the only one of another's."""
        fields = self.plan.described.get(record)
        if fields and self.key_name(record[0]) not in fields:
            return fields
        return {} if not fields and record in self.plan.within else None

    def phrase(self, record: tuple[str, str], noun: str = "", *, full: bool = False) -> str:
        """The record as a noun phrase; ``noun``: what to call it. One that is not described is named by its key.

        What only sets it apart is left out when the record comes up again, unless ``full`` is asked for, or the rest would
        do for another record of the plan.
        """
        noun = noun or self.noun(record[0])
        whole, short = self._phrases(record, noun, full)
        known = record in self._spoken
        if full:
            return whole
        self._spoken |= {record} | self._around(record)
        return short if known and not self._shared(record, short) else whole

    def _shared(self, record: tuple[str, str], short: str) -> bool:
        """Whether a short phrase would do for another record of the plan too."""
        others = [one for one in self.plan.described if one[0] == record[0] and one != record]
        return any(self._phrases(one, self.noun(one[0]), True)[1] == short for one in others)

    def _around(self, record: tuple[str, str]) -> set[tuple[str, str]]:
        outer = self.plan.within.get(record)
        return {outer} if outer is not None else set()

    def _phrases(self, record: tuple[str, str], noun: str, full: bool, depth: int = 0) -> tuple[str, str]:
        """The whole phrase, and the one without what stands in parentheses."""
        collection, key = record
        fields = self.described(record)
        if fields is None:
            return f"{noun} {key}", f"{noun} {key}"
        left, was = dict(fields), self._past(record, fields)
        ways = [n for n in _ADJECTIVES if n not in was and self._is_word(collection, n, left)]
        words = [*(self._value(collection, n, left.pop(n)) for n in ways), noun]
        for name in _NAMES:
            if name not in was and name in self._fields(collection) and isinstance(left.get(name), str) and left[name]:
                words.append(_named(left.pop(name), name))
                break
        whole = short = f"the {' '.join(words)}"
        refs = [name for name in left if self._ref(collection, name) is not None]
        more = [
            self._fact(collection, name, value) + (_BEFORE if name in was else "")
            for name, value in left.items()
            if name not in refs
        ]
        if more:
            whole += f" ({listed(more)})"
            short = whole if len(words) == 1 else short
        outer = self.plan.within.get(record)
        for name in refs:
            of = self._of(collection, name, left[name], noun) + (_BEFORE if name in was else "")
            whole, short = whole + of, short + of
        if outer is not None and not refs and depth < _DEEP:
            of_whole, of_short = self._phrases(outer, self.noun(outer[0]), full, depth + 1)
            if outer in self._spoken and not full and not self._shared(outer, of_short):
                of_whole = of_short
            whole, short = f"{whole} of {of_whole}", f"{short} of {of_short}"
        return whole, short

    def _past(self, record: tuple[str, str], fields: Mapping[str, Any]) -> frozenset[str]:
        """The fields of a description that are no longer true where the record is spoken of; those that are not the record's
        own may follow from any that the plan changes."""
        if not self.later:
            return frozenset()
        places = (parts(one["path"]) for one in self.plan.changes)
        changed = {names[2] for names in places if len(names) > 2 and (names[0], names[1]) == record}
        return frozenset(n for n in fields if changed and (n in changed or n not in self._fields(record[0])))

    def _of(self, collection: str, name: str, value: Any, noun: str) -> str:
        ref = self._ref(collection, name)
        assert ref is not None
        other = self._phrases((ref.collection, str(value)), self.noun(ref.collection), True, _DEEP)[0]
        label = label_of(self._fields(collection)[name])
        return f" of {other}" if label == self.noun(ref.collection) or label == noun else f" with {label} {other}"

    def _fact(self, collection: str, name: str, value: Any) -> str:
        field = self._fields(collection).get(name)
        label = label_of(field) if field is not None else enum_words(name)
        shown = self._value(collection, name, value)
        return f"{label}: {shown}" if value is None or isinstance(value, bool | list | dict) else f"{label} {shown}"

    def _value(self, collection: str, name: str, value: Any) -> str:
        field = self._fields(collection).get(name)
        quote = not isinstance(value, str) or _ONE_WORD.fullmatch(value) is None
        return said(value, field.shape if field is not None else s.ANY, self.money, quote=quote)

    def _is_word(self, collection: str, name: str, left: Mapping[str, Any]) -> bool:
        field = self._fields(collection).get(name)
        return (
            name in left
            and field is not None
            and isinstance(strip_null(field.shape), s.Enum)
            and left[name] is not None
        )

    def _ref(self, collection: str, name: str) -> s.Ref | None:
        field = self._fields(collection).get(name)
        shape = strip_null(field.shape) if field is not None else s.ANY
        return shape if isinstance(shape, s.Ref) else None

    def _fields(self, collection: str) -> Mapping[str, s.Field]:
        return {f.json: f for f in self.world.collections[collection].record.fields}


def _named(name: str, field: str) -> str:
    return name if field != "title" and _PLAIN_NAME.fullmatch(name) else said(name, s.STR)
