"""A batch of scenarios over several specs: what is still wanted of which, and what is taken of what was made.

It runs nothing itself: it gives orders in rounds, and is told in their order what came of each, so that the batch is the same
however many workers there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from envscaler.errors import UsageError
from envscaler.scenario.alike import Texts, said
from envscaler.scenario.chunk import Chunk, Kept, Order

__all__ = ["Batch", "Subject"]

_IN_A_CHUNK: Final = 14  # scenarios that share a state
_STRIKES: Final = 3  # rounds in which nothing comes of a kind before it is given up,
_UNTRIED: Final = 2  # or in which there was not even a candidate
_ROUNDS: Final = 60
_BREADTH: Final = 8  # rounds for tools that nothing has used yet,
_FRUITLESS: Final = 2  # of them in a row without one that is used then
Pair = tuple[str, str]  # spec, kind


@dataclass(frozen=True, slots=True)
class Subject:
    """A spec of the batch: its name, and the agent's tools that write."""

    name: str
    writes: tuple[str, ...]


@dataclass(slots=True)
class Batch:
    """``count`` scenarios of ``kinds``, shared out evenly among specs, and within a spec among kinds.

    What a kind does not yield in a spec falls to the other kinds, and what a spec does not, to the other specs. ``dropped`` and
    ``repaired``: by spec, kind and reason; ``tried``: candidates by spec and kind.
    """

    subjects: Sequence[Subject]
    kinds: Sequence[str]
    count: int
    kept: list[Kept] = field(default_factory=list)
    dropped: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    repaired: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    tried: Counter[Pair] = field(default_factory=Counter)
    _share: Counter[Pair] = field(default_factory=Counter)
    _had: Counter[Pair] = field(default_factory=Counter)
    _strikes: Counter[Pair] = field(default_factory=Counter)
    _given_up: set[Pair] = field(default_factory=set)
    _index: Counter[str] = field(default_factory=Counter)
    _keys: set[str] = field(default_factory=set)
    _texts: dict[str, Texts] = field(default_factory=lambda: defaultdict(Texts))
    _uses: Counter[Pair] = field(default_factory=Counter)
    _before: Counter[Pair] = field(default_factory=Counter)
    _rounds: int = 0
    _broad: int = 0
    _fruitless: int = 0
    _unused_before: int = -1

    def __post_init__(self) -> None:
        if self.count < 1:
            raise UsageError(f"at least one scenario is made, not {self.count}")
        kinds = self.kinds
        pairs = [
            (subject.name, kinds[(place + turn) % len(kinds)])
            for turn in range(len(kinds))
            for place, subject in enumerate(self.subjects)
        ]
        for place in range(self.count):
            self._share[pairs[place % len(pairs)]] += 1

    # -- what is wanted

    @property
    def lacking(self) -> int:
        """How many scenarios are not there yet."""
        return self.count - len(self.kept)

    def unused(self) -> dict[str, tuple[str, ...]]:
        """By spec the writing tools that no scenario uses."""
        found = {s.name: tuple(tool for tool in s.writes if not self._uses[s.name, tool]) for s in self.subjects}
        return {name: tools for name, tools in found.items() if tools}

    def round(self) -> list[Order]:
        """The next orders; none when all is there, or as much as can be."""
        self._settle()
        self._before = Counter(self._had)
        if self.lacking and self._rounds < _ROUNDS:
            self._rounds += 1
            orders = [order for subject in self.subjects for order in self._wanted(subject.name)]
            if orders:
                return orders
        unused = self.unused()
        left = sum(map(len, unused.values()))
        self._fruitless = self._fruitless + 1 if left == self._unused_before else 0
        self._unused_before = left
        if self._broad < _BREADTH and self._fruitless < _FRUITLESS:
            self._broad += 1
            return [order for name, tools in unused.items() for order in self._broadening(name, tools)]
        return []

    def _settle(self) -> None:
        """Give up what has yielded nothing for some rounds, and share out what it still owes."""
        if not self._rounds or not self.lacking:
            return
        for pair in [pair for pair in self._share if self._owed(pair)]:
            self._strikes[pair] = 0 if self._had[pair] > self._before[pair] else self._strikes[pair] + 1
            if self._strikes[pair] >= (_STRIKES if self.tried[pair] else _UNTRIED):
                self._given_up.add(pair)
        for pair in sorted(self._given_up):
            owed = self._owed(pair)
            heirs = self._alive(pair[0]) or [p for s in self.subjects for p in self._alive(s.name)]
            if owed and heirs:
                self._share[pair] -= owed
                heirs.sort(key=lambda p: self._share[p])
                for place in range(owed):
                    self._share[heirs[place % len(heirs)]] += 1

    def _owed(self, pair: Pair) -> int:
        return max(0, self._share[pair] - self._had[pair])

    def _alive(self, spec: str) -> list[Pair]:
        return [(spec, kind) for kind in self.kinds if (spec, kind) not in self._given_up]

    def _wanted(self, spec: str) -> list[Order]:
        owed = {pair[1]: self._owed(pair) for pair in self._alive(spec)}
        total = sum(owed.values())
        chunks = -(-total // _IN_A_CHUNK)
        orders = []
        for place in range(chunks):
            want = {kind: -(-(count - place) // chunks) for kind, count in owed.items() if count > place}
            orders.append(Order(spec, self._next(spec), want))
        return orders

    def _broadening(self, spec: str, tools: tuple[str, ...]) -> list[Order]:
        """An order for what uses one of ``tools``; none where no scenario could make room for it."""
        kinds = [kind for _, kind in self._alive(spec) if self._had[spec, kind]]
        if not kinds or not any(self._spare(one) for one in self.kept if one.scenario.spec.name == spec):
            return []
        each = max(1, -(-len(tools) // len(kinds)))
        return [Order(spec, self._next(spec), dict.fromkeys(kinds, each), tools)]

    def _next(self, spec: str) -> int:
        self._index[spec] += 1
        return self._index[spec] - 1

    # -- what is taken

    def take(self, order: Order, chunk: Chunk) -> None:
        """What came of an order; to be told in the order of the orders."""
        for (kind, reason), times in chunk.dropped.items():
            self.dropped[order.spec, kind, reason] += times
        for (kind, reason), times in chunk.repaired.items():
            self.repaired[order.spec, kind, reason] += times
        for kind, times in chunk.tried.items():
            self.tried[order.spec, kind] += times
        for one in chunk.kept:
            reason = self._refused(order, one)
            if reason:
                self.dropped[order.spec, one.scenario.kind, reason] += 1

    def fail(self, order: Order, reason: str) -> None:
        """An order could not be carried out."""
        self.dropped[order.spec, "", reason] += 1

    def _refused(self, order: Order, one: Kept) -> str:
        pair = (order.spec, one.scenario.kind)
        if one.key in self._keys:
            return "same-plan"
        if not order.tools and not self._owed(pair):
            return "not-wanted"
        place = -1
        if order.tools and not self.lacking:
            if all(self._uses[order.spec, tool] for tool in one.tools):
                return "not-wanted"
            place = self._room(order.spec)
            if place < 0:
                return "not-wanted"
        if not self._texts[order.spec].take(said(one.scenario)):
            return "same-text"
        self._keys.add(one.key)
        if place >= 0:
            self._remove(place)
        self._add(one)
        return ""

    def _room(self, spec: str) -> int:
        """The place of the last scenario of a spec that can be spared, of the kind of which there are most; -1 for none. One
        that writes with tools of which all are used elsewhere can be."""
        spare = [n for n, one in enumerate(self.kept) if one.scenario.spec.name == spec and self._spare(one)]
        return max(spare, key=lambda n: (self._had[spec, self.kept[n].scenario.kind], n), default=-1)

    def _spare(self, one: Kept) -> bool:
        return bool(one.tools) and all(self._uses[one.scenario.spec.name, tool] > 1 for tool in one.tools)

    def _add(self, one: Kept) -> None:
        self.kept.append(one)
        self._count(one, 1)

    def _remove(self, place: int) -> None:
        one = self.kept.pop(place)
        self.dropped[one.scenario.spec.name, one.scenario.kind, "made-room"] += 1
        self._count(one, -1)

    def _count(self, one: Kept, by: int) -> None:
        spec = one.scenario.spec.name
        self._had[spec, one.scenario.kind] += by
        for tool in one.tools:
            self._uses[spec, tool] += by

    def shortfalls(self) -> Mapping[Pair, str]:
        """Of each kind that was given up in a spec, the reason for which most of it was dropped, empty where none was made."""
        found = {}
        for spec, kind in sorted(self._given_up):
            reasons = Counter({r: n for (s, k, r), n in self.dropped.items() if (s, k) == (spec, kind)})
            found[spec, kind] = next(iter(dict(reasons.most_common(1))), "")
        return found
