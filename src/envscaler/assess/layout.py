"""The records of a state in JSON form, whatever the form: taken out by key, put back, taken away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envscaler.runtime import shapes as s
from envscaler.runtime.values import show

__all__ = ["keys_of", "laid_out", "records_of", "without"]


def records_of(shape: s.StateShape, state: Mapping[str, Any]) -> dict[Any, Any]:
    """The records by key, those of nested trees by their path, a single one by the name of its state."""
    if isinstance(shape, s.Single):
        return {shape.name: state if shape.form == "flat" else state.get(shape.name, {})}
    part = state.get(shape.name) or {}
    if shape.tree is not None and shape.tree.nested is not None:
        return dict(_nodes(part, shape.tree.nested, shape.record.field(shape.tree.name).json, ""))
    if isinstance(part, list):
        return {record.get(shape.key.json): record for record in part}
    return {_key(shape, key): record for key, record in part.items()}


def _key(shape: s.Collection, text: str) -> Any:
    return int(text) if shape.key.of is s.INT and text.lstrip("-").isdigit() else text


def _nodes(part: Any, nested: str, name: str, above: str) -> Iterator[tuple[str, Any]]:
    for key, node in part.items() if isinstance(part, dict) else [(node.get(name), node) for node in part]:
        path = f"{above}/{key}"
        yield path, node
        yield from _nodes(node.get(nested) or {}, nested, name, path)


def keys_of(shapes: Sequence[s.StateShape], state: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The keys of the records of each collection."""
    return {shape.name: list(records_of(shape, state)) for shape in shapes if isinstance(shape, s.Collection)}


def laid_out(shape: s.Collection, records: Mapping[Any, Mapping[str, Any]]) -> Any:
    """Records by key in the JSON form of their collection, which is not a nested tree."""
    if shape.form == "list":
        return [{shape.key.json: key, **_bare(shape, record)} for key, record in records.items()]
    if shape.key.in_record:
        return {str(key): {shape.key.json: key, **_bare(shape, record)} for key, record in records.items()}
    return {str(key): _bare(shape, record) for key, record in records.items()}


def _bare(shape: s.Collection, record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != shape.key.json}


def without(
    shapes: Sequence[s.StateShape], state: Mapping[str, Any], problems: Sequence[str], initial: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The state without the records that the problems are about, or with them as they are in ``initial`` where they differ
    from that; None when the problems are about none."""
    made = dict(state)
    for shape in shapes:
        if isinstance(shape, s.Single) or shape.tree is not None:
            continue
        records, before = records_of(shape, state), records_of(shape, initial)
        wrong = {k for i, k in enumerate(records) if any(_about(shape.name, k, i, p) for p in problems)}
        if not wrong:
            continue
        left = {
            k: before[k] if k in wrong else r for k, r in records.items() if k not in wrong or before.get(k, r) != r
        }
        made[shape.name] = laid_out(shape, left)
    return None if made == state else made


def _about(name: str, key: Any, index: int, problem: str) -> bool:
    starts = (f"{name}.{key}", f"{name}.{show(key)}", f"{name}[{index}]")
    return any(problem.startswith(start) and problem[len(start) : len(start) + 1] in (".", ":") for start in starts)
