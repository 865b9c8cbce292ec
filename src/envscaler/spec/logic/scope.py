"""What is known at one point of a block: local names, narrowed places, and whether the point can be reached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from envscaler.spec.logic.relations import join
from envscaler.spec.types import NONE, Type

__all__ = ["Binding", "Env", "Path"]

Path = tuple[str, ...]
"""A place as text parts: ("l", "returned"), ("loans", "[loan_id]", "due"). The first part is a name."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A name. ``frozen`` says in a word why it may not be written to ("a parameter"), "" when it may.

    ``certain`` is false when some way to this point does not assign it; ``clash`` when ways assign unlike types.
    """

    type: Type
    kind: Literal["param", "local"]
    view: str | None = None
    frozen: str = ""
    certain: bool = True
    clash: bool = False
    field: str = ""  # of a view of a part: the record's field it is in


@dataclass(slots=True)
class Env:
    """Flow state: copied at branches, joined where they meet."""

    names: dict[str, Binding] = field(default_factory=dict)
    facts: dict[Path, Type] = field(default_factory=dict)  # narrower type of a place
    present: set[Path] = field(default_factory=set)  # absent-able places known to be there
    live: bool = True

    def copy(self) -> Env:
        return Env(dict(self.names), dict(self.facts), set(self.present), self.live)

    def take(self, other: Env) -> None:
        """Become ``other``."""
        self.names, self.facts, self.present, self.live = other.names, other.facts, other.present, other.live

    def bind(self, name: str, binding: Binding) -> None:
        """Assign a local name; what was known of places through it is forgotten."""
        self.names[name] = binding
        self.forget_name(name)

    def forget_name(self, name: str) -> None:
        index = f"[{name}]"
        self._keep(lambda path: path[0] != name and index not in path)

    def forget_fields(self, fields: Iterable[str]) -> None:
        """Forget what was known of places that end in or go through one of these fields."""
        gone = set(fields)
        self._keep(lambda path: gone.isdisjoint(path[1:]))

    def forget_elements(self) -> None:
        """Forget what was known of elements of lists and dicts."""
        self._keep(lambda path: not any(part.startswith("[") for part in path[1:]))

    def forget_state(self, state: str) -> None:
        """Forget everything known through a state's own name."""
        self._keep(lambda path: path[0] != state)

    def _keep(self, wanted: object) -> None:
        assert callable(wanted)
        self.facts = {p: t for p, t in self.facts.items() if wanted(p)}
        self.present = {p for p in self.present if wanted(p)}

    def joined(self, other: Env) -> Env:
        """What is known where two ways meet."""
        if not self.live:
            return other.copy()
        if not other.live:
            return self.copy()
        names = {n: _meet(self.names.get(n), other.names.get(n)) for n in self.names.keys() | other.names.keys()}
        facts: dict[Path, Type] = {}
        for path in self.facts.keys() | other.facts.keys():
            a, b = self._known(path), other._known(path)
            both = None if a is None or b is None else join(a, b)
            if both is not None:
                facts[path] = both
        return Env(names, facts, self.present & other.present)

    def _known(self, path: Path) -> Type | None:
        """The type of a narrowed place, or of a name that was assigned."""
        if path in self.facts:
            return self.facts[path]
        binding = self.names.get(path[0]) if len(path) == 1 else None
        return None if binding is None else binding.type


def _meet(a: Binding | None, b: Binding | None) -> Binding:
    if a is None or b is None:
        known = a or b
        assert known is not None
        return replace(known, certain=False)
    both = join(a.type, b.type)
    if NONE in (a.type, b.type):  # null aliases nothing
        view, split = (b.view if a.type == NONE else a.view), False
    else:
        view, split = (a.view if a.view == b.view else None), a.view != b.view
    return Binding(
        both if both is not None else a.type,
        a.kind,
        view,
        a.frozen or b.frozen or ("one thing or another, by the way taken here," if split else ""),
        a.certain and b.certain,
        a.clash or b.clash or both is None,
        a.field if a.field == b.field else "",
    )
