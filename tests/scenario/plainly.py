"""States and goals for the second proof: JSON records as expressions meet them, and Python's own evaluation of those."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from envscaler.runtime import Environment
from envscaler.runtime import shapes as s

Plain = dict[str, Any]


class Moment(str):
    """A date or time with its parts."""

    @property
    def date(self) -> Moment:
        return Moment(self[:10])

    @property
    def time(self) -> str:
        return self[11:19]

    @property
    def year(self) -> int:
        return int(self[:4])

    @property
    def month(self) -> int:
        return int(self[5:7])

    @property
    def day(self) -> int:
        return int(self[8:10])


class Rec:
    """A record or struct: its fields by their names inside, whatever they are called outside."""

    def __init__(self, plain: Plain, fields: tuple[s.Field, ...], key: tuple[str, Any] | None = None) -> None:
        self._plain, self._key = plain, key
        self._fields = {f.name: f for f in fields}

    def __getattr__(self, name: str) -> Any:
        if self._key is not None and name == self._key[0]:
            return self._key[1]
        one = self._fields[name]
        return seen(self._plain[one.json], one.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rec) and self._plain == other._plain

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, name: str) -> bool:
        return name in self._fields and self._fields[name].json in self._plain


def seen(value: Any, shape: s.Shape) -> Any:
    """A JSON value as an expression meets it."""
    match shape:
        case s.Nullable() | s.Partial():
            return None if value is None else seen(value, shape.of)
        case s.Struct():
            return Rec(value, shape.fields)
        case s.Union():
            return Rec(value, member_of(shape, value).fields)
        case s.ListOf():
            return [seen(one, shape.item) for one in value]
        case s.DictOf():
            whole = shape.key is s.INT or (isinstance(shape.key, s.Ref) and shape.key.of is s.INT)
            return {(int(k) if whole else k): seen(v, shape.value) for k, v in value.items()}
        case s.Scalar(name="date" | "datetime" | "local_datetime" | "time"):
            return Moment(value)
    return loose(value)


def loose(value: Any) -> Any:
    if value.__class__ in (int, float):
        return Decimal(repr(value))
    if isinstance(value, dict):
        return {k: loose(v) for k, v in value.items()}
    return [loose(v) for v in value] if isinstance(value, list) else value


def member_of(shape: s.Union, value: Plain) -> s.Struct:
    for member in shape.members:
        for one in member.fields:
            if one.name == shape.tag and isinstance(one.shape, s.Const) and value.get(one.json) == one.shape.value:
                return member
    raise AssertionError(f"no member of {shape.name} is {value}")


class Table(Mapping[Any, Rec]):
    """A collection in one state of an episode."""

    def __init__(self, env: Environment, shape: s.Collection) -> None:
        self._env, self._shape = env, shape

    def __getitem__(self, key: Any) -> Rec:
        key = int(key) if isinstance(key, Decimal) else key
        plain = self._env.record(self._shape.name, key)
        if plain is None:
            raise KeyError(key)
        return Rec(plain, self._shape.record.fields, (self._shape.key.name, key))

    def __contains__(self, key: Any) -> bool:
        key = int(key) if isinstance(key, Decimal) else key
        return self._env.record(self._shape.name, key) is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._env.final[self._shape.name]))

    def __len__(self) -> int:
        return len(self._env.final[self._shape.name])


class Whole:
    """The states by name."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._shapes = {shape.name: shape for shape in env.states}

    def __getattr__(self, name: str) -> Any:
        shape = self._shapes[name]
        if isinstance(shape, s.Collection):
            return Table(self._env, shape)
        return Rec(self._env.record(name) or {}, shape.record.fields)


class Answer:
    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        value = self._given.get(name)
        return Moment(value) if isinstance(value, str) else loose(value)


class Exact(ast.NodeTransformer):
    """Numbers become decimals, but not where they count entries; the types that `is_type` asks for become texts."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        if not isinstance(node.slice, ast.Constant):
            node.slice = self.visit(node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "is_type" and isinstance(node.args[1], ast.Name):
            node.args[1] = ast.Constant(node.args[1].id)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if node.value.__class__ not in (int, float):
            return node
        return ast.Call(ast.Name("Decimal", ast.Load()), [ast.Constant(repr(node.value))], [])


def _is_type(value: Any, kind: str) -> bool:
    kinds = {"str": str, "bool": bool, "number": Decimal, "int": Decimal, "float": Decimal, "dict": dict, "list": list}
    return isinstance(value, kinds[kind])


BUILTINS: dict[str, Any] = {
    "__builtins__": {}, "Decimal": Decimal, "len": len, "sum": sum, "min": min, "max": max, "any": any, "all": all,
    "sorted": sorted, "abs": abs, "round": round, "list": list, "zip": zip, "range": range,
    "count": lambda items: sum(1 for _ in items), "first": lambda items, *other: next(iter(items), *other),
    "date": Moment, "instant": Moment, "money": loose, "is_type": _is_type, "str": str, "int": int, "float": Decimal,
}  # fmt: skip
