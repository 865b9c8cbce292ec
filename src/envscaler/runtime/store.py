"""Where an episode keeps its records: a base shared by all episodes, and the versions that this one made.

A committed version of a record is never written again; a call edits copies. So a snapshot or a fork copies a few small
dicts, a reset drops them, and a failed call puts back the versions from before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from envscaler.runtime.parts import Check, Meter, Record
from envscaler.runtime.plans import SinglePlan, Table
from envscaler.runtime.results import Failure
from envscaler.runtime.values import show

__all__ = ["Collection", "Single"]


class Own(dict[Any, Record]):
    """An episode's versions; a key it does not have is looked up in the base, by a C function kept in the slot.

    ``own[key]`` therefore gives a record or None, at the speed of two dict lookups.
    """

    __slots__ = ("__missing__",)
    __missing__: Callable[[Any], Record | None]


_KEPT: Final = 512
"""Up to so many records the merged order of a collection is kept: with more, a thousand forks would hold too much."""


class Saved:
    """The structure of a collection before the first removal of a call."""

    __slots__ = ("gone", "order", "removed")

    def __init__(self, own: Iterable[Any], gone: set[Any]) -> None:
        self.order = list(own)
        self.gone = set(gone)
        self.removed: set[Any] = set()


class Collection:
    """Records addressed by key, in order: those of the base as they stand now, then the added ones.

    ``get(key)`` is the record or None; it changes hands between C functions, so read the attribute each time.
    """

    __slots__ = (
        "added", "base", "before", "check", "clone", "dirty", "get", "gone", "key_name", "look", "make_key",
        "merged", "meter", "overlay", "own", "own_get", "plan", "saved", "saved_added", "saved_top", "table", "top",
    )  # fmt: skip

    get: Callable[[Any], Any]

    def __init__(self, table: Table, meter: Meter) -> None:
        self.table = table
        self.plan = table.plan
        self.base = table.records
        self.meter = meter
        self.dirty = meter.dirty
        self.own = Own()
        self.own.__missing__ = self.base.get
        self.own_get: Callable[[Any], Record | None] = self.own.get
        self.get = self.base.get
        self.look = self.own.__getitem__
        self.added = self.saved_added = 0
        self.merged: dict[Any, Record] | None = None
        self.gone: set[Any] = set()
        self.before: dict[Any, Record | None] = {}
        self.saved: Saved | None = None
        self.top = self.saved_top = table.top()
        self.overlay: dict[tuple[str, ...], dict[Any, dict[Any, None]]] | None = None
        self.key_name = table.plan.key_name
        self.make_key = table.plan.make_key
        self.clone: Callable[[Any], Record] = table.plan.clone
        self.check: Check = table.plan.check

    # -- reading

    def at(self, key: Any) -> Any:
        """The record; not_found when there is none."""
        record = self.get(key)
        if record is None:
            raise self._not_found(key)
        return record

    __getitem__ = at

    def _not_found(self, key: Any) -> Failure:
        return Failure("not_found", f"No such {self.plan.noun}: {show(key)}")

    def __contains__(self, key: Any) -> bool:
        return self.get(key) is not None

    def __len__(self) -> int:
        return len(self.base) - len(self.gone) + self.added

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def current(self) -> dict[Any, Record]:
        """All records by key, in order; not to be written. Charges nothing. Small ones are kept until the next write."""
        if self.merged is not None:
            return self.merged
        if not self.own and not self.gone:
            return self.base
        merged = self.base.copy()
        for key in self.gone:
            del merged[key]
        merged.update(self.own)
        if len(merged) <= _KEPT:
            self.merged = merged
        return merged

    def each(self) -> Iterator[Any]:
        """The keys in order, found as they are asked for: nothing is copied but the keys of own versions."""
        base, gone = self.base, self.gone
        yield from (key for key in base if key not in gone) if gone else base
        yield from [key for key in self.own if key not in base or key in gone]

    def _charged(self) -> dict[Any, Record]:
        records = self.current()
        self.meter.charge(len(records))
        return records

    def keys(self) -> Iterable[Any]:
        """The keys in order."""
        return self._charged().keys()

    def values(self) -> Iterable[Any]:
        """The records in order."""
        return self._charged().values()

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Keys and records in order."""
        return self._charged().items()

    # -- writing

    def edit_or_none(self, key: Any) -> Any:
        """The record to write to in this call, or None."""
        before = self.before
        if before:
            if key in before:
                return self.own_get(key)
            old = self.look(key)
            if old is None:
                return None
        else:
            old = self.get(key)
            if old is None:
                return None
            self.dirty.append(self)
            self.get = self.look
            self.saved_top = self.top
            self.saved_added = self.added
        before[key] = old
        self.merged = None
        new = self.own[key] = self.clone(old)
        return new

    def edit(self, key: Any) -> Any:
        """The record to write to in this call; not_found when there is none."""
        record = self.edit_or_none(key)
        if record is None:
            raise self._not_found(key)
        return record

    def edit_of(self, record: Any) -> Any:
        """The same record to write to in this call; None for None."""
        return None if record is None else self.edit(record[self.plan.key_name])

    def edit_values(self) -> Iterator[Any]:
        """The records in order, each to write to."""
        for key in list(self._charged()):
            record = self.edit_or_none(key)
            if record is not None:
                yield record

    def edit_items(self) -> Iterator[tuple[Any, Any]]:
        """Keys and records in order, each record to write to."""
        for key in list(self._charged()):
            record = self.edit_or_none(key)
            if record is not None:
                yield key, record

    def _touch(self) -> None:
        self.dirty.append(self)
        self.get = self.look
        self.saved_top, self.saved_added = self.top, self.added

    def add(self, record: Record, key: Any = None) -> Any:
        """Store a new record at the end and give it back to write to. It is a fresh dict with every field in it, the
        key's first; without ``key`` the key is made."""
        before = self.before
        if not before:
            self.dirty.append(self)
            self.get = self.look
            self.saved_top, self.saved_added = self.top, self.added
        if key is None:
            make = self.make_key
            if make is None:
                key = self._drawn()
            else:
                self.top = top = self.top + 1
                key = make(top)
            before[key] = None
        else:
            self._count(key)
            before.setdefault(key, None)
        record[self.key_name] = key
        self.merged = None
        self.own[key] = record
        self.added += 1
        return record

    def _count(self, key: Any) -> None:
        if self.get(key) is not None:
            raise Failure("constraint", f"{self.plan.noun} {show(key)} already exists")
        make = self.plan.make
        if make is not None and make.counts and (number := make.number(key)) > self.top:
            self.top = number

    def _drawn(self) -> Any:
        make = self.plan.make
        if make is None:
            raise Failure("internal", f"{self.plan.noun} needs a key")
        for _ in range(1000):
            key = make.drawn(self.meter.draws.rng())
            if self.get(key) is None:
                return key
        raise Failure("limit", f"No free key is left for {self.plan.noun}")

    def remove(self, key: Any) -> None:
        """Remove a record, in a tree with all below it; not_found when there is none."""
        self.at(key)
        if self.plan.shape.tree is None:
            self._remove(key)
            return
        for record in reversed(self.walk(key)):
            self._remove(record[self.plan.key_name])

    __delitem__ = remove

    def _remove(self, key: Any) -> None:
        if not self.before:
            self._touch()
        if self.saved is None:
            self.saved = Saved(self.own, self.gone)
        self.saved.removed.add(key)
        if key not in self.before:
            self.before[key] = self.get(key)
        self.own.pop(key, None)
        self.merged = None
        if key not in self.base or key in self.gone:
            self.added -= 1
        else:
            self.gone.add(key)
            self._aim()

    def _aim(self) -> None:
        """Point the lookups at what there is to look in, after records came or went."""
        self.merged = None
        if self.gone:
            base_get, gone = self.base.get, self.gone
            self.own.__missing__ = lambda key: None if key in gone else base_get(key)
        else:
            self.own.__missing__ = self.base.get
        self.get = self.look if self.own or self.gone else self.base.get

    # -- lookups by value

    def by(self, fields: tuple[str, ...], value: Any) -> list[Any]:
        """The records whose fields have the value (a tuple of values for several fields), in order."""
        keys = self.table.index(fields).get(value, ())
        if not self.own and not self.gone:
            base = self.base
            return [base[key] for key in keys]
        found = dict.fromkeys(keys)
        found.update(self._overlay(fields).get(value, _NONE))
        if self.before and not self.meter.settling:
            found.update(dict.fromkeys(self.before))
        get, values = self.get, self.plan.values
        hits = {k: r for k in found if (r := get(k)) is not None and value in values(r, fields)}
        if len(hits) > 1 and any(k in self.own for k in hits):
            return [hits[k] for k in self._ordered(hits)]
        return list(hits.values())

    def _overlay(self, fields: tuple[str, ...]) -> dict[Any, dict[Any, None]]:
        """Value -> keys of own records that have or had it: a superset, kept by adding only."""
        if self.overlay is None:
            self.overlay = {}
            self.meter.indexed = True
        index = self.overlay.get(fields)
        if index is None:
            index = self.overlay[fields] = {}
            for key, record in self.own.items():
                for value in self.plan.values(record, fields):
                    index.setdefault(value, {})[key] = None
        return index

    def flush(self) -> None:
        """Bring the overlay up to what the call wrote."""
        for key in self.before:
            record = self.own_get(key)
            if record is not None:
                self.enlist(key, record)

    def enlist(self, key: Any, record: Record) -> None:
        """Have a version found by its values in the overlay; it may be put into ``own`` later."""
        for fields, index in (self.overlay or _NONE).items():
            for value in self.plan.values(record, fields):
                index.setdefault(value, {})[key] = None

    def _ordered(self, keys: Iterable[Any]) -> list[Any]:
        places = self.table.positions()
        gone = self.gone
        added = {key: i for i, key in enumerate(self.own) if key not in places or key in gone}
        return sorted(keys, key=lambda k: (1, added[k]) if k in added else (0, places[k]))

    # -- trees

    def children(self, key: Any) -> list[Any]:
        """The children of a record (None: the roots), in order."""
        tree = self.plan.shape.tree
        assert tree is not None
        return self.by((tree.parent,), key)

    def walk(self, key: Any) -> list[Any]:
        """A record and everything below it, parents first, siblings in order; not_found when there is none."""
        name = self.plan.key_name
        result: list[Any] = []
        stack = [self.at(key)]
        while stack:
            record = stack.pop()
            result.append(record)
            self.meter.charge(1)
            stack.extend(reversed(self.children(record[name])))
        return result

    def require_tree(self, key: Any, old: Record | None, new: Record) -> None:
        """The parent exists, is not below the record, and has no other child of that name."""
        tree = self.plan.shape.tree
        assert tree is not None
        parent, seen = new.get(tree.parent), {key}
        if parent is not None and self.get(parent) is None:
            raise Failure(
                "constraint", f"{self.plan.noun} {show(key)}: there is no {self.plan.noun} {show(parent)} to be in"
            )
        up = parent
        while up is not None:
            if up in seen:
                raise Failure("constraint", f"{self.plan.noun} {show(key)} cannot be inside itself")
            seen.add(up)
            above = self.get(up)
            up = None if above is None else above.get(tree.parent)
        twins = self.by((tree.parent, tree.name), (parent, new.get(tree.name)))
        if len(twins) > 1:
            raise Failure("constraint", f"{self.plan.noun} {show(new.get(tree.name))} already exists there")

    # -- checks

    def require_unique(self, fields: tuple[str, ...], key: Any, new: Record) -> None:
        """No other record has the same values in the fields; values that are all null do not clash."""
        (value,) = self.plan.values(new, fields)
        if value is None or (len(fields) > 1 and all(v is None for v in value)):
            return
        if any(r[self.plan.key_name] != key for r in self.by(fields, value)):
            words = " and ".join(f"{self.plan.shape.record.field(f).json} {show(new.get(f))}" for f in fields)
            raise Failure("constraint", f"{self.plan.noun} with {words} already exists")

    # -- transaction

    def unchanged(self, key: Any) -> bool:
        return self.saved is None or key not in self.saved.removed or self.before[key] is None

    def keep(self, key: Any, old: Record | None) -> None:
        if old is not None:
            self._put_back(key, old)

    def _put_back(self, key: Any, old: Record) -> None:
        if self.base.get(key) is old:
            self.own.pop(key, None)
        else:
            self.own[key] = old
        self.merged = None

    def close(self) -> None:
        self.saved = None

    def rollback(self) -> None:
        saved = self.saved
        if saved is None:
            for key, old in self.before.items():
                if old is None:
                    self.own.pop(key, None)
                else:
                    self._put_back(key, old)
        else:
            self._rebuild(saved)
        self.top, self.added = self.saved_top, self.saved_added
        self.before.clear()
        self.saved = None
        self._aim()

    def _rebuild(self, saved: Saved) -> None:
        """As rollback when records were removed: the order of the added ones is put back too."""
        self.gone.clear()
        self.gone.update(saved.gone)
        for key, old in self.before.items():
            if old is None:
                self.own.pop(key, None)
            else:
                self._put_back(key, old)
        for key in saved.order:
            if key in self.own:
                self.own[key] = self.own.pop(key)

    # -- snapshots

    def save(self) -> tuple[Any, ...]:
        """The episode's changes: shallow copies, as versions are never written again."""
        return dict(self.own), frozenset(self.gone), self.added, self.top

    def load(self, saved: tuple[Any, ...]) -> None:
        """Take over changes saved from a collection over the same base."""
        own, gone, self.added, self.top = saved
        if own or gone or self.own or self.gone:
            self.own.clear()
            self.own.update(own)
            self.gone = set(gone)
            self.overlay = None
            self._aim()

    def reset(self) -> None:
        """Drop the episode's changes."""
        if self.own or self.gone:
            self.own.clear()
            self.gone.clear()
            self.overlay = None
            self._aim()
        self.top = self.table.top()
        self.added = 0


