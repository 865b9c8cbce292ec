"""A state as JSON in and out: validated whole on the way in, with every problem listed; the same form on the way out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from envscaler.diagnostics import nearest
from envscaler.errors import StateError
from envscaler.runtime import shapes as s
from envscaler.runtime.keys import Maker
from envscaler.runtime.model import Model
from envscaler.runtime.parts import Record
from envscaler.runtime.plans import Plan, SinglePlan, Table
from envscaler.runtime.reading import BAD, key_reader, reader
from envscaler.runtime.results import Failure
from envscaler.runtime.state import State
from envscaler.runtime.store import Collection, Single
from envscaler.runtime.values import kind, show, shown
from envscaler.runtime.writing import refs_of, writer

__all__ = ["Base", "prepare", "record_json", "state_json"]


class Base:
    """A validated initial state, shared by any number of episodes; never written."""

    __slots__ = ("digest", "model", "parts")

    def __init__(self, model: Model, parts: Mapping[str, Table | Record]) -> None:
        self.model = model
        self.parts = parts
        self.digest: str | None = None


# -- in


def prepare(model: Model, state_class: type[State], data: Any, clock: str) -> Base:
    """The base that a state in JSON form gives; StateError lists all that is wrong with it as ``path: reason``."""
    problems: list[str] = []
    parts: dict[str, Table | Record] = {}
    if not isinstance(data, Mapping):
        raise StateError([f"state: expected an object, got {shown(data)}"])
    _unknown(model, data, problems)
    for shape in model.states:
        plan = model.plans[shape.name]
        if isinstance(plan, Plan):
            parts[shape.name] = Table(plan, _read_collection(plan.shape, data, problems))
        else:
            parts[shape.name] = _read_single(plan.shape, data, problems)
    if not problems:
        problems.extend(_reference_problems(model, parts))
        for part in parts.values():
            if isinstance(part, Table):
                problems.extend(_unique_problems(part))
                problems.extend(_tree_problems(part))
    if not problems:
        problems.extend(_rule_problems(model, state_class, parts, clock))
    if problems:
        raise StateError(problems)
    return Base(model, parts)


def _unknown(model: Model, data: Mapping[Any, Any], problems: list[str]) -> None:
    names = {shape.name for shape in model.states if shape.form != "flat"}
    for shape in model.states:
        if shape.form == "flat":
            names |= {f.json for f in shape.record.fields}
    for key in data:
        if key not in names:
            text = key if key.__class__ is str and len(key) < 80 else shown(key)
            hint = nearest(text, names)
            problems.append(f"{text}: unknown state" + (f"; did you mean {hint}?" if hint else ""))


def _read_single(shape: s.Single, data: Mapping[str, Any], problems: list[str]) -> Record:
    if shape.form == "flat":
        names = {f.json for f in shape.record.fields}
        value: Any = {k: v for k, v in data.items() if k in names}
        where = ""
    else:
        value, where = data.get(shape.name, {}), shape.name
    found = reader(shape.record, "state")(value, where, problems)
    return {} if found is BAD else found


def _read_collection(shape: s.Collection, data: Mapping[str, Any], problems: list[str]) -> dict[Any, Record]:
    value = data.get(shape.name, [] if shape.form == "list" else {})
    if value.__class__ is not (list if shape.form == "list" else dict):
        problems.append(
            f"{shape.name}: expected {'a list' if shape.form == 'list' else 'an object'}, got {shown(value)}"
        )
        return {}
    records: dict[Any, Record] = {}
    if shape.tree is not None and shape.tree.nested is not None:
        _read_nested(shape, value, problems, records)
        return records
    for key, item, where in _entries(shape, value, problems):
        if key in records:
            problems.append(f"{where}: the key {show(key)} stands twice")
        elif (record := reader(shape.record, "state")(item, where, problems)) is not BAD:
            records[key] = {shape.key.name: key, **record}
    return records


def _entries(shape: s.Collection, value: Any, problems: list[str]) -> Iterator[tuple[Any, Any, str]]:
    """Key, JSON without the key, and path of each record."""
    if shape.form == "list":
        for i, item in enumerate(value):
            where = f"{shape.name}[{i}]"
            key = _inner_key(shape.key, item, where, problems)
            if key is not BAD:
                yield key, {k: v for k, v in item.items() if k != shape.key.json}, where
        return
    read_key = key_reader(shape.key.of)
    for text, item in value.items():
        key = read_key(text, shape.name, problems)
        if key is BAD:
            continue
        where = f"{shape.name}.{text}"
        if shape.key.in_record:
            inner = _inner_key(shape.key, item, where, problems)
            if inner is BAD:
                continue
            if inner != key:
                problems.append(
                    f"{where}.{shape.key.json}: expected {show(key)}, the key it stands under, got {shown(inner)}"
                )
                continue
            item = {k: v for k, v in item.items() if k != shape.key.json}
        yield key, item, where


def _inner_key(key: s.Key, item: Any, where: str, problems: list[str]) -> Any:
    if item.__class__ is not dict:
        problems.append(f"{where}: expected an object, got {kind(item)}")
        return BAD
    if key.json not in item:
        problems.append(f"{where}.{key.json}: is missing")
        return BAD
    return reader(key.of, "state")(item[key.json], f"{where}.{key.json}", problems)


def _read_nested(shape: s.Collection, value: Any, problems: list[str], records: dict[Any, Record]) -> None:
    """Nodes of a nested tree in pre-order; keys that the JSON does not hold are made."""
    tree, key = shape.tree, shape.key
    assert tree is not None
    assert tree.nested is not None
    maker = Maker(key.make if key.make and "{n" in key.make else "{n}", key.of is s.INT)
    name_json, skip = shape.record.field(tree.name).json, {tree.nested, key.json}
    pending = [(None, name, node, f"{shape.name}.{name}") for name, node in reversed(_nodes(value, name_json))]
    while pending:
        parent, name, node, where = pending.pop()
        if node.__class__ is not dict:
            problems.append(f"{where}: expected an object, got {kind(node)}")
            continue
        found = _inner_key(key, node, where, problems) if key.in_record else maker.key(len(records) + 1)
        plain = {k: v for k, v in node.items() if k not in skip}
        plain[name_json], plain[shape.record.field(tree.parent).json] = name, parent
        record = reader(shape.record, "state")(plain, where, problems)
        if found is BAD or record is BAD:
            continue
        if found in records:
            problems.append(f"{where}: the key {show(found)} stands twice")
            continue
        records[found] = {key.name: found, **record}
        below = node.get(tree.nested, [] if shape.form == "list" else {})
        if below.__class__ is not (list if shape.form == "list" else dict):
            expected = "a list" if shape.form == "list" else "an object"
            problems.append(f"{where}.{tree.nested}: expected {expected}, got {kind(below)}")
            continue
        pending.extend((found, n, child, f"{where}.{n}") for n, child in reversed(_nodes(below, name_json)))


def _nodes(value: Any, name_json: str) -> list[tuple[Any, Any]]:
    if value.__class__ is dict:
        return list(value.items())
    return [(node.get(name_json) if node.__class__ is dict else i, node) for i, node in enumerate(value)]


# -- what holds across records


def _records(name: str, part: Table | Record) -> Iterator[tuple[str, Record]]:
    if isinstance(part, Table):
        for key, record in part.records.items():
            yield f"{name}.{show(key)}", record
    else:
        yield name, part


def _reference_problems(model: Model, parts: Mapping[str, Table | Record]) -> Iterator[str]:
    for name, part in parts.items():
        fields = [(f, refs) for f in model.plans[name].shape.record.fields if (refs := refs_of(f.shape)) is not None]
        if not fields:
            continue
        for where, record in _records(name, part):
            for field, refs in fields:
                found: list[tuple[str, Any]] = []
                if field.name in record:
                    refs(record[field.name], found)
                for collection, key in found:
                    target = parts[collection]
                    assert isinstance(target, Table)
                    if key not in target.records:
                        yield f"{where}.{field.json}: {collection} has no {show(key)}"


def _unique_problems(table: Table) -> Iterator[str]:
    shape = table.plan.shape
    for fields in shape.unique:
        seen: dict[Any, Any] = {}
        for key, record in table.records.items():
            (value,) = table.plan.values(record, fields)
            if value is None or (len(fields) > 1 and all(v is None for v in value)):
                continue
            if value in seen:
                names = " and ".join(shape.record.field(f).json for f in fields)
                yield f"{shape.name}.{show(key)}: {names} must be unique, and {show(seen[value])} has the same"
            else:
                seen[value] = key


def _tree_problems(table: Table) -> Iterator[str]:
    shape, tree = table.plan.shape, table.plan.shape.tree
    if tree is None:
        return
    safe: set[Any] = {None}
    twins: dict[Any, Any] = {}
    for key, record in table.records.items():
        twin = (record.get(tree.parent), record.get(tree.name))
        if twin in twins:
            yield f"{shape.name}.{show(key)}: {show(twins[twin])} has the same name and parent"
        twins.setdefault(twin, key)
        trail: dict[Any, None] = {}
        at = key
        while at not in safe and at not in trail:
            trail[at] = None
            above = table.records.get(at)
            at = None if above is None else above.get(tree.parent)
        if at in safe:
            safe.update(trail)
        elif at == key:
            yield f"{shape.name}.{show(key)}: is inside itself"


def _rule_problems(
    model: Model, state_class: type[State], parts: Mapping[str, Table | Record], clock: str
) -> Iterator[str]:
    state = state_class(model, parts, 0, clock, "strict")
    for rule in model.checked_rules:
        run = rule.run
        assert run is not None
        subjects = (
            [(rule.name, ())] if rule.each is None else [(w, (r,)) for w, r in _records(rule.each, parts[rule.each])]
        )
        for where, subject in subjects:
            state._meter.steps = 10**9
            try:
                if not run(state, *subject):
                    yield f"{where}: breaks the rule {rule.name}: {rule.text}"
            except Failure as failure:
                yield f"{where}: the rule {rule.name} cannot be checked: {failure.message}"
            except Exception as error:
                yield f"{where}: the rule {rule.name} cannot be checked: {type(error).__name__}: {error}"


# -- out


def state_json(state: State) -> dict[str, Any]:
    """The state in JSON form, made of fresh containers."""
    result: dict[str, Any] = {}
    for shape in state._model.states:
        part, plan = getattr(state, shape.name), state._model.plans[shape.name]
        if isinstance(part, Single):
            value = writer(shape.record)(part.value)
            if shape.form == "flat":
                result.update(value)
            else:
                result[shape.name] = value
        else:
            assert isinstance(plan, Plan)
            assert isinstance(part, Collection)
            result[shape.name] = _collection_json(plan, part)
    return result


def _collection_json(plan: Plan, part: Collection) -> Any:
    shape, records = plan.shape, part.current()
    if shape.tree is not None and shape.tree.nested is not None:
        return _nested_json(plan, records)
    if shape.form == "list":
        return [record_json(plan, r) for r in records.values()]
    if shape.key.in_record:
        return {str(k): record_json(plan, r) for k, r in records.items()}
    write = writer(shape.record)
    if shape.key.of is s.INT:
        return {str(k): write(r) for k, r in records.items()}
    return {k: write(r) for k, r in records.items()}


def record_json(plan: Plan | SinglePlan, record: Record) -> dict[str, Any]:
    """A record in the JSON form of its state; the key is in it where the form has it there."""
    shape = plan.shape
    value: dict[str, Any] = writer(shape.record)(record)
    if (
        isinstance(shape, s.Collection)
        and (shape.form == "list" or shape.key.in_record)
        and not _nests_without_key(shape)
    ):
        return {shape.key.json: record[shape.key.name], **value}
    return value


def _nests_without_key(shape: s.Collection) -> bool:
    return shape.tree is not None and shape.tree.nested is not None and not shape.key.in_record


def _nested_json(plan: Plan, records: Mapping[Any, Record]) -> Any:
    shape, tree = plan.shape, plan.shape.tree
    assert tree is not None
    assert tree.nested is not None
    as_list = shape.form == "list"
    name_json, parent_json = shape.record.field(tree.name).json, shape.record.field(tree.parent).json
    optional = [f.name for f in shape.record.fields if f.absent]
    parents = {r.get(tree.parent) for r in records.values()}
    top: Any = [] if as_list else {}
    below: dict[Any, Any] = {None: top}
    nodes: list[tuple[Record, dict[str, Any]]] = []
    for key, record in records.items():
        node = record_json(plan, record)
        node.pop(parent_json, None)
        if not as_list:
            node.pop(name_json, None)
        if key in parents or not any(name in record for name in optional):
            node[tree.nested] = below[key] = [] if as_list else {}
        nodes.append((record, node))
    for record, node in nodes:
        siblings = below[record.get(tree.parent)]
        if as_list:
            siblings.append(node)
        else:
            siblings[record[tree.name]] = node
    return top
