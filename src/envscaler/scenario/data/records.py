"""A state in JSON form taken apart into records by key, whatever the form of its collections, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.runtime import shapes as s
from envscaler.runtime.keys import Maker

__all__ = ["Place", "Records", "blamed", "references", "remapped"]

Place = tuple[str, Any]
"""A record: its collection and key."""


@dataclass(slots=True)
class Records:
    """``of``: records in JSON form, without their keys, by collection and key. ``singles``: those that stand alone.

    Nodes of a nested tree stand under their path, with the path of their parent where the reference to it would be.
    """

    shapes: Mapping[str, s.StateShape]
    of: dict[str, dict[Any, dict[str, Any]]]
    singles: dict[str, dict[str, Any]]

    @classmethod
    def taken(cls, shapes: Mapping[str, s.StateShape], state: Mapping[str, Any]) -> Records:
        """The records of a state that its spec allows."""
        found = cls(shapes, {}, {})
        for name, shape in shapes.items():
            if isinstance(shape, s.Collection):
                found.of[name] = dict(_taken(shape, state.get(name) or {}))
            elif shape.form == "flat":
                names = [f.json for f in shape.record.fields]
                found.singles[name] = {n: state[n] for n in names if n in state}
            else:
                found.singles[name] = dict(state.get(name, {}))
        return found

    def copy(self) -> Records:
        """Other containers around the same records."""
        return Records(self.shapes, {name: dict(part) for name, part in self.of.items()}, dict(self.singles))

    @property
    def count(self) -> int:
        """How many records the collections have together."""
        return sum(map(len, self.of.values()))

    def places(self) -> list[Place]:
        """All records of collections, in order."""
        return [(name, key) for name, part in self.of.items() for key in part]

    def state(self) -> dict[str, Any]:
        """The state in JSON form."""
        made: dict[str, Any] = {}
        for name, shape in self.shapes.items():
            if isinstance(shape, s.Collection):
                made[name] = _laid_out(shape, self.of[name])
            elif shape.form == "flat":
                made |= self.singles[name]
            else:
                made[name] = self.singles[name]
        return made


def _nested(shape: s.Collection) -> str | None:
    return shape.tree.nested if shape.tree is not None else None


def _taken(shape: s.Collection, part: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    if _nested(shape) is not None:
        yield from _nodes(shape, part, None)
    elif isinstance(part, list):
        for record in part:
            yield record[shape.key.json], _bare(shape, record)
    else:
        for text, record in part.items():
            yield int(text) if shape.key.of is s.INT else text, _bare(shape, record)


def _bare(shape: s.Collection, record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != shape.key.json}


def _tree(shape: s.Collection) -> tuple[str, str, str]:
    """The JSON names of a nested tree: of its parent reference, its name, its children."""
    assert shape.tree is not None
    assert shape.tree.nested is not None
    return (
        shape.record.field(shape.tree.parent).json,
        shape.record.field(shape.tree.name).json,
        shape.tree.nested,
    )


def _nodes(shape: s.Collection, part: Any, above: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    parent, name, nested = _tree(shape)
    for text, node in part.items() if isinstance(part, dict) else [(one[name], one) for one in part]:
        path = f"{above or ''}/{text}"
        yield path, {**{k: v for k, v in node.items() if k != nested}, name: text, parent: above}
        yield from _nodes(shape, node.get(nested) or {}, path)


def _laid_out(shape: s.Collection, records: Mapping[Any, dict[str, Any]]) -> Any:
    if _nested(shape) is not None:
        return _laid_nested(shape, records)
    if shape.form == "list":
        return [{shape.key.json: key, **record} for key, record in records.items()]
    if shape.key.in_record:
        return {str(key): {shape.key.json: key, **record} for key, record in records.items()}
    return {str(key): record for key, record in records.items()}


def _laid_nested(shape: s.Collection, records: Mapping[Any, dict[str, Any]]) -> Any:
    parent, name, nested = _tree(shape)
    as_list = shape.form == "list"
    left_out = (parent,) if as_list else (parent, name)
    made = {key: {k: v for k, v in record.items() if k not in left_out} for key, record in records.items()}
    top: list[tuple[str, dict[str, Any]]] = []
    below: dict[Any, list[tuple[str, dict[str, Any]]]] = {}
    for key, record in records.items():
        above = record[parent]
        (top if above is None else below.setdefault(above, [])).append((record[name], made[key]))
    for key, children in below.items():
        made[key][nested] = [node for _, node in children] if as_list else dict(children)
    return [node for _, node in top] if as_list else dict(top)


# -- references


def references(shape: s.Shape, value: Any) -> list[Place]:
    """The records that a value in JSON form refers to, in order."""
    found: list[Place] = []

    def noted(collection: str, key: Any) -> Any:
        found.append((collection, key))
        return key

    _walker(shape)(value, noted)
    return found


def remapped(shape: s.Shape, value: Any, new: Callable[[str, Any], Any]) -> Any:
    """A copy of the value, in which ``new(collection, key)`` stands for each reference."""
    return _walker(shape)(value, new)


New = Callable[[str, Any], Any]
_Walk = Callable[[Any, New], Any]


def _walker(shape: s.Shape) -> _Walk:
    found: _Walk | None = shape.memo.get("scenario-data-walk")
    if found is None:
        found = shape.memo["scenario-data-walk"] = _build(shape)
    return found


def _build(shape: s.Shape) -> _Walk:
    match shape:
        case s.Ref():
            return lambda value, new: new(shape.collection, value)
        case s.Nullable():
            inner = _walker(shape.of)
            return lambda value, new: None if value is None else inner(value, new)
        case s.ListOf():
            item = _walker(shape.item)
            return lambda value, new: [item(v, new) for v in value]
        case s.DictOf():
            return _dict_walker(shape)
        case s.Union():
            members = {_const(m, shape.tag): _walker(m) for m in shape.members}
            tag = next(f.json for f in shape.members[0].fields if f.name == shape.tag)
            return lambda value, new: members[value[tag]](value, new)
        case s.Struct():
            return _struct_walker(shape)
        case s.Partial():
            return _struct_walker(shape.of)
    return lambda value, new: _copied(value)


def _dict_walker(shape: s.DictOf) -> _Walk:
    inner = _walker(shape.value)
    if not isinstance(shape.key, s.Ref):
        return lambda value, new: {k: inner(v, new) for k, v in value.items()}
    collection, whole = shape.key.collection, shape.key.of is s.INT
    return lambda value, new: {str(new(collection, int(k) if whole else k)): inner(v, new) for k, v in value.items()}


def _struct_walker(shape: s.Struct) -> _Walk:
    fields = {f.json: _walker(f.shape) for f in shape.fields}
    plain = {f.json for f in shape.fields if isinstance(f.shape, s.Scalar) and f.shape is not s.ANY}
    return lambda value, new: {k: v if k in plain or k not in fields else fields[k](v, new) for k, v in value.items()}


def _const(member: s.Struct, tag: str) -> Any:
    found = member.field(tag).shape
    assert isinstance(found, s.Const)
    return found.value


def _copied(value: Any) -> Any:
    if value.__class__ is dict:
        return {k: _copied(v) for k, v in value.items()}
    return [_copied(v) for v in value] if value.__class__ is list else value


# -- problems


def blamed(records: Records, problems: Sequence[str]) -> list[list[Place]]:
    """The records that each problem of a StateError is about; of a pair that must not be alike, the later one."""
    return [_blamed(records, problem) for problem in problems]


def _blamed(records: Records, problem: str) -> list[Place]:
    for name, part in records.of.items():
        if not problem.startswith(name):
            continue
        rest = problem[len(name) :]
        if rest.startswith("["):
            number = rest[1:].partition("]")[0]
            keys = list(part)
            return [(name, keys[int(number)])] if number.isdigit() and int(number) < len(keys) else []
        if not rest.startswith("."):
            continue
        key = _leading_key(part, rest[1:], records.shapes[name])
        if key is not None:
            return [(name, key)]
    return []


def _leading_key(part: Mapping[Any, Any], rest: str, shape: s.StateShape) -> Any:
    """The key that the text begins with, followed by a dot or a colon."""
    assert isinstance(shape, s.Collection)
    ends = [n for n, c in enumerate(rest) if c in ".:"][:12]
    for end in reversed(ends):
        text = rest[:end]
        if _nested(shape) is not None:
            text = "/" + text.replace(".", "/")
        if text in part:
            return text
        if shape.key.of is s.INT and text.lstrip("-").isdigit() and int(text) in part:
            return int(text)
    return None


def maker_of(shape: s.Collection) -> Maker | None:
    """What makes the keys of a collection; None where they are given."""
    return None if shape.key.make is None else Maker(shape.key.make, shape.key.of is s.INT)
