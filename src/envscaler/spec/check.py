"""A spec checked whole: read, then every block of logic in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import libcst as cst

from envscaler.diagnostics import Span, nearest, one_of
from envscaler.spec.checked import Checked, CheckedBody
from envscaler.spec.dependence import dependence, names_state
from envscaler.spec.logic.block import Block, HelperInfo, Mode, World
from envscaler.spec.logic.loose import report_any
from envscaler.spec.logic.operators import condition
from envscaler.spec.logic.parse import Parsed, parse_block
from envscaler.spec.logic.relations import container, join
from envscaler.spec.logic.scope import Binding
from envscaler.spec.logic.statements import check_statements
from envscaler.spec.logic.unused import report_unused
from envscaler.spec.model import Block as Source
from envscaler.spec.model import HelperDef, Param, RuleDef, Spec, ToolDef
from envscaler.spec.read import read_spec
from envscaler.spec.report import Report
from envscaler.spec.types import ANY, NEVER, NONE, Key, Type

__all__ = ["check_spec", "check_text"]


def check_text(path: str, text: str, *, base: Path | None = None) -> Checked:
    """Read and check a spec; ``base`` is the folder its data files are in.

    Never raises for what the text holds; nothing of it is executed, imported or compiled.
    """
    spec, diagnostics = read_spec(path, text, base=base)
    if spec is None:
        return Checked(path, text, None, list(diagnostics))
    report = Report()
    report.extend(diagnostics)
    return check_spec(spec, report)


def check_spec(spec: Spec, report: Report | None = None) -> Checked:
    """Check the logic of a spec that was read; ``report`` holds what reading it found."""
    report = report or Report()
    return _SpecCheck(spec, report).run()


class _SpecCheck:
    """The blocks of one spec: parsed once, helpers before those who call them."""

    def __init__(self, spec: Spec, report: Report) -> None:
        self.spec = spec
        self.report = report
        self.world = World(spec, report)
        self.helpers: dict[str, CheckedBody] = {}
        self.setup: dict[str, CheckedBody] = {}
        self.locals: list[Block] = []
        self.written: set[str] = set()

    def run(self) -> Checked:
        spec = self.spec
        self._all_helpers()
        tools = {n: body for n, tool in spec.tools.items() if (body := self._tool(tool)) is not None}
        self.written = _written(
            [*tools.values(), *(self.helpers[n.value] for n in spec.after_each if n.value in self.helpers)]
        )
        rules = {n: body for n, rule in spec.rules.items() if (body := self._rule(rule)) is not None}
        self._after_each()
        report_unused(self.world, self.locals)
        report_any(self.world)
        return Checked(spec.path, spec.source, spec, self.report.items, tools, self.helpers, self.setup, rules)

    # -- helpers

    def _all_helpers(self) -> None:
        spec = self.spec
        definitions = {**spec.helpers, **spec.setup}
        parsed: dict[str, Parsed] = {}
        for name, definition in definitions.items():
            found = self._parse(definition.do)
            if found is not None:
                parsed[name] = found
        calls = {name: _called(p.module, spec.helpers) for name, p in parsed.items()}
        for name in _in_order(calls, lambda cycle: self._recursive(cycle)):
            self._helper(definitions[name], parsed[name])

    def _recursive(self, cycle: Sequence[str]) -> None:
        way = " → ".join([*cycle, cycle[0]])
        fix = "a tree is gone through with walk(…)"
        for name in cycle[:1]:
            self.report.error(
                "recursive-helper", self.spec.helpers[name].span, f"helpers do not call themselves: {way}", help=fix
            )

    def _helper(self, definition: HelperDef, parsed: Parsed) -> None:
        block = Block(self.world, parsed, "helper", f"{definition.kind} {definition.name}")
        self._params(block, definition.params)
        check_statements(block, parsed.module.body, definition.returns)
        body = self._body(block, definition.do, definition.returns, definition.span, strict=True)
        if definition.kind == "setup":
            self.setup[definition.name] = body
        else:
            self.helpers[definition.name] = body
            self.world.helpers[definition.name] = HelperInfo(
                definition.name, definition.params, body.returns, body.effects
            )

    def _after_each(self) -> None:
        for name in self.spec.after_each:
            helper = self.spec.helpers.get(name.value)
            self.world.used.add(("helper", name.value))
            if helper is None:
                near = nearest(name.value, self.spec.helpers)
                self.report.error("unknown-function", name.span, f"there is no helper '{name.value}'",
                                  f"helpers: {one_of(self.spec.helpers)}",
                                  f"did you mean '{near}'?" if near else "")  # fmt: skip
            elif helper.params:
                self.report.error(
                    "wrong-arguments", name.span, f"'{name.value}' has parameters; a helper of after_each has none"
                )

    # -- tools and rules

    def _tool(self, tool: ToolDef) -> CheckedBody | None:
        parsed = self._parse(tool.do)
        if parsed is None:
            return None
        mode: Mode = "read" if tool.kind == "read" else "write"
        block = Block(self.world, parsed, mode, f"tool {tool.name}")
        self._params(block, tool.params)
        check_statements(block, parsed.module.body, tool.returns)
        body = self._body(block, tool.do, tool.returns, tool.span, strict=False)
        if (
            tool.kind == "write"
            and not self.report.failed
            and not (body.effects.writes or body.effects.adds or body.effects.removes)
        ):
            self.report.warning("writes-nothing", tool.span, f"'{tool.name}' is declared 'kind: write' and changes nothing",
                                help="declare 'kind: read'")  # fmt: skip
        return body

    def _rule(self, rule: RuleDef) -> CheckedBody | None:
        if rule.holds is None:
            return None
        parsed = self._parse(rule.holds, expression=True)
        if parsed is None:
            return None
        block = Block(self.world, parsed, "rule", f"rule {rule.name}")
        if rule.each is not None and rule.each in self.spec.states:
            block.use("state", rule.each)
            state = self.spec.states[rule.each]
            block.env.names["it"] = Binding(state.record, "param", view=rule.each)
            block.locals_used.add("it")
        elif rule.each is not None:  # refused already
            block.env.names["it"] = Binding(NEVER, "param")
        line = parsed.module.body[0]
        assert isinstance(line, cst.SimpleStatementLine)
        assert isinstance(line.body[0], cst.Expr)
        condition(block, line.body[0].value)
        self.locals.append(block)
        body = self._checked(block, rule.holds, NONE)
        if not self.report.failed:
            self._cost(rule, block, body)
        return body

    def _cost(self, rule: RuleDef, block: Block, body: CheckedBody) -> None:
        """Say of a rule that it goes through whole collections after every call that touches them."""
        found = dependence(self.spec, rule, body, self.helpers)
        collections = sorted(s for s in found.whole if not self.spec.states[s].single and s in self.written)
        if not collections:
            return
        each = rule.each is not None and not self.spec.states[rule.each].single
        cost = f"for every record of {rule.each}" if each else "as a whole"
        title = f"this is checked {cost} after each call that changes {', '.join(collections)}"
        named = sorted(name for name in body.effects.calls if names_state(self.helpers[name]))
        fix = "compare a field with 'it': … for x in c.values() if x.field == it.key"
        if each and named:
            fix = f"{one_of(named)} reads a state by its name; give it what it reads as parameters"
        block.say("global-rule", body.module.body[0], title, fix=fix, severity="note")

    # -- shared

    def _parse(self, source: Source, *, expression: bool = False) -> Parsed | None:
        parsed, problems = parse_block(source, expression=expression)
        self.report.extend(problems)
        return parsed

    def _params(self, block: Block, params: Sequence[Param]) -> None:
        for param in params:
            of = param.field.type
            frozen = "a parameter" if container(of) else ""
            block.env.names[param.name] = Binding(of, "param", frozen=frozen)
            if isinstance(of, Key) and of.collection in self.spec.states:
                block.use("state", of.collection)
                block.locals_used.add(param.name)  # that the record exists is checked
                if block.mode in ("read", "write"):
                    block.reads(of.collection)
                if param.as_name is not None:
                    state = self.spec.states[of.collection]
                    block.env.names[param.as_name] = Binding(state.record, "param", view=of.collection)
                    block.records[param.as_name] = param.field.span

    def _body(self, block: Block, source: Source, declared: Type | None, span: Span, *, strict: bool) -> CheckedBody:
        returns = self._result(block, declared, span, strict)
        self.locals.append(block)
        return self._checked(block, source, returns)

    def _checked(self, block: Block, source: Source, returns: Type) -> CheckedBody:
        return CheckedBody(
            block.owner, source, block.parsed.module, block.notes, block.parsed.lines, block.own, block.effects, returns,
            {loop: states & block.effects.edits for loop, states in block.loop_edits.items()},
        )  # fmt: skip

    def _result(self, block: Block, declared: Type | None, span: Span, strict: bool) -> Type:
        given = [of for of, _ in block.returns]
        if any(of != NONE for of in given) and block.env.live:
            last = block.parsed.module.body[-1]
            block.say(
                "missing-return",
                last,
                "some ways through give a result, this one ends without",
                fix="end with return or fail(…)",
            )
        if declared is not None:
            if not given and block.env.live:
                block.say(
                    "missing-return",
                    block.parsed.module.body[-1],
                    f"a {declared} is declared as the result; none is returned",
                )
            return declared
        joined: Type = NEVER
        for of, node in block.returns:
            both = join(joined, of)
            if both is None and strict:
                block.say("unlike-types", node, f"the results before are {joined}, this one is {of}")
            joined = both if both is not None else ANY
        return joined if given else NONE


def _called(module: cst.Module, helpers: Mapping[str, object]) -> list[str]:
    """Helpers that a block calls, by the names in it."""
    found: dict[str, None] = {}
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in helpers:
            found[node.func.value] = None
        stack.extend(node.children)
    return list(found)


def _in_order(calls: Mapping[str, Sequence[str]], cyclic: object) -> Iterator[str]:
    """Names, each after those it calls; ``cyclic`` is told each cycle once, whose members are left out."""
    assert callable(cyclic)
    done: set[str] = set()
    bad: set[str] = set()

    def visit(name: str, way: list[str]) -> Iterator[str]:
        if name in done or name in bad or name not in calls:
            return
        if name in way:
            cycle = way[way.index(name) :]
            bad.update(cycle)
            cyclic(cycle)
            return
        for other in calls[name]:
            yield from visit(other, [*way, name])
        if name not in bad:
            done.add(name)
            yield name

    for name in calls:
        yield from visit(name, [])


def _written(bodies: Iterable[CheckedBody]) -> set[str]:
    """The states that blocks change."""
    return {state for body in bodies for state in (body.effects.edits | body.effects.adds | body.effects.removes)}
