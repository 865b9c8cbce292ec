"""A state made larger or smaller: groups of records that belong together are copied, or taken away, and the rules hold."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from envscaler.runtime import shapes as s
from envscaler.scenario.data.cloning import Cloner
from envscaler.scenario.data.known import Known, Links
from envscaler.scenario.data.records import Place, Records, blamed

__all__ = ["Targets", "grown", "shrunk"]

_ROUNDS: Final = 14
_LOOKED_AT: Final = 10  # roots among which the best is taken
_PILOT: Final = 4  # times as many records as there were
_FILLS: Final = 4
_SMALL: Final = 600  # records beside which each copy is tried by itself
_BOLD: Final = 3  # how often a group is made anew with other numbers before it gets only other names
_USES: Final = 2  # copies of one group that belong to the same record, at most
_ANEW: Final = 4  # how often a group is made anew before it is left away
_DRY: Final = 60  # groups that did not fit in a row before the growing ends


@dataclass(slots=True)
class Targets:
    """How many records each collection is to have; ``exact`` where a person said so, ``total`` when the sum counts."""

    counts: dict[str, int]
    exact: frozenset[str]
    total: int

    def less(self, share: float) -> Targets:
        """Targets for that share of the records less."""
        counts = {name: n - int(n * share) for name, n in self.counts.items()}
        return Targets(counts, self.exact, self.total - int(self.total * share))


@dataclass(slots=True, eq=False)
class _Copied:
    """A group of records that was copied. ``root`` says which; ``tries``: how often it was made anew."""

    root: Place
    group: tuple[Place, ...]
    places: list[Place]
    tries: int = 0


@dataclass(slots=True)
class _Groups:
    """Which records are copied with which. ``wider``: by root the records that had to come along, as rules told."""

    links: Links
    wider: dict[Place, list[Place]] = field(default_factory=dict)

    def of(self, root: Place) -> tuple[Place, ...]:
        found = self.links.below([root])
        for place in self.wider.get(root, ()):
            found |= dict.fromkeys(p for p in self.links.below([place]) if p not in found)
        return tuple(found)


def grown(known: Known, records: Records, targets: Targets, cloner: Cloner) -> None:
    """Copy groups of the records until the targets are met, as far as the spec allows."""
    sources = records.copy()
    roots = [p for p in sources.places() if _is_root(sources, p)]
    if not roots:
        return
    work = _Growing(known, records, sources, targets, cloner, _Groups(Links(sources)))
    pilot = _PILOT * sources.count  # what has to go together is learnt where it is cheap
    totals = [*([pilot] if pilot < targets.total else []), *[targets.total] * _FILLS]
    for number, total in enumerate(totals):
        work.fill(roots, total, strict=number < len(totals) - 2)
        work.settle()
        work.trim(total)
        if records.count == targets.total:
            break
    work.settle()


def _is_root(records: Records, place: Place) -> bool:
    """A tree keeps the one top it has."""
    shape = records.shapes[place[0]]
    if not isinstance(shape, s.Collection) or shape.tree is None:
        return True
    return records.of[place[0]][place[1]].get(shape.record.field(shape.tree.parent).json) is not None


class _Growing:
    """Records on their way to their targets. ``standing``: the groups copied so far; ``bad``: roots that lead nowhere;
    ``used``: how often each was copied."""

    def __init__(
        self, known: Known, records: Records, sources: Records, targets: Targets, cloner: Cloner, groups: _Groups
    ) -> None:
        self.known, self.records, self.sources = known, records, sources
        self.targets, self.cloner, self.groups = targets, cloner, groups
        self.standing: list[_Copied] = []
        self.bad: set[Place] = set()
        self.used: Counter[Place] = Counter()

    def fill(self, roots: Sequence[Place], total: int, strict: bool) -> None:
        """Copy groups that fit what lacks; unless ``strict``, any that the total has room for."""
        lacking = Counter({name: n - len(self.records.of[name]) for name, n in self.targets.counts.items()})
        left, dry = total - self.records.count, 0
        sizes = {root: Counter(name for name, _ in self.groups.of(root)) for root in roots}
        tired = {root for root, uses in self.used.items() if uses >= _USES and self._owned(root)}
        good = [root for root in roots if root not in self.bad and root not in tired]
        while left > 0 and dry < _DRY and good:
            looked_at = [self.cloner.rng.choice(good) for _ in range(_LOOKED_AT)]
            fitting = [root for root in looked_at if _fits(sizes[root], lacking, self.targets, left, strict)]
            if not fitting:
                dry += 1
                continue
            dry = 0
            root = max(fitting, key=lambda one: min(sum(sizes[one].values()), 60))
            found = self._copied(root, left)
            if found is None:
                good = [one for one in good if one != root]
                continue
            self.standing.append(found)
            sizes[root] = Counter(name for name, _ in found.group)
            lacking.subtract(sizes[root])
            left -= len(found.group)
            self.used[root] += 1
            if self.used[root] >= _USES and self._owned(root):  # its owner would get ever more of them
                good = [one for one in good if one != root]

    def _owned(self, root: Place) -> bool:
        """Whether it belongs to a record of another kind; the nodes of a tree belong to each other."""
        owner = self.groups.links.owners.get(root)
        return owner is not None and owner[0] != root[0]

    def _copied(self, root: Place, room: int) -> _Copied | None:
        """One more copy of a group, tried beside what it was copied from; None where none is allowed, or it has become too
        large for the ``room``."""
        one = _Copied(root, (), [])
        for tries in range(_ANEW + 1):
            one.group = self.groups.of(root)
            if len(one.group) > room:
                return None
            one.places = list(self.cloner.clone(one.group, self.sources, bold=tries < _BOLD).values())
            if self.sources.count > _SMALL:
                return one
            small = self.sources.copy()
            for name, key in one.places:
                small.of[name][key] = self.records.of[name][key]
            problems = self.known.problems(small)
            if not problems:
                return one
            self.cloner.drop(one.places)
            if tries >= 1:
                _widen(self.groups, root, one.group, {p for found in blamed(small, problems) for p in found})
        self.bad.add(root)
        return None

    def settle(self) -> None:
        """Make copies that break rules anew, other ones, plainer, with more of what belongs to them; at last drop them."""
        for number in range(_ROUNDS):
            problems = self.known.problems(self.records)
            if not problems:
                return
            wrong, users, shared = _wrong(self.records, self.standing, blamed(self.records, problems), self.cloner.rng)
            gone = set()
            for one in wrong + users or self.standing[len(self.standing) // 2 :]:
                self.cloner.drop(one.places)
                one.tries += 1
                if one in users:  # there are too many of these for what they share; later ones bring their own
                    _widen(self.groups, one.root, one.group, shared)
                    gone.add(id(one))
                elif one.tries > _ANEW or number >= _ROUNDS - 4:
                    self.bad.add(one.root)
                    gone.add(id(one))
                else:
                    self._again(one, shared)
            self.standing = [one for one in self.standing if id(one) not in gone]
        for one in self.standing:
            self.cloner.drop(one.places)
        self.standing = []

    def _again(self, one: _Copied, shared: set[Place]) -> None:
        if one.tries >= 2:
            _widen(self.groups, one.root, one.group, shared)
        one.group = self.groups.of(one.root)
        one.places = list(self.cloner.clone(one.group, self.sources, bold=one.tries < _BOLD).values())

    def trim(self, total: int) -> None:
        """Drop groups where more came along than was to; nothing but themselves refers to them."""
        while self.records.count > total and self.standing:
            over = self.records.count - total
            fitting = [one for one in self.standing if len(one.places) >= over]
            chosen = min(fitting, key=lambda one: len(one.places)) if fitting else self.standing[-1]
            self.cloner.drop(chosen.places)
            self.standing.remove(chosen)


def _fits(size: Mapping[str, int], lacking: Mapping[str, int], targets: Targets, left: int, strict: bool) -> bool:
    """Whether a group brings what lacks, and nothing past what was asked for."""
    if sum(size.values()) > left or (strict and not any(lacking[name] > 0 for name in size)):
        return False
    return all(
        count <= lacking[name]
        if name in targets.exact
        else count <= max(lacking[name], 0) + targets.counts[name] // 3 + 1
        for name, count in size.items()
    )


def _wrong(
    records: Records, copied: Sequence[_Copied], places: Sequence[Sequence[Place]], rng: random.Random
) -> tuple[list[_Copied], list[_Copied], set[Place]]:
    """The copied groups that problems are about, half of those that refer to other records which problems are about, and
    these records."""
    owners = {place: one for one in copied for place in one.places}
    wrong: dict[int, _Copied] = {}
    sharing: dict[int, _Copied] = {}
    outside: set[Place] = set()
    for found in places:
        for place in found:
            if place in owners:
                wrong[id(owners[place])] = owners[place]
            else:
                outside.add(place)
    if outside:
        links = Links(records)
        for place in sorted(outside, key=repr):
            users = list({id(one): one for p in links.referrers.get(place, ()) if (one := owners.get(p))}.values())
            rng.shuffle(users)
            for one in users[: (len(users) + 1) // 2]:
                if id(one) not in wrong:
                    sharing[id(one)] = one
    return list(wrong.values()), list(sharing.values()), outside


def _widen(groups: _Groups, root: Place, group: Iterable[Place], shared: set[Place]) -> None:
    """Let records that the group refers to come along: those that rules complained of, else the first."""
    inside = dict.fromkeys(group)
    targets = [t for place in inside for t in groups.links.targets.get(place, ()) if t not in inside]
    complained = [t for t in dict.fromkeys(targets) if t in shared]
    extra = complained or list(dict.fromkeys(targets))[:1]
    groups.wider.setdefault(root, []).extend(t for t in extra if t not in groups.wider.get(root, ()))


# -- smaller


def shrunk(known: Known, records: Records, targets: Targets, rng: random.Random) -> None:
    """Take records away, with all that refers to them, until the targets are met, as far as the spec allows."""
    tired = 0
    while tired < 40:
        over = {n: len(records.of[n]) - c for n, c in targets.counts.items() if len(records.of[n]) > c}
        if not over or (records.count <= targets.total and not (over.keys() & targets.exact)):
            return
        links = Links(records)
        name = rng.choice([n for n, c in over.items() for _ in range(c)])
        many = max(1, over[name] // 8)
        roots = [(name, key) for key in rng.sample(list(records.of[name]), many)]
        if not _removed(known, records, links, roots, targets):
            tired += 1


def _removed(known: Known, records: Records, links: Links, roots: Sequence[Place], targets: Targets) -> bool:
    """Whether records could be taken away, with those that refer to them and those that rules then complain of."""
    gone = links.relying(roots)
    for _ in range(4):
        left = records.copy()
        for name, key in gone:
            left.of[name].pop(key, None)
        if gone.keys() & links.pinned or _too_few(records, left, targets):
            return False
        problems = known.problems(left)
        if not problems:
            records.of = left.of
            return True
        more = [place for found in blamed(left, problems) for place in found]
        if not more:
            return False
        gone |= links.relying(more)
    return False


def _too_few(records: Records, left: Records, targets: Targets) -> bool:
    if left.count < targets.total and not any(len(records.of[n]) > targets.counts[n] for n in targets.exact):
        return True
    return any(len(left.of[n]) < min(targets.counts[n], len(records.of[n])) for n in targets.exact)


def spread(counts: Mapping[str, int], total: int) -> dict[str, int]:
    """The counts in proportion, so that they come to the total."""
    whole = sum(counts.values())
    if not whole:  # nothing to go by: as many of each
        counts, whole = dict.fromkeys(counts, 1), len(counts) or 1
    found = {name: n * total // whole for name, n in counts.items()}
    rest = sorted(counts, key=lambda name: (-(counts[name] * total % whole), name))
    for name in rest[: total - sum(found.values())]:
        found[name] += 1
    return found


def sizes(records: Records, size: int | None, wanted: Mapping[str, int]) -> Targets:
    """How many records there are to be in all and in each collection."""
    counts: dict[str, int] = {name: len(part) for name, part in records.of.items()}
    if size is not None:
        others = {name: n for name, n in counts.items() if name not in wanted}
        counts = spread(others, max(0, size - sum(wanted.values())))
    counts |= wanted
    ordered: dict[str, Any] = {name: counts[name] for name in records.of}
    return Targets(ordered, frozenset(wanted), size if size is not None else sum(counts.values()))
