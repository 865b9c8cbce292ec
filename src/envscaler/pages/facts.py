"""What a page says of a spec, gathered from what the checker knows; no HTML yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from envscaler.pages.kinds import Part, named_types, type_parts
from envscaler.spec.checked import Checked, Effects
from envscaler.spec.dependence import dependence
from envscaler.spec.model import Block, Example, HelperDef, Param, RuleDef, Spec, StateDef, ToolDef
from envscaler.spec.prose import constant_text, render
from envscaler.spec.refusals import Refusal, tool_refusals
from envscaler.spec.types import MISSING, NONE, Const, Enum, Field, Struct, Type, Union
from envscaler.spec.words import bound_words, value_words

__all__ = [
    "ExampleFacts",
    "Facts",
    "FieldFacts",
    "HelperFacts",
    "RuleFacts",
    "StateFacts",
    "Table",
    "ToolFacts",
    "TypeFacts",
]

_WRAPPED = 60  # a longer line of prose was broken by its margin, a shorter one on purpose

MOST_RECORDS = 50
"""More records of the initial state than these are not shown of a collection."""


@dataclass(frozen=True, slots=True)
class FieldFacts:
    name: str
    type: tuple[Part, ...]
    notes: tuple[str, ...]
    description: str
    required: bool


@dataclass(frozen=True, slots=True)
class Touch:
    """What a block does to a state: `reads`, `writes` … with fields by name (none: the record as a whole)."""

    state: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExampleFacts:
    """``arguments``, ``given``, ``then`` are JSON values or None; ``at`` is the clock or None; ``returns`` may be MISSING."""

    arguments: Any
    given: Any
    at: str | None
    returns: Any
    error: str | None
    rule: str | None
    then: Any
    line: int

    @property
    def has_result(self) -> bool:
        return self.returns is not MISSING


@dataclass(frozen=True, slots=True)
class HelperFacts:
    name: str
    description: str
    params: tuple[FieldFacts, ...]
    returns: tuple[Part, ...]
    line: int
    code: str
    users: tuple[str, ...]  # tools


@dataclass(frozen=True, slots=True)
class ToolFacts:
    name: str
    kind: Literal["read", "write"]
    actor: Literal["agent", "user"]
    description: str
    params: tuple[FieldFacts, ...]
    returns: tuple[Part, ...]
    refusals: tuple[Refusal, ...]
    reads: tuple[Touch, ...]
    writes: tuple[Touch, ...]
    adds: tuple[str, ...]
    removes: tuple[str, ...]
    draws: bool
    rules: tuple[str, ...]  # that may refuse it when it has run
    examples: tuple[ExampleFacts, ...]
    line: int
    code: str


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """``how``: in what way it is kept. ``guards``: tools whose changes it is held against; ``cited``: tools that name it."""

    name: str
    text: str
    how: Literal["holds", "moves", "policy", "cited"]
    each: str | None
    code: str
    field: tuple[str, str] | None
    guards: tuple[str, ...]
    cited: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class StateFacts:
    name: str
    record: str
    kind: str
    description: str
    fields: tuple[FieldFacts, ...]
    unique: tuple[str, ...]
    moves: tuple[str, ...]  # rules
    line: int


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """``members``: of an enum; ``fields``: of a structure; ``parts``: of anything else."""

    name: str
    members: tuple[str, ...]
    fields: tuple[FieldFacts, ...]
    parts: tuple[Part, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Table:
    """Records of the initial state. ``more``: how many are not shown. ``whole``: JSON that is no table, else None."""

    state: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    count: int
    more: int
    whole: Any = None


class Facts:
    """Everything a page shows, in the order of the spec."""

    def __init__(self, checked: Checked) -> None:
        assert checked.spec is not None
        self.checked = checked
        self.spec: Spec = checked.spec
        self._named = named_types(self.spec)

    def prose(self, text: str) -> str:
        return render(text, self.spec.constants).strip()

    @property
    def introduction(self) -> list[str]:
        """Paragraphs."""
        return [_flowing(p) for p in self.prose(self.spec.description.value).split("\n\n") if p.strip()]

    @property
    def policies(self) -> list[RuleFacts]:
        return [r for r in self.rules if r.how == "policy"]

    @property
    def kept(self) -> list[RuleFacts]:
        """The rules that are enforced."""
        return [r for r in self.rules if r.how != "policy"]

    @property
    def constants(self) -> list[tuple[str, str, int]]:
        """Name, value, line."""
        return [(c.name, constant_text(c), c.span.line) for c in self.spec.constants.values()]

    def tools_of(self, actor: str, kind: str) -> list[ToolFacts]:
        return [t for t in self.tools if t.actor == actor and t.kind == kind]

    # -- types and fields

    def _type(self, of: Type) -> tuple[Part, ...]:
        return tuple(type_parts(of, self._named))

    def _field(self, field: Field, param: Param | None = None) -> FieldFacts:
        notes = bound_words(field)
        if field.default is not MISSING and not isinstance(field.type, Const):
            notes.append(f"default {value_words(field.default, field.type)}")
        if field.absent:
            notes.append("may be absent")
        if field.unique:
            notes.append("unique")
        if field.incidental:
            notes.append("incidental")
        if param is not None and param.as_name is not None and param.as_name != field.name:
            notes.append(f"its record: {param.as_name}")
        return FieldFacts(
            field.json, self._type(field.type), tuple(notes), self.prose(field.description), field.required
        )

    def _fields(self, fields: Iterable[Field]) -> tuple[FieldFacts, ...]:
        return tuple(map(self._field, fields))

    def _params(self, params: Iterable[Param]) -> tuple[FieldFacts, ...]:
        return tuple(self._field(p.field, p) for p in params)

    @cached_property
    def types(self) -> list[TypeFacts]:
        found = []
        for name, of in self.spec.types.items():
            line = self.spec.type_spans[name].line if name in self.spec.type_spans else 0
            match of:
                case Enum(values=values):
                    found.append(TypeFacts(name, tuple(map(str, values)), (), (), line))
                case Struct(fields=fields):
                    found.append(TypeFacts(name, (), self._fields(fields.values()), (), line))
                case Union(members=members, tag=tag):
                    parts = [Part("one of "), *_joined(self._type(m) for m in members), Part(f", told apart by {tag}")]
                    found.append(TypeFacts(name, (), (), tuple(parts), line))
                case _:
                    found.append(TypeFacts(name, (), (), self._type(of), line))
        return found

    @cached_property
    def states(self) -> list[StateFacts]:
        return [self._state(s) for s in self.spec.states.values()]

    def _state(self, state: StateDef) -> StateFacts:
        fields = list(self._fields(state.record.fields.values()))
        if state.key is not None:
            made = f"made as {state.key.make}" if state.key.make is not None else "given"
            fields.insert(0, FieldFacts(state.key.json, (Part(str(state.key.type.of)),), ("the key", made), "", True))
        tree = f"a tree by {state.tree.parent}" if state.tree is not None else ""
        kind = "one record" if state.single else tree or "a collection"
        unique = tuple(" and ".join(names) for names in state.unique if len(names) > 1)
        moves = tuple(r.name for r in self.spec.rules.values() if r.field is not None and r.field[0] == state.name)
        return StateFacts(
            state.name,
            state.record.name,
            kind,
            self.prose(state.description),
            tuple(fields),
            unique,
            moves,
            state.span.line,
        )

    # -- tools and helpers

    @cached_property
    def tools(self) -> list[ToolFacts]:
        return [self._tool(t) for t in self.spec.tools.values()]

    def _tool(self, tool: ToolDef) -> ToolFacts:
        body = self.checked.tools[tool.name]
        effects = body.effects
        return ToolFacts(
            tool.name,
            tool.kind,
            tool.actor,
            self.prose(tool.description.value),
            self._params(tool.params),
            self._type(body.returns),
            tuple(tool_refusals(self.checked, tool)),
            tuple(self._touches(effects.reads)),
            tuple(self._touches(effects.writes)),
            tuple(s for s in self.spec.states if s in effects.adds),
            tuple(s for s in self.spec.states if s in effects.removes),
            effects.draws,
            tuple(r for r in self.spec.rules if tool.kind == "write" and self._guards(r, self._changes(effects))),
            tuple(map(_example, tool.examples)),
            tool.span.line,
            body.block.source.rstrip(),
        )

    def _touches(self, pairs: frozenset[tuple[str, str]]) -> Iterator[Touch]:
        for name, state in self.spec.states.items():
            touched = {field for s, field in pairs if s == name}
            if touched:
                known = [f.json for n, f in state.record.fields.items() if n in touched]
                inner = sorted(touched - set(state.record.fields) - {""})
                yield Touch(name, tuple(known + inner))

    @cached_property
    def helpers(self) -> list[HelperFacts]:
        return [self._helper(h, self.checked.helpers[h.name].returns) for h in self.spec.helpers.values()]

    @cached_property
    def setup(self) -> list[HelperFacts]:
        return [self._helper(h, self.checked.setup[h.name].returns) for h in self.spec.setup.values()]

    def _helper(self, helper: HelperDef, returns: Type) -> HelperFacts:
        own = f"helper {helper.name}"
        users = [
            tool
            for tool, body in self.checked.tools.items()
            if any(one.owner == own for one in self.checked.with_helpers(body))
        ]
        shown = () if returns == NONE else self._type(returns)
        description = self.prose(helper.description)
        params, line = self._params(helper.params), helper.span.line
        return HelperFacts(helper.name, description, params, shown, line, helper.do.source.rstrip(), tuple(users))

    # -- rules

    @cached_property
    def rules(self) -> list[RuleFacts]:
        return [self._rule(r) for r in self.spec.rules.values()]

    def _rule(self, rule: RuleDef) -> RuleFacts:
        how: Literal["holds", "moves", "policy", "cited"] = "cited"
        if rule.policy:
            how = "policy"
        elif rule.moves is not None:
            how = "moves"
        elif rule.holds is not None:
            how = "holds"
        cited = tuple(t.name for t in self.tools if any(r.rule == rule.name for r in t.refusals))
        guards = tuple(t.name for t in self.tools if rule.name in t.rules)
        code = _code(rule.holds)
        return RuleFacts(
            rule.name, self.prose(rule.text.value), how, rule.each, code, rule.field, guards, cited, rule.span.line
        )

    def _changes(self, effects: Effects) -> Effects:
        """What a call may change, the helpers after it included."""
        for name in self.spec.after_each:
            effects = effects.joined(self.checked.helpers[name.value].effects)
        return effects

    def _guards(self, name: str, effects: Effects) -> bool:
        """Whether what a block changes can make a rule false."""
        rule = self.spec.rules[name]
        if rule.field is not None:
            return rule.field in effects.writes or (rule.field[0], "") in effects.writes
        if rule.holds is None:
            return False
        own, others = self._needs[name]
        if rule.each is not None and rule.each in effects.adds:
            return True
        reads = {**others, **({rule.each: own | others.get(rule.each, frozenset())} if rule.each is not None else {})}
        if any(s in effects.adds or s in effects.removes for s in others):
            return True
        return any(self._hits(s, field, reads[s]) for s, field in effects.writes if s in reads)

    def _hits(self, state: str, field: str, reads: frozenset[str]) -> bool:
        """A write of a field, or of a part of one, against the fields that are read; "*" is any."""
        return "*" in reads or field in reads or field not in self.spec.states[state].record.fields

    @cached_property
    def _needs(self) -> Mapping[str, tuple[frozenset[str], dict[str, frozenset[str]]]]:
        """For each rule: the fields of its own record, and the fields of other records by state; "*" is any."""
        found = {}
        for name, body in self.checked.rules.items():
            needs = dependence(self.spec, self.spec.rules[name], body, self.checked.helpers)
            others: dict[str, frozenset[str]] = {}
            for state, fields in needs.whole.items():
                others[state] = frozenset(fields if fields is not None else "*")
            for join in needs.joins:
                read = needs.any_of(join.reads)
                near = frozenset("*" if read is None else {*read, join.on})
                others[join.state] = others.get(join.state, frozenset()) | near
            own = needs.any_of(needs.own)
            found[name] = (frozenset("*" if own is None else own), others)
        return found

    # -- the initial state

    @cached_property
    def tables(self) -> list[Table]:
        return [self._table(s) for s in self.spec.states.values()]

    def _table(self, state: StateDef) -> Table:
        given = self.spec.initial_state
        outside = [f.json for f in state.record.fields.values()]
        if state.key is None:
            part = given if state.form == "flat" else given.get(state.name, {})
            rows = tuple((name, part[name]) for name in outside if name in part)
            return Table(state.name, ("field", "value"), rows, len(rows), 0)
        part = given.get(state.name, [] if state.form == "list" else {})
        if state.tree is not None and state.tree.nested is not None:
            return Table(state.name, (), (), len(part), 0, part)
        key = state.key.json
        records = [(r.get(key), r) for r in part] if isinstance(part, list) else list(part.items())
        used = [name for name in outside if any(name in r for _, r in records)]
        rows = tuple((k, *(r.get(name, MISSING) for name in used)) for k, r in records[:MOST_RECORDS])
        return Table(state.name, (key, *used), rows, len(records), len(records) - len(rows))


def _flowing(paragraph: str) -> str:
    """A paragraph without the line breaks of its source; short lines, such as those of a list, stay lines."""
    text = ""
    for line in paragraph.splitlines():
        text += line + (" " if len(line) > _WRAPPED else "\n")
    return text.rstrip()


def _joined(types: Iterable[tuple[Part, ...]]) -> Iterator[Part]:
    for i, parts in enumerate(types):
        if i:
            yield Part(", ")
        yield from parts


def _code(block: Block | None) -> str:
    return "" if block is None else block.source.rstrip()


def _example(example: Example) -> ExampleFacts:
    return ExampleFacts(
        example.call,
        example.given,
        example.at,
        example.returns,
        example.error,
        example.rule,
        example.then,
        example.span.line,
    )
