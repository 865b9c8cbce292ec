"""Reading a state without copying it: mappings over the current records that cannot be written through.

Values are internal ones: money in minor units, dates as canonical text, fields by name. Views are live: they show what
the state is when they are asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envscaler.runtime.state import State
from envscaler.runtime.store import Collection

__all__ = ["CollectionView", "ListView", "RecordView", "StateView"]


def _view(value: Any) -> Any:
    if value.__class__ is dict:
        return RecordView(value)
    return ListView(value) if value.__class__ is list else value


class RecordView(Mapping[Any, Any]):
    """A record, struct or dict, read only. Fields can be read as items and as attributes."""

    __slots__ = ("_of",)

    def __init__(self, of: Mapping[Any, Any]) -> None:
        self._of = of

    def __getitem__(self, key: Any) -> Any:
        return _view(self._of[key])

    def __getattr__(self, name: str) -> Any:
        try:
            return _view(self._of[name])
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __eq__(self, other: object) -> bool:
        return self._of == (other._of if isinstance(other, RecordView) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._of)


class ListView(Sequence[Any]):
    """A list, read only."""

    __slots__ = ("_of",)

    def __init__(self, of: list[Any]) -> None:
        self._of = of

    def __getitem__(self, index: Any) -> Any:
        return _view(self._of[index])

    def __len__(self) -> int:
        return len(self._of)

    def __eq__(self, other: object) -> bool:
        return self._of == (other._of if isinstance(other, ListView) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._of)


class CollectionView(Mapping[Any, RecordView]):
    """A collection, read only."""

    __slots__ = ("_of",)

    def __init__(self, of: Collection) -> None:
        self._of = of

    def __getitem__(self, key: Any) -> RecordView:
        record = self._of.get(key)
        if record is None:
            raise KeyError(key)
        return RecordView(record)

    def __iter__(self) -> Iterator[Any]:
        return self._of.each()

    def __len__(self) -> int:
        return len(self._of)


class StateView:
    """The states by name, as attributes or items, read only."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def __getitem__(self, name: str) -> Any:
        if name not in self._state._model.plans:
            raise KeyError(name)
        part = getattr(self._state, name)
        return CollectionView(part) if isinstance(part, Collection) else RecordView(part.value)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._state._model.plans)

    def __len__(self) -> int:
        return len(self._state._model.plans)
