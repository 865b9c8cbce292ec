"""Blocks of logic as their spec's text has them: every node with its place, what it is, and what stands around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from envscaler.assess.mutation.mutants import Edit, Site
from envscaler.spec.checked import Checked, CheckedBody, Note, Role
from envscaler.spec.model import Spec
from envscaler.spec.types import Key, Type

__all__ = ["LogicBlock", "blocks", "one_line", "pair"]

_MOST = 90


def one_line(text: str) -> str:
    """A stretch of code on one line, cut where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _MOST else flat[: _MOST - 1] + "…"


def pair(before: str, after: str) -> tuple[str, str]:
    """Code before and after a change, each on one line, cut so that the change is seen."""
    a, b = " ".join(before.split()), " ".join(after.split())
    same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(0, same - _MOST // 3) if max(len(a), len(b)) > _MOST else 0
    start = 0 if start < 10 else start
    lead = "…" if start else ""
    return one_line(lead + a[start:]), one_line(lead + b[start:])


def blocks(checked: Checked) -> Iterator[LogicBlock]:
    """The logic of a checked spec's rules, helpers and tools, in the order of the file. Setup functions are left out: no
    call of a tool reaches them."""
    assert checked.spec is not None
    starts = [0]
    for line in checked.source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    bodies = [*checked.rules.values(), *checked.helpers.values(), *checked.tools.values()]
    for body in sorted(bodies, key=lambda b: b.block.line):
        yield LogicBlock(checked, checked.spec, body, starts)


@dataclass
class LogicBlock:
    """One block: its nodes in the order of the text, with parents."""

    checked: Checked
    spec: Spec
    body: CheckedBody
    _starts: list[int]
    parents: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    nodes: list[cst.CSTNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        stack: list[cst.CSTNode] = [self.body.module]
        while stack:
            node = stack.pop()
            self.nodes.append(node)
            for child in reversed(node.children):
                self.parents[child] = node
                stack.append(child)

    @cached_property
    def _ranges(self) -> dict[cst.CSTNode, CodeRange]:
        wrapper = MetadataWrapper(self.body.module, unsafe_skip_copy=True)
        return dict(wrapper.resolve(PositionProvider))

    # -- places

    @property
    def owner(self) -> str:
        return self.body.owner

    @property
    def kind(self) -> str:
        """`tool`, `helper` or `rule`."""
        return self.owner.split()[0]

    @property
    def name(self) -> str:
        return self.owner.split()[1]

    @property
    def reads(self) -> bool:
        """Whether it is a tool that may write nothing."""
        return self.kind == "tool" and self.spec.tools[self.name].kind == "read"

    def _offset(self, line: int, column: int) -> int:
        block = self.body.block
        return self._starts[block.line + line - 2] + block.column - 1 + column

    def start(self, node: cst.CSTNode) -> int:
        """Where a node begins in the spec's text."""
        place = self._ranges[node].start
        return self._offset(place.line, place.column)

    def end(self, node: cst.CSTNode) -> int:
        """Where it ends, exclusive."""
        place = self._ranges[node].end
        if place.column == 0 and place.line > 1:  # the node takes its line's end with it
            return self._starts[self.body.block.line + place.line - 2] - 1
        return self._offset(place.line, place.column)

    def line(self, node: cst.CSTNode) -> int:
        """The spec's line where a node begins."""
        return self.body.block.line + self._ranges[node].start.line - 1

    def text(self, node: cst.CSTNode) -> str:
        """The node as it is written."""
        return self.checked.source[self.start(node) : self.end(node)]

    def operand(self, node: cst.CSTNode) -> str:
        """The node as it is written, in brackets where it could fall apart in another place."""
        whole = isinstance(node, cst.BinaryOperation | cst.BooleanOperation | cst.Comparison | cst.IfExp)
        return f"({self.text(node)})" if whole else self.text(node)

    def between(self, left: cst.CSTNode, right: cst.CSTNode) -> tuple[int, int, str]:
        """What stands between two nodes: its offsets and its text."""
        start, end = self.end(left), self.start(right)
        return start, end, self.checked.source[start:end]

    # -- what a node is

    def note(self, node: cst.CSTNode) -> Note | None:
        return self.body.notes.get(node)

    def type(self, node: cst.CSTNode) -> Type | None:
        note = self.note(node)
        return note.type if note is not None else None

    def role(self, node: cst.CSTNode) -> Role | None:
        note = self.note(node)
        return note.role if note is not None else None

    def calls(self, node: cst.CSTNode, *names: str) -> bool:
        """Whether a node is a call of one of these built-ins."""
        return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in names

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What a node stands in, from the inside out."""
        up = self.parents.get(node)
        while up is not None:
            yield up
            up = self.parents.get(up)

    def in_message(self, node: cst.CSTNode) -> bool:
        """Whether a node stands in an f-string, where other rules hold."""
        return any(isinstance(up, cst.BaseFormattedStringContent) for up in self.above(node))

    def statement(self, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
        """The line of statements that a node stands in; None in the head of a compound one."""
        for up in (node, *self.above(node)):
            if isinstance(up, cst.SimpleStatementLine):
                return up
            if isinstance(up, cst.BaseCompoundStatement):
                return None
        return None

    # -- sites

    def replace(self, node: cst.CSTNode, new: str, shown: cst.CSTNode | None = None) -> Site:
        """The site at which a node becomes other code; ``shown``: the node around it that says more."""
        return self.site(node, (Edit(self.start(node), self.end(node), new),), shown or node)

    def site(self, node: cst.CSTNode, edits: tuple[Edit, ...], shown: cst.CSTNode) -> Site:
        """A site whose edits lie within ``shown``, which is what the change is told of."""
        start, end = self.start(shown), self.end(shown)
        text = self.checked.source[start:end]
        after = text
        for edit in sorted(edits, reverse=True):
            after = after[: edit.start - start] + edit.new + after[edit.end - start :]
        return Site(self.line(node), self.owner, *pair(text, after), edits)

    def removal(self, node: cst.CSTNode) -> Site | None:
        """The site at which a statement is gone, with the block around it where it is all of that; None for the only one."""
        statement: cst.CSTNode | None = self.statement(node)
        if statement is None or len(getattr(statement, "body", ())) != 1:
            return None
        while True:
            around = self.parents[statement]
            if isinstance(around, cst.Module):
                if len(around.body) == 1:
                    return None
                break
            if not isinstance(around, cst.IndentedBlock):
                return None
            if len(around.body) > 1:
                break
            compound = self.parents[around]
            if not isinstance(compound, cst.If | cst.For) or compound.orelse is not None:
                return None
            if isinstance(self.parents[compound], cst.If):
                return None  # an `elif`
            statement = compound
        start, end = self.start(statement), self.end(statement)
        source = self.checked.source
        start = source.rfind("\n", 0, start) + 1
        end = source.find("\n", end) + 1 or len(source)
        return Site(self.line(node), self.owner, one_line(source[start:end]), "(gone)", (Edit(start, end, ""),))

    def scope(self, node: cst.CSTNode) -> dict[str, Type]:
        """The names that logic at a node can use for values of the block, with their types."""
        found = dict(self._params)
        here, around = self.start(node), set(self.above(node))
        for name, target, holder in self._targets:
            inside = not isinstance(holder, cst.Assign) and holder in around
            if (inside or (isinstance(holder, cst.Assign) and self.start(target) < here)) and name in self._types:
                found[name] = self._types[name]
        return found

    @cached_property
    def _params(self) -> dict[str, Type]:
        spec, name = self.spec, self.name
        if self.kind == "rule":
            each = spec.rules[name].each
            return {"it": spec.states[each].record} if each is not None and each in spec.states else {}
        params = spec.tools[name].params if self.kind == "tool" else spec.helpers[name].params
        found: dict[str, Type] = {p.name: p.field.type for p in params}
        for param in params:
            if param.as_name is not None and isinstance(param.field.type, Key):
                found[param.as_name] = spec.states[param.field.type.collection].record
        return found

    @cached_property
    def _types(self) -> dict[str, Type]:
        """The types of local names, as they are where the names are first used."""
        found: dict[str, Type] = {}
        for node in self.nodes:
            if isinstance(node, cst.Name) and (note := self.note(node)) is not None:
                found.setdefault(node.value, note.type)
        return found

    @cached_property
    def _targets(self) -> list[tuple[str, cst.CSTNode, cst.CSTNode]]:
        """Local names, where they are bound, and what binds them: an assignment, a loop, a comprehension."""
        found: list[tuple[str, cst.CSTNode, cst.CSTNode]] = []
        for node in self.nodes:
            if isinstance(node, cst.Assign):
                found += [(t.target.value, t.target, node) for t in node.targets if isinstance(t.target, cst.Name)]
            elif isinstance(node, cst.For | cst.CompFor):
                holder = node if isinstance(node, cst.For) else self.parents[node]
                stack: list[cst.CSTNode] = [node.target]
                while stack:
                    target = stack.pop()
                    if isinstance(target, cst.Name):
                        found.append((target.value, target, holder))
                    stack.extend(target.children)
        return found
