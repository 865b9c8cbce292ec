"""What the plan of a module is made of, section by section: what is rendered is decided in it."""

from __future__ import annotations

from dataclasses import dataclass

from envscaler.compiler.layout import Doc, Group
from envscaler.compiler.literals import quoted
from envscaler.compiler.results import Result
from envscaler.compiler.statement import Stmt

__all__ = [
    "Binder",
    "CheckFunction",
    "Function",
    "Method",
    "ModulePlan",
    "Named",
    "RuleFunction",
    "ToolPlan",
    "ToolsClass",
]


@dataclass(frozen=True, slots=True)
class Named:
    """``name = value``, with a word on the right where it helps."""

    name: str
    value: Doc
    note: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function: ``signature`` is what stands between the parentheses; then docstring, prologue, body.

    ``body`` is indented by four and ends without a newline, "" when there is none; ``lines`` are its statements' places in
    the spec (see Lowered).
    """

    name: str
    signature: Group
    returns: str
    doc: str
    prologue: tuple[Stmt, ...] = ()
    body: str = ""
    lines: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class RuleFunction:
    """A rule as a function of one expression; ``open`` brackets it when it goes over several lines."""

    name: str
    signature: Group
    doc: str
    body: str
    lines: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CheckFunction:
    """What is done for each record that a call changed, with `key`, `old` and `new` at hand."""

    name: str
    state_class: str
    doc: str
    each: tuple[Stmt, ...]
    equal: str

    @property
    def marks_all(self) -> bool:
        """Whether rules may have to be looked at again for all records of a collection."""
        return any("every[" in s.logic for s in self.each)


@dataclass(frozen=True, slots=True)
class Binder:
    """The quick way from a mapping of arguments to a tool: the test that it is not for this one, and the call."""

    name: str
    test: str
    call: Group
    end: str


@dataclass(frozen=True, slots=True)
class Method:
    """A tool as a method: its signature, and the call of its function.

    ``end``, as in Binder, says how what was written is kept: by a "commit", or "done" already, or "nothing" was written.
    """

    name: str
    own: str
    signature: Group
    doc: str
    call: Group
    tool: str
    end: str


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """A tool or setup function: its parameters' descriptions, the function, for the agent's tools the quick way to it."""

    params: Named
    function: Function
    binder: Binder | None


@dataclass(frozen=True, slots=True)
class ToolsClass:
    name: str
    doc: str
    methods: tuple[Method, ...]


@dataclass(frozen=True, slots=True)
class ModulePlan:
    """All of a module, section by section, in order."""

    doc: str
    constants: tuple[Named, ...]
    types: tuple[Named, ...]
    states: Group
    state_class: str
    state_parts: tuple[tuple[str, str], ...]  # name and annotation
    results: tuple[Result, ...]
    moves: tuple[Named, ...]
    rules: tuple[RuleFunction, ...]
    checks: tuple[CheckFunction, ...]
    helpers: tuple[Function, ...]
    tools: tuple[ToolPlan, ...]
    setup: tuple[ToolPlan, ...]
    tool_classes: tuple[ToolsClass, ...]
    class_name: str
    class_doc: str
    attributes: tuple[Named, ...]
    spec_file: str

    @property
    def slots(self) -> Group:
        """The names of the states, as the state class declares them."""
        return Group("(", tuple(quoted(name) for name, _ in self.state_parts), ")", single_comma=True)