_NONE: Final[dict[Any, Any]] = {}


class Single:
    """A single record: ``value`` is its current version, ``edit()`` one to write to in this call."""

    __slots__ = ("base", "before", "check", "dirty", "overlay", "plan", "value")

    saved = None

    def __init__(self, plan: SinglePlan, base: Record, meter: Meter) -> None:
        self.plan = plan
        self.base = base
        self.value: Any = base
        self.before: dict[Any, Record | None] = {}
        self.dirty = meter.dirty
        self.overlay = None
        self.check: Check = plan.check

    def own_get(self, key: Any) -> Record | None:
        """The version now."""
        return self.value  # type: ignore[no-any-return]

    def edit(self) -> Any:
        """The record to write to in this call."""
        if not self.before:
            self.dirty.append(self)
            self.before[None] = self.value
            self.value = self.plan.clone(self.value)
        return self.value

    def flush(self) -> None:
        """Nothing is looked up here."""

    def unchanged(self, key: Any) -> bool:
        return True

    def keep(self, key: Any, old: Record | None) -> None:
        self.value = old

    def close(self) -> None:
        """Not asked: nothing is saved."""

    def rollback(self) -> None:
        self.value = self.before.pop(None, self.value)

    def save(self) -> Any:
        """The current version."""
        return self.value

    def load(self, saved: Any) -> None:
        """Take over a version."""
        self.value = saved

    def reset(self) -> None:
        """Back to the base."""
        self.value = self.base
