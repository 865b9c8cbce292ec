"""From a checked spec to the plan of its module: every identifier, literal, type text and default is decided here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from envscaler.compiler.checks import Check, changes, check_statements, unchanged
from envscaler.compiler.direct import direct
from envscaler.compiler.ending import ending
from envscaler.compiler.identifiers import upper_snake
from envscaler.compiler.layout import Doc, Group, Prefixed, call, flat
from envscaler.compiler.literals import literal, quoted
from envscaler.compiler.module_parts import (
    Binder,
    CheckFunction,
    Function,
    Method,
    ModulePlan,
    Named,
    RuleFunction,
    ToolPlan,
    ToolsClass,
)
from envscaler.compiler.naming import Naming
from envscaler.compiler.prologue import only_looked_up, prologue, signature_default, type_text
from envscaler.compiler.results import result_functions
from envscaler.compiler.statement import bound
from envscaler.compiler.transforms import lower
from envscaler.compiler.transforms.base import Kept
from envscaler.spec.checked import Checked, CheckedBody
from envscaler.spec.dependence import Dependence, dependence
from envscaler.spec.model import HelperDef, Param, RuleDef, Spec, StateDef, ToolDef
from envscaler.spec.prose import render
from envscaler.spec.types import MISSING, MONEY, Enum, Field, ListOf, Nullable, Struct, Type, Union, strip_null

__all__ = ["make_plan", "module_names"]

_LONG_STATE = 64 * 1024  # characters; beyond, the initial state is JSON text, which Python reads much faster than code


def make_plan(checked: Checked, *, keeping: bool = True) -> ModulePlan:
    """The plan of a checked spec's module. The spec must have passed its check.

    ``keeping``: tools that can keep what they write by themselves do so; without it all leave it to the transaction.
    """
    return _Planner(checked, keeping).plan()


def module_names(checked: Checked) -> Naming:
    """The names that the module of a checked spec has for its helpers, constants and types."""
    planner = _Planner(checked, keeping=False)
    planner.classes()
    for _ in planner.types():
        pass
    return planner.naming


@dataclass
class _Planner:
    checked: Checked
    keeping: bool
    spec: Spec = field(init=False)
    naming: Naming = field(init=False)
    kept: dict[str, Kept] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.checked.spec is not None
        self.spec = self.checked.spec
        self.naming = Naming(self.checked, self.spec)

    def plan(self) -> ModulePlan:
        spec, ids = self.spec, self.naming.ids
        class_name, state_class = self.classes()
        types = tuple(self.types())
        states = Group("(", tuple(self._state(s) for s in spec.states.values()), ")", single_comma=True)
        dependences = self._dependences()
        moves = {r.name: ids.claim(f"_MOVES_{r.name.upper()}") for r in spec.rules.values() if r.moves is not None}
        made_rules = {r.name: self._rule(r, state_class) for r in spec.rules.values() if r.name in self.checked.rules}
        rules = tuple(made_rules.values())
        expressions = {name: (r.name, r.body) for name, r in made_rules.items()}
        module = Check(spec, changes(self.checked), dependences, expressions, moves)
        self.kept = self._keeping(module) if self.keeping else {}
        checks = tuple(f for s in spec.states.values() if (f := self._check(module, s, state_class)) is not None)
        helpers = tuple(self._helper(h, state_class) for h in spec.helpers.values())
        tools = tuple(self._tool(t, "tool", self.checked.tools[t.name], state_class) for t in spec.tools.values())
        setup = tuple(self._tool(h, "setup", self.checked.setup[h.name], state_class) for h in spec.setup.values())
        tool_classes = tuple(self._tool_classes(class_name))
        attributes = tuple(self._attributes(state_class, checks, tool_classes, moves))
        title = self._text(spec.title)
        file = PurePath(spec.path.replace("\\", "/")).name
        made = f"Compiled by envscaler from {file}: {spec.name} {spec.version}, {spec.hash}.\nEdit the spec, not this file."
        return ModulePlan(
            doc=f"{title}\n\n{made}",
            constants=tuple(self._constants()),
            types=types,
            states=states,
            state_class=state_class,
            state_parts=tuple((s.name, "Single" if s.single else "Collection") for s in spec.states.values()),
            results=tuple(result_functions(self.naming)),
            moves=tuple(Named(name, literal(dict(spec.rules[rule].moves or {}))) for rule, name in moves.items()),
            rules=rules,
            checks=checks,
            helpers=helpers,
            tools=tools,
            setup=setup,
            tool_classes=tool_classes,
            class_name=class_name,
            class_doc=title,
            attributes=attributes,
            spec_file=file,
        )

    def classes(self) -> tuple[str, str]:
        """The names of the environment's class and its state's; the first that are claimed."""
        class_name = self.naming.ids.claim(self.spec.class_name)
        return class_name, self.naming.ids.claim(f"{class_name}State")

    def _keeping(self, module: Check) -> dict[str, Kept]:
        """The tools that keep by themselves what they write, and how."""
        found = {}
        for tool in self.spec.tools.values():
            body = self.checked.tools[tool.name]
            plan = direct(self.checked, tool, body)
            rows = None if plan is None else ending(module, plan, body.effects, tool.span.line)
            if plan is not None and rows is not None:
                found[tool.name] = Kept(plan, tuple(rows))
        return found

    # -- constants, types, states

    def _constants(self) -> Iterator[Named]:
        for constant in self.spec.constants.values():
            note = f"{bound(constant.value, MONEY)} in minor units" if constant.type == MONEY else ""
            yield Named(self.naming.constant(constant.name), literal(constant.value), note)

    def types(self) -> Iterator[Named]:
        """Shapes of named types and records, each after those it is made of."""
        wanted: dict[Type, str] = {}
        for name, of in self.spec.types.items():
            for part in _parts_first(of, set()):
                wanted.setdefault(part, part.name if isinstance(part, (Struct, Union)) else name)
            if isinstance(of, (Enum, Struct, Union)):
                wanted.setdefault(of, name)
        for state in self.spec.states.values():
            for part in _parts_first(state.record, set()):
                wanted.setdefault(part, part.name)  # type: ignore[attr-defined]
        params = [p for tool in self.spec.tools.values() for p in tool.params]
        params += [p for setup in self.spec.setup.values() for p in setup.params]
        for param in params:  # unions that only a parameter has
            for part in _parts_first(param.field.type, set()):
                wanted.setdefault(part, part.name)  # type: ignore[attr-defined]
        for of, name in wanted.items():
            identifier = self.naming.ids.claim(upper_snake(name))
            yield Named(identifier, self.naming.declared_doc(of, name))
            self.naming.shapes[of] = identifier

    def _state(self, state: StateDef) -> Doc:
        record = self.naming.shapes[state.record]
        about = quoted(self._text(state.description)) if state.description else None
        if state.single:
            return call("_s.Single", quoted(state.name), record, form=_other(state.form, "map"), description=about)
        tree = None
        if state.tree is not None:
            tree = call(
                "_s.Tree", quoted(state.tree.parent), quoted(state.tree.name), nested=_optional(state.tree.nested)
            )
        return call(
            "_s.Collection",
            quoted(state.name),
            record,
            unique=literal(state.unique) if state.unique else None,
            form=_other(state.form, "map"),
            tree=tree,
            description=about,
        )

    def _text(self, text: str) -> str:
        return render(text, self.spec.constants).strip()

    # -- rules and checks

    def _dependences(self) -> dict[str, Dependence]:
        rules = self.spec.rules
        helpers = self.checked.helpers
        return {name: dependence(self.spec, rules[name], body, helpers) for name, body in self.checked.rules.items()}

    def _rule(self, rule: RuleDef, state_class: str) -> RuleFunction:
        lowered = lower(self.checked.rules[rule.name], self.naming, "rule")
        own = [] if rule.each is None else ["it: dict[str, Any]"]
        body = lowered.code
        if "\n" in body and not body.startswith("("):
            body = f"({body})"
        signature = _signature([f"_state: {state_class}", *own])
        name = self.naming.functions["rule", rule.name]
        return RuleFunction(name, signature, self._text(rule.text.value), body, lowered.lines)

    def _check(self, module: Check, state: StateDef, state_class: str) -> CheckFunction | None:
        statements = check_statements(module, state)
        if not statements:
            return None
        doc = f"What must hold of {'the' if state.single else 'each'} {state.record.name} that a call changed."
        equal = unchanged(module, state)
        return CheckFunction(self.naming.functions["check", state.name], state_class, doc, tuple(statements), equal)

    # -- helpers, tools, setup

    def _helper(self, helper: HelperDef, state_class: str) -> Function:
        lowered = lower(self.checked.helpers[helper.name], self.naming, "helper")
        params = [f"_state: {state_class}"]
        for param in helper.params:
            default = "" if param.field.default is MISSING else f" = {self.naming.default(param.field)}"
            params.append(f"{param.name}: {_internal_text(param.field.type)}{default}")
        doc = self._text(helper.description) or f"Shared logic: {helper.name}."
        return Function(
            self.naming.helper(helper.name), _signature(params), "Any", doc, (), lowered.code, lowered.lines
        )

    def _tool(self, tool: ToolDef | HelperDef, kind: str, body: CheckedBody, state_class: str) -> ToolPlan:
        table = self.naming.functions["_p", tool.name]
        fields = [p.field for p in tool.params]
        described = [f if not f.description else _described(f, self._text(f.description)) for f in fields]
        params = Named(table, Group("_s.params(", self.naming.fields_doc(described, "_s.Param").items, ")"))
        kept = self.kept.get(tool.name) if kind == "tool" else None
        lowered = lower(body, self.naming, "tool" if kind == "tool" else "setup", kept)
        edits = body.effects.edits if kept is None else frozenset()
        before = tuple(prologue(self.spec, tool.params, table, edits, only_looked_up(body)))
        signature = [f"_state: {state_class}", *(f"{p.name}: Any = {signature_default(p.field)}" for p in tool.params)]
        doc = self._about(tool)
        function = Function(
            self.naming.functions[kind, tool.name],
            _signature(signature),
            "Any",
            doc,
            before,
            lowered.code,
            lowered.lines,
        )
        return ToolPlan(
            params, function, self._binder(tool) if isinstance(tool, ToolDef) and tool.actor == "agent" else None
        )

    def _binder(self, tool: ToolDef) -> Binder:
        """Arguments by their outside names; anything but the right number of them goes the long way."""
        needed = [p.field for p in tool.params if p.field.default is MISSING]
        optional = [p.field for p in tool.params if p.field.default is not MISSING]
        number = " + ".join([str(len(needed)), *(f"({quoted(f.json)} in _a)" for f in optional)])
        test = f"len(_a) != {number}" if tool.params else "_a.__class__ is not dict or _a"
        given = [
            f"_a[{quoted(f.json)}]" if f.default is MISSING else f"_a.get({quoted(f.json)}, {signature_default(f)})"
            for f in (p.field for p in tool.params)
        ]
        handed = call(self.naming.functions["tool", tool.name], "_state", *given)
        return Binder(self.naming.functions["call", tool.name], test, handed, self._end(tool))

    def _end(self, tool: ToolDef) -> str:
        effects = self.checked.tools[tool.name].effects
        if tool.name in self.kept:
            return "done"
        return "nothing" if effects.pure and not effects.loops else "commit"

    def _about(self, tool: ToolDef | HelperDef) -> str:
        text = tool.description if isinstance(tool, HelperDef) else tool.description.value
        return self._text(text) or tool.name

    def _tool_classes(self, class_name: str) -> Iterator[ToolsClass]:
        for actor, word in (("agent", ""), ("user", "User")):
            tools = [t for t in self.spec.tools.values() if t.actor == actor]
            if tools:
                name = self.naming.ids.claim(f"{class_name}{word}Tools")
                yield ToolsClass(name, f"The {actor}'s tools.", tuple(map(self._method, tools)))

    def _method(self, tool: ToolDef) -> Method:
        own = "_self" if any(p.name == "self" for p in tool.params) else "self"
        ordered = sorted(tool.params, key=lambda p: p.field.default is not MISSING)
        params = [own, *(self._method_param(p) for p in ordered)]
        function = self.naming.functions["tool", tool.name]
        end = self._end(tool)
        state = "_state" if end == "commit" else f"{own}._state"
        handed = call(function, state, *(p.name for p in tool.params))
        return Method(tool.name, own, _signature(params), self._about(tool), handed, quoted(tool.name), end)

    def _method_param(self, param: Param) -> str:
        if param.field.default is MISSING:
            return f"{param.name}: {type_text(param.field.type)}"
        default = signature_default(param.field)
        return f"{param.name}: {'Any' if default == '_MISSING' else type_text(param.field.type)} = {default}"

    # -- the class

    def _attributes(
        self,
        state_class: str,
        checks: tuple[CheckFunction, ...],
        tool_classes: tuple[ToolsClass, ...],
        moves: Mapping[str, str],
    ) -> Iterator[Named]:
        spec, naming = self.spec, self.naming
        yield Named("name", quoted(spec.name))
        yield Named("title", quoted(self._text(spec.title)))
        yield Named("version", quoted(spec.version))
        yield Named("description", quoted(self._text(spec.description.value)))
        yield Named("spec_hash", quoted(spec.hash))
        yield Named("clock", quoted(spec.clock))
        yield Named("policy", quoted(spec.policy))
        if spec.errors is not None:
            yield Named("errors", literal(spec.errors))
        if spec.unknown_tool is not None:
            yield Named("unknown_tool", quoted(self._text(spec.unknown_tool.value)))
        yield Named("states", "STATES")
        yield Named("state_class", state_class)
        for actor, made in zip(self._actors(), tool_classes, strict=True):
            yield Named("tools_class" if actor == "agent" else "user_tools_class", made.name)
        yield Named("tool_table", _tuple(self._tool_entry(t) for t in spec.tools.values()))
        if spec.setup:
            yield Named("setup_table", _tuple(self._setup_entry(h) for h in spec.setup.values()))
        if spec.rules:
            yield Named("rules", _tuple(self._rule_entry(r, moves) for r in spec.rules.values()))
        made_checks = {s.name: naming.functions["check", s.name] for s in spec.states.values()}
        present = {f.name for f in checks}
        entries = tuple(Prefixed(f"{quoted(s)}: ", f) for s, f in made_checks.items() if f in present)
        yield Named("checks", Group("{", entries, "}"))
        if spec.after_each:
            yield Named("after_each", _tuple(naming.helper(t.value) for t in spec.after_each))
        yield Named("initial_state", self._initial())
        yield Named("doc_text", quoted(self._text(spec.description.value)))

    def _actors(self) -> list[str]:
        return [a for a in ("agent", "user") if any(t.actor == a for t in self.spec.tools.values())]

    def _tool_entry(self, tool: ToolDef) -> Doc:
        return call(
            "Tool",
            quoted(tool.name),
            self.naming.functions["tool", tool.name],
            kind=quoted(tool.kind),
            actor=_other(tool.actor, "agent"),
            description=quoted(self._text(tool.description.value)),
            params=self.naming.functions["_p", tool.name],
            errors=None if tool.errors is None else literal(tool.errors),
            line=str(tool.span.line),
            quick=self.naming.functions["call", tool.name] if tool.actor == "agent" else None,
        )

    def _setup_entry(self, setup: HelperDef) -> Doc:
        return call(
            "Tool",
            quoted(setup.name),
            self.naming.functions["setup", setup.name],
            description=quoted(self._text(setup.description)),
            params=self.naming.functions["_p", setup.name],
            line=str(setup.span.line),
        )

    def _rule_entry(self, rule: RuleDef, moves: Mapping[str, str]) -> Doc:
        table = moves.get(rule.name)
        return call(
            "Rule",
            quoted(rule.name),
            quoted(self._text(rule.text.value)),
            run=self.naming.functions["rule", rule.name] if rule.name in self.checked.rules else None,
            each=None if rule.each is None else quoted(rule.each),
            moves=None
            if table is None or rule.field is None
            else Group("(", (quoted(".".join(rule.field)), table), ")"),
            policy="True" if rule.policy else None,
            line=str(rule.span.line),
        )

    def _initial(self) -> Doc:
        made = literal(self.spec.initial_state)
        if len(flat(made)) <= _LONG_STATE:
            return made
        text = json.dumps(_plain(self.spec.initial_state), ensure_ascii=True, separators=(",", ":"))
        return call("_json.loads", quoted(text))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def _parts_first(of: Type, seen: set[Type]) -> Iterator[Type]:
    """The structs and unions inside a type, innermost first, then itself if it is one."""
    inner: Type
    match of:
        case Struct(fields=fields):
            if of in seen:
                return
            seen.add(of)
            for part in fields.values():
                yield from _parts_first(part.type, seen)
            yield of
        case Union(members=members):
            for inner in members:
                yield from _parts_first(inner, seen)
            yield of
        case Nullable(of=inner) | ListOf(item=inner):
            yield from _parts_first(inner, seen)
        case _:
            for name in ("value", "of"):
                part_type = getattr(of, name, None)
                if isinstance(part_type, Type):
                    yield from _parts_first(part_type, seen)


def _internal_text(of: Type) -> str:
    """The annotation of a helper's parameter, which has internal form."""
    if strip_null(of) == MONEY:
        return "int" if of == MONEY else "int | None"
    return type_text(of)


def _described(of: Field, text: str) -> Field:
    """The field with its description filled in."""
    return replace(of, description=text)


def _signature(params: list[str]) -> Group:
    return Group("(", tuple(params), ")")


def _tuple(items: Iterator[Doc]) -> Group:
    return Group("(", tuple(items), ")", single_comma=True)


def _other(value: str, default: str) -> str | None:
    return None if value == default else quoted(value)


def _optional(value: str | None) -> str | None:
    return None if value is None else quoted(value)
