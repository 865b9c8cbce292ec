"""The module's names and the expressions made of them: shapes, JSON forms, defaults. Also what `transforms` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import libcst as cst

from envscaler.compiler.identifiers import Identifiers, upper_snake
from envscaler.compiler.layout import Doc, Group, call, flat
from envscaler.compiler.literals import literal, quoted
from envscaler.spec.checked import Checked, CheckedBody, Effects
from envscaler.spec.model import Spec
from envscaler.spec.types import (
    ANY,
    MISSING,
    MONEY,
    NONE,
    STR,
    Const,
    DictOf,
    Enum,
    Field,
    Key,
    ListOf,
    Nullable,
    Obj,
    Partial,
    Scalar,
    StateOf,
    Struct,
    Type,
    Union,
)  # fmt: skip

__all__ = ["Naming", "identity"]


def identity(of: Type) -> bool:
    """Whether a value of the type is its own JSON form and has no parts."""
    if isinstance(of, Nullable):
        return identity(of.of)
    if isinstance(of, Scalar):
        return of not in (MONEY, ANY)
    return isinstance(of, (Enum, Const, Key))


@dataclass
class Naming:
    """Every name of one module. JSON functions are asked for as they are needed; ``wanted`` lists them in that order."""

    checked: Checked
    spec: Spec
    ids: Identifiers = field(init=False)
    constants: dict[str, str] = field(default_factory=dict)
    functions: dict[tuple[str, str], str] = field(default_factory=dict)
    shapes: dict[Type, str] = field(default_factory=dict)
    wanted: dict[Type, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ids = Identifiers(_locals(self.checked))
        self.constants = {name: self.ids.claim(name) for name in self.spec.constants}
        for kind, names in (
            ("helper", self.spec.helpers), ("tool", self.spec.tools), ("setup", self.spec.setup),
            ("rule", self.spec.rules), ("check", self.spec.states), ("call", self.spec.tools),
            ("_p", [*self.spec.tools, *self.spec.setup]),
        ):  # fmt: skip
            for name in names:
                self.functions[kind, name] = self.ids.claim(f"{kind}_{name}")

    # -- asked by transforms

    def helper(self, name: str) -> str:
        return self.functions["helper", name]

    def constant(self, name: str) -> str:
        return self.constants[name]

    def effects(self, helper: str) -> Effects:
        body = self.checked.helpers.get(helper)
        return body.effects if body is not None else Effects()

    def shape(self, of: Type) -> str:
        return flat(self.shape_doc(of))

    def default(self, of: Field) -> str | None:
        if of.default is not MISSING:
            return flat(literal(of.default))
        return "None" if isinstance(of.type, Nullable) or of.type == NONE else None

    # -- shapes

    def shape_doc(self, of: Type) -> Doc:
        """The shape of a type; named ones by their name."""
        if of in self.shapes:
            return self.shapes[of]
        match of:
            case Scalar(name=name):
                return "_s.LOCAL_DATETIME" if name == "datetime" and not self.spec.zoned else f"_s.{name.upper()}"
            case Nullable(of=inner):
                return call("_s.Nullable", self.shape_doc(inner))
            case ListOf(item=item):
                return call("_s.ListOf", self.shape_doc(item))
            case DictOf(value=value, key=key):
                return call("_s.DictOf", self.shape_doc(value), key=None if key == STR else self.shape_doc(key))
            case Enum(values=values):
                return call("_s.Enum", literal(values))
            case Const(value=value):
                return call("_s.Const", literal(value))
            case Key(collection=collection, of=inner):
                return call("_s.Ref", quoted(collection), of=None if inner == STR else self.shape_doc(inner))
            case Partial(of=struct):
                return call("_s.Partial", self.shape_doc(struct))
        raise TypeError(f"no shape for {of}")

    def declared_doc(self, of: Type, name: str) -> Doc:
        """The definition of a named type's shape."""
        match of:
            case Enum(values=values):
                return call("_s.Enum", literal(values), name=quoted(name))
            case Struct():
                return call("_s.Struct", quoted(name), self.fields_doc(list(of.fields.values())), key=self._key_doc(of))
            case Union(tag=tag, members=members):
                parts = Group("(", tuple(self.shape_doc(m) for m in members), ")", single_comma=True)
                return call("_s.Union", quoted(name), tag=quoted(tag), members=parts)
        return self.shape_doc(of)

    def _key_doc(self, of: Struct) -> Doc | None:
        if of.collection is None:
            return None
        key = self.spec.states[of.collection].key
        if key is None:
            return None
        return call(
            "_s.Key",
            quoted(key.name),
            of=None if key.type.of == STR else self.shape_doc(key.type.of),
            make=None if key.make is None else quoted(key.make),
            in_record="True" if key.in_record else None,
            json=None if key.json == key.name else quoted(key.json),
        )

    def fields_doc(self, fields: list[Field], kind: str = "_s.Field") -> Group:
        return Group("(", tuple(self.field_doc(f, kind) for f in fields), ")", single_comma=True)

    def field_doc(self, of: Field, kind: str) -> Doc:
        """A field or parameter with what was declared of it."""
        bounds = {n: getattr(of, n) for n in ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern", "like")}
        return call(
            kind,
            quoted(of.name),
            self.shape_doc(of.type),
            json=None if of.json == of.name else quoted(of.json),
            description=quoted(of.description) if of.description else None,
            default=None if of.default is MISSING else literal(of.default),
            absent="True" if of.absent else None,
            incidental="True" if of.incidental else None,
            **{n: None if v is None else literal(v) for n, v in bounds.items()},
        )

    # -- JSON form

    def out(self, of: Type, value: str) -> str:
        return self._out(of, value, 0)

    def _out(self, of: Type, value: str, depth: int) -> str:
        if identity(of):
            return value
        match of:
            case Scalar(name="money"):
                return f"{_operand(value)} / 100"
            case Scalar():
                return f"_rt.copy({value})"
            case Nullable(of=inner):
                return self._nullable_out(inner, value, depth)
            case ListOf(item=item):
                name = f"_x{depth or ''}"
                made = self._out(item, name, depth + 1)
                return f"[*{_operand(value)}]" if made == name else f"[{made} for {name} in {_operand(value)}]"
            case DictOf(value=inner, key=key):
                return self._dict_out(inner, key, value, depth)
            case Obj(items=items):
                return self._object_out(items, value, depth)
            case StateOf(name=name):
                record = self.spec.states[name].record
                return f"{{_k: {self._out(record, '_x', 1)} for _k, _x in {value}.items()}}"
            case Struct() | Union() | Partial():
                return f"{self._function(of)}({value})"
        return value

    def _nullable_out(self, inner: Type, value: str, depth: int) -> str:
        if _simple(value):
            return f"None if {value} is None else {self._out(inner, value, depth)}"
        name = f"_v{depth or ''}"
        return f"None if ({name} := {value}) is None else {self._out(inner, name, depth)}"

    def _dict_out(self, inner: Type, key: Type, value: str, depth: int) -> str:
        name = f"_x{depth or ''}"
        made = self._out(inner, name, depth + 1)
        numbered = key == Scalar("int") or (isinstance(key, Key) and key.of != STR)
        if made == name and not numbered:
            return f"{{**{_operand(value)}}}"
        return f"{{{'str(_k)' if numbered else '_k'}: {made} for _k, {name} in {_operand(value)}.items()}}"

    def _object_out(self, items: tuple[tuple[str, Type], ...], value: str, depth: int) -> str:
        if all(identity(t) for _, t in items):
            return f"{{**{_operand(value)}}}"
        if _simple(value):
            entries = (f"{quoted(k)}: {self._out(t, f'{value}[{quoted(k)}]', depth)}" for k, t in items)
            return "{" + ", ".join(entries) + "}"
        entries = (f"{quoted(k)}: {self._out(t, f'_o[{quoted(k)}]', depth)}" for k, t in items)
        return f"(lambda _o: {{{', '.join(entries)}}})({value})"

    def _function(self, of: Type) -> str:
        found = self.wanted.get(of)
        if found is None:
            word = f"some_{_snake(of.of.name)}" if isinstance(of, Partial) else _snake(of.name)  # type: ignore[attr-defined]
            found = self.wanted[of] = self.ids.claim(f"out_{word}")
        return found


def _snake(name: str) -> str:
    return upper_snake(name).lower()


def _simple(value: str) -> bool:
    """Whether an expression may stand twice: a name, or a name's entry."""
    head, _, rest = value.partition("[")
    return head.isidentifier() and (not rest or (rest.endswith('"]') and rest.count("[") == 0 and rest.startswith('"')))


def _operand(value: str) -> str:
    """The expression as an operand; names, calls and look-ups need no parentheses."""
    tree = cst.parse_expression(value) if not _simple(value) else None
    return value if tree is None or isinstance(tree, _ATOMS) or tree.lpar else f"({value})"


_ATOMS = (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.List, cst.Dict, cst.ListComp, cst.DictComp)


def _locals(checked: Checked) -> set[str]:
    """Names that logic binds or that are parameters."""
    found: set[str] = set()
    bodies: Mapping[str, CheckedBody]
    for bodies in (checked.tools, checked.helpers, checked.setup, checked.rules):
        for body in bodies.values():
            found.update(
                node.value
                for node, note in body.notes.items()
                if isinstance(node, cst.Name) and note.role is not None and note.role.kind in ("local", "param")
            )
    spec = checked.spec
    assert spec is not None
    params = [p for t in spec.tools.values() for p in t.params]
    params += [p for h in (*spec.helpers.values(), *spec.setup.values()) for p in h.params]
    for param in params:
        found.add(param.name)
        if param.as_name is not None:
            found.add(param.as_name)
    return found
